package activities

import (
	"cmp"
	"context"

	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

// looking is one look at a candidate: where its verdicts are, and what decides.
type looking struct {
	job         Job
	step, try   int
	parent      string
	candidate   string
	parentStage string // where the verdicts are that told which items the parent fails
	trials      int
	held        []validation.Item
}

func (l looking) design() validation.Design { return validation.Design{Trials: l.trials} }

// seed is the look's: of triage's random share, and of a test whose distribution can not be had exactly.
func (l looking) seed() uint64 { return optimizer.SeedFor(l.job.Params.Seed, "gate", l.step, l.try) }

// site is where the verdicts of one of a look's stages are kept.
func (l looking) site(stage string) string {
	where := Site(l.step, l.try)
	if stage == validation.StageMain {
		return where
	}
	return where + "-" + stage
}

// verdicts reads recorded verdicts; the store and a run's evidence both have them.
type verdicts func(stage, hash string) ([]validation.Verdict, error)

func (a *Activities) recorded(ctx context.Context, runID string) verdicts {
	return func(stage, hash string) ([]validation.Verdict, error) {
		return a.o.Store.Verdicts(ctx, runID, stage, hash)
	}
}

// sights sums up what a look has seen so far, item by item.
func (l looking) sights(read verdicts) ([]validation.Sight, error) {
	at := make(map[string]int, len(l.held))
	out := make([]validation.Sight, len(l.held))
	for i, it := range l.held {
		at[it.ID] = i
		out[i].Item, out[i].Weight = it.ID, it.Weight
	}
	before, err := read(l.parentStage, l.parent)
	if err != nil {
		return nil, err
	}
	for _, v := range before {
		if i, ok := at[v.Item]; ok && v.State != validation.Pass {
			out[i].Failing = true
		}
	}
	for _, stage := range []string{validation.StageTriage, validation.StageMain, validation.StageAgain} {
		seen := [2][]validation.Verdict{}
		for side, hash := range []string{l.parent, l.candidate} {
			if seen[side], err = read(l.site(stage), hash); err != nil {
				return nil, err
			}
		}
		// A process may have died in the middle of a trial: a base trial counts once both sides of all items have it.
		whole := l.trials
		if stage == validation.StageMain {
			whole = l.wholeTrials(seen)
		}
		for side, vs := range seen {
			for _, v := range vs {
				i, ok := at[v.Item]
				if !ok {
					continue
				}
				var into *validation.Tally
				switch {
				case stage == validation.StageTriage:
					into = &out[i].Triage[side]
				case stage == validation.StageAgain:
					into = &out[i].Again[side]
				case v.Trial >= l.trials:
					into = &out[i].Further[side]
				case v.Trial < whole:
					into = &out[i].Main[side]
				default:
					continue
				}
				into.N++
				switch v.State {
				case validation.Pass:
					into.Pass++
				case validation.Missing:
					into.Missing++
				}
			}
		}
	}
	return out, nil
}

// wholeTrials is how many base trials are recorded for every item on both sides.
func (l looking) wholeTrials(seen [2][]validation.Verdict) int {
	n := make([]int, l.trials)
	for _, vs := range seen {
		for _, v := range vs {
			if v.Trial < l.trials {
				n[v.Trial]++
			}
		}
	}
	for t, count := range n {
		if count < 2*len(l.held) {
			return t
		}
	}
	return l.trials
}

// draw measures both sides as a look asks, interleaved trial by trial.
func (a *Activities) draw(ctx context.Context, l looking, site string, items []validation.Item, from, trials int, second bool) error {
	var failed error
	for trial := from; trial < from+trials; trial++ {
		sides := [2]measuring{}
		for i, hash := range []string{l.parent, l.candidate} {
			sides[i] = measuring{job: l.job, site: site, step: l.step, hash: hash, items: items, trials: 1, from: trial, second: second}
		}
		if l.job.Params.Pairwise {
			if err := a.pair(ctx, sides[0], sides[1], trial); err != nil {
				if !passing(err) {
					return err
				}
				failed = cmp.Or(failed, err)
			}
			continue
		}
		for _, m := range sides {
			if err := a.measure(ctx, m); err != nil {
				if !passing(err) {
					return err
				}
				failed = cmp.Or(failed, err)
			}
		}
	}
	return failed
}

// look draws until the look is decided. The alpha is taken once triage has let the candidate on.
func (a *Activities) look(ctx context.Context, l looking, in ValidateIn) (*validation.Decision, error) {
	for {
		d, ask, _, err := a.next(ctx, l, in.Gate)
		if err != nil || d != nil {
			return d, err
		}
		items := make([]validation.Item, len(ask.Items))
		for i, n := range ask.Items {
			items[i] = l.held[n]
		}
		if err := a.draw(ctx, l, l.site(ask.Stage), items, ask.From, ask.Trials, false); err != nil {
			return nil, err
		}
	}
}

// next asks the gate what to measure next, or for its word, from what is recorded. look is the number under which alpha was
// taken, nil where triage refused.
func (a *Activities) next(ctx context.Context, l looking, g run.Gate) (d *validation.Decision, ask *validation.Ask, look *int, err error) {
	s, err := l.sights(a.recorded(ctx, l.job.RunID))
	if err != nil {
		return nil, nil, nil, err
	}
	if ask, d = l.design().Triage(s, l.seed()); ask != nil || d != nil {
		return d, ask, nil, nil
	}
	n, err := a.o.Store.Look(ctx, l.job.Params.SkillKey, g.Manifest, l.job.RunID, l.step, l.try)
	if err != nil {
		return nil, nil, nil, err
	}
	ask, d = l.design().Next(s, validation.AlphaFor(g.Alpha, g.PlannedLooks, n), l.seed())
	return d, ask, &n, nil
}
