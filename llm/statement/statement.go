// Package statement is the offline judge: it decides whether a text states an expected behaviour. It measures statement
// coverage, not what an agent would do: the stems of the expectation must occur together in one passage, under the same
// polarity. "Do not mock" and "mock" differ; "never run DDL without a lock timeout" is advice to set one. It reads
// English and Chinese, knows no synonyms, calls nothing, and always answers. It shares no code and no word list with the
// reflector that proposes patches, so that the two cannot agree by construction.
package statement

import (
	"fmt"
	"regexp"
	"strings"
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
