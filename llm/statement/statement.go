// Package statement is the offline judge: it decides whether a text states an expected behaviour. It measures statement
// coverage, not what an agent would do: the stems of the expectation must occur together in one passage, under the same
// polarity. "Do not mock" and "mock" differ; "never run DDL without a lock timeout" is advice to set one. It reads
// English and Chinese, knows no synonyms, calls nothing, and always answers. It shares no code and no word list with the
// reflector that proposes patches, so that the two cannot agree by construction.
package statement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Verdict is the judge's word with its evidence.
type Verdict struct {
	Stated   bool
	Coverage float64 // weight of the expectation's tokens found in the best passage, 0 to 1
	Passage  string  // the passage that decided
	Why      string
}

// Thresholds, tuned on llm/testdata/judge/pairs.jsonl only.
const (
	minCoverage    = 0.70
	minCoverageHan = 0.76
	minWide        = 0.88 // over a whole paragraph
	minLead        = 0.30 // by the sentence that introduces a code block, before what the code shows counts
	maxOpposed     = 0.30
	// A word that was replaced by another one counts this many times more against the passage than one left out.
	replacedPenalty = 2.0
)

// Text is a body that was read once, for judging many expectations.
type Text struct{ windows []*window }

// window is a stretch of text with its tokens by stem.
type window struct {
	*advice
	have map[string]*token
	lead *window
}

// Read prepares a body.
func Read(body string) *Text {
	t := &Text{}
	for _, p := range passages(body) {
		for _, a := range p.windows() {
			t.windows = append(t.windows, index(a))
		}
	}
	return t
}

// index folds a window's tokens by stem: one that stands there under both polarities has both.
func index(a *advice) *window {
	w := &window{advice: a, have: make(map[string]*token, len(a.tokens))}
	for i := range a.tokens {
		t := &a.tokens[i]
		if h, ok := w.have[t.stem]; ok {
			h.plus, h.minus = h.plus || t.plus, h.minus || t.minus
			continue
		}
		c := *t
		w.have[t.stem] = &c
	}
	if a.lead != nil {
		w.lead = index(a.lead)
	}
	return w
}

// Judge decides whether body states expected.
func Judge(body, expected string) Verdict { return Read(body).Judge(expected) }

// Judge decides whether the text states expected.
func (t *Text) Judge(expected string) Verdict {
	v := t.find(expectation(expected))
	if v.Stated {
		return v
	}
	// Advice of several parts may be spread over neighbouring passages, each part stated in one of them.
	parts := split(expected)
	if len(parts) < 2 || v.Coverage >= minCoverage {
		return v // one place speaks of all of it, and was refused for what it says
	}
	for _, part := range parts {
		if p := t.find(part); !p.Stated {
			return v
		}
	}
	return Verdict{Stated: true, Coverage: 1, Why: fmt.Sprintf("stated in %d parts", len(parts))}
}

// split cuts an expectation of several pieces of advice. It returns nil unless every piece has enough words to be looked
// for by itself.
func split(expected string) []*advice {
	var out []*advice
	for _, s := range partRE.Split(expected, -1) {
		if strings.TrimSpace(s) == "" {
			continue
		}
		a := expectation(s)
		strong := 0
		for _, t := range a.tokens {
			if !t.light && !(isHanStem(t.stem) && len([]rune(t.stem)) == 1) {
				strong++
			}
		}
		if strong < 2 {
			return nil
		}
		out = append(out, a)
	}
	return out
}

var partRE = regexp.MustCompile(`[;；。]|\.\s|,?\s+(?:and then|then|and)\s+|,\s+|，(?:再|然后|并)?`)

// find looks for the window that states the advice.
func (t *Text) find(want *advice) Verdict {
	best := Verdict{Why: "no passage speaks of it"}
	if len(want.tokens) == 0 {
		best.Why = "the expectation has no words to look for"
		return best
	}
	for _, w := range t.windows {
		v := want.match(w)
		if v.Stated {
			return v
		}
		if v.Coverage > best.Coverage {
			best = v
		}
	}
	return best
}

// match compares one window of a passage with the expectation.
func (e *advice) match(w *window) Verdict {
	v := Verdict{Passage: w.text}
	have := w.have
	var total, found, opposed, decided float64
	for i, t := range e.tokens {
		total += t.weight
		h, ok := have[t.stem]
		if !ok {
			if t.required {
				v.Why = fmt.Sprintf("the closest passage lacks %q", t.stem)
				v.Coverage = found / (total + 1)
				return v
			}
			if opposite := antonyms[t.stem]; opposite != "" && have[opposite] != nil {
				v.Why = fmt.Sprintf("the closest passage says %q, not %q", opposite, t.stem)
				v.Coverage = found / (total + 1)
				return v
			}
			if e.replaced(i, w) {
				total += replacedPenalty * t.weight
			}
			continue
		}
		found += t.weight
		if t.light {
			continue
		}
		if (t.plus && t.minus) || (h.plus && h.minus) {
			continue // shared by two opposed clauses, or a mere condition: it takes no side
		}
		decided += t.weight
		if t.plus != h.plus {
			opposed += t.weight
		}
	}
	v.Coverage = found / total
	if w.lead != nil && e.match(w.lead).Coverage < minLead {
		v.Coverage, v.Why = 0, "it occurs in code only"
		return v
	}
	switch {
	case v.Coverage < e.threshold() || (w.wide && v.Coverage < minWide):
		v.Why = fmt.Sprintf("the closest passage covers %.0f %% of it", 100*v.Coverage)
	case decided > 0 && opposed/decided > maxOpposed:
		v.Why = "the closest passage says the opposite"
	case w.only && !e.only && e.every && !w.every:
		v.Why = "the closest passage says it of a part only"
	case w.question:
		v.Why = "the closest passage asks instead of stating"
	case e.reversedIn(w):
		v.Why = "the closest passage has it in the other order"
	default:
		v.Stated = true
		v.Why = fmt.Sprintf("stated: %.0f %% of it in one passage", 100*v.Coverage)
	}
	return v
}

// threshold is the coverage that counts. A Chinese character says less than a stem, so more of them must be there.
func (e *advice) threshold() float64 {
	var all, wide float64
	for _, t := range e.tokens {
		all += t.weight
		if isHanStem(t.stem) {
			wide += t.weight
		}
	}
	if wide > all/2 {
		return minCoverageHan
	}
	return minCoverage
}

// replaced reports whether the window has another word in the place of the expectation's token i: before the same
// following word, "handlers in the payments service" for "handlers in the admin service". What was replaced weighs more
// than what was merely left out.
func (e *advice) replaced(i int, w *window) bool {
	if e.tokens[i].light || i+1 >= len(e.tokens) || isHanStem(e.tokens[i].stem) {
		return false
	}
	next := e.tokens[i+1].stem
	if _, ok := w.have[next]; !ok {
		return false
	}
	for j := 1; j < len(w.tokens); j++ {
		before := w.tokens[j-1]
		if w.tokens[j].stem != next || before.light || before.part || isHanStem(before.stem) {
			continue
		}
		asked := false
		for _, t := range e.tokens {
			asked = asked || t.stem == before.stem
		}
		if !asked {
			return true
		}
	}
	return false
}

// reversedIn reports whether expectation and window order the same things the other way round: "A before B" against
// "B before A", or prefer A over B against prefer B over A.
func (e *advice) reversedIn(w *window) bool {
	for _, want := range e.orders {
		for _, have := range w.orders {
			straight := shared(want.first, have.first) + shared(want.then, have.then)
			crossed := shared(want.first, have.then) + shared(want.then, have.first)
			if crossed > straight {
				return true
			}
		}
	}
	return false
}

func shared(a, b map[string]bool) int {
	n := 0
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n
}

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
