package research

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"whetstone/internal/mdblock"
	"whetstone/internal/words"
)

// Sentence is one sentence of a document.
type Sentence struct {
	Start, End int    // byte offsets in the document
	Text       string // white space folded, list markers of inner lines left out
	Quote      bool   // stands in a block quotation
	paragraph  int
	first      bool // of its paragraph
	alone      bool // the only sentence of its paragraph or list item
	listed     bool
}

// Sentences cuts the running text of a document into sentences, with their places. Headings, code, tables, link lists and
// HTML comments hold none. It works on Markdown and on plain text.
func Sentences(doc string) []Sentence {
	var out []Sentence
	var para []mdblock.Line
	n := 0
	flush := func() {
		if len(para) > 0 {
			out = append(out, paragraph(doc, para, n)...)
			n++
		}
		para = para[:0]
	}
	lines := mdblock.Scan(doc)
	for i, l := range lines {
		text := strings.TrimSpace(l.Text[min(l.Content, len(l.Text)):])
		switch {
		case l.Kind != mdblock.Text && l.Kind != mdblock.Quote, l.InCode,
			text == "", strings.HasPrefix(text, "#"), strings.HasPrefix(text, "|"), headingRule.MatchString(text),
			i+1 < len(lines) && underline.MatchString(strings.TrimSpace(lines[i+1].Text)) && strings.TrimSpace(lines[i+1].Text) != "",
			badge.MatchString(text), footnote.MatchString(text):
			flush()
			continue
		}
		if l.Marker || len(para) > 0 && para[len(para)-1].Kind != l.Kind {
			flush()
		}
		para = append(para, l)
	}
	flush()
	return out
}

var (
	headingRule = regexp.MustCompile(`^([-=*_~]\s*){3,}|^-{2,}.*-{2,}$`)
	underline   = regexp.MustCompile(`^(={3,}|-{3,})$`)
	badge       = regexp.MustCompile(`^(\[?!\[[^\]]*\]\([^)]*\)\]?(\([^)]*\))?\s*)+$`)
	footnote    = regexp.MustCompile(`^\[\^[^\]]+\]:`)
)

// paragraph cuts one paragraph.
func paragraph(doc string, lines []mdblock.Line, n int) []Sentence {
	start := lines[0].Start + min(lines[0].Content, len(lines[0].Text))
	end := lines[len(lines)-1].End
	body := doc[start:end]
	var out []Sentence
	from := 0
	cut := func(to int) {
		s := body[from:to]
		lead := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
		s = strings.TrimSpace(s)
		if lines[0].Kind == mdblock.Quote {
			t := strings.TrimLeft(s, "> \t\r\n")
			lead += len(s) - len(t)
			s = t
		}
		if s != "" {
			out = append(out, Sentence{
				Start: start + from + lead, End: start + from + lead + len(s), Text: fold(s),
				Quote: lines[0].Kind == mdblock.Quote, paragraph: n, first: len(out) == 0, listed: lines[0].Marker,
			})
		}
		from = to
	}
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRuneInString(body[i:])
		next := i + size
		switch r {
		case '。', '！', '？':
			for next < len(body) {
				r2, s2 := utf8.DecodeRuneInString(body[next:])
				if !strings.ContainsRune("。！？”’」』）", r2) {
					break
				}
				next += s2
			}
			cut(next)
		case '.', '!', '?', '…':
			for next < len(body) && strings.IndexByte(".!?", body[next]) >= 0 {
				next++
			}
			next = closers(body, next)
			if ends(body, i, next, r) {
				cut(next)
			}
		}
		i = next
	}
	cut(len(body))
	if len(out) == 1 {
		out[0].alone = true
	}
	return out
}

// closers steps over closing quotes, brackets and citation marks that belong to the sentence before them.
func closers(body string, i int) int {
	for i < len(body) {
		r, size := utf8.DecodeRuneInString(body[i:])
		if !strings.ContainsRune("\"'”’)]»*", r) {
			break
		}
		i += size
	}
	if m := citation.FindString(body[i:]); m != "" {
		i += len(m)
	}
	return i
}

var citation = regexp.MustCompile(`^(\[\^?[\w,\- ]{1,12}\])+`)

// ends decides whether a full stop at i, closed at next, ends a sentence.
func ends(body string, i, next int, r rune) bool {
	if next >= len(body) {
		return true
	}
	after, size := utf8.DecodeRuneInString(body[next:])
	if !unicode.IsSpace(after) {
		return false
	}
	rest := strings.TrimLeftFunc(body[next+size:], unicode.IsSpace)
	first, _ := utf8.DecodeRuneInString(rest)
	if r != '.' || next > i+1 && body[i+1] == '.' {
		return !unicode.IsLower(first)
	}
	word := lastWord(body[:i])
	low := strings.ToLower(word)
	if unitAbbreviation[low] {
		// "300 ms. A candidate" ends a sentence, "Ms. Okafor" does not.
		before := lastWord(strings.TrimRightFunc(body[:i-len(word)], unicode.IsSpace))
		if strings.ContainsAny(before, "0123456789") {
			return !unicode.IsLower(first)
		}
	}
	if abbreviations[low] || (utf8.RuneCountInString(word) == 1 && unicode.IsUpper([]rune(word)[0])) || initials.MatchString(word) {
		// "in the U.S. The ..." can end a sentence, "e.g. The" can not.
		return initials.MatchString(word) && unicode.IsUpper(first) && !abbreviations[low] && opener[strings.ToLower(firstWord(rest))]
	}
	if unicode.IsLower(first) {
		return false
	}
	if unicode.IsDigit(first) && (low == "no" || low == "fig" || low == "sec" || low == "eq" || low == "ch" || low == "p" || low == "pp" || low == "vol") {
		return false
	}
	return true
}

func lastWord(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == '"' || r == '“' })
	return s[i+1:]
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return strings.Trim(w, ",;:")
}

var (
	initials         = regexp.MustCompile(`^(?:[A-Za-z]\.)+[A-Za-z]$`)
	abbreviations    = words.Set(strings.Fields("e.g i.e eg ie etc cf vs al ca approx resp dr mr mrs ms prof st mt sr jr fig figs eq eqs sec ch no nos vol pp p ed eds inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec a.k.a viz dept est max min avg"))
	unitAbbreviation = words.Set(strings.Fields("ms min max sec st no p"))
	opener           = words.Set(strings.Fields("the a an this that these those it its they he she we i in on at by for from with when while if as after before since although however there here most many some each every both all no one two"))
)

// fold makes one line of a sentence.
func fold(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimSpace(s)
}

// Locate finds a quotation in a document, white space aside, and returns its place. It is how a model's quotation becomes a
// span: what is not in the document word for word is no quotation.
func Locate(doc, quote string) (start, end int, ok bool) {
	fields := strings.Fields(quote)
	if len(fields) == 0 {
		return 0, 0, false
	}
	for from := 0; from < len(doc); {
		i := strings.Index(doc[from:], fields[0])
		if i < 0 {
			return 0, 0, false
		}
		start = from + i
		pos := start + len(fields[0])
		matched := true
		for _, f := range fields[1:] {
			gap := len(doc[pos:]) - len(strings.TrimLeftFunc(doc[pos:], unicode.IsSpace))
			if gap == 0 || !strings.HasPrefix(doc[pos+gap:], f) {
				matched = false
				break
			}
			pos += gap + len(f)
		}
		if matched {
			return start, pos, true
		}
		from = start + 1
	}
	return 0, 0, false
}
