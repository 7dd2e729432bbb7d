package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"whetstone/validation"
)

// Options are a simulation's parameters.
type Options struct {
	Items, Steps, Trials int
	Alpha                float64
	Lifts                []float64
	Noise                Noise
	Runs                 int // simulated runs
	Seed                 uint64
	// Bare leaves out what the gate is compared with: the plain design and the gates of the field.
	Bare bool
}

// Power is how often a candidate that is better is accepted, where it turns up at a step drawn evenly from the run's, after
// candidates that are no better.
type Power struct {
	Lift float64 `json:"lift"`
	Kind string  `json:"kind"` // uniform or sparse
	Rate float64 `json:"rate"`
	// Plain is the plain design's power at the same place, and Cost what a look at such a candidate takes of a plain look's calls.
	Plain float64 `json:"plain_rate"`
	Cost  float64 `json:"cost"`
}

// Result is what a simulation found.
type Result struct {
	Items           int     `json:"items"`
	Steps           int     `json:"steps"`
	Trials          int     `json:"trials"`
	Alpha           float64 `json:"alpha"`
	Runs            int     `json:"runs"`
	Seed            uint64  `json:"seed"`
	Model           Noise   `json:"model"`
	FalseAcceptRate float64 `json:"false_accept_rate"`
	// PlainFalseAcceptRate is the plain design's: three trials of everything, alpha shared out evenly.
	PlainFalseAcceptRate float64 `json:"plain_false_accept_rate"`
	// Cost is what looks at candidates that are no better take of the plain design's judgements; Tested is the share of them
	// that triage lets on to a test.
	Cost   float64 `json:"cost"`
	Tested float64 `json:"tested"`
	Power  []Power `json:"power"`
	Peers  []Peer  `json:"peers"`
}

// tally sums runs.
type tally struct {
	accepts, plainAccepts int
	judgements, tested    int
	power, plain, cost    []int
	peers                 []int
}

// Simulate runs the gate on candidates that equal their parent in quality and on candidates that are better by each lift,
// uniform and sparse. It fails only for options that make no sense and when ctx ends.
func Simulate(ctx context.Context, o Options) (Result, error) {
	switch {
	case o.Items < 1 || o.Items > 2000:
		return Result{}, fmt.Errorf("simulate: %d items: from 1 to 2000", o.Items)
	case o.Steps < 1 || o.Steps > 1000:
		return Result{}, fmt.Errorf("simulate: %d steps: from 1 to 1000", o.Steps)
	case o.Trials < 1 || o.Trials > 20:
		return Result{}, fmt.Errorf("simulate: %d trials: from 1 to 20", o.Trials)
	case o.Alpha <= 0 || o.Alpha >= 1:
		return Result{}, fmt.Errorf("simulate: alpha %v: between 0 and 1", o.Alpha)
	case o.Runs < 1:
		return Result{}, errors.New("simulate: no runs")
	}
	workers := runtime.GOMAXPROCS(0)
	parts := make([]tally, workers)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			t := tally{power: make([]int, 2*len(o.Lifts)), plain: make([]int, 2*len(o.Lifts)), cost: make([]int, 2*len(o.Lifts)), peers: make([]int, len(peers()))}
			for n := w; n < o.Runs; n += workers {
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("simulate: %w", err)
				}
				o.run(&t, uint64(n))
			}
			parts[w] = t
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return Result{}, err
	}
	return o.result(parts), nil
}

// run simulates one run. Its draws depend on the seed and its number only.
func (o Options) run(t *tally, n uint64) {
	rng := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(o.Seed*0x9e3779b97f4a7c15+n, stream)) }
	world := rng(1)
	p := o.Noise.Draw(world, o.Items)
	failing := make([]bool, len(p))
	for i := range p {
		for range o.Trials {
			failing[i] = failing[i] || bit(world, p[i]) == 0
		}
	}
	design, plain := validation.Design{Trials: o.Trials}, validation.Design{Trials: o.Trials, NoTriage: true, NoStops: true}
	planned := validation.PlannedLooks(o.Steps)
	at := world.IntN(o.Steps)
	looks, accepted, plainAccepted := 0, false, false
	even := func() float64 { return o.Alpha / float64(o.Steps) }
	for step := range o.Steps {
		seed := world.Uint64()
		if step == at {
			for i, lift := range o.Lifts {
				for k, raised := range [][]float64{Uniform(p, lift), Sparse(p, lift)} {
					next := func() float64 { return validation.AlphaFor(o.Alpha, planned, looks) }
					j := &judge{r: rng(uint64(100 + 2*i + k)), parent: p, candidate: raised}
					if look(design, j, failing, seed, next).Outcome == validation.Accepted {
						t.power[2*i+k]++
					}
					t.cost[2*i+k] += j.judgements
					if o.Bare {
						continue
					}
					j = &judge{r: rng(uint64(200 + 2*i + k)), parent: p, candidate: raised}
					if look(plain, j, failing, seed, even).Outcome == validation.Accepted {
						t.plain[2*i+k]++
					}
				}
			}
		}
		j := &judge{r: rng(uint64(1000 + step)), parent: p, candidate: p}
		d := look(design, j, failing, seed, func() float64 {
			a := validation.AlphaFor(o.Alpha, planned, looks)
			looks++
			t.tested++
			return a
		})
		accepted = accepted || d.Outcome == validation.Accepted
		t.judgements += j.judgements
		if o.Bare {
			continue
		}
		j = &judge{r: rng(uint64(3000 + step)), parent: p, candidate: p}
		plainAccepted = plainAccepted || look(plain, j, failing, seed, even).Outcome == validation.Accepted
	}
	if accepted {
		t.accepts++
	}
	if plainAccepted {
		t.plainAccepts++
	}
	for i, gate := range peers() {
		if o.Bare {
			break
		}
		r := rng(uint64(5000 + i))
		memory := gate.begin(r, p)
		for range o.Steps {
			if gate.accept(r, p, memory) {
				t.peers[i]++
				break
			}
		}
	}
}

func (o Options) result(parts []tally) Result {
	sum := func(of func(tally) int) float64 {
		n := 0
		for _, t := range parts {
			n += of(t)
		}
		return float64(n)
	}
	runs := float64(o.Runs)
	plainLook := float64(2 * o.Trials * o.Items)
	r := Result{
		Items: o.Items, Steps: o.Steps, Trials: o.Trials, Alpha: o.Alpha, Runs: o.Runs, Seed: o.Seed, Model: o.Noise,
		FalseAcceptRate:      sum(func(t tally) int { return t.accepts }) / runs,
		PlainFalseAcceptRate: sum(func(t tally) int { return t.plainAccepts }) / runs,
		Cost:                 sum(func(t tally) int { return t.judgements }) / runs / float64(o.Steps) / plainLook,
		Tested:               sum(func(t tally) int { return t.tested }) / runs / float64(o.Steps),
	}
	for i, lift := range o.Lifts {
		for k, kind := range []string{"uniform", "sparse"} {
			at := 2*i + k
			r.Power = append(r.Power, Power{
				Lift: lift, Kind: kind, Rate: sum(func(t tally) int { return t.power[at] }) / runs,
				Plain: sum(func(t tally) int { return t.plain[at] }) / runs, Cost: sum(func(t tally) int { return t.cost[at] }) / runs / plainLook,
			})
		}
	}
	for i, gate := range peers() {
		if o.Bare {
			break
		}
		r.Peers = append(r.Peers, Peer{gate.name, sum(func(t tally) int { return t.peers[i] }) / runs})
	}
	return r
}
