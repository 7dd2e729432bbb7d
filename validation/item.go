// Package validation turns learnings and items files into items, deals them to train, selection and test, checks those
// that need no model, and decides from verdicts whether a candidate is better than its parent. It is pure: no clock, no
// randomness but a seed's, no input but a reader it is given, no output. A verdict may be missing, a score may not exist;
// neither is ever taken for a zero.
package validation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"whetstone/internal/words"
	"whetstone/learning"
)

// Side is the part of the split an item belongs to.
type Side string

// The three sides. Train items are shown to the reflecting model; selection items decide the gate; test items are
// sealed until the end.
const (
	Train     Side = "train"
	Selection Side = "selection"
	Test      Side = "test"
)

// The kinds of items. A model decides about llm; a person's own command about command; the others are decided by Check.
const (
	KindLLM         = "llm"
	KindContains    = "contains"
	KindNotContains = "not_contains"
	KindRegex       = "regex"
	KindSection     = "section"
	KindCommand     = "command"
)

// Kinds lists them all, the default first.
func Kinds() []string {
	return []string{KindLLM, KindContains, KindNotContains, KindRegex, KindSection, KindCommand}
}

// Item is one thing a skill should lead an agent to.
type Item struct {
	ID         string   `json:"id"`              // a hash of kind, prompt, expected and the kind's own fields
	Label      string   `json:"label,omitempty"` // what a person calls it
	Kind       string   `json:"kind"`
	Category   string   `json:"category"`
	Prompt     string   `json:"prompt"`                // the situation, or the mistake that was made
	Expected   string   `json:"expected"`              // what should be done instead
	Pattern    string   `json:"pattern,omitempty"`     // contains, not_contains: literal text; regex: RE2
	Section    string   `json:"section,omitempty"`     // a heading's text, with leading #'s of that level only
	Command    []string `json:"command,omitempty"`     // a program and its arguments, run through no shell
	TimeoutSec int      `json:"timeout_sec,omitempty"` // seconds the command has
	FoldCase   bool     `json:"ignore_case,omitempty"` // contains, not_contains, regex, section
	Weight     float64  `json:"weight"`                // 1 to 3
	Cluster    string   `json:"cluster"`               // near-duplicates share it
	Side       Side     `json:"side"`                  // before Deal: the side a person fixed, or none
	Learning   []string `json:"learnings"`             // ids of the learnings it came from

	text string // what it is about, for comparing: rule and correction, or what an items file says
}

// Excluded is a learning that made no item, and why.
type Excluded struct {
	Learning string // empty for an item of an items file
	Rule     string
	Reason   string // one of the reasons below
	With     string // the rule it contradicts
}

// Reasons for exclusion.
const (
	ReasonJunk          = "junk"
	ReasonContradiction = "contradiction"
	ReasonBridge        = "bridge"
	ReasonMoved         = "moved" // an items file fixes another side than the one it was given before
)

// FromLearnings makes items of actionable learnings. Learnings without at least three content words in rule and
// correction together make none; neither do pairs that contradict each other (same subject, opposed polarity), until a
// review decides between them. The result is sorted by id and does not depend on the order of ls.
func FromLearnings(ls []learning.Learning) ([]Item, []Excluded) {
	ls = slices.Clone(ls)
	slices.SortFunc(ls, func(a, b learning.Learning) int { return strings.Compare(a.ID, b.ID) })
	var excluded []Excluded
	var kept []learning.Learning
	for _, l := range ls {
		if len(words.Content(l.Rule+" "+l.Correction)) < 3 {
			excluded = append(excluded, Excluded{Learning: l.ID, Rule: l.Rule, Reason: ReasonJunk})
			continue
		}
		kept = append(kept, l)
	}
	against := contradictions(kept)
	byID := map[string]*Item{}
	for i, l := range kept {
		if with, ok := against[i]; ok {
			excluded = append(excluded, Excluded{Learning: l.ID, Rule: l.Rule, Reason: ReasonContradiction, With: kept[with].Rule})
			continue
		}
		it := newItem(l)
		if have, ok := byID[it.ID]; ok {
			have.Learning = append(have.Learning, l.ID)
			have.Weight = max(have.Weight, it.Weight)
			continue
		}
		byID[it.ID] = &it
	}
	items := make([]Item, 0, len(byID))
	for _, it := range byID {
		items = append(items, *it)
	}
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	cluster(items)
	return items, excluded
}

func newItem(l learning.Learning) Item {
	it := Item{Kind: KindLLM, Category: l.Category, Prompt: l.Mistake, Expected: l.Correction, Learning: []string{l.ID}, text: l.Rule + "\n" + l.Correction}
	if it.Prompt == "" {
		it.Prompt = "A task that touches on " + l.Category + "."
	}
	if it.Expected == "" {
		it.Expected = l.Rule
	}
	it.Weight = 1 + math.Min(2, math.Log2(1+float64(max(l.TimesApplied, 0))))
	it.ID = identity(it)
	return it
}

// identity names an item by what it asks. The form for llm is older than the other kinds and must not change: sides and
// spent alpha are stored under it.
func identity(it Item) string {
	parts := []string{it.Kind, it.Prompt, it.Expected}
	switch it.Kind {
	case KindContains, KindNotContains, KindRegex:
		parts = append(parts, it.Pattern, strconv.FormatBool(it.FoldCase))
	case KindSection:
		parts = append(parts, it.Section, strconv.FormatBool(it.FoldCase))
	case KindCommand:
		parts = append(append(parts, strconv.Itoa(it.TimeoutSec)), it.Command...)
	}
	return "i_" + hashParts(parts...)[:16]
}

// subject is what an item is about in words: what is expected where that is said, else what is looked for, and when.
func subject(it Item) string {
	if it.Expected != "" {
		return it.Expected
	}
	return strings.Join(append([]string{it.Pattern, it.Section, it.Prompt}, it.Command...), "\n")
}

// Combine puts items of several origins together: sorted by id, each id once (with the learnings and the highest weight
// of all, and the first side and label that are given), and clustered anew over all of them, so that near-duplicates of
// different origin never land on two sides.
func Combine(origins ...[]Item) []Item {
	at := map[string]int{}
	var out []Item
	for _, it := range slices.Concat(origins...) {
		i, ok := at[it.ID]
		if !ok {
			at[it.ID] = len(out)
			it.Learning = slices.Clone(it.Learning)
			out = append(out, it)
			continue
		}
		have := &out[i]
		have.Weight = max(have.Weight, it.Weight)
		if have.Side == "" {
			have.Side = it.Side
		}
		if have.Label == "" {
			have.Label = it.Label
		}
		for _, l := range it.Learning {
			if !slices.Contains(have.Learning, l) {
				have.Learning = append(have.Learning, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	cluster(out)
	return out
}

// contradictions maps the index of a learning to one it contradicts: the same content words (three in four of them)
// under opposed polarity.
func contradictions(ls []learning.Learning) map[int]int {
	type reading struct {
		content map[string]bool
		negated bool
	}
	rs := make([]reading, len(ls))
	for i, l := range ls {
		said := l.Correction
		if said == "" {
			said = l.Rule
		}
		rs[i] = reading{words.Content(said), words.Negated(said)}
	}
	out := map[int]int{}
	for i := range rs {
		for j := i + 1; j < len(rs); j++ {
			if rs[i].negated == rs[j].negated || !words.SameSubject(rs[i].content, rs[j].content) {
				continue
			}
			if _, ok := out[i]; !ok {
				out[i] = j
			}
			if _, ok := out[j]; !ok {
				out[j] = i
			}
		}
	}
	return out
}

// clusterThreshold is the token Jaccard from which two items are the same advice in other words.
const clusterThreshold = 0.8

// cluster groups near-duplicates by single linkage and names each group by its smallest item id.
func cluster(items []Item) {
	sets := make([]map[string]bool, len(items))
	for i, it := range items {
		sets[i] = words.Set(words.Tokens(it.text))
	}
	parent := make([]int, len(items))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i := range items {
		for j := i + 1; j < len(items); j++ {
			if words.Jaccard(sets[i], sets[j]) >= clusterThreshold {
				a, b := find(i), find(j)
				parent[max(a, b)] = min(a, b) // the smallest index carries the smallest id, since items are sorted
			}
		}
	}
	for i := range items {
		items[i].Cluster = items[find(i)].ID
	}
}

func hashParts(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func contentOf(it Item) map[string]bool { return words.Content(subject(it)) }

// overlap is the share of the smaller set that the other one has too.
func overlap(a, b map[string]bool) float64 {
	both := 0
	for t := range a {
		if b[t] {
			both++
		}
	}
	if n := min(len(a), len(b)); n > 0 {
		return float64(both) / float64(n)
	}
	return 0
}
