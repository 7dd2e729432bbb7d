package evidence_test

import (
	"fmt"
	"testing"

	"whetstone/evidence"
	"whetstone/validation"
)

// A process may die in the middle of a base trial: whatever part of it is recorded, the look is where it was before the trial.
func TestAPartOfABaseTrialCountsForNothing(t *testing.T) {
	held := make([]validation.Item, 6)
	for i := range held {
		held[i] = validation.Item{ID: fmt.Sprintf("i%d", i), Weight: 1}
	}
	for recorded := range 12 { // of the second trial's twelve verdicts
		l := evidence.Look{Step: 1, Parent: "p", Candidate: "c", ParentStage: "baseline", Trials: 3, Held: held}
		verdicts := map[string][]validation.Verdict{}
		n := 0
		for trial := range 2 {
			for _, side := range []string{"p", "c"} {
				for _, it := range held {
					if trial == 1 {
						if n++; n > recorded {
							continue
						}
					}
					verdicts[side] = append(verdicts[side], validation.Verdict{Item: it.ID, Trial: trial, State: state(side == "c")})
				}
			}
		}
		s, err := l.Sights(func(stage, hash string) ([]validation.Verdict, error) {
			if stage != "step-1.0" {
				return nil, nil
			}
			return verdicts[hash], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range s {
			if x.Main != [2]validation.Tally{{N: 1}, {N: 1, Pass: 1}} {
				t.Errorf("%d of 12 recorded: %+v", recorded, x.Main)
			}
		}
	}
}
