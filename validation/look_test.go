package validation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// looked draws sights: n items whose main trials go as far as trials.
func looked(rng *rand.Rand, n, trials int, parent, candidate float64) []Sight {
	s := make([]Sight, n)
	for i := range s {
		s[i].Weight, s[i].Failing = 1+rng.Float64(), rng.IntN(2) == 0
		for side, chance := range []float64{parent, candidate} {
			for range trials {
				s[i].Main[side].N++
				if rng.Float64() < chance {
					s[i].Main[side].Pass++
				}
			}
		}
	}
	return s
}

// Which items are drawn again must not depend on which side did better: else the signs would no longer be fair draws.
func TestWhatIsDrawnAgainDoesNotDependOnTheSide(t *testing.T) {
	d := Design{Trials: 3}
	asked := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := looked(rng, 14, 3, 0.45, 0.6)
		ask, _ := d.Next(s, 0.0001, seed)
		if ask == nil || ask.Stage != StageMain || ask.From < 3 {
			continue
		}
		asked++
		// Swap the sides of a few items: the set of those that differ stays.
		swapped := slices.Clone(s)
		for i := range swapped {
			if rng.IntN(4) == 0 {
				swapped[i].Main[0], swapped[i].Main[1] = swapped[i].Main[1], swapped[i].Main[0]
			}
		}
		for i, x := range swapped {
			if differs := x.Main[0].Pass != x.Main[1].Pass; differs != slices.Contains(ask.Items, i) {
				t.Fatalf("item %d differs %v and is asked about %v", i, differs, slices.Contains(ask.Items, i))
			}
		}
		if again, _ := d.Next(swapped, 0.0001, seed); again != nil && again.From >= 3 && !slices.Equal(again.Items, ask.Items) {
			t.Fatal("swapping sides changes which items are drawn again")
		}
	}
	if asked < 100 {
		t.Errorf("only %d looks asked for further trials", asked)
	}
}

func TestTriageRefusesWhatShowsNoGain(t *testing.T) {
	d := Design{Trials: 3}
	s := make([]Sight, 12)
	for i := range s {
		s[i] = Sight{Weight: 1, Failing: i < 6}
	}
	ask, refused := d.Triage(s, 1)
	if ask == nil || refused != nil || ask.Stage != StageTriage || ask.Trials != 1 {
		t.Fatalf("%+v %+v", ask, refused)
	}
	for i := range 6 {
		if !slices.Contains(ask.Items, i) {
			t.Errorf("item %d, which the parent fails, is left out", i)
		}
	}
	for _, i := range ask.Items {
		s[i].Triage = [2]Tally{{Pass: 0, N: 1}, {Pass: 0, N: 1}}
	}
	if _, refused = d.Triage(s, 1); refused == nil || refused.Outcome != Rejected || refused.P != nil || refused.Alpha != nil {
		t.Errorf("no gain at all: %+v", refused)
	}
	for _, i := range ask.Items[:3] {
		s[i].Triage[1].Pass = 1
	}
	if ask, refused = d.Triage(s, 1); ask != nil || refused != nil {
		t.Errorf("three gained and none lost: %+v %+v", ask, refused)
	}
	s[ask0(d, s)].Triage[1] = Tally{N: 1, Missing: 1}
	if _, refused = d.Triage(s, 1); refused == nil || refused.Outcome != Indecisive {
		t.Errorf("a missing verdict: %+v", refused)
	}
}

func ask0(d Design, s []Sight) int { return d.TriageItems(s, 1)[0] }

func TestALookStopsEarlyForBothSides(t *testing.T) {
	d := Design{Trials: 3}
	// all has n items in which one side passes every trial.
	all := func(n, trials int, parent, candidate int) []Sight {
		s := make([]Sight, n)
		for i := range s {
			s[i] = Sight{Weight: 1, Main: [2]Tally{{Pass: parent * trials, N: trials}, {Pass: candidate * trials, N: trials}}}
		}
		return s
	}
	if _, word := d.Next(all(20, 1, 0, 1), 0.01, 1); word == nil || word.Outcome != Accepted || *word.Candidate != 1 || *word.Parent != 0 {
		t.Errorf("twenty items gained in the first trial: %+v", word)
	}
	if _, word := d.Next(all(20, 1, 1, 0), 0.01, 1); word == nil || word.Outcome != Rejected {
		t.Errorf("twenty items lost in the first trial: %+v", word)
	}
	if _, word := d.Next(all(20, 1, 1, 1), 0.01, 1); word == nil || word.Outcome != Rejected {
		t.Errorf("a tie: %+v", word)
	}
	// Six gained are not enough for .01 in one trial, and not hopeless.
	if ask, word := d.Next(all(6, 1, 0, 1), 0.01, 1); word != nil || ask.From != 1 || len(ask.Items) != 6 {
		t.Errorf("%+v %+v", ask, word)
	}
	// A plain design goes through all its trials and accepts at the whole alpha.
	plain := Design{Trials: 3, NoTriage: true, NoStops: true}
	if ask, _ := plain.Next(all(20, 1, 0, 1), 0.01, 1); ask == nil {
		t.Error("the plain design stopped early")
	}
	if _, word := plain.Next(all(7, 3, 0, 1), 0.01, 1); word == nil || word.Outcome != Accepted {
		t.Errorf("%+v", word)
	}
}

func TestAFallIsMeasuredAgainOnBothSides(t *testing.T) {
	d := Design{Trials: 3}
	s := make([]Sight, 13)
	for i := range s {
		s[i] = Sight{Weight: 1, Main: [2]Tally{{N: 3}, {Pass: 3, N: 3}}}
	}
	s[12].Main = [2]Tally{{Pass: 3, N: 3}, {N: 3}}
	ask, word := d.Next(s, 0.05, 1)
	if word != nil || ask.Stage != StageAgain || !slices.Equal(ask.Items, []int{12}) || ask.Trials != AgainTrials(3) {
		t.Fatalf("%+v %+v", ask, word)
	}
	for name, c := range map[string]struct {
		again [2]Tally
		want  string
	}{
		"falls again":                       {[2]Tally{{Pass: 6, N: 6}, {Pass: 0, N: 6}}, Rejected},
		"the parent had only been lucky":    {[2]Tally{{Pass: 3, N: 6}, {Pass: 1, N: 6}}, Accepted},
		"it can not be measured":            {[2]Tally{{Pass: 5, N: 6, Missing: 1}, {Pass: 0, N: 6}}, Indecisive},
		"the candidate had only bad luck":   {[2]Tally{{Pass: 6, N: 6}, {Pass: 5, N: 6}}, Accepted},
		"a second measurement broke off at": {[2]Tally{{Pass: 2, N: 2}, {Pass: 0, N: 2}}, ""},
		"as often as at first is too few":   {[2]Tally{{Pass: 3, N: 3}, {Pass: 0, N: 3}}, ""},
	} {
		s[12].Again = c.again
		ask, word := d.Next(s, 0.05, 1)
		switch {
		case c.want == "":
			if ask == nil || ask.Stage != StageAgain {
				t.Errorf("%s: %+v", name, word)
			}
		case word == nil || word.Outcome != c.want:
			t.Errorf("%s: %+v, want %s", name, word, c.want)
		}
	}
}

// What is spent never passes the alpha of a manifest's life, whatever the number of looks and blocks.
func TestStagesShareALooksAlpha(t *testing.T) {
	for trials := 1; trials <= 7; trials++ {
		d := Design{Trials: trials}
		sum := lastShare
		for done := 1; done <= trials; done++ {
			sum += d.share(done)
		}
		if sum > 1+1e-9 {
			t.Errorf("%d trials: the tests of a look spend %v of its alpha", trials, sum)
		}
	}
	// The test after the further trials has its share too: six gains have a p of 1/64.
	d := Design{Trials: 3}
	s := make([]Sight, 12)
	for i := range s {
		s[i] = Sight{Weight: 1, Main: [2]Tally{{N: 3}, {N: 3}}}
		if i < 6 {
			s[i].Main[1].Pass, s[i].Further = 3, [2]Tally{{N: 3}, {Pass: 3, N: 3}}
		}
	}
	for alpha, want := range map[float64]string{0.039: Rejected, 0.0395: Accepted} {
		if _, word := d.Next(s, alpha, 1); word == nil || word.Outcome != want || math.Abs(*word.Alpha-0.4*alpha) > 1e-12 {
			t.Errorf("alpha %v: %+v, want %s", alpha, word, want)
		}
	}
}

func TestASecondJudgeCanOnlyRefuse(t *testing.T) {
	accepted := Decision{Outcome: Accepted, Reason: "p"}
	up, down := measured("fff", "fff", "fff", "fff", "fff", "fff"), measured("ppp", "ppp", "ppp", "ppp", "ppp", "ppp")
	for name, c := range map[string]struct {
		in                Decision
		parent, candidate Measured
		want              string
	}{
		"agrees":            {accepted, up, down, Accepted},
		"sees no gain":      {accepted, down, up, Rejected},
		"is not sure":       {accepted, measured("fff", "ppp", "fff"), measured("ppf", "ppp", "fff"), Rejected},
		"gives no verdict":  {accepted, up, measured("mmm", "ppp", "ppp", "ppp", "ppp", "ppp"), Indecisive},
		"is not asked then": {Decision{Outcome: Rejected}, up, down, Rejected},
	} {
		if d := Agree(c.in, c.parent, c.candidate, false, 1); d.Outcome != c.want {
			t.Errorf("%s: %s (%s), want %s", name, d.Outcome, d.Reason, c.want)
		}
	}
}
