package validation

// AlphaFor is what the look with this number (from 0, counted over the life of one skill and selection manifest) may
// spend of alpha, when looks come in blocks of planned. The first block shares 80 % of alpha equally, each later one 80 %
// of what is left, so that all looks that will ever be made spend alpha together.
func AlphaFor(alpha float64, planned, look int) float64 {
	planned = max(planned, 1)
	left := alpha
	for block := look / planned; block > 0; block-- {
		left *= 0.2
	}
	return left * 0.8 / float64(planned)
}

// PlannedLooks is how many looks a block plans for a run of so many steps. Triage refuses most candidates without spending
// alpha: of candidates that are no better about one in four goes on to a test (docs/optimizer.md), so that a third of the
// steps is planned for. Should more go on, later looks have less alpha; the sum holds in any case.
func PlannedLooks(steps int) int { return max((steps+2)/3, 1) }

// LeastShare is the part of a look's alpha that the largest of its tests may spend: what the smallest reachable p has to
// come below for the look to be able to accept at all.
const LeastShare = lastShare
