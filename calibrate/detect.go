package calibrate

import (
	"context"
	"math"

	"whetstone/validation"
)

// Item is one item that a judge was asked about again and again under one text.
type Item struct {
	ID     string  `json:"id"`
	Pass   int     `json:"pass"`
	Trials int     `json:"trials"`
	Chance float64 `json:"chance"` // its chance of passing, drawn towards one half by half a trial on each side
}

// Wobble sums up how a judge answers when nothing changes.
type Wobble struct {
	Items    []Item  `json:"items"`
	Mean     float64 `json:"mean"`     // pass rate over everything
	Spread   float64 `json:"spread"`   // standard deviation of the score from trial to trial
	Unsteady int     `json:"unsteady"` // items that passed and failed
}

// Measure sums verdicts up. Items with a missing verdict are left out.
func Measure(ms validation.Measured, trials int) Wobble {
	var w Wobble
	scores := make([]float64, trials)
	for _, it := range ms.Items {
		if _, ok := ms.Rate(it.ID); !ok {
			continue
		}
		x := Item{ID: it.ID}
		for _, v := range ms.Verdicts {
			if v.Item != it.ID {
				continue
			}
			x.Trials++
			if v.State == validation.Pass {
				x.Pass++
				if v.Trial < trials {
					scores[v.Trial]++
				}
			}
		}
		x.Chance = (float64(x.Pass) + 0.5) / float64(x.Trials+1)
		if x.Pass > 0 && x.Pass < x.Trials {
			w.Unsteady++
		}
		w.Items = append(w.Items, x)
	}
	if len(w.Items) == 0 {
		return w
	}
	n := float64(len(w.Items))
	var squares float64
	for i := range scores {
		scores[i] /= n
		w.Mean += scores[i] / float64(trials)
	}
	for _, s := range scores {
		squares += (s - w.Mean) * (s - w.Mean)
	}
	if trials > 1 {
		w.Spread = math.Sqrt(squares / float64(trials-1))
	}
	return w
}

// Need is what it takes to detect a lift.
type Need struct {
	Lift   float64 `json:"lift"`
	Kind   string  `json:"kind"`
	Items  int     `json:"items"` // 0: not even the most that were tried
	Trials int     `json:"trials"`
	Rate   float64 `json:"rate"`
}

// Enough is the power from which a lift counts as detectable.
const Enough = 0.8

// Needs finds, for each lift, the least work (items times trials) that detects it in four of five cases, on the noise given. Items are
// drawn from the noise model, as if more of the same kind were collected.
func Needs(ctx context.Context, o Options, items, trials []int) ([]Need, error) {
	var out []Need
	for _, lift := range o.Lifts {
		for k, kind := range []string{"uniform", "sparse"} {
			best := Need{Lift: lift, Kind: kind}
			for _, n := range items {
				for _, t := range trials {
					if best.Items > 0 && n*t >= best.Items*best.Trials {
						continue
					}
					try := o
					try.Items, try.Trials, try.Lifts, try.Bare = n, t, []float64{lift}, true
					r, err := Simulate(ctx, try)
					if err != nil {
						return nil, err
					}
					if r.Power[k].Rate >= Enough {
						best.Items, best.Trials, best.Rate = n, t, r.Power[k].Rate
					}
				}
			}
			out = append(out, best)
		}
	}
	return out, nil
}
