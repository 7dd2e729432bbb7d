package fakesource

// The query language of the arXiv API, https://info.arxiv.org/help/api/user-manual.html#query_details, as of 2026-11:
// prefixed words and "phrases", AND, OR, ANDNOT, brackets, and submittedDate:[YYYYMMDDTTTT TO YYYYMMDDTTTT]. Words that
// only stand side by side are joined by OR, and a word without a known prefix gets "all:", prefix and all; the feed's
// title shows the query as it was understood.

import (
	"slices"
	"strings"
	"unicode"
)

// arxivNode is a query: a leaf has a field, a branch an operator. nil matches everything.
type arxivNode struct {
	op          string
	left, right *arxivNode

	field, value string
	quoted       bool
}

var arxivFields = []string{"ti", "au", "abs", "co", "jr", "cat", "rn", "id", "all", "submittedDate"}

type arxivParser struct {
	words []string
}

func parseArxiv(query string) *arxivNode {
	p := &arxivParser{lexArxiv(query)}
	return p.or()
}

// lexArxiv splits a query into brackets and words. Quotes and square brackets hold a word together.
func lexArxiv(query string) []string {
	var words []string
	var b strings.Builder
	closing := rune(0)
	flush := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	for _, r := range query {
		switch {
		case closing != 0:
			b.WriteRune(r)
			if r == closing {
				closing = 0
			}
		case r == '"' || r == '[':
			b.WriteRune(r)
			closing = map[rune]rune{'"': '"', '[': ']'}[r]
		case r == '(' || r == ')':
			flush()
			words = append(words, string(r))
		case unicode.IsSpace(r):
			flush()
		default:
			b.WriteRune(r)
		}
	}
	flush()
	return words
}

func (p *arxivParser) peek() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0]
}

func (p *arxivParser) next() string {
	w := p.peek()
	if w != "" {
		p.words = p.words[1:]
	}
	return w
}

func (p *arxivParser) or() *arxivNode {
	left := p.and()
	for p.peek() != "" && p.peek() != ")" {
		if p.peek() == "OR" {
			p.next()
		}
		left = join("OR", left, p.and())
	}
	return left
}

func (p *arxivParser) and() *arxivNode {
	left := p.leaf()
	for p.peek() == "AND" || p.peek() == "ANDNOT" {
		op := p.next()
		left = join(op, left, p.leaf())
	}
	return left
}

func (p *arxivParser) leaf() *arxivNode {
	switch w := p.next(); w {
	case "", ")", "AND", "OR", "ANDNOT": // an operator without operands means nothing
		return nil
	case "(":
		n := p.or()
		if p.peek() == ")" {
			p.next()
		}
		return n
	default:
		n := &arxivNode{field: "all", value: w}
		if prefix, value, ok := strings.Cut(w, ":"); ok && value != "" && slices.Contains(arxivFields, prefix) {
			n.field, n.value = prefix, value
		}
		if v := strings.Trim(n.value, `"`); v != n.value {
			n.value, n.quoted = v, true
		}
		return n
	}
}

func join(op string, left, right *arxivNode) *arxivNode {
	if left == nil {
		return right
	}
	if right == nil {
		return left
	}
	return &arxivNode{op: op, left: left, right: right}
}

// String is the query as it was understood.
func (n *arxivNode) String() string {
	switch {
	case n == nil:
		return ""
	case n.op != "":
		return n.left.operand() + " " + n.op + " " + n.right.operand()
	case n.quoted:
		return n.field + `:"` + n.value + `"`
	default:
		return n.field + ":" + n.value
	}
}

func (n *arxivNode) operand() string {
	if n != nil && n.op == "OR" {
		return "(" + n.String() + ")"
	}
	return n.String()
}

func (n *arxivNode) match(d Document) (points float64, ok bool) {
	switch {
	case n == nil:
		return 0, true
	case n.op == "":
		return n.found(d)
	}
	left, inLeft := n.left.match(d)
	right, inRight := n.right.match(d)
	switch n.op {
	case "AND":
		return left + right, inLeft && inRight
	case "ANDNOT":
		return left, inLeft && !inRight
	default:
		return left + right, inLeft || inRight
	}
}

func (n *arxivNode) found(d Document) (float64, bool) {
	var in []field
	switch n.field {
	case "submittedDate":
		from, to, _ := strings.Cut(strings.Trim(n.value, "[]"), " TO ")
		at := d.published().Format("200601021504")
		return 0, from <= at && at <= to
	case "cat":
		return 0, slices.ContainsFunc(d.Categories, func(c string) bool {
			area, all := strings.CutSuffix(n.value, "*")
			return strings.EqualFold(c, n.value) || all && strings.HasPrefix(strings.ToLower(c), strings.ToLower(area))
		})
	case "id":
		id, version := d.version()
		return 0, n.value == id || n.value == id+"v"+version
	case "ti":
		in = []field{{d.Title, 4}}
	case "au":
		in = []field{{strings.ReplaceAll(strings.Join(d.Authors, " | "), ".", ""), 1}}
	case "abs":
		in = []field{{d.Abstract, 2}}
	case "co":
		in = []field{{d.Comment, 1}}
	case "jr":
		in = []field{{d.Journal, 1}}
	case "all":
		in = []field{{d.Title, 4}, {d.Abstract, 2}, {strings.Join(d.Authors, " | "), 1}, {d.Comment + " " + d.Journal, 1}}
	}
	// A word with punctuation inside, like pre-vote or an author's del_maestro, is a phrase too.
	words := tokens(n.value)
	points := 0.0
	for _, f := range in {
		if phrase(f.text, words) {
			points += f.weight
		}
	}
	return points, points > 0
}

// phrase reports whether words stand in a text one after another.
func phrase(text string, words []token) bool {
	all := tokens(text)
	for i := 0; i+len(words) <= len(all) && len(words) > 0; i++ {
		if slices.EqualFunc(all[i:i+len(words)], words, func(have, want token) bool {
			return have.text == want.text || want.han && strings.Contains(have.text, want.text)
		}) {
			return true
		}
	}
	return false
}
