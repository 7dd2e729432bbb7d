// Package simworld is a world in which it is known what every edit of a skill is worth: items whose chances of passing are a
// pure function of the skill's body, a judge that draws verdicts from them, and a reflecting model that proposes good,
// harmless and harmful edits. Whole runs are driven in it, to see what each part of the optimizer earns and whether what the
// gate accepts is truly better. It is for tests and benchmarks only; everything in it derives from a seed, and it fails only
// where the run that it drives does.
package simworld

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"time"

	"whetstone/calibrate"
	"whetstone/learning"
	"whetstone/validation"
)

// Rules are a world's constants.
type Rules struct {
	Topics   int
	PerTopic int // items of each topic, over all three sides
	// Reach is the share of a topic's items that its good edit raises to Raised; Harm is what is left of a topic's chances under
	// an edit that harms it.
	Reach, Raised, Harm float64
	Wordings            int // of each idea for an edit
	Habits              int // ideas that do nothing
	// The reflecting model: what it proposes, and with what chance it sees that the body says something already.
	Good, Harmless, Harmful, Notice float64
	// Bias is by how much the judge overrates a body that has biasLines more lines than the first one, or more.
	Bias float64
}

// Standing are the constants of the ablation table. They were set before any run, but for the number of topics and of items,
// which were chosen, with the budget, on the seeds from 10000 to 10011: with 6 topics of 20 items hardly any edit could be told
// from chance, whatever was left out. The table's seeds are 1 to 200.
var Standing = Rules{
	Topics: 5, PerTopic: 32, Reach: 0.9, Raised: 0.95, Harm: 0.4, Wordings: 4, Habits: 12,
	Good: 0.45, Harmless: 0.30, Harmful: 0.25, Notice: 0.7, Bias: 0.02,
}

const biasLines = 10

// item is one correction.
type item struct {
	id      string
	topic   int
	side    validation.Side
	chance  float64 // under the first body
	reached bool    // by its topic's good edit
}

// World is a skill with corrections on several topics. Its truth is a function of a body's marker lines:
//
//   - rule t3 (a): ...     raises topic 3; another wording of it does nothing more
//   - rule x3 (a): ...     harms topic 3, whatever else is said of it
//   - habit h7 (a): ...    does nothing
//   - restore t3: ...      undoes the harm to topic 3
type World struct {
	Seed      uint64
	Rules     Rules
	Learnings []learning.Learning
	Text      string // of the first SKILL.md

	items []item
	byID  map[string]*item

	mu   sync.Mutex
	seen map[string]state // by body
}

// state is what a body's marker lines say.
type state struct {
	raised, harmed, restored []bool
	lines                    int
}

const skillName = "simulated"

// New makes the world of a seed.
func New(seed uint64, rules Rules) *World {
	w := &World{Seed: seed, Rules: rules, byID: map[string]*item{}, seen: map[string]state{}}
	rng := rand.New(rand.NewPCG(seed, 0x243f6a8885a308d3))
	when := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	byText := map[string]item{}
	taken := map[string]bool{}
	for t := range rules.Topics {
		solid := rng.Float64() // topics differ in how much there is to gain; over all of them the items follow calibrate.Standing
		about := freshWord(rng, taken) + " " + freshWord(rng, taken)
		for range rules.PerTopic {
			it := item{topic: t, chance: chance(rng, solid), reached: rng.Float64() < rules.Reach}
			own := freshWord(rng, taken) + " " + freshWord(rng, taken) + " " + freshWord(rng, taken)
			expected := fmt.Sprintf("for %s use %s", about, own)
			w.Learnings = append(w.Learnings, learning.Learning{
				Category: topicName(t), Rule: expected, Correction: expected, Mistake: fmt.Sprintf("a task on %s met %s", about, own),
				Skill: skillName, Status: learning.Approved, CreatedAt: when, ValidFrom: when,
			})
			byText[expected] = it
		}
	}
	for i := range w.Learnings {
		w.Learnings[i].ID = fmt.Sprintf("l_%08d", i) // the store gives its own; only the items' ids matter, and they are of the words
	}
	items, _ := validation.FromLearnings(w.Learnings)
	dealt, _ := validation.Deal(items, nil)
	for _, d := range dealt {
		it := byText[d.Expected]
		it.id, it.side = d.ID, d.Side
		w.items = append(w.items, it)
	}
	for i := range w.items {
		w.byID[w.items[i].id] = &w.items[i]
	}
	for i := range w.Learnings {
		w.Learnings[i].ID = ""
	}
	w.Text = firstText(rules.Topics)
	return w
}

// chance draws an item's, in the shape of calibrate.Standing.
func chance(rng *rand.Rand, solid float64) float64 {
	m := calibrate.Standing
	switch {
	case rng.Float64() < m.Mixed:
		return m.Low + (m.High-m.Low)*rng.Float64()
	case rng.Float64() < solid:
		return m.Solid
	}
	return m.Weak
}

var syllables = []string{"ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "bra", "cle", "dri", "flo", "gru"}

// freshWord is one that no other item has.
func freshWord(rng *rand.Rand, taken map[string]bool) string {
	for {
		var b strings.Builder
		for range 4 {
			b.WriteString(syllables[rng.IntN(len(syllables))])
		}
		if word := b.String() + "n"; !taken[word] {
			taken[word] = true
			return word
		}
	}
}

func topicName(t int) string { return fmt.Sprintf("t%d", t) }

func firstText(topics int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: A skill whose worth is known.\n---\n# Simulated\n", skillName)
	for t := range topics {
		fmt.Fprintf(&b, "\n## Topic t%d\n\n- about t%d: work with care.\n", t, t)
	}
	return b.String()
}

var marker = regexp.MustCompile(`^- (?:rule (t|x)(\d+) \([a-z]\)|(restore) t(\d+)): `)

// read reads a body's markers.
func (w *World) read(body string) state {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.seen[body]; ok {
		return s
	}
	n := w.Rules.Topics
	s := state{raised: make([]bool, n), harmed: make([]bool, n), restored: make([]bool, n)}
	for line := range strings.Lines(body) {
		s.lines++
		m := marker.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var t int
		_, _ = fmt.Sscan(m[2]+m[4], &t)
		if t >= n {
			continue
		}
		switch m[1] + m[3] {
		case "t":
			s.raised[t] = true
		case "x":
			s.harmed[t] = true
		case "restore":
			s.restored[t] = true
		}
	}
	w.seen[body] = s
	return s
}

// Chance is an item's true chance of passing under a body: what agents would do, whatever the judge thinks. An unknown item
// has none.
func (w *World) Chance(body, itemID string) float64 {
	it, ok := w.byID[itemID]
	if !ok {
		return 0
	}
	return w.of(w.read(body), it)
}

func (w *World) of(s state, it *item) float64 {
	p := it.chance
	if s.raised[it.topic] && it.reached {
		p = max(p, w.Rules.Raised)
	}
	if s.harmed[it.topic] && !s.restored[it.topic] {
		p *= w.Rules.Harm
	}
	return p
}

// Judged is the chance with which the judge lets an item pass: the true one, and a few points for a longer body.
func (w *World) Judged(body, itemID string) float64 {
	more := w.read(body).lines - w.read(bodyOf(w.Text)).lines
	return min(0.99, w.Chance(body, itemID)+w.Rules.Bias*float64(min(max(more, 0), biasLines))/biasLines)
}

// TrueScore is the mean true chance of a side's items.
func (w *World) TrueScore(body string, side validation.Side) float64 {
	s := w.read(body)
	sum, n := 0.0, 0
	for i := range w.items {
		if w.items[i].side == side {
			sum += w.of(s, &w.items[i])
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// Harmful reports whether a body holds an edit that harms, restored or not.
func (w *World) Harmful(body string) bool {
	for _, h := range w.read(body).harmed {
		if h {
			return true
		}
	}
	return false
}

func bodyOf(text string) string {
	if _, rest, ok := strings.Cut(text, "\n---\n"); ok {
		return rest
	}
	return text
}
