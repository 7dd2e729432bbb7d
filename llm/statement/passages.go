package statement

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// passage is a bullet, a paragraph or a table row, cut into sentences.
type passage struct {
	sentences []string
	negated   bool // a heading or lead-in such as "Never:" reverses it
	topic     []token
	when      string // a heading such as "Before the release"
	code      string // the code block that a lead-in ending in a colon introduces
}

// windows are the stretches of a passage that count as "one place": each sentence, neighbouring pairs, and a short
// passage as a whole.
func (p passage) windows() []*advice {
	var out []*advice
	for _, s := range p.sentences {
		out = append(out, read(s, p.negated))
	}
	n := len(p.sentences)
	for i := 0; i+1 < n; i++ {
		if !out[i].only && !out[i+1].only { // what a sentence narrows, the next one does not share
			out = append(out, join(out[i], out[i+1]))
		}
	}
	if n >= 3 && n <= 5 {
		whole := out[0]
		for _, a := range out[1:n] {
			whole = join(whole, a)
		}
		whole.wide = true
		out = append(out, whole)
	}
	if p.code != "" && n > 0 {
		lead := out[n-1]
		shown, _ := lex(normal(p.code))
		for i := range shown {
			shown[i].plus, shown[i].minus = !lead.negative(), lead.negative()
		}
		out = append(out, &advice{text: lead.text, tokens: append(lead.tokens[:len(lead.tokens):len(lead.tokens)], shown...), lead: lead})
	}
	for _, a := range out {
		a.tokens = append(a.tokens[:len(a.tokens):len(a.tokens)], p.topic...)
		if p.when != "" {
			a.orders = append(a.orders, ordersOf(normal(a.text)+p.when, a.negative())...)
		}
	}
	return out
}

// negative reports whether most of the sentence forbids.
func (e *advice) negative() bool {
	n := 0
	for _, t := range e.tokens {
		switch {
		case t.minus && !t.plus:
			n++
		case t.plus && !t.minus:
			n--
		}
	}
	return n > 0
}

func join(a, b *advice) *advice {
	return &advice{
		text:     a.text + " " + b.text,
		tokens:   append(append([]token{}, a.tokens...), b.tokens...),
		orders:   append(append([]order{}, a.orders...), b.orders...),
		question: a.question || b.question,
	}
}

// passages cuts Markdown into passages, leaving out code blocks, comments and frontmatter-like rules, and carries the
// polarity of headings and lead-ins to the lists below them.
func passages(body string) []passage {
	var (
		out     []passage
		cur     []string
		fence   string
		comment bool
		heading bool // polarity of the heading above
		leadIn  bool // polarity of the paragraph that ends in a colon
		inList  bool
		blank   = true
		topics  [7][]token // the headings' words by level: what a section is about takes no side
		topic   []token
		when    string
		code    *passage
	)
	flush := func() {
		if len(cur) == 0 {
			return
		}
		text := strings.Join(cur, " ")
		// "测试" + "覆盖" wrapped over two lines is one run of text.
		text = joinCJK(text)
		cur = cur[:0]
		neg := heading != (inList && leadIn)
		if !inList {
			leadIn = opensNegatedList(text)
			neg = heading
		}
		out = append(out, passage{sentences: sentences(text), negated: neg, topic: topic, when: when})
	}
	for _, raw := range strings.Split(strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n"), "\n") {
		line := strings.TrimSpace(raw)
		if fence != "" {
			switch {
			case strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "":
				fence, code = "", nil
			case code != nil && !commentLine(line):
				code.code += line + " "
			}
			continue
		}
		if comment {
			comment = !strings.Contains(line, "-->")
			continue
		}
		switch {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			flush()
			code = nil
			if n := len(out); n > 0 && introduces(out[n-1]) {
				code = &out[n-1]
			}
			fence = line[:3]
			for len(fence) < len(line) && line[len(fence)] == fence[0] {
				fence = line[:len(fence)+1]
			}
		case strings.HasPrefix(line, "<!--"):
			flush()
			comment = !strings.Contains(line, "-->")
		case line == "":
			flush()
			blank = true
			continue
		case strings.HasPrefix(line, "#"):
			flush()
			title := strings.TrimSpace(strings.Trim(line, "# "))
			heading, leadIn, inList = negativeHeading(title), false, false
			level := min(len(line)-len(strings.TrimLeft(line, "#")), 6)
			topics[level], _ = lex(normal(title))
			for i := range topics[level] {
				topics[level][i].plus, topics[level][i].minus = true, true
			}
			for i := level + 1; i < len(topics); i++ {
				topics[i] = nil
			}
			topic = slices.Concat(topics[:]...)
			when = ""
			low := strings.ToLower(title)
			switch {
			case strings.HasPrefix(low, "before ") || strings.HasPrefix(low, "after "):
				when = " " + low
			case strings.HasSuffix(low, "之前"):
				when = " before " + strings.TrimSuffix(low, "之前")
			case strings.HasSuffix(low, "之后"):
				when = " after " + strings.TrimSuffix(low, "之后")
			}
		case blank && len(cur) == 0 && !inList && (strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t")):
			continue // indented code
		default:
			if rest, ok := bullet(line); ok {
				flush()
				inList = true
				cur = append(cur, rest)
			} else {
				if strings.HasPrefix(line, "|") {
					flush()
					line = strings.ReplaceAll(strings.Trim(line, "| "), "|", " — ")
				} else if len(cur) == 0 && raw != "" && raw[0] != ' ' && raw[0] != '\t' {
					if inList {
						leadIn = false
					}
					inList = false
				}
				cur = append(cur, strings.TrimPrefix(line, "> "))
			}
		}
		blank = false
	}
	flush()
	return out
}

// introduces reports whether a passage breaks off, with a colon or without, so that the code below it completes it.
func introduces(p passage) bool {
	if len(p.sentences) == 0 {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(p.sentences[len(p.sentences)-1])
	return !strings.ContainsRune(".!?;。！？；", last)
}

func commentLine(s string) bool {
	for _, p := range []string{"#", "//", "--", "/*", "*", ";", "<!--"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// joinCJK removes the spaces that wrapping put between two Chinese characters.
func joinCJK(s string) string {
	rs := []rune(s)
	out := make([]rune, 0, len(rs))
	for i, r := range rs {
		if r == ' ' && i > 0 && i+1 < len(rs) && isHan(rs[i-1]) && isHan(rs[i+1]) {
			continue
		}
		out = append(out, r)
	}
	return string(out)
}

func bullet(line string) (string, bool) {
	for _, m := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, m); ok {
			rest = strings.TrimSpace(rest)
			for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
				rest = strings.TrimPrefix(rest, box)
			}
			return rest, true
		}
	}
	i := 0
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i > 0 && i+1 < len(line) && (line[i] == '.' || line[i] == ')') && line[i+1] == ' ' {
		return strings.TrimSpace(line[i+2:]), true
	}
	if r := []rune(line); len(r) > 2 && r[1] == '、' && strings.ContainsRune("一二三四五六七八九十", r[0]) {
		return strings.TrimSpace(string(r[2:])), true
	}
	return "", false
}

// sentences cuts a passage at sentence ends. A full stop inside an identifier or number is none.
func sentences(text string) []string {
	var out []string
	rs := []rune(text)
	start := 0
	inCode := false
	for i, r := range rs {
		if r == '`' {
			inCode = !inCode
		}
		if inCode {
			continue
		}
		end := false
		switch r {
		case '。', '！', '？', '；', '!', ';':
			end = true
		case '.', '?':
			end = i+1 == len(rs) || rs[i+1] == ' ' || isHan(rs[i+1]) || rs[i+1] == '"' || rs[i+1] == ')'
			if r == '.' && end && abbreviation(string(rs[start:i+1])) {
				end = false
			}
		}
		if end {
			if s := strings.TrimSpace(string(rs[start : i+1])); s != "" {
				out = append(out, s)
			}
			start = i + 1
		}
	}
	if s := strings.TrimSpace(string(rs[start:])); s != "" {
		out = append(out, s)
	}
	return out
}

func abbreviation(s string) bool {
	for _, a := range []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx."} {
		if strings.HasSuffix(strings.ToLower(s), a) {
			return true
		}
	}
	return false
}
