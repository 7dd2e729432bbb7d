package optimizer

import (
	"maps"
	"strings"

	"whetstone/internal/mdblock"
	"whetstone/internal/words"
)

// said is one piece of advice that an edit brings into the body.
type said struct {
	content map[string]bool
	negated bool
}

// always are words that make advice stronger and do not change what it is about.
var always = strings.NewReplacer("总是", " ", "始终", " ", "一律", " ", "永远", " ", "常に", " ", "必ず", " ")

// statements are what an edit newly says: the paragraphs and list items of the lines that it touches, as they are with it,
// without those that stood there before.
func (e Edit) statements(body string) []said {
	from := len(body[:e.Start]) - len(lineBegun(body[:e.Start]))
	to := e.End
	for to < len(body) && body[to] != '\n' && body[to] != '\r' {
		to++
	}
	before := map[string]bool{}
	for _, s := range paragraphs(body[from:to]) {
		before[CanonicalPayload(s)] = true
	}
	var out []said
	for _, s := range paragraphs(body[from:e.Start] + e.Text + body[e.End:to]) {
		if before[CanonicalPayload(s)] {
			continue
		}
		content := words.Content(always.Replace(s))
		delete(content, "alway")
		if len(content) > 0 {
			out = append(out, said{content, words.Negated(s)})
		}
	}
	return out
}

// lineBegun is what follows the last line ending.
func lineBegun(s string) string { return s[strings.LastIndexAny(s, "\r\n")+1:] }

// paragraphs are the list items and paragraphs of a text; what is code or comment says nothing.
func paragraphs(text string) []string {
	var out []string
	open := false
	for _, l := range mdblock.Scan(text) {
		if l.Kind != mdblock.Text && l.Kind != mdblock.Quote {
			open = false
			continue
		}
		if open && !l.Marker {
			out[len(out)-1] += " " + l.Text
			continue
		}
		out = append(out, l.Text)
		open = atx(l.Text[l.Content:]) == 0
	}
	return out
}

// contradicts reports whether one edit asks for what the other forbids.
func contradicts(a, b []said) bool {
	for _, x := range a {
		for _, y := range b {
			if x.negated != y.negated && sameSubject(x.content, y.content) {
				return true
			}
		}
	}
	return false
}

// sameSubject holds for the same content words or, from three words on, for the same advice in about the same words. Two words
// and another third one are too little to go by: "never X" and "X in tests" can both be meant.
func sameSubject(a, b map[string]bool) bool {
	if min(len(a), len(b)) < 3 {
		return maps.Equal(a, b)
	}
	return words.SameSubject(a, b)
}
