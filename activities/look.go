package activities

import (
	"cmp"
	"context"

	"whetstone/evidence"
	"whetstone/model"
	"whetstone/run"
	"whetstone/validation"
)

// lookAt gathers what a look is about.
func (a *Activities) lookAt(ctx context.Context, job Job, step, try int, by, parent, parentStage, candidate string, keys []string, g run.Gate) (evidence.Look, error) {
	l := evidence.Look{
		RunSeed: job.Params.Seed, Step: step, Try: try, By: by, Parent: parent, Candidate: candidate, ParentStage: parentStage, Trials: g.Trials,
		Deterministic: g.Deterministic, Adopt: job.Params.Goal == "adopt",
	}
	var err error
	if l.Held, err = a.o.Store.RunItems(ctx, job.RunID, validation.Selection); err != nil {
		return l, err
	}
	if l.Second = g.SecondJudge != ""; l.Second {
		ref, err := model.ParseRef(g.SecondJudge)
		if err != nil {
			return l, InputError("%w", err)
		}
		l.SecondDeterministic = deterministic(ref, job.Params)
	}
	l.Own, l.ByEdit, err = a.ownItems(ctx, job, step, keys)
	return l, err
}

// recorded reads a run's verdicts.
func (a *Activities) recorded(ctx context.Context, runID string) evidence.Verdicts {
	return func(stage, hash string) ([]validation.Verdict, error) {
		return a.o.Store.Verdicts(ctx, runID, stage, hash)
	}
}

// spend takes a look's alpha; look is where its number goes. Taking it again for the same look gives the same.
func (a *Activities) spend(ctx context.Context, job Job, l evidence.Look, g run.Gate, look **int) func() (float64, error) {
	return func() (float64, error) {
		n, err := a.o.Store.Look(ctx, job.Params.SkillKey, g.Manifest, job.RunID, l.Step, l.Try)
		if err != nil {
			return 0, err
		}
		*look = &n
		return validation.AlphaFor(g.Alpha, g.PlannedLooks, n), nil
	}
}

// draw measures both sides as a look asks, interleaved trial by trial.
func (a *Activities) draw(ctx context.Context, job Job, l evidence.Look, site string, items []validation.Item, from, trials int, second bool) error {
	var failed error
	for trial := from; trial < from+trials; trial++ {
		sides := [2]measuring{}
		for i, hash := range []string{l.Parent, l.Candidate} {
			sides[i] = measuring{job: job, site: site, step: l.Step, hash: hash, items: items, trials: 1, from: trial, second: second, by: l.By}
		}
		if job.Params.Pairwise {
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

// look draws until a staged look is decided.
func (a *Activities) look(ctx context.Context, job Job, l evidence.Look, g run.Gate) (*validation.Decision, error) {
	var number *int
	for {
		d, ask, err := l.Next(a.recorded(ctx, job.RunID), a.spend(ctx, job, l, g, &number))
		if err != nil || d != nil {
			return d, err
		}
		items := make([]validation.Item, len(ask.Items))
		for i, n := range ask.Items {
			items[i] = l.Held[n]
		}
		if err := a.draw(ctx, job, l, l.Site(ask.Stage), items, ask.From, ask.Trials, false); err != nil {
			return nil, err
		}
	}
}
