package validation

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// A process may die in the middle of further trials. What is recorded of them counts once they are whole: before that the look is
// where it was before them, whatever the part of them says.
func TestAPartOfTheFurtherTrialsCountsForNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	d := Design{Trials: 3}
	asked, tempted := 0, 0
	for range 2000 {
		s := make([]Sight, 13)
		for i := range s {
			s[i].Weight = 1
			s[i].Main = [2]Tally{{N: 3, Pass: rng.IntN(3)}, {N: 3, Pass: 1 + rng.IntN(3)}}
		}
		ask, word := d.Next(s, 0.02, 1)
		if ask != nil {
			asked++
		}
		part := make([]Sight, len(s))
		copy(part, s)
		missing := -1
		for i := range part {
			if part[i].Main[0].Pass == part[i].Main[1].Pass {
				continue
			}
			if missing < 0 {
				missing = i // this one was still to come
				continue
			}
			part[i].Further = [2]Tally{{N: 3}, {N: 3, Pass: 3}}
		}
		if missing < 0 {
			continue
		}
		ask2, word2 := d.Next(part, 0.02, 1)
		if !reflect.DeepEqual(ask, ask2) || !reflect.DeepEqual(word, word2) {
			t.Fatalf("with a part of the further trials: %+v %+v\nwithout: %+v %+v", ask2, word2, ask, word)
		}
		if ask != nil {
			part[missing].Further = [2]Tally{{N: 3}, {N: 3, Pass: 3}}
			if ask3, word3 := d.Next(part, 0.02, 1); ask3 == nil && word3.Outcome == Accepted {
				tempted++
			}
		}
	}
	if asked < 50 || tempted < 50 {
		t.Errorf("only %d looks asked for further trials, and %d were accepted after them", asked, tempted)
	}
}
