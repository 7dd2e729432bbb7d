package learning

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"whetstone/internal/late"
	"whetstone/internal/mdblock"
)

// Block is one [LEARN] block of a reply.
type Block struct {
	Category   string `json:"category"`
	Rule       string `json:"rule"`
	Mistake    string `json:"mistake,omitempty"`
	Correction string `json:"correction,omitempty"`
	Skill      string `json:"skill,omitempty"`
	Wiki       string `json:"wiki,omitempty"`
}

// Mark opens a block. Its case matters: "[learn]" in prose is prose.
const Mark = "[LEARN]"

// ParseReply finds the [LEARN] blocks of an agent's reply. It is a line-state parser over Markdown blocks: nothing in
// code, comments or quotations counts, a head is "[LEARN] category: rule" on a line of its own (perhaps as a list item,
// a heading or in bold), fields follow in any order, an indented line continues the rule or field above it, and any
// other prose ends the block. Of a repeated field the first wins; the same rule twice is one block.
func ParseReply(reply string) []Block {
	p := parser{seen: map[string]bool{}}
	for _, l := range mdblock.Scan(strings.TrimPrefix(reply, "\ufeff")) {
		p.line(l)
	}
	p.finish()
	return p.out
}

type parser struct {
	out  []Block
	seen map[string]bool

	block *Block
	field *string // what a continuation line extends; nil after a blank line
	have  map[string]bool
	col   int  // column of the content of the line that set field
	base  int  // column of the head's content
	bold  bool // the head is bold, and that is not closed yet
}

func (p *parser) line(l mdblock.Line) {
	switch l.Kind {
	case mdblock.Blank:
		p.field = nil
		return
	case mdblock.IndentedCode:
		// Under an open block an indented line is a continuation or an indented field, not code.
		if p.block == nil || (p.field == nil && !isFieldLine(l.Text[l.Content:])) {
			p.finish()
			return
		}
	case mdblock.Text:
	default:
		p.finish()
		return
	}
	content := l.Text[l.Content:]
	col := l.Container + l.Indent
	if category, rule, ok := parseHead(content, l); ok {
		p.finish()
		if category != "" && rule != "" && !isPlaceholder(category, rule) {
			p.block = &Block{Category: category, Rule: rule}
			p.field, p.have, p.col, p.base = &p.block.Rule, map[string]bool{}, col, col
			p.bold = strings.HasPrefix(cleanInline(content), "**"+Mark)
		}
		return
	}
	if p.block == nil {
		return
	}
	if name, value, ok := parseField(content); ok {
		p.setField(name, value, col)
		return
	}
	if p.field != nil && !l.Marker && col > p.base {
		text := cleanInline(content)
		if rest, closed := strings.CutSuffix(text, "**"); closed && p.bold && p.field == &p.block.Rule {
			text, p.bold = strings.TrimSpace(rest), false
		}
		if text != "" {
			if *p.field != "" {
				*p.field += " "
			}
			*p.field += text
		}
		return
	}
	p.finish()
}

func (p *parser) setField(name, value string, col int) {
	var discard string
	target := &discard
	if !p.have[name] {
		p.have[name] = true
		switch name {
		case "mistake":
			target = &p.block.Mistake
		case "correction":
			target = &p.block.Correction
		case "skill":
			target = &p.block.Skill
		case "wiki":
			target = &p.block.Wiki
		}
	}
	*target, p.field, p.col = value, target, col
}

func (p *parser) finish() {
	b := p.block
	p.block, p.field = nil, nil
	if b == nil {
		return
	}
	if isPlaceholder(b.Category, b.Rule) {
		return
	}
	key := NormaliseRule(b.Rule)
	if p.seen[key] {
		return
	}
	p.seen[key] = true
	p.out = append(p.out, *b)
}

// parseHead reads "[LEARN] category: rule". ok is true for every line that carries the mark where a head stands, also
// when category or rule turn out empty: such a line ends the block before it.
func parseHead(content string, l mdblock.Line) (category, rule string, ok bool) {
	if l.Kind == mdblock.IndentedCode || l.Indent > 3 || l.InCode || !strings.Contains(content, Mark) {
		return "", "", false
	}
	s := cleanInline(content)
	if h := strings.TrimLeft(s, "#"); len(h) < len(s) && len(s)-len(h) <= 6 && (h == "" || h[0] == ' ' || h[0] == '\t') {
		s = cleanInline(h)
	}
	// Bold that is closed on a continuation line.
	rest, found := strings.CutPrefix(strings.TrimPrefix(s, "**"), Mark)
	if !found {
		return "", "", false
	}
	i, w := headColon(rest)
	if i < 0 {
		return "", "", true
	}
	return strings.TrimSpace(rest[:i]), strings.TrimSpace(rest[i+w:]), true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// opaque are schemes of addresses that have no "//".
var opaque = map[string]bool{"mailto": true, "tel": true, "sms": true, "data": true, "urn": true, "javascript": true, "magnet": true, "xmpp": true, "geo": true}

// sentence reports whether what stands before the colon is prose that begins with the mark, and no category.
func sentence(s string) bool { return strings.Contains(s, ", ") || len(strings.Fields(s)) > 6 }

// headColon finds the colon between category and rule: the first ASCII colon that white space or the end follows, or
// the first full-width one. A colon glued to "//" belongs to a URL, so the line has no category.
func headColon(s string) (int, int) {
	for i, r := range s {
		switch r {
		case '：':
			return i, utf8.RuneLen(r)
		case ':':
			rest := s[i+1:]
			if strings.HasSuffix(s[:i], "[redacted") {
				continue // the mark of a redaction is no category's end
			}
			if strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, `\`) || i > 0 && rest != "" && isDigit(s[i-1]) && isDigit(rest[0]) {
				return -1, 0 // an address, a path of Windows, a time
			}
			if strings.HasPrefix(rest, ":") || (i > 0 && s[i-1] == ':') {
				continue // C++ scopes such as std::move
			}
			if opaque[strings.ToLower(strings.TrimSpace(s[:i]))] && rest != "" && !unicode.IsSpace(rune(rest[0])) || sentence(s[:i]) {
				return -1, 0
			}
			return i, 1
		}
	}
	return -1, 0
}

var fieldRE = late.Regexp(`(?i)^(mistake|correction|skill|wiki)[ \t]*[:：][ \t]*(.*)$`)

func parseField(content string) (name, value string, ok bool) {
	m := fieldRE().FindStringSubmatch(cleanInline(content))
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), strings.TrimSpace(m[2]), true
}

func isFieldLine(content string) bool {
	_, _, ok := parseField(content)
	return ok
}

// cleanInline strips paired bold marks outside code spans, and outer white space; all other text stays as written. As in
// CommonMark, a mark that opens is followed by text and one that closes follows text, so "**kwargs" and "2 ** 3" stay;
// underscores inside or around a word, such as __init__, are no bold mark unless they enclose a label or a whole line.
func cleanInline(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"**", "__"} {
		for from := 0; ; {
			open, end := boldPair(s, mark, from)
			if open < 0 {
				break
			}
			s = strings.TrimSpace(s[:open] + s[open+2:end] + s[end+2:])
			from = max(end-2, 0)
			if from > len(s) {
				break
			}
		}
	}
	return s
}

// boldPair returns where the next pair of bold marks at or after from opens and closes, or -1.
func boldPair(s, mark string, from int) (open, end int) {
	spans := mdblock.CodeSpans(s)
	inCode := func(i int) bool {
		for _, c := range spans {
			if i >= c[0] && i < c[1] {
				return true
			}
		}
		return false
	}
	open = -1
	for i := from; i+2 <= len(s); i++ {
		if s[i:i+2] != mark || inCode(i) {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+2:])
		textBefore := i > 0 && !unicode.IsSpace(before)
		textAfter := i+2 < len(s) && !unicode.IsSpace(after)
		switch {
		case open < 0 && textAfter && (mark == "**" || !isWord(before)):
			open = i
		case open >= 0 && textBefore && i > open+2 && (mark == "**" || labelled(s, open, i)):
			if mark == "**" && (s[open+2] == '/' || s[i-1] == '/') {
				open = -1 // a pattern of paths, such as **/vendor/**
				break
			}
			return open, i
		}
		i++
	}
	return -1, -1
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// labelled reports whether the underscores at open and end enclose a label ("__Mistake:__", "__Mistake__:") or the whole
// line.
func labelled(s string, open, end int) bool {
	inner, rest := s[open+2:end], s[end+2:]
	colon := strings.HasSuffix(inner, ":") || strings.HasSuffix(inner, "：") || strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "：")
	return open == 0 && (colon || rest == "" || strings.HasPrefix(inner, Mark))
}

var placeholderWords = map[string]bool{
	"category": true, "rule": true, "one-line rule": true, "one line rule": true, "your rule": true, "the rule": true,
	"rule text": true, "your category": true, "topic": true, "one-line rule here": true, "rule here": true,
}

// isPlaceholder reports whether a head is the format's own description instead of a learning.
func isPlaceholder(category, rule string) bool {
	c, r := NormaliseRule(category), NormaliseRule(rule)
	if onlyPunct(r) || onlyPunct(c) {
		return true
	}
	if squared(category) && squared(rule) {
		return true
	}
	if angled(category) || angled(rule) || braced(category) || braced(rule) {
		return true
	}
	return placeholderWords[r] || (c == "category" && strings.Contains(r, "rule"))
}

func onlyPunct(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0
}

func angled(s string) bool  { return enclosed(s, "<", ">") }
func squared(s string) bool { return enclosed(s, "[", "]") }

func braced(s string) bool { return enclosed(s, "{", "}") }

func enclosed(s, open, end string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, open) && strings.HasSuffix(s, end) && strings.Count(s, open) == 1
}
