package statement

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// token is one stem with the polarity of the advice it stands in. Both are set for a verb that two opposed clauses
// share: "mock the clock, not the database".
type token struct {
	stem        string
	weight      float64
	light       bool // says little by itself: run, use, set
	part        bool // a part of an identifier: found, never asked for
	required    bool // a number or a code identifier: without it the statement is another one
	plus, minus bool
}

// order says that one thing comes before another.
type order struct{ first, then map[string]bool }

// advice is a read sentence.
type advice struct {
	text     string
	tokens   []token
	orders   []order
	question bool
	only     bool    // it narrows itself: "for admin endpoints only"
	every    bool    // it claims all
	lead     *advice // the sentence that introduces the code whose words are counted in
	wide     bool    // a whole paragraph, not one place in it
}

// expectation reads what is expected. Reasons and reports that follow the advice ("so that ...", "last time ...") weigh
// nothing: a skill states the advice, not the incident.
func expectation(s string) *advice {
	out := &advice{text: s}
	for i, sentence := range sentences(joinCJK(strings.Join(strings.Fields(s), " "))) {
		a := readClauses(sentence, false, true)
		if i > 0 && len(out.tokens) > 0 && report(sentence) {
			continue
		}
		for _, t := range a.tokens {
			if !t.part {
				out.tokens = append(out.tokens, t)
			}
		}
		out.orders = append(out.orders, a.orders...)
		out.only, out.every = out.only || a.only, out.every || a.every
	}
	out.tokens = dedupe(out.tokens)
	return out
}

func dedupe(ts []token) []token {
	at := map[string]int{}
	var out []token
	for _, t := range ts {
		if i, ok := at[t.stem]; ok {
			out[i].plus, out[i].minus = out[i].plus || t.plus, out[i].minus || t.minus
			continue
		}
		at[t.stem] = len(out)
		out = append(out, t)
	}
	return out
}

// read reads one sentence of a passage.
func read(s string, negated bool) *advice { return readClauses(s, negated, false) }

type clause struct {
	text    string
	contrib string // the connective that opened it
}

// Connectives that begin a clause of their own. Those marked as contrast negate what follows them and share the verb
// before them.
var splitter = regexp.MustCompile(`(?i)\s*(?:[,，:：]|\s[–—-]{1,2}\s|\bbut\b|\b(?:when|whenever|where|wherever|if|once|even if|although|though|as soon as)\b|\binstead of\b|\brather than\b|\binstead\b|\bso that\b|\bbecause\b|\bsince\b|\botherwise\b|\bso\b|\bwhile\b|\bwhereas\b|\band not\b|\bnor\b|\bover\b|而不是|而非|但是|但|否则|因为|因此|所以|以便|以免|不然)\s*`)

func clauses(s string) []clause {
	var out []clause
	last, opened := 0, ""
	for _, m := range splitter.FindAllStringIndex(s, -1) {
		if inBackticks(s, m[0]) {
			continue
		}
		out = append(out, clause{s[last:m[0]], opened})
		opened = strings.ToLower(strings.TrimSpace(s[m[0]:m[1]]))
		last = m[1]
	}
	return append(out, clause{s[last:], opened})
}

func inBackticks(s string, at int) bool { return strings.Count(s[:at], "`")%2 == 1 }

func contrast(connective string) bool {
	switch connective {
	case "instead of", "rather than", "而不是", "而非", "and not":
		return true
	}
	return false
}

func condition(connective string) bool {
	switch connective {
	case "when", "whenever", "where", "wherever", "if", "once", "as soon as", "even if":
		return true
	}
	return false
}

func concession(connective string) bool { return connective == "although" || connective == "though" }

func reason(connective string) bool {
	switch connective {
	case "so that", "because", "since", "otherwise", "因为", "否则", "以便", "以免", "不然", "so", "所以", "因此":
		return true
	}
	return false
}

var reportRE = regexp.MustCompile(`(?i)\b(last time|yesterday|was|were|had|broke|failed|because|cost us|it took|otherwise)\b|上次|曾经|导致|因为|否则|结果|之前有`)

// report tells a remark about an incident from a second piece of advice.
func report(s string) bool { return reportRE.MatchString(s) }

func readClauses(s string, negated, wanted bool) *advice {
	a := &advice{text: s, question: strings.HasSuffix(strings.TrimRight(s, " *_`)\""), "?") || strings.HasSuffix(s, "？")}
	low := zhAcross.ReplaceAllString(normal(s), "$1$2 ")
	if historical.MatchString(low) {
		negated = !negated
	}
	prefers := preferRE.MatchString(low)
	cs := clauses(low)
	var prevNeg bool
	prevStart := 0
	for i, c := range cs {
		if wanted && i > 0 && len(a.tokens) > 0 && (reason(c.contrib) || (report(c.text) && !hasNegator(c.text))) {
			break
		}
		text, rest := c.text, ""
		if contrast(c.contrib) {
			// Only the phrase itself is contrasted: in "instead of sleep in async tests", the tests are common ground.
			if m := phraseEnd.FindStringIndex(strings.TrimSpace(text)); m != nil && m[0] > 0 {
				text, rest = strings.TrimSpace(text)[:m[0]], strings.TrimSpace(text)[m[0]:]
			}
		}
		toks, negs := lex(text)
		neg := negs%2 == 1
		switch {
		case contrast(c.contrib) || (c.contrib == "over" && prefers):
			neg = !prevNeg != neg
			share(a.tokens[prevStart:])
		case c.contrib == "over":
			neg = prevNeg
		case negs == 0 && i > 0 && continues(c, toks):
			neg = prevNeg
		case i > 0 && negs > 0 && elliptical(c.text):
			share(a.tokens[prevStart:])
		}
		if concession(c.contrib) {
			continue // what others do is not what this text says
		}
		if condition(c.contrib) {
			for _, t := range toks {
				t.plus, t.minus = true, true
				a.tokens = append(a.tokens, t)
			}
			continue
		}
		final := neg != negated
		prevNeg = neg
		if len(toks) > 0 {
			prevStart = len(a.tokens)
		}
		for _, t := range toks {
			t.plus, t.minus = !final, final
			a.tokens = append(a.tokens, t)
		}
		common, _ := lex(rest)
		for _, t := range common {
			t.plus, t.minus = true, true
			a.tokens = append(a.tokens, t)
		}
		if i == 0 {
			a.orders = ordersOf(low, neg)
		}
	}
	a.only, a.every = onlyRE.MatchString(low), everyRE.MatchString(low)
	return a
}

var (
	onlyRE  = regexp.MustCompile(`\bonly\b|仅|只在|只有|只对|只需`)
	everyRE = regexp.MustCompile(`\b(?:every|all|each|any|always)\b|所有|全部|任何|每个|每次|一律|都要|都应`)
)

// share marks what a contrasting clause takes over from the one before it: all but its last word, which is what the two
// clauses differ in.
func share(ts []token) {
	last := len(ts) - 1
	if last >= 0 && isHanStem(ts[last].stem) {
		last = max(last-3, 0) // a two-character word and the bigram before it
	}
	for i := range max(last, min(1, len(ts))) {
		ts[i].plus, ts[i].minus = true, true
	}
}

func isHanStem(s string) bool {
	for _, r := range s {
		return isHan(r)
	}
	return false
}

// continues reports whether a clause after a comma still belongs to the negation before it: "do not add, remove or
// rename columns".
func continues(c clause, toks []token) bool {
	if c.contrib != "," && c.contrib != "，" {
		return false
	}
	t := strings.TrimSpace(c.text)
	if strings.HasPrefix(t, "or ") || strings.HasPrefix(t, "nor ") || strings.HasPrefix(t, "或") {
		return true
	}
	return !isHanStem(t) && len(toks) <= 1
}

// elliptical is a clause such as "not the database" or "never in production", which borrows its verb.
func elliptical(s string) bool {
	return ellipticalRE.MatchString(strings.TrimSpace(s))
}

var (
	ellipticalRE = regexp.MustCompile(`^(?:not\b|never\s+(?:the|a|an|in|on|to|into|at|from|by|with|for|via|its|their|your|through|as)\b)`)
	phraseEnd    = regexp.MustCompile(`\s(?:in|on|for|at|during|within|inside|when|from|by|under|across|with|to)\s`)
	preferRE     = regexp.MustCompile(`\b(?:prefer\w*|choose|favou?r\w*|pick|use|take)\b`)
)

var fold = strings.NewReplacer("’", "'", "‘", "'", "can't", "can not", "cannot", "can not", "won't", "will not", "n't", " not", "“", `"`, "”", `"`, "**", "", "__", " ")

func normal(s string) string {
	return andNot.ReplaceAllString(fold.Replace(strings.ToLower(s)), ", $1")
}

// andNot finds a negated clause that no comma sets apart: "belongs to the handler and never to the repository".
var andNot = regexp.MustCompile(`,?\s+(?:and|but)\s+((?:never|not|do not|does not|must not|should not|may not|can not|avoid)\b)`)

// lex cuts a clause into content tokens and counts its negators.
func lex(s string) (toks []token, negators int) {
	s = zhNeutral.ReplaceAllString(s, " ")
	s = zhDouble.ReplaceAllString(s, "")
	negators = len(zhNegatorRE.FindAllString(s, -1))
	s = zhNegatorRE.ReplaceAllString(s, " ")
	s = enNeutral.ReplaceAllString(s, " ")
	fields := strings.Fields(s)
	for i, w := range fields {
		if (w == "stop" || w == "stops") && i+1 < len(fields) && strings.HasSuffix(fields[i+1], "ing") {
			negators++ // "stop sleeping in tests", unlike "stop at the first error"
			continue
		}
		toks, negators = lexWord(w, toks, negators)
	}
	return toks, negators
}

// lexWord adds the tokens of one space-separated word: Latin words and identifiers, and the bigrams of Chinese runs.
func lexWord(w string, toks []token, negators int) ([]token, int) {
	var run []rune
	var word strings.Builder
	code := strings.Contains(w, "`")
	flushWord := func() {
		x := strings.Trim(word.String(), ".,:;!?()[]{}\"'*_/-<>=")
		raw := strings.Trim(word.String(), ",:;!?()[]{}\"'*")
		word.Reset()
		if strings.HasPrefix(raw, "--") {
			x = raw
		}
		if x == "" {
			return
		}
		switch {
		case enNegators[x]:
			negators++
			return
		case enLimits[x]:
			negators++
			return
		case x == "before" && negators%2 == 1:
			negators++
			return
		case enStop[x]:
			return
		}
		if rest, ok := unprefix(x); ok {
			negators++
			x = rest
		}
		if parts := strings.Split(x, "-"); len(parts) > 1 && !strings.HasPrefix(x, "-") && !strings.ContainsAny(x, "._/=@$0123456789") {
			if len(parts[0]) == 1 { // e-mail
				toks = append(toks, latinToken(strings.Join(parts, ""), false))
				return
			}
			for _, part := range parts {
				switch {
				case part == "" || enStop[part]:
				case enNegators[part] || enLimits[part]:
					negators++
				default:
					toks = append(toks, latinToken(part, false))
				}
			}
			return
		}
		t := latinToken(x, code)
		toks = append(toks, t)
		if strings.ContainsAny(x, "._/") && t.weight == 1.5 {
			// The parts of an identifier count where somebody asks for them by word: time.Sleep speaks of sleeping.
			for _, part := range strings.FieldsFunc(x, func(r rune) bool { return r == '.' || r == '_' || r == '/' }) {
				if len(part) > 2 {
					toks = append(toks, token{stem: english.Stem(part, false), part: true})
				}
			}
		}
	}
	flushRun := func() {
		toks = append(toks, hanTokens(run)...)
		run = run[:0]
	}
	for _, r := range w {
		if isHan(r) {
			flushWord()
			run = append(run, r)
			continue
		}
		flushRun()
		if r == '`' {
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (r > unicode.MaxASCII || strings.ContainsRune(`()"|`, r)) {
			flushWord()
			continue
		}
		word.WriteRune(r)
	}
	flushWord()
	flushRun()
	return toks, negators
}

func latinToken(x string, code bool) token {
	digits := strings.IndexFunc(x, unicode.IsDigit) >= 0
	ident := strings.ContainsAny(x, "._/-$@=") || (digits && strings.IndexFunc(x, unicode.IsLetter) >= 0)
	switch {
	case digits && strings.IndexFunc(x, unicode.IsLetter) < 0:
		return token{stem: x, weight: 1.2, required: true}
	case ident:
		return token{stem: strings.TrimSuffix(x, "()"), weight: 1.5, required: code}
	case code:
		return token{stem: english.Stem(x, false), weight: 1.4}
	case enLight[x] || enLight[english.Stem(x, false)]:
		return token{stem: english.Stem(x, false), weight: 0.35, light: true}
	}
	return token{stem: english.Stem(x, false), weight: 1}
}

// hanTokens are the characters and bigrams of a run of Chinese. Characters carry what reordering keeps, bigrams what
// makes a word.
func hanTokens(run []rune) []token {
	var out []token
	prev := rune(0)
	for _, r := range run {
		if zhStop[r] {
			prev = 0
			continue
		}
		out = append(out, token{stem: string(r), weight: 0.3})
		if prev != 0 {
			out = append(out, token{stem: string([]rune{prev, r}), weight: 0.3})
		}
		prev = r
	}
	return out
}

// unprefix reads "unreviewed" and "un-reviewed" as a negated "reviewed".
func unprefix(x string) (string, bool) {
	for _, p := range []string{"un-", "non-"} {
		if rest, ok := strings.CutPrefix(x, p); ok && len(rest) > 3 {
			return rest, true
		}
	}
	if rest, ok := strings.CutPrefix(x, "un"); ok && len(rest) > 4 && strings.HasSuffix(rest, "ed") && x != "united" {
		return rest, true
	}
	return "", false
}

func hasNegator(s string) bool {
	_, n := lex(s)
	return n > 0
}

func ordersOf(s string, negated bool) []order {
	var out []order
	add := func(first, then string, swap bool) {
		a, b := stems(first), stems(then)
		if len(a) == 0 || len(b) == 0 {
			return
		}
		if swap != negated {
			a, b = b, a
		}
		out = append(out, order{a, b})
	}
	if i := strings.Index(s, " before "); i >= 0 {
		add(s[:i], s[i+len(" before "):], false)
	} else if rest, ok := strings.CutPrefix(s, "before "); ok {
		_ = rest // the other half is the next clause; too little to say
	}
	if i := strings.Index(s, " after "); i >= 0 {
		add(s[:i], s[i+len(" after "):], true)
	}
	for _, sep := range []string{" instead of ", " rather than ", "而不是", "而非"} {
		if i := strings.Index(s, sep); i >= 0 {
			add(s[:i], s[i+len(sep):], false) // what is preferred comes first
		}
	}
	if i := strings.Index(s, "先"); i >= 0 {
		for _, sep := range []string{"然后", "再", "后"} {
			if j := strings.Index(s[i:], sep); j > 0 {
				add(s[i:i+j], s[i+j+len(sep):], false)
				break
			}
		}
	}
	if i := strings.Index(s, "之前"); i > 0 {
		add(s[i+len("之前"):], s[:i], false)
	} else if i := strings.Index(s, "前"); i > 0 && !strings.Contains(s, "前端") && !strings.Contains(s, "当前") && !strings.Contains(s, "前缀") && !strings.Contains(s, "前置") {
		add(s[i+len("前"):], s[:i], false)
	}
	return out
}

func stems(s string) map[string]bool {
	toks, _ := lex(s)
	out := map[string]bool{}
	for _, t := range toks {
		if !t.light {
			out[t.stem] = true
		}
	}
	return out
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }
