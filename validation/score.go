package validation

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// State is what came of judging one item once.
type State string

// The states of a verdict. Missing means that no usable answer came: it counts neither for nor against.
const (
	Pass    State = "pass"
	Fail    State = "fail"
	Missing State = "missing"
)

// Verdict is one judgement of one item under one skill text.
type Verdict struct {
	Item  string `json:"item"`
	Trial int    `json:"trial"`
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`
	Judge string `json:"judge,omitempty"` // the model that gave it, as provider:model
}

// Measured is one skill text on one set of items.
type Measured struct {
	Items    []Item
	Verdicts []Verdict
}

// Before leaves out the verdicts of the trial with this number (from 0) and of later ones.
func (m Measured) Before(trial int) Measured {
	out := Measured{Items: m.Items}
	for _, v := range m.Verdicts {
		if v.Trial < trial {
			out.Verdicts = append(out.Verdicts, v)
		}
	}
	return out
}

// With adds verdicts.
func (m Measured) With(vs []Verdict) Measured {
	return Measured{Items: m.Items, Verdicts: append(slices.Clone(m.Verdicts), vs...)}
}

// Rate is an item's share of passed trials; ok is false when any trial is missing or none was made.
func (m Measured) Rate(item string) (rate float64, ok bool) {
	n, pass := 0, 0
	for _, v := range m.Verdicts {
		if v.Item != item {
			continue
		}
		switch v.State {
		case Missing:
			return 0, false
		case Pass:
			pass++
		}
		n++
	}
	if n == 0 {
		return 0, false
	}
	return float64(pass) / float64(n), true
}

// Score is the weighted pass rate over all items, or nil if any item lacks a verdict: a score over the part that
// happened to be answered would compare different things.
func (m Measured) Score() *float64 {
	if len(m.Items) == 0 {
		return nil
	}
	var sum, weight float64
	for _, it := range m.Items {
		r, ok := m.Rate(it.ID)
		if !ok {
			return nil
		}
		sum += it.Weight * r
		weight += it.Weight
	}
	s := sum / weight
	return &s
}

// Judges names the models whose verdicts these are, in order; checks that need no model count for none.
func (m Measured) Judges() string {
	var out []string
	for _, v := range m.Verdicts {
		if v.State != Missing && v.Judge != "" && !slices.Contains(Kinds(), v.Judge) && !slices.Contains(out, v.Judge) {
			out = append(out, v.Judge)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// MissingItems lists the items without a complete set of verdicts.
func (m Measured) MissingItems() []string {
	var out []string
	for _, it := range m.Items {
		if _, ok := m.Rate(it.ID); !ok {
			out = append(out, it.ID)
		}
	}
	return out
}

// enough is the p-value of the exact sign-flip test from which on an interval reaches zero, whatever the draws say.
const enough = 0.05

// Interval is a 95 % interval of the weighted mean difference between two measurements of the same items, by 2,000
// seeded bootstrap draws over the items (percentile method, Efron 1979). Drawing from few items, or from items that all changed
// alike, knows nothing of those that were not asked about: where the exact one-sided sign-flip test on the same differences does
// not come below .05, the interval is widened to zero. It is nil where a verdict is missing.
func Interval(before, after Measured, seed uint64) *[2]float64 {
	d, w, ok := differences(before, after)
	if !ok || len(d) == 0 {
		return nil
	}
	const draws = 2000
	rng := rand.New(rand.NewPCG(seed, 0x6a09e667f3bcc908))
	means := make([]float64, draws)
	for i := range means {
		var sum, weight float64
		for range d {
			j := rng.IntN(len(d))
			sum += d[j]
			weight += w[j]
		}
		means[i] = sum / weight
	}
	slices.Sort(means)
	lo, hi := means[draws*25/1000], means[draws*975/1000-1]
	if lo > 0 {
		if p, _ := SignFlip(d, seed); p > enough {
			lo = 0
		}
	}
	if hi < 0 {
		for i := range d {
			d[i] = -d[i]
		}
		if p, _ := SignFlip(d, seed); p > enough {
			hi = 0
		}
	}
	return &[2]float64{lo, hi}
}

// differences are the weighted per-item differences after - before, with the weights.
func differences(before, after Measured) (d, w []float64, ok bool) {
	for _, it := range before.Items {
		b, okB := before.Rate(it.ID)
		a, okA := after.Rate(it.ID)
		if !okA || !okB {
			return nil, nil, false
		}
		d = append(d, it.Weight*(a-b))
		w = append(w, it.Weight)
	}
	return d, w, true
}
