package calibrate

import (
	"math/rand/v2"

	"whetstone/validation"
)

// judge draws verdicts of parent and candidate from their items' chances.
type judge struct {
	r                 *rand.Rand
	parent, candidate []float64
	judgements        int // verdicts drawn so far
}

func (j *judge) draw(chance float64) int {
	j.judgements++
	if j.r.Float64() < chance {
		return 1
	}
	return 0
}

func (j *judge) into(t *validation.Tally, chance float64) {
	t.Pass += j.draw(chance)
	t.N++
}

// look runs one look of the design. spend is asked for the look's alpha once triage has let the candidate on; it is not
// called for one that triage refuses.
func look(d validation.Design, j *judge, failing []bool, seed uint64, spend func() float64) validation.Decision {
	s := make([]validation.Sight, len(j.parent))
	for i := range s {
		s[i].Weight, s[i].Failing = 1, failing[i]
	}
	for {
		ask, refused := d.Triage(s, seed)
		if refused != nil {
			return *refused
		}
		if ask == nil {
			break
		}
		for _, i := range ask.Items {
			j.into(&s[i].Triage[0], j.parent[i])
			j.into(&s[i].Triage[1], j.candidate[i])
		}
	}
	alpha := spend()
	for {
		ask, decided := d.Next(s, alpha, seed)
		if decided != nil {
			return *decided
		}
		for range ask.Trials {
			for _, i := range ask.Items {
				into := &s[i].Main
				switch {
				case ask.Stage == validation.StageAgain:
					into = &s[i].Again
				case ask.From >= d.Trials:
					into = &s[i].Further
				}
				j.into(&into[0], j.parent[i])
				j.into(&into[1], j.candidate[i])
			}
		}
	}
}
