package calibrate

import (
	"math/rand/v2"

	"whetstone/validation"
)

// Finds is how often one look with this alpha accepts a candidate that is better by lift, uniformly, on the noise given.
func Finds(noise Noise, items, trials int, alpha, lift float64, runs int, seed uint64) float64 {
	design := validation.Design{Trials: trials}
	found := 0
	for n := range runs {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		p := noise.Draw(r, items)
		failing := make([]bool, len(p))
		for i := range p {
			for range trials {
				failing[i] = failing[i] || bit(r, p[i]) == 0
			}
		}
		j := &judge{r: r, parent: p, candidate: Uniform(p, lift)}
		if look(design, j, failing, r.Uint64(), func() float64 { return alpha }).Outcome == validation.Accepted {
			found++
		}
	}
	return float64(found) / float64(runs)
}
