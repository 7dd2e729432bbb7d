// Package rulepatch is the offline reflector: it turns corrections into patches by rule. Corrections that say the same
// are merged; a line that says the opposite is replaced; a line that is close is amended; anything else is added below
// the closest heading, in the list style found there. It works on character shingles, so it reads any script, and calls
// nothing. It shares no code and no word list with the offline judge. A correction it can find no safe place for is left
// out.
package rulepatch

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Correction is what an agent should have done.
type Correction struct {
	ID       string
	Category string
	Expected string
}

// Patch is an edit in the form of the reflecting reply.
type Patch struct {
	Op      string   `json:"op"`
	Anchor  string   `json:"anchor"`
	Payload string   `json:"payload"`
	Items   []string `json:"items"`
	File    string   `json:"file,omitempty"` // the reference that it changes; "" for the skill file
}

// Similarities from which two texts are treated alike, as shares of shingles.
const (
	sameAdvice   = 0.58 // two corrections are wordings of one
	sayAlready   = 0.86 // a line says it
	amendable    = 0.62 // a line is about the same thing
	contradicted = 0.50 // a line is about exactly this, and says the opposite
)

// Propose returns at most limit patches for body, for the best-supported corrections first. The result depends on its
// arguments only, and not on the order of the corrections.
func Propose(body string, cs []Correction, limit int) []Patch {
	d := parse(body)
	var out []Patch
	used := map[string]bool{} // anchors: two patches at one line would conflict
	for _, g := range merge(cs) {
		if len(out) == limit {
			break
		}
		p, ok := d.patchFor(g, used)
		if !ok {
			continue
		}
		used[p.Anchor] = true
		out = append(out, p)
	}
	return out
}

// group is one piece of advice with all wordings that carry it.
type group struct {
	text     string
	category string
	ids      []string
	grams    map[string]bool
	forbids  bool
}

// merge puts wordings of one piece of advice together and picks the wording that is closest to all of them.
func merge(cs []Correction) []group {
	cs = slices.Clone(cs)
	slices.SortFunc(cs, func(a, b Correction) int { return strings.Compare(a.ID, b.ID) })
	grams := make([]map[string]bool, len(cs))
	for i, c := range cs {
		grams[i] = shingles(c.Expected)
	}
	var groups [][]int
	for i := range cs {
		joined := false
		for g, members := range groups {
			m := members[0]
			if forbids(cs[i].Expected) == forbids(cs[m].Expected) && max(within(grams[i], grams[m]), within(grams[m], grams[i])) >= sameAdvice {
				groups[g] = append(groups[g], i)
				joined = true
				break
			}
		}
		if !joined {
			groups = append(groups, []int{i})
		}
	}
	out := make([]group, 0, len(groups))
	for _, members := range groups {
		best, score := members[0], -1.0
		for _, i := range members {
			s := 0.0
			for _, j := range members {
				s += within(grams[j], grams[i])
			}
			if s > score {
				best, score = i, s
			}
		}
		g := group{text: cs[best].Expected, category: cs[best].Category, grams: grams[best], forbids: forbids(cs[best].Expected)}
		for _, i := range members {
			g.ids = append(g.ids, cs[i].ID)
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b group) int {
		return cmp.Or(len(b.ids)-len(a.ids), strings.Compare(a.ids[0], b.ids[0]))
	})
	return out
}

func (d *document) patchFor(g group, used map[string]bool) (Patch, bool) {
	var closest *line
	best := 0.0
	for i := range d.lines {
		l := &d.lines[i]
		if !l.editable {
			continue
		}
		if s := within(g.grams, l.grams); s > best {
			best, closest = s, l
		}
	}
	if l := d.contradicting(g); l != nil {
		if p, ok := d.rewrite(l, g, used); ok {
			return p, true
		}
	}
	if closest != nil {
		opposed := closest.forbids != g.forbids
		switch {
		case !opposed && best >= sayAlready:
			return Patch{}, false
		case !opposed && best >= amendable && within(closest.grams, g.grams) >= amendable:
			// Each says most of the other: one of them is enough, and the longer one says more.
			if utf8.RuneCountInString(g.text) <= utf8.RuneCountInString(closest.text) {
				return Patch{}, false
			}
			if p, ok := d.rewrite(closest, g, used); ok {
				return p, true
			}
		case !opposed && best >= amendable && closest.single && utf8.RuneCountInString(closest.text) < 160:
			if p, ok := d.amend(closest, g, used); ok {
				return p, true
			}
		}

	}
	return d.addBelow(g, used)
}

// contradicting finds the line that is about exactly what the correction is about, and says the opposite. It may be shorter
// or longer than the correction: what counts is that most of the shorter one is in the other.
func (d *document) contradicting(g group) *line {
	var found *line
	best := contradicted
	for i := range d.lines {
		l := &d.lines[i]
		if !l.editable || !l.single || l.forbids == g.forbids || len(l.grams) < 8 {
			continue
		}
		there, back := within(g.grams, l.grams), within(l.grams, g.grams)
		if s := max(there, back); s >= best && min(there, back) >= 0.3 {
			best, found = s, l
		}
	}
	return found
}

// rewrite puts the correction in the place of the line that says the opposite.
func (d *document) rewrite(l *line, g group, used map[string]bool) (Patch, bool) {
	if !l.single {
		return Patch{}, false
	}
	return d.replaceLine(l, l.prefix+sentence(g.text, l.text), g, used)
}

// amend adds the correction to the end of a line about the same thing.
func (d *document) amend(l *line, g group, used map[string]bool) (Patch, bool) {
	head := strings.TrimRight(l.raw, " \t")
	switch last, _ := utf8.DecodeLastRuneInString(head); {
	case strings.ContainsRune(".!?:;", last):
		head += " "
	case strings.ContainsRune("。！？：；", last):
	case han(g.text):
		head += "；"
	default:
		head += "; "
	}
	return d.replaceLine(l, head+sentence(g.text, l.text), g, used)
}

func (d *document) replaceLine(l *line, with string, g group, used map[string]bool) (Patch, bool) {
	if used[l.raw] || strings.Count(d.body, l.raw) != 1 {
		return Patch{}, false
	}
	return Patch{Op: "replace", Anchor: l.raw, Payload: with, Items: g.ids}, true
}

// addBelow adds the correction to the section it fits best, after the last item of a list there, or as a list of its
// own.
func (d *document) addBelow(g group, used map[string]bool) (Patch, bool) {
	about := shingles(g.category + " " + g.text)
	order := make([]int, len(d.sections))
	score := make([]float64, len(d.sections))
	for i, s := range d.sections {
		order[i] = i
		score[i] = 3*within(s.title, about) + 2*within(about, s.grams)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	for _, i := range order {
		s := d.sections[i]
		if s.anchor < 0 {
			continue
		}
		l := d.lines[s.anchor]
		anchor, ok := d.unique(s.anchor)
		if !ok || used[anchor] {
			continue
		}
		bullet, blank := "- ", "\n"
		if s.list >= 0 {
			bullet, blank = d.lines[s.list].marker, ""
		}
		return Patch{Op: "add", Anchor: anchor, Payload: blank + bullet + sentence(g.text, l.text), Items: g.ids}, true
	}
	if used[""] {
		return Patch{}, false
	}
	return Patch{Op: "add", Payload: "\n- " + sentence(g.text, ""), Items: g.ids}, true
}

// unique returns the shortest tail of lines ending at line i that occurs once in the body.
func (d *document) unique(i int) (string, bool) {
	text := d.lines[i].raw
	for j := i - 1; ; j-- {
		if text != "" && strings.Count(d.body, text) == 1 {
			return text, true
		}
		if j < 0 || i-j > 3 {
			return "", false
		}
		text = d.lines[j].raw + "\n" + text
	}
}

// sentence makes a line of advice: a capital first letter unless the text begins with code, and the closing mark that
// the neighbouring line has.
func sentence(text, neighbour string) string {
	s := strings.TrimLeft(strings.Join(strings.Fields(text), " "), "# ") // a heading inside a list item is none
	if first, n := utf8.DecodeRuneInString(s); n > 0 && unicode.IsLower(first) && plainWord(s) {
		s = string(unicode.ToUpper(first)) + s[n:]
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	if strings.ContainsRune(".!?。！？", last) {
		return s
	}
	if neighbour = strings.TrimSpace(neighbour); neighbour != "" {
		if e, _ := utf8.DecodeLastRuneInString(neighbour); !strings.ContainsRune(".!?。！？", e) {
			return s
		}
	}
	if han(s) {
		return s + "。"
	}
	return s + "."
}

// plainWord reports whether s begins with an ordinary word and not with an identifier.
func plainWord(s string) bool {
	w, _, _ := strings.Cut(s, " ")
	return !strings.ContainsAny(w, "._/`()-:") && strings.ToLower(w) == w
}

func han(s string) bool {
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			return true
		}
	}
	return false
}
