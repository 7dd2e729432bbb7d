package report

import (
	"strconv"
	"strings"
)

// diffView is a unified diff by line.
type diffView struct {
	Lines          []diffLine
	Added, Removed int
}

// diffLine carries its sign as a character, so that the kind is told without colour.
type diffLine struct {
	Kind     string // file, hunk, ctx, add, del or note
	Sign     string
	Old, New string // line numbers, "" where there is none
	Text     string
}

// newDiff reads a unified diff. The counts of each hunk say which lines belong to it: inside one, a line "--- x" is a
// removed line "-- x" and no header. What is no diff is shown as it is.
func newDiff(s string) diffView {
	var v diffView
	if s == "" {
		return v
	}
	var oldAt, newAt, oldLeft, newLeft int
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		l = strings.TrimSuffix(l, "\r")
		inside := oldLeft > 0 || newLeft > 0
		line := diffLine{Kind: "note", Text: l}
		switch {
		case inside && strings.HasPrefix(l, "+"):
			line = diffLine{Kind: "add", Sign: "+", New: strconv.Itoa(newAt), Text: l[1:]}
			newAt, newLeft, v.Added = newAt+1, newLeft-1, v.Added+1
		case inside && strings.HasPrefix(l, "-"):
			line = diffLine{Kind: "del", Sign: "-", Old: strconv.Itoa(oldAt), Text: l[1:]}
			oldAt, oldLeft, v.Removed = oldAt+1, oldLeft-1, v.Removed+1
		case inside && (l == "" || l[0] == ' '):
			line = diffLine{Kind: "ctx", Old: strconv.Itoa(oldAt), New: strconv.Itoa(newAt), Text: strings.TrimPrefix(l, " ")}
			oldAt, newAt, oldLeft, newLeft = oldAt+1, newAt+1, oldLeft-1, newLeft-1
		case strings.HasPrefix(l, "@@ "):
			oldAt, oldLeft, newAt, newLeft = ranges(l)
			line.Kind = "hunk"
		case !inside && (strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "+++ ")):
			line.Kind, line.Text = "file", l[:4]+base(l[4:])
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

// ranges reads "@@ -1,7 +1,8 @@"; a count that is left out is one.
func ranges(l string) (oldAt, oldLeft, newAt, newLeft int) {
	f := strings.Fields(l)
	if len(f) < 3 {
		return 0, 0, 0, 0
	}
	oldAt, oldLeft = stretch(strings.TrimPrefix(f[1], "-"))
	newAt, newLeft = stretch(strings.TrimPrefix(f[2], "+"))
	return oldAt, oldLeft, newAt, newLeft
}

func stretch(s string) (at, n int) {
	from, count, found := strings.Cut(s, ",")
	at, _ = strconv.Atoi(from)
	if !found {
		return at, 1
	}
	n, _ = strconv.Atoi(count)
	return at, n
}
