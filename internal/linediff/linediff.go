// Package linediff compares texts line by line: unified diffs to read, and a three-way merge to deliver a result into a
// file that a person has changed meanwhile. It works on go-diff's line diffs and never on its fuzzy patches, so a merge
// either fits exactly or says that it does not.
package linediff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"whetstone/internal/mdblock"
)

// lines cuts a text into lines with their endings.
func lines(s string) []string {
	ls := mdblock.SplitLines(s)
	out := make([]string, len(ls))
	for i, l := range ls {
		out[i] = s[l.Start:l.End]
	}
	return out
}

// hunk says that lines a[A0:A1] became b[B0:B1].
type hunk struct{ A0, A1, B0, B1 int }

// changes lists the differing stretches between two lists of lines.
func changes(a, b []string) []hunk {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // exact, and the same every time
	ids := map[string]rune{}
	encode := func(ls []string) []rune {
		out := make([]rune, len(ls))
		for i, l := range ls {
			id, ok := ids[l]
			if !ok {
				id = rune(len(ids) + 1)
				if id >= 0xD800 {
					id += 0x800 // no surrogates
				}
				ids[l] = id
			}
			out[i] = id
		}
		return out
	}
	diffs := dmp.DiffMainRunes(encode(a), encode(b), false)
	var out []hunk
	i, j := 0, 0
	for _, d := range diffs {
		n := len([]rune(d.Text))
		switch d.Type {
		case diffmatchpatch.DiffEqual:
			i, j = i+n, j+n
			continue
		case diffmatchpatch.DiffDelete:
			out = extend(out, hunk{i, i + n, j, j})
			i += n
		case diffmatchpatch.DiffInsert:
			out = extend(out, hunk{i, i, j, j + n})
			j += n
		}
	}
	return out
}

func extend(hs []hunk, h hunk) []hunk {
	if n := len(hs); n > 0 && hs[n-1].A1 == h.A0 && hs[n-1].B1 == h.B0 {
		hs[n-1].A1, hs[n-1].B1 = h.A1, h.B1
		return hs
	}
	return append(hs, h)
}

// Unified renders the difference as a unified diff with three lines of context; "" for equal texts.
func Unified(nameA, nameB, a, b string) string {
	la, lb := lines(a), lines(b)
	hs := changes(la, lb)
	if len(hs) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", nameA, nameB)
	const context = 3
	for i := 0; i < len(hs); {
		j := i + 1
		for j < len(hs) && hs[j].A0-hs[j-1].A1 <= 2*context {
			j++
		}
		a0, a1 := max(hs[i].A0-context, 0), min(hs[j-1].A1+context, len(la))
		b0, b1 := hs[i].B0-(hs[i].A0-a0), hs[j-1].B1+(a1-hs[j-1].A1)
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(a0, a1), span(b0, b1))
		at := a0
		for _, h := range hs[i:j] {
			write(&out, ' ', la[at:h.A0])
			write(&out, '-', la[h.A0:h.A1])
			write(&out, '+', lb[h.B0:h.B1])
			at = h.A1
		}
		write(&out, ' ', la[at:a1])
		i = j
	}
	return out.String()
}

func span(from, to int) string {
	n := to - from
	if n == 0 {
		return fmt.Sprintf("%d,0", from)
	}
	if n == 1 {
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, n)
}

func write(out *strings.Builder, mark byte, ls []string) {
	for _, l := range ls {
		out.WriteByte(mark)
		text := strings.TrimRight(l, "\r\n")
		out.WriteString(text)
		out.WriteByte('\n')
		if text == l {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

// Stat counts the lines of b that a does not have, and the other way round.
func Stat(a, b string) (added, removed int) {
	for _, h := range changes(lines(a), lines(b)) {
		added, removed = added+h.B1-h.B0, removed+h.A1-h.A0
	}
	return added, removed
}

// Unresolved reports whether a text holds conflict markers of a merge that stand in none of the known texts. A text may tell
// about conflict markers.
func Unresolved(text string, known ...string) bool {
	have := map[string]bool{}
	for _, k := range known {
		for _, l := range lines(k) {
			have[strings.TrimRight(l, "\r\n")] = true
		}
	}
	for _, l := range lines(text) {
		l = strings.TrimRight(l, "\r\n")
		if (strings.HasPrefix(l, "<<<<<<< ") || strings.HasPrefix(l, ">>>>>>> ")) && !have[l] {
			return true
		}
	}
	return false
}

// Merge3 merges two descendants of base. Where both changed the same lines differently, the result holds both between
// conflict markers named by nameA and nameB, and conflicts counts those places. Merging equal changes, or one side only,
// is exact.
func Merge3(base, a, b, nameA, nameB string) (merged string, conflicts int) {
	lo, la, lb := lines(base), lines(a), lines(b)
	ha, hb := changes(lo, la), changes(lo, lb)
	var out strings.Builder
	at, i, j := 0, 0, 0
	emit := func(ls []string) {
		for _, l := range ls {
			out.WriteString(l)
		}
	}
	for i < len(ha) || j < len(hb) {
		// The next stretch of base that either side changed, grown until no hunk of either side crosses its edges.
		var lo0, lo1 int
		i0, j0 := i, j
		switch {
		case i < len(ha) && (j == len(hb) || ha[i].A0 <= hb[j].A0):
			lo0, lo1 = ha[i].A0, ha[i].A1
		default:
			lo0, lo1 = hb[j].A0, hb[j].A1
		}
		for grown := true; grown; {
			grown = false
			for i < len(ha) && touches(ha[i], lo0, lo1) {
				lo1, grown = max(lo1, ha[i].A1), true
				i++
			}
			for j < len(hb) && touches(hb[j], lo0, lo1) {
				lo1, grown = max(lo1, hb[j].A1), true
				j++
			}
		}
		emit(lo[at:lo0])
		sideA, sideB := side(lo, la, ha[i0:i], lo0, lo1), side(lo, lb, hb[j0:j], lo0, lo1)
		switch {
		case i == i0:
			emit(sideB)
		case j == j0, slices.Equal(sideA, sideB):
			emit(sideA)
		default:
			conflicts++
			eol := "\n"
			if strings.Contains(base, "\r\n") {
				eol = "\r\n"
			}
			out.WriteString("<<<<<<< " + nameA + eol)
			emit(closed(sideA, eol))
			out.WriteString("=======" + eol)
			emit(closed(sideB, eol))
			out.WriteString(">>>>>>> " + nameB + eol)
		}
		at = lo1
	}
	emit(lo[at:])
	return out.String(), conflicts
}

// touches reports whether a hunk changes, or inserts at the edge of, lines from to to.
func touches(h hunk, from, to int) bool { return h.A0 <= to && h.A1 >= from }

// side is what one descendant made of base[from:to].
func side(base, other []string, hs []hunk, from, to int) []string {
	var out []string
	at := from
	for _, h := range hs {
		out = append(out, base[at:h.A0]...)
		out = append(out, other[h.B0:h.B1]...)
		at = h.A1
	}
	return append(out, base[at:to]...)
}

func closed(ls []string, eol string) []string {
	if n := len(ls); n > 0 && !strings.HasSuffix(ls[n-1], "\n") && !strings.HasSuffix(ls[n-1], "\r") {
		ls = append(slices.Clone(ls[:n-1]), ls[n-1]+eol)
	}
	return ls
}
