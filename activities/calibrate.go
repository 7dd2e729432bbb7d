package activities

import (
	"context"
	"fmt"

	"whetstone/calibrate"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

// Calibrate measures a judge's noise: one text is judged again and again on the items that would train it. It is no activity:
// what it pays for is in the ledger under job's run, so that a second start pays only for what is missing.
func Calibrate(ctx context.Context, a *Activities, job Job, rounds int) (calibrate.Wobble, float64, error) {
	f, pkg, err := ReadPackage(job.Params.SkillPath, job.Params.Plain)
	if err != nil {
		return calibrate.Wobble{}, 0, err
	}
	items, err := a.calibrationItems(ctx, job, f)
	if err != nil {
		return calibrate.Wobble{}, 0, err
	}
	text := pkg.Join()
	if _, err := a.o.Store.PutText(ctx, text); err != nil {
		return calibrate.Wobble{}, 0, err
	}
	hash := skill.Hash(text)
	job.RunID += "-" + hash[:12]
	p := job.Params
	err = a.o.Store.BeginRun(ctx, run.Run{
		ID: job.RunID, WorkflowID: job.WorkflowID, SkillKey: p.SkillKey, SkillName: p.SkillName, SkillPath: p.SkillPath, Provider: p.Provider, Judge: p.Judge, Mode: p.Mode,
		Goal: p.Goal, Seed: p.Seed, HashBefore: hash, StartedAt: a.o.Now(),
	})
	if err != nil {
		return calibrate.Wobble{}, 0, err
	}
	const site = "calibrate"
	err = a.measure(ctx, measuring{job: job, site: site, hash: hash, items: items, trials: rounds})
	if reason, ok := stopReason(err); ok {
		return calibrate.Wobble{}, 0, InputError("measure the judge: stopped by %s: what was asked so far is kept, and a larger --budget-usd or --max-calls goes on from there", reason)
	}
	if err != nil {
		return calibrate.Wobble{}, 0, err
	}
	m, err := a.measured(ctx, job.RunID, site, hash, items)
	if err != nil {
		return calibrate.Wobble{}, 0, err
	}
	spent, calls, err := a.o.Store.Spent(ctx, job.RunID)
	if err != nil {
		return calibrate.Wobble{}, 0, err
	}
	w := calibrate.Measure(m, rounds)
	if len(w.Items) == 0 {
		return w, spent.USD(), InputError("measure the judge: it gave no usable verdict on any item")
	}
	mean := w.Mean
	return w, spent.USD(), a.o.Store.EndRun(ctx, job.RunID, run.Calibrated, &run.Result{
		RunID: job.RunID, WorkflowID: job.WorkflowID, Skill: p.SkillKey, Provider: p.Provider, Judge: p.Judge, Mode: p.Mode, Outcome: run.Calibrated, Delivered: "none", Path: p.SkillPath,
		Baseline: run.Scores{Selection: &mean}, Calls: calls, SpentUSD: spent.USD(), BudgetUSD: p.BudgetUSD, HashBefore: hash, HashAfter: hash,
		Why: fmt.Sprintf("the judge was asked %d times about each of %d items", rounds, len(w.Items)),
	})
}

// calibrationItems are all items that a run of the skill would use.
func (a *Activities) calibrationItems(ctx context.Context, job Job, f *skill.File) ([]validation.Item, error) {
	ls, err := a.learningsFor(ctx, job.Params, f)
	if err != nil {
		return nil, err
	}
	items, _ := validation.FromLearnings(ls)
	given, err := a.givenItems(job)
	if err != nil {
		return nil, err
	}
	if len(given) > 0 {
		items = validation.Combine(items, given)
	}
	if len(items) < MinItems {
		return nil, a.tooFew(ctx, job.Params, f, ls, len(items))
	}
	return items, nil
}
