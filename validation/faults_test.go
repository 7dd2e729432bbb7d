package validation

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The tests of this file are named after faults of the reference implementation; docs/faults.md lists them all.

// How often a learning was applied is its weight, and has no say in which side it is on.
func TestFaultValidationRowsAreTheMostAppliedOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	ls := learn(randomRules(rng, 100)...)
	plain, _ := FromLearnings(ls)
	want, _ := Deal(plain, nil)
	for i := range ls {
		ls[i].TimesApplied = rng.IntN(1000)
	}
	applied, _ := FromLearnings(ls)
	got, _ := Deal(applied, nil)
	if len(got) != len(want) {
		t.Fatalf("%d items, then %d", len(want), len(got))
	}
	heavier := 0
	for i := range got {
		if got[i].ID != want[i].ID || got[i].Side != want[i].Side {
			t.Errorf("%s: %s, and %s once it was applied", got[i].ID, want[i].Side, got[i].Side)
		}
		if got[i].Weight > want[i].Weight {
			heavier++
		}
	}
	if heavier == 0 {
		t.Error("nothing was applied: the test proves nothing")
	}
}

// There is no way to train on everything: of however few items, some are held out, and none is on two sides.
func TestFaultHoldoutZeroTrainsOnEverything(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	for n := 8; n <= 60; n++ {
		items, _ := FromLearnings(learn(randomRules(rng, n)...))
		dealt, _ := Deal(items, nil)
		train, selection, test := Of(dealt, Train), Of(dealt, Selection), Of(dealt, Test)
		if len(train) == 0 || len(selection) == 0 || len(train)+len(selection)+len(test) != len(dealt) {
			t.Errorf("of %d: %d train, %d selection, %d test", n, len(train), len(selection), len(test))
		}
		seen := map[string]bool{}
		for _, it := range slices.Concat(train, selection, test) {
			if seen[it.ID] {
				t.Errorf("%s is on two sides", it.ID)
			}
			seen[it.ID] = true
		}
	}
}

// A clearly better candidate is accepted, and one with a single unparsed verdict decides nothing, whichever side it is on.
func TestFaultUnparsedAnswerScoresZeroAndAnythingBeatsIt(t *testing.T) {
	parent := measured("f", "f", "f", "p")
	candidate := measured("p", "p", "p", "p")
	if d := Strict(parent, candidate); d.Outcome != Accepted {
		t.Fatalf("%+v", d)
	}
	for i := range 4 {
		for _, side := range []*Measured{&parent, &candidate} {
			was := side.Verdicts[i].State
			side.Verdicts[i].State = Missing
			if d := Strict(parent, candidate); d.Outcome != Indecisive {
				t.Errorf("item %d missing: %+v", i, d)
			}
			side.Verdicts[i].State = was
		}
	}
	// The same in stages.
	d := Design{Trials: 3}
	for i := range 12 {
		for side := range 2 {
			s := make([]Sight, 12)
			for j := range s {
				s[j].Weight = 1
				s[j].Main = [2]Tally{{N: 3}, {N: 3, Pass: 3}}
			}
			if _, word := d.Next(s, 0.05, 1); word == nil || word.Outcome != Accepted {
				t.Fatalf("%+v", word)
			}
			s[i].Main[side] = Tally{N: 3, Missing: 1, Pass: 2 * side}
			if _, word := d.Next(s, 0.05, 1); word == nil || word.Outcome != Indecisive || word.Candidate != nil || word.Parent != nil {
				t.Errorf("item %d missing at side %d: %+v", i, side, word)
			}
		}
	}
}

// A tie is no improvement, however it is measured.
func TestFaultTiesAccepted(t *testing.T) {
	for _, pass := range []int{0, 1, 2, 3} {
		s := make([]Sight, 20)
		for i := range s {
			s[i].Weight = 1
			s[i].Main = [2]Tally{{N: 3, Pass: pass}, {N: 3, Pass: pass}}
		}
		if ask, d := (Design{Trials: 3}).Next(s, 0.05, 1); ask != nil || d.Outcome != Rejected {
			t.Errorf("%d of 3 everywhere: %+v %+v", pass, ask, d)
		}
	}
	// As many gained as lost.
	s := make([]Sight, 20)
	for i := range s {
		s[i].Weight = 1
		s[i].Main[i%2] = Tally{N: 3, Pass: 3}
		s[i].Main[1-i%2] = Tally{N: 3}
	}
	if ask, d := (Design{Trials: 3}).Next(s, 0.05, 1); ask != nil || d.Outcome != Rejected {
		t.Errorf("as many gained as lost: %+v %+v", ask, d)
	}
}
