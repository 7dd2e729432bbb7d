package rulepatch

import (
	"regexp"
	"strings"
	"unicode"

	"whetstone/internal/mdblock"
	"whetstone/skill"
)

type line struct {
	raw      string // as it stands, without its ending
	prefix   string // indentation and list marker
	marker   string // the list marker with its space, "" outside lists
	number   bool   // the marker is a number
	text     string // what follows the prefix
	grams    map[string]bool
	forbids  bool
	editable bool // prose outside code, headings, tables and kept regions
	single   bool // a whole list item or paragraph on one line
}

type section struct {
	title  map[string]bool
	grams  map[string]bool
	list   int // the last list item's line, -1 without a list
	anchor int // the line below which to add, -1 for none
}

type document struct {
	body     string
	lines    []line
	sections []section
}

// parse reads the body's lines and sections. Line endings are unified: anchors are written with "\n".
func parse(body string) *document {
	d := &document{body: strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")}
	scanned := mdblock.Scan(d.body)
	regions := skill.Regions(d.body)
	kept := func(l mdblock.Line) bool {
		for _, r := range regions {
			if l.Start < r.End && l.End > r.Start {
				return true
			}
		}
		return false
	}
	cur := section{list: -1, anchor: -1}
	flush := func() {
		cur.finish(d)
		d.sections = append(d.sections, cur)
	}
	start := 0
	for i, l := range scanned {
		x := line{raw: l.Text, prefix: l.Text[:l.Content], text: l.Text[l.Content:]}
		if l.Marker {
			x.marker = strings.TrimLeft(x.prefix, " \t")
			if x.marker == "" || !strings.HasSuffix(x.marker, " ") {
				x.marker += " "
			}
			x.number = strings.ContainsAny(x.marker, "0123456789")
			for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
				if rest, ok := strings.CutPrefix(x.text, box); ok {
					x.prefix, x.text = x.prefix+box, rest // a checkbox belongs to the item, not to its text
				}
			}
		}
		heading := l.Kind == mdblock.Text && !l.Marker && strings.HasPrefix(x.text, "#")
		if heading {
			if i > start || len(d.sections) > 0 {
				cur.scan(d, start, i)
				flush()
			}
			cur = section{title: shingles(strings.Trim(x.text, "# ")), list: -1, anchor: -1}
			start = i + 1
		}
		x.editable = l.Kind == mdblock.Text && !heading && !kept(l) && !strings.HasPrefix(x.text, "|") && strings.TrimSpace(x.text) != ""
		if x.editable {
			x.grams, x.forbids = shingles(x.text), forbids(x.text)
			next := i+1 == len(scanned) || scanned[i+1].Kind != mdblock.Text || scanned[i+1].Marker
			prev := l.Marker || i == 0 || scanned[i-1].Kind != mdblock.Text
			x.single = next && prev
		}
		d.lines = append(d.lines, x)
	}
	cur.scan(d, start, len(scanned))
	flush()
	return d
}

// scan notes where the section's lines are and finds its last list item and the line to add below.
func (s *section) scan(d *document, from, to int) {
	s.grams = map[string]bool{}
	lastProse, item := -1, -1
	for i := from; i < to; i++ {
		l := &d.lines[i]
		if !l.editable {
			continue
		}
		for g := range l.grams {
			s.grams[g] = true
		}
		lastProse = i
		switch {
		case l.number:
			// Steps of a procedure: a rule is no step, so it goes below them as a list of its own.
			s.list, item = -1, -1
		case l.marker != "" && strings.TrimLeft(l.prefix, " \t") == l.prefix:
			s.list, item = i, i
		case item >= 0 && l.marker == "" && i == item+1:
			item = i // the item goes on: add below its last line
		}
	}
	s.anchor = lastProse
	if s.list >= 0 {
		s.anchor = item
	}
}

// finish forgets an anchor in the middle of a paragraph: below it, a list would cut the paragraph in two.
func (s *section) finish(d *document) {
	if s.list >= 0 || s.anchor < 0 {
		return
	}
	if s.anchor+1 < len(d.lines) {
		if next := d.lines[s.anchor+1]; next.editable && next.marker == "" {
			s.anchor = -1
		}
	}
}

// shingles are the character trigrams of words, padded, and the character pairs of scripts without spaces.
func shingles(s string) map[string]bool {
	out := map[string]bool{}
	var word, wide []rune
	flush := func() {
		if len(word) > 1 && !filler[string(word)] {
			padded := append(append([]rune{'_'}, word...), '_')
			for i := 0; i+2 < len(padded); i++ {
				out[string(padded[i:i+3])] = true
			}
		}
		word = word[:0]
		for i := 0; i+1 < len(wide); i++ {
			out[string(wide[i:i+2])] = true
		}
		wide = wide[:0]
	}
	for _, r := range strings.ToLower(s) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			if len(word) > 0 {
				flush()
			}
			wide = append(wide, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if len(wide) > 0 {
				flush()
			}
			word = append(word, r)
		default:
			flush()
		}
	}
	flush()
	return out
}

// within is the share of a that b has too.
func within(a, b map[string]bool) float64 {
	if len(a) == 0 {
		return 0
	}
	n := 0
	for g := range a {
		if b[g] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

var filler = map[string]bool{"the": true, "and": true, "for": true, "that": true, "with": true, "a": true, "an": true, "to": true, "of": true, "in": true, "is": true, "it": true, "on": true, "be": true, "so": true}

// prohibition opens or carries a piece of advice that forbids.
var prohibition = regexp.MustCompile(`(?i)(?:^|[\s,;:(])(?:do(?:es)?n['’]?t|do not|don['’]t|never|must not|mustn['’]t|should not|shouldn['’]t|can ?not|can['’]t|avoid|no longer|no|not|stop|without|instead of)(?:[\s,.;:]|$)|\b(?:nie|niemals|nicht|kein|keine|keinen)\b|ない|ません|不要|不能|不得|不可|不应|不准|不许|禁止|避免|切勿|严禁|别|勿|不再|不用|不允许|而不是`)

// forbids reports whether the text, as a whole, tells what not to do: an odd number of prohibitions.
func forbids(s string) bool { return len(prohibition.FindAllString(s, -1))%2 == 1 }
