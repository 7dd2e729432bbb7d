package optimizer

import (
	"slices"
	"strings"

	"whetstone/internal/linediff"
	"whetstone/internal/mdblock"
	"whetstone/skill"
)

// MergeSections puts together what two descendants of base learned apart. A section that one side alone changed, added,
// removed or renamed comes from that side. Where both changed one, their lines are merged if they do not meet; if they do,
// prefer decides by the section's path, 0 for a and everything else for b, and conflicts counts such sections. A new section
// stands where its side put it, below the same section as there; the slow block is a section of its own and stays the last.
// The idea is GEPA's merge of two lineages that learned different things (Agrawal et al. 2025, arXiv 2507.19457), here by
// Markdown section, with the three-way merge of diff3 (Khanna, Kunal and Pierce 2007) inside one.
//
// ok is false where there is nothing new to try: the result is a, b or base, which merged then still holds. It is false, and
// merged empty, where the sections do not fit together: a kept region would change, a fence would be left open, or a text
// would be read as other sections than it was made of.
func MergeSections(base, a, b string, prefer func(path []string) int) (merged string, conflicts int, ok bool) {
	m := merger{base: split(base), a: split(a), b: split(b), prefer: prefer, eol: firstEOL(base + a + b)}
	m.match()
	merged, parts := m.compose(m.order())
	if merged == a || merged == b || merged == base {
		return merged, m.conflicts, false
	}
	if !holds(merged, parts) || !sameKept(base, a, b, merged) || endKind(merged) != endKind(base) {
		return "", m.conflicts, false
	}
	return merged, m.conflicts, true
}

// part is a section in two pieces: what it says, and the line endings and blank lines after it, which depend on what follows.
type part struct {
	Section
	core, tail string
	unit       int
}

// slowPath names the slow block among the sections.
const slowPath = "whetstone:slow"

func split(body string) []part {
	end, hasSlow := len(body), false
	start, stop, _, ok := SlowBlock(body)
	if ok && strings.TrimSpace(body[stop:]) == "" {
		end, hasSlow = start, true
	}
	var out []part
	for _, s := range Sections(body[:end]) {
		out = append(out, newPart(s, body))
	}
	if hasSlow {
		out = append(out, newPart(Section{Start: start, End: len(body), Path: []string{slowPath}}, body))
	}
	return out
}

func newPart(s Section, body string) part {
	text := body[s.Start:s.End]
	n := 0
	for _, l := range mdblock.SplitLines(text) {
		if strings.TrimSpace(l.Text) != "" {
			n = l.Start + len(l.Text)
		}
	}
	return part{Section: s, core: text[:n], tail: text[n:], unit: -1}
}

func (p part) slow() bool { return len(p.Path) == 1 && p.Level == 0 && p.Path[0] == slowPath }

type merger struct {
	base, a, b []part
	units      int
	prefer     func([]string) int
	eol        string
	conflicts  int
}

// match gives each section a number that it shares with the same section of the other texts.
func (m *merger) match() {
	for i := range m.base {
		m.base[i].unit = i
	}
	m.units = len(m.base)
	matchTo(m.base, m.a)
	matchTo(m.base, m.b)
	for i := range m.a {
		if m.a[i].unit < 0 {
			m.a[i].unit = m.units
			m.units++
		}
	}
	// What both sides added under one path is one section, too.
	for i := range m.b {
		if m.b[i].unit >= 0 {
			continue
		}
		for _, p := range m.a {
			if p.unit >= len(m.base) && slices.Equal(p.Path, m.b[i].Path) && find(m.b, p.unit) == nil {
				m.b[i].unit = p.unit
				break
			}
		}
		if m.b[i].unit < 0 {
			m.b[i].unit = m.units
			m.units++
		}
	}
}

// matchTo matches sections by path; of several with one path, first those that say the same, then in order. What is left
// over between two that matched is renamed, if there are as many on both sides and of the same levels.
func matchTo(base, side []part) {
	taken := make([]bool, len(base))
	for _, same := range []bool{true, false} {
		for i := range side {
			for j := range base {
				if side[i].unit < 0 && !taken[j] && slices.Equal(side[i].Path, base[j].Path) && (!same || side[i].core == base[j].core) {
					side[i].unit, taken[j] = j, true
				}
			}
		}
	}
	for i := 0; i < len(side); i++ {
		if side[i].unit >= 0 {
			continue
		}
		from, to, end := 0, len(base), i
		if i > 0 {
			from = side[i-1].unit + 1
		}
		for end < len(side) && side[end].unit < 0 {
			end++
		}
		if end < len(side) {
			to = side[end].unit
		}
		renamed := to-from == end-i && !slices.Contains(taken[from:to], true)
		for k := 0; renamed && k < end-i; k++ {
			renamed = side[i+k].Level == base[from+k].Level && side[i+k].slow() == base[from+k].slow()
		}
		for k := 0; renamed && k < end-i; k++ {
			side[i+k].unit, taken[from+k] = from+k, true
		}
		i = end - 1
	}
}

func find(parts []part, unit int) *part {
	for i := range parts {
		if parts[i].unit == unit {
			return &parts[i]
		}
	}
	return nil
}

// order is the merged sequence of units: that of the side that moved sections, with the other side's additions put in.
func (m *merger) order() []int {
	skeleton, other := m.b, m.a
	if !slices.IsSortedFunc(known(m.a, len(m.base)), func(x, y part) int { return x.unit - y.unit }) {
		skeleton, other = m.a, m.b
	}
	var out []part
	out = append(out, skeleton...)
	for i, p := range other {
		if find(out, p.unit) != nil {
			continue
		}
		at := 0
		for j := i - 1; j >= 0; j-- {
			if k := slices.IndexFunc(out, func(o part) bool { return o.unit == other[j].unit }); k >= 0 {
				at = k + 1
				break
			}
		}
		// What the other side put under that section stays under it.
		for at < len(out) && out[at].Level > p.Level && find(other, out[at].unit) == nil {
			at++
		}
		out = slices.Insert(out, at, p)
	}
	slices.SortStableFunc(out, func(x, y part) int {
		switch {
		case x.slow() == y.slow():
			return 0
		case x.slow():
			return 1
		}
		return -1
	})
	units := make([]int, len(out))
	for i, p := range out {
		units[i] = p.unit
	}
	return units
}

// known are the parts that base has, too.
func known(parts []part, n int) []part {
	var out []part
	for _, p := range parts {
		if p.unit < n {
			out = append(out, p)
		}
	}
	return out
}

// compose writes the merged text, and says of which sections.
func (m *merger) compose(order []int) (merged string, parts []part) {
	for _, u := range order {
		if p, ok := m.merge(u); ok {
			parts = append(parts, p)
		}
	}
	for i := range parts {
		if i == len(parts)-1 {
			parts[i].tail = pick(lastTail(m.base), lastTail(m.a), lastTail(m.b))
			continue
		}
		p, next := &parts[i], parts[i+1]
		switch n := strings.Count(unify(p.tail), "\n"); {
		case n == 0:
			p.tail += m.eol + m.eol
		case n == 1 && !m.tight(p.unit, next.unit) && (next.Setext || m.spaced(next.unit)):
			p.tail += m.eol
		}
	}
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.core + p.tail)
	}
	return out.String(), parts
}

// merge makes one section of its up to three versions; ok is false where it is gone.
func (m *merger) merge(unit int) (part, bool) {
	base, a, b := find(m.base, unit), find(m.a, unit), find(m.b, unit)
	if base == nil {
		switch {
		case b == nil:
			return *a, true
		case a == nil:
			return *b, true
		}
		base = &part{unit: unit, Section: a.Section}
	} else if a == nil || b == nil {
		left, side := a, 0
		if a == nil {
			left, side = b, 1
		}
		// One side removed it: it is gone, unless the other changed it and is preferred.
		if left == nil || left.core == base.core {
			return part{}, false
		}
		return *left, m.side(base.Path) == side
	}
	out := *a
	if a.core == base.core {
		out = *b
	}
	out.tail = pick(base.tail, a.tail, b.tail)
	if a.core == base.core || b.core == base.core || a.core == b.core {
		return out, true
	}
	if core, ok := m.lines(base.core, a.core, b.core); ok && (!base.slow() || len(core) <= MaxSlow) {
		out.core = core
		return out, true
	}
	if m.side(base.Path) != 0 {
		out.core, out.Section = b.core, b.Section
	}
	return out, true
}

func (m *merger) side(path []string) int {
	m.conflicts++
	if m.prefer(path) == 0 {
		return 0
	}
	return 1
}

// lines merges two changes of one section. The last line gets an ending for as long, so that a line added below it is not a
// change of it. A merge that would leave a fence open, or be more than one section, is none.
func (m *merger) lines(base, a, b string) (string, bool) {
	whole := func(s string) string {
		if s == "" {
			return ""
		}
		return s + m.eol
	}
	merged, conflicts := linediff.Merge3(whole(base), whole(a), whole(b), "a", "b")
	merged = strings.TrimSuffix(merged, m.eol)
	if conflicts > 0 || strings.TrimSpace(merged) == "" {
		return "", false
	}
	if end := endKind(merged); end != endKind(a) && end != endKind(b) {
		return "", false
	}
	return merged, len(Sections(merged)) == len(Sections(a)) || len(Sections(merged)) == len(Sections(b))
}

// pick is the three-way merge of what can not be merged by line: the side that changed it, a where both did.
func pick(base, a, b string) string {
	if a == base {
		return b
	}
	return a
}

func lastTail(parts []part) string {
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1].tail
}

// tight reports whether a side has the second unit right below the first, without a blank line.
func (m *merger) tight(u, v int) bool {
	for _, parts := range [][]part{m.a, m.b} {
		for i := 1; i < len(parts); i++ {
			if parts[i-1].unit == u && parts[i].unit == v && strings.Count(unify(parts[i-1].tail), "\n") == 1 {
				return true
			}
		}
	}
	return false
}

// spaced reports whether a side has a blank line before the unit.
func (m *merger) spaced(unit int) bool {
	for _, parts := range [][]part{m.a, m.b} {
		for i := 1; i < len(parts); i++ {
			if parts[i].unit == unit && strings.Count(unify(parts[i-1].tail), "\n") > 1 {
				return true
			}
		}
	}
	return false
}

// holds reports whether the merged text is read as the sections that it was made of.
func holds(merged string, parts []part) bool {
	return slices.EqualFunc(split(merged), parts, func(x, y part) bool {
		return x.core == y.core && x.Level == y.Level && x.slow() == y.slow()
	})
}

// sameKept reports whether the merged text keeps the regions of base or, where a side changed them, of that side.
func sameKept(base, a, b, merged string) bool {
	was, inA, inB := kept(base), kept(a), kept(b)
	want := inA
	switch {
	case slices.Equal(inA, was):
		want = inB
	case !slices.Equal(inB, was) && !slices.Equal(inA, inB):
		return false
	}
	return slices.Equal(kept(merged), want)
}

func kept(body string) []string {
	var out []string
	for _, r := range skill.Regions(body) {
		out = append(out, body[r.Start:r.End])
	}
	return out
}

func firstEOL(text string) string {
	for _, l := range mdblock.SplitLines(text) {
		if l.EOL != "" {
			return l.EOL
		}
	}
	return "\n"
}
