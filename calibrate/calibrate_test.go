package calibrate

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"whetstone/validation"
)

func options(items, runs int) Options {
	return Options{Items: items, Steps: 12, Trials: 3, Alpha: 0.05, Lifts: []float64{0.3}, Noise: Standing, Runs: runs, Seed: 20261201}
}

// The bar of the gate, with room for 1,500 runs: the figures of 20,000 are in docs/optimizer.md.
func TestTheGateHoldsItsBar(t *testing.T) {
	for _, c := range []struct {
		items           int
		uniform, sparse float64
	}{{12, 0, 0}, {24, 0.90, 0.60}, {48, 0.98, 0.95}} {
		r, err := Simulate(t.Context(), options(c.items, 1500))
		if err != nil {
			t.Fatal(err)
		}
		if r.FalseAcceptRate > 0.05 || r.Power[0].Rate < c.uniform || r.Power[1].Rate < c.sparse {
			t.Errorf("%d items: accepts what is no better in %.4f of the runs, finds %.3f uniform and %.3f sparse", c.items, r.FalseAcceptRate, r.Power[0].Rate, r.Power[1].Rate)
		}
		if r.Cost > 0.5 {
			t.Errorf("%d items: a candidate that is no better takes %.2f of a plain look", c.items, r.Cost)
		}
		if c.items >= 24 && (r.Power[0].Rate < r.Power[0].Plain-0.02 || r.Power[1].Rate < r.Power[1].Plain) {
			t.Errorf("%d items: the plain design finds more: %+v", c.items, r.Power)
		}
		if r.Peers[0].FalseAcceptRate < 0.8 || r.Peers[1].FalseAcceptRate < 0.7 {
			t.Errorf("the gates of the field are better than they are: %+v", r.Peers)
		}
	}
}

func TestASimulationIsTheSameOnAnyNumberOfProcessors(t *testing.T) {
	one, err := Simulate(t.Context(), options(16, 40))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	three, err := Simulate(t.Context(), options(16, 40))
	if err != nil || !reflect.DeepEqual(one, three) {
		t.Errorf("%+v\n%+v (%v)", one, three, err)
	}
}

func TestLiftsRaiseTheMeanAndNothingFalls(t *testing.T) {
	for seed := range uint64(200) {
		p := Standing.Draw(rand.New(rand.NewPCG(seed, 1)), 30)
		for name, q := range map[string][]float64{"uniform": Uniform(p, 0.3), "sparse": Sparse(p, 0.3)} {
			var sum, room float64
			most := map[string]float64{"uniform": uniformCap, "sparse": sparseCap}[name]
			for i := range p {
				room += max(0, most-p[i])
				if q[i] < p[i] || q[i] > uniformCap {
					t.Fatalf("%s: item %d goes from %v to %v", name, i, p[i], q[i])
				}
				sum += q[i] - p[i]
			}
			if math.Abs(sum-min(9, room)) > 1e-6 {
				t.Errorf("%s: the mean rises by %v", name, sum/30)
			}
		}
	}
	// More than there is to gain raises everything to the cap.
	if q := Uniform([]float64{0.9, 0.97}, 0.9); q[0] != uniformCap || q[1] != uniformCap {
		t.Errorf("%v", q)
	}
}

func TestNonsenseIsRefusedAndAContextEndsIt(t *testing.T) {
	for _, o := range []Options{{}, {Items: 5, Steps: 0, Trials: 1, Alpha: .05, Runs: 1}, {Items: 5, Steps: 1, Trials: 0, Alpha: .05, Runs: 1}, {Items: 5, Steps: 1, Trials: 1, Alpha: 1, Runs: 1}, {Items: 5, Steps: 1, Trials: 1, Alpha: .05}} {
		if _, err := Simulate(t.Context(), o); err == nil {
			t.Errorf("%+v was simulated", o)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Simulate(ctx, options(24, 1000)); err == nil {
		t.Error("a cancelled simulation went on")
	}
}

func TestAWobblingJudgeIsMeasured(t *testing.T) {
	m := validation.Measured{Items: []validation.Item{{ID: "a"}, {ID: "b"}, {ID: "c"}}}
	for trial, states := range []string{"pfm", "pff", "ppf"} {
		for i, s := range states {
			m.Verdicts = append(m.Verdicts, validation.Verdict{Item: m.Items[i].ID, Trial: trial, State: map[rune]validation.State{'p': validation.Pass, 'f': validation.Fail, 'm': validation.Missing}[s]})
		}
	}
	w := Measure(m, 3)
	if len(w.Items) != 2 || w.Unsteady != 1 || w.Items[0].Pass != 3 || w.Items[1].Pass != 1 {
		t.Fatalf("%+v", w) // the item with a missing verdict is left out
	}
	if math.Abs(w.Mean-4.0/6) > 1e-9 || math.Abs(w.Items[1].Chance-1.5/4) > 1e-9 || math.Abs(w.Spread-math.Sqrt(1.0/12)) > 1e-9 {
		t.Errorf("%+v", w)
	}
}

func TestNeedsFindTheLeastWork(t *testing.T) {
	o := options(24, 150)
	needs, err := Needs(t.Context(), o, []int{12, 24, 48}, []int{3})
	if err != nil {
		t.Fatal(err)
	}
	if len(needs) != 2 || needs[0].Items != 24 || needs[1].Items != 48 || needs[0].Rate < Enough {
		t.Errorf("%+v", needs)
	}
	// A judge that never errs needs few items.
	o.Noise = Noise{Measured: []float64{0.02, 0.98}}
	if needs, err = Needs(t.Context(), o, []int{24, 96}, []int{1}); err != nil || needs[0].Items != 96 || needs[0].Trials != 1 {
		t.Errorf("%+v (%v)", needs, err)
	}
}

// Finds is one look of the simulation: it accepts what is no better within its alpha, finds more the larger the lift and the more
// items there are, and is the same each time.
func TestFindsGrowsWithTheLiftAndTheItems(t *testing.T) {
	const alpha, runs = 0.02, 1500
	find := func(items int, lift float64) float64 { return Finds(Standing, items, 3, alpha, lift, runs, 7) }
	if rate := find(48, 0); rate > alpha {
		t.Errorf("it accepts what is no better in %.4f of the cases, with an alpha of %v", rate, alpha)
	}
	if a, b := find(24, 0.15), find(24, 0.3); a+0.1 > b {
		t.Errorf("it finds +.15 in %.2f of the cases and +.30 in %.2f", a, b)
	}
	if a, b := find(12, 0.2), find(60, 0.2); a+0.3 > b {
		t.Errorf("it finds +.20 in %.2f of the cases with 12 items and in %.2f with 60", a, b)
	}
	if find(24, 0.2) != find(24, 0.2) {
		t.Error("it differs from time to time")
	}
	// A look that may spend less finds less.
	if a, b := Finds(Standing, 24, 3, 0.0005, 0.2, runs, 7), find(24, 0.2); a >= b {
		t.Errorf("%.3f with an alpha of .0005, %.3f with %v", a, b, alpha)
	}
}

// Without what it is compared with, the gate's own figures stay what they are.
func TestABareSimulationSaysTheSameOfTheGate(t *testing.T) {
	o := options(24, 60)
	whole, err := Simulate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Bare = true
	bare, err := Simulate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if bare.FalseAcceptRate != whole.FalseAcceptRate || bare.Power[0].Rate != whole.Power[0].Rate || bare.Power[1].Rate != whole.Power[1].Rate || len(bare.Peers) != 0 {
		t.Errorf("%+v\n%+v", bare, whole)
	}
}
