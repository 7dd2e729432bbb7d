package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"whetstone/calibrate"
	"whetstone/service"
)

// calibrateFlags are the choices of `starter calibrate`.
type calibrateFlags struct {
	simulate             bool
	items, steps, trials int
	runs                 int
	alpha                float64
	lifts                []float64
	noise                calibrate.Noise
	rounds               int
	seed                 int64
	o                    optimizeFlags
}

func (a *app) calibrateCmd() *cobra.Command {
	c := calibrateFlags{noise: calibrate.Standing}
	cmd := &cobra.Command{
		Use:   "calibrate --simulate | --skill PATH",
		Short: "Say what the gate's word is worth: by simulation, or on a real judge",
		Long: "--simulate runs the gate on candidates that are no better than their parent and on some that are, on a model of noise whose parameters are flags,\n" +
			"and prints how often it is wrong, beside the gates of the field. --skill asks the judge about one and the same file again and again, prints how much\n" +
			"its answers vary, and how many items and trials would detect a lift.",
		Example: "  starter calibrate --simulate --items 24 --steps 12\n  starter calibrate --skill SKILL.md --provider openai --rounds 6 --budget-usd 0.20",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case c.simulate == (c.o.skill != ""):
				return usage("calibrate needs either --simulate or --skill PATH")
			case c.simulate:
				return a.calibrateBySimulation(cmd.Context(), c)
			}
			return a.calibrateJudge(cmd.Context(), c)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.simulate, "simulate", false, "simulate the gate")
	f.StringVar(&c.o.skill, "skill", "", "measure the real judge on this SKILL.md")
	f.IntVar(&c.items, "items", 24, "held-out items")
	f.IntVar(&c.steps, "steps", 12, "candidates in a run")
	f.IntVar(&c.trials, "trials", 3, "judgements of each item")
	f.IntVar(&c.runs, "runs", 20000, "simulated runs")
	f.Float64Var(&c.alpha, "alpha", 0.05, "chance of ever accepting a candidate that is no better")
	f.Float64SliceVar(&c.lifts, "lifts", []float64{0.1, 0.2, 0.3}, "lifts of the mean pass rate to find")
	f.Float64Var(&c.noise.Mixed, "noise-mixed", c.noise.Mixed, "share of items that pass now and then")
	f.Float64Var(&c.noise.Low, "noise-low", c.noise.Low, "their lowest chance of passing")
	f.Float64Var(&c.noise.High, "noise-high", c.noise.High, "their highest chance of passing")
	f.Float64Var(&c.noise.Weak, "noise-weak", c.noise.Weak, "chance of passing of half of the other items")
	f.Float64Var(&c.noise.Solid, "noise-strong", c.noise.Solid, "and of the other half")
	f.Int64Var(&c.seed, "seed", 1, "seed of every random choice")
	f.IntVar(&c.rounds, "rounds", 6, "how often the judge is asked about each item")
	f.StringVar(&c.o.provider, "provider", "", "the judge's provider")
	f.StringVar(&c.o.model, "model", "", "the judge's model")
	f.StringVar(&c.o.price, "price", "", "IN,OUT: dollars for a million tokens, for a model that is not in the price table")
	f.Float64Var(&c.o.budget, "budget-usd", 0.50, "dollars it may spend; it never spends more")
	f.IntVar(&c.o.maxCalls, "max-calls", 0, "model calls it may make (0: no limit)")
	f.StringVar(&c.o.importFile, "import", "", "import learnings first, and link those that name no skill to this one")
	f.StringVar(&c.o.itemsFile, "items-file", "", "a file of items, as optimize --items takes it")
	f.BoolVar(&c.o.plain, "plain", false, "accept a file without frontmatter")
	f.BoolVar(&c.o.pending, "include-pending", false, "also use learnings that nobody approved yet")
	return cmd
}

func (c calibrateFlags) check() error {
	for _, x := range []struct {
		flag string
		v    float64
	}{{"noise-mixed", c.noise.Mixed}, {"noise-low", c.noise.Low}, {"noise-high", c.noise.High}, {"noise-weak", c.noise.Weak}, {"noise-strong", c.noise.Solid}} {
		if x.v < 0 || x.v > 1 || math.IsNaN(x.v) {
			return usage("--%s %v: from 0 to 1", x.flag, x.v)
		}
	}
	for _, l := range c.lifts {
		if !(l > 0 && l < 1) {
			return usage("--lifts %v: each between 0 and 1", l)
		}
	}
	switch {
	case c.noise.Low > c.noise.High:
		return usage("--noise-low %v is above --noise-high %v", c.noise.Low, c.noise.High)
	case c.runs < 1 || c.runs > 10_000_000:
		return usage("--runs %d: from 1 to 10000000", c.runs)
	case c.rounds < 2 || c.rounds > 100:
		return usage("--rounds %d: from 2 to 100", c.rounds)
	case !(c.o.budget >= 0) || c.o.budget > 1e6:
		return usage("--budget-usd %v: a number of dollars, 0 or more", c.o.budget)
	}
	return nil
}

func (c calibrateFlags) options() calibrate.Options {
	return calibrate.Options{Items: c.items, Steps: c.steps, Trials: c.trials, Alpha: c.alpha, Lifts: c.lifts, Noise: c.noise, Runs: c.runs, Seed: uint64(c.seed)}
}

func (a *app) calibrateBySimulation(ctx context.Context, c calibrateFlags) error {
	if err := c.check(); err != nil {
		return err
	}
	r, err := calibrate.Simulate(ctx, c.options())
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return usage("%v", err)
	}
	if a.json {
		return a.printJSON(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d simulated runs of %d steps on %d held-out items, %d trial(s), alpha %.3f (seed %d)\n", r.Runs, r.Steps, r.Items, r.Trials, r.Alpha, r.Seed)
	fmt.Fprintf(&b, "noise: %.0f %% of the items pass with a chance of %.2f to %.2f, the others with %.2f or %.2f\n\n", 100*r.Model.Mixed, r.Model.Low, r.Model.High, r.Model.Weak, r.Model.Solid)
	fmt.Fprintf(&b, "a candidate that is no better is accepted in %.2f %% of the runs; a look at it takes %.0f %% of a plain look's judgements\n\n", 100*r.FalseAcceptRate, 100*r.Cost)
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "LIFT\tKIND\tFOUND\tPLAIN DESIGN\tJUDGEMENTS OF A PLAIN LOOK")
	for _, p := range r.Power {
		_, _ = fmt.Fprintf(w, "+%.2f\t%s\t%.1f %%\t%.1f %%\t%.0f %%\n", p.Lift, p.Kind, 100*p.Rate, 100*p.Plain, 100*p.Cost)
	}
	_ = w.Flush()
	b.WriteString("\n")
	w = tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "OTHER GATES\tACCEPT WHAT IS NO BETTER")
	for _, p := range r.Peers {
		_, _ = fmt.Fprintf(w, "%s\t%.1f %%\n", p.Gate, 100*p.FalseAcceptRate)
	}
	_ = w.Flush()
	return a.print("%s", b.String())
}

// calibrateJudge asks the judge about one file again and again.
func (a *app) calibrateJudge(ctx context.Context, c calibrateFlags) error {
	if err := c.check(); err != nil {
		return err
	}
	c.o.goal, c.o.mode, c.o.epochs, c.o.seed, c.o.stage = "improve", "judge", 1, c.seed, true
	return a.with(ctx, func(s *service.Service) error {
		p, _, err := a.params(ctx, s, c.o)
		if err != nil {
			return err
		}
		if c.o.importFile != "" {
			if err := a.importFor(ctx, s, c.o.importFile, p.SkillKey, false); err != nil {
				return err
			}
		}
		w, spent, err := s.Calibrate(ctx, p, c.rounds)
		if err != nil {
			return err
		}
		a.note("asked; now simulating what this judge can detect")
		noise := calibrate.Noise{}
		for _, it := range w.Items {
			noise.Measured = append(noise.Measured, it.Chance)
		}
		o := c.options()
		o.Noise, o.Runs = noise, min(o.Runs, 200)
		needs, err := calibrate.Needs(ctx, o, []int{len(w.Items), 12, 24, 48, 96, 192}, []int{1, 3, 5})
		if err != nil {
			return err
		}
		o.Items, o.Trials = len(w.Items), c.trials
		now, err := calibrate.Simulate(ctx, o)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]any{"skill": p.SkillKey, "judge": p.Judge, "rounds": c.rounds, "spent_usd": spent, "noise": w, "needs": needs, "gate": now})
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s by %s, %d items, asked %d times each ($%.4f)\n\n", p.SkillKey, p.Judge, len(w.Items), c.rounds, spent)
		fmt.Fprintf(&b, "mean pass rate %.3f; from one time to the next the score varies by %.3f (standard deviation); %d item(s) passed and failed\n", w.Mean, w.Spread, w.Unsteady)
		fmt.Fprintf(&b, "on this noise, with these %d items and %d trials, the gate accepts a candidate that is no better in %.2f %% of runs of %d steps\n\n", len(w.Items), c.trials, 100*now.FalseAcceptRate, c.steps)
		t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
		_, _ = fmt.Fprintln(t, "LIFT\tKIND\tTO FIND IT IN 4 OF 5 CASES")
		for _, n := range needs {
			what := "more than 192 items of 5 trials"
			if n.Items > 0 {
				what = fmt.Sprintf("%d items of %d trial(s)", n.Items, n.Trials)
			}
			_, _ = fmt.Fprintf(t, "+%.2f\t%s\t%s\n", n.Lift, n.Kind, what)
		}
		_ = t.Flush()
		return a.print("%s", b.String())
	})
}
