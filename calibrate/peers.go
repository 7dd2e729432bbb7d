package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Peer is how often a gate as it is used elsewhere accepts a candidate that is no better, at least once within the steps.
type Peer struct {
	Gate            string  `json:"gate"`
	FalseAcceptRate float64 `json:"false_accept_rate"`
}

// peerGate decides from fresh measurements of the candidate and what it remembers of the parent.
type peerGate struct {
	name  string
	begin func(r *rand.Rand, p []float64) (memory float64)
	// accept tells whether an equal candidate would be taken.
	accept func(r *rand.Rand, p []float64, memory float64) bool
}

// peers are the gates of the field. All but the last remember the parent's score and never measure it again.
func peers() []peerGate {
	return []peerGate{
		{"delta >= 0", mean, func(r *rand.Rand, p []float64, m float64) bool { return mean(r, p) >= m }},
		{"strictly greater", mean, func(r *rand.Rand, p []float64, m float64) bool { return mean(r, p) > m }},
		{"median of 3 + .05", mean, func(r *rand.Rand, p []float64, m float64) bool {
			three := []float64{mean(r, p), mean(r, p), mean(r, p)}
			slices.Sort(three)
			return three[1] > m+0.05
		}},
		{"2 standard errors", func(*rand.Rand, []float64) float64 { return 0 }, func(r *rand.Rand, p []float64, _ float64) bool {
			var sum, squares float64
			for _, chance := range p {
				after, before := bit(r, chance), bit(r, chance)
				d := float64(after - before)
				sum += d
				squares += d * d
			}
			n := float64(len(p))
			variance := (squares - sum*sum/n) / max(n-1, 1)
			return sum/n > 2*math.Sqrt(variance/n)
		}},
	}
}

// mean is the score of one measurement of every item.
func mean(r *rand.Rand, p []float64) float64 {
	pass := 0
	for _, chance := range p {
		pass += bit(r, chance)
	}
	return float64(pass) / float64(len(p))
}

func bit(r *rand.Rand, chance float64) int {
	if r.Float64() < chance {
		return 1
	}
	return 0
}
