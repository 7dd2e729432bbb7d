// Package calibrate tells what a gate's word is worth: it simulates the gate and the gates of the field on a model of noise,
// and works out what a judge whose noise was measured can detect. It is pure; everything random derives from a seed. It
// decides nothing about a run.
package calibrate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Noise is a model of how held-out items pass under a judge that answers at random: each item has a chance of passing under a
// text, and trials are independent given it. The standing model is Standing.
type Noise struct {
	Mixed float64 `json:"mixed"` // share of items whose chance is drawn evenly from Low to High
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Weak  float64 `json:"weak"`   // the chance of half of the other items
	Solid float64 `json:"strong"` // and of the other half
	// Measured are the chances of a real judge's items; where there are any, items are drawn from them and the shares above do
	// not count.
	Measured []float64 `json:"measured,omitempty"`
}

// Standing is the standing noise model: 40 % of the items pass with a chance from .25 to .75, the others with .05 or .95.
var Standing = Noise{Mixed: 0.4, Low: 0.25, High: 0.75, Weak: 0.05, Solid: 0.95}

// The most that a lift raises an item to.
const (
	uniformCap = 0.97
	sparseCap  = 0.95
)

// Draw draws the chances of n items.
func (m Noise) Draw(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		switch {
		case len(m.Measured) > 0:
			out[i] = m.Measured[r.IntN(len(m.Measured))]
		case r.Float64() < m.Mixed:
			out[i] = m.Low + (m.High-m.Low)*r.Float64()
		case r.Float64() < 0.5:
			out[i] = m.Weak
		default:
			out[i] = m.Solid
		}
	}
	return out
}

// Uniform raises all items alike, none above .97, until the mean has risen by lift or nothing can rise any more.
func Uniform(p []float64, lift float64) []float64 {
	out := make([]float64, len(p))
	raise := func(by float64) (sum float64) {
		for i, v := range p {
			out[i] = max(v, min(uniformCap, v+by))
			sum += out[i] - v
		}
		return sum
	}
	lo, hi := 0.0, 1.0
	for range 50 {
		mid := (lo + hi) / 2
		if raise(mid) < lift*float64(len(p)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	raise(hi)
	return out
}

// Sparse raises the weakest items to .95, one after the other, until the mean has risen by lift.
func Sparse(p []float64, lift float64) []float64 {
	out := slices.Clone(p)
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	left := lift * float64(len(p))
	for _, i := range order {
		d := math.Min(left, max(0, sparseCap-out[i]))
		out[i] += d
		left -= d
	}
	return out
}
