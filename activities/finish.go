package activities

import (
	"context"

	"whetstone/optimizer"
	"whetstone/report"
	"whetstone/run"
	"whetstone/validation"
)

// OpenTest measures the first and the last text of a run on the sealed test items, once, and notes that this manifest was
// read.
func (a *Activities) OpenTest(ctx context.Context, in OpenTestIn) (OpenTestOut, error) {
	defer beat(ctx)()
	var out OpenTestOut
	reads, err := a.o.Store.ReadTest(ctx, in.Job.Params.SkillKey, in.Manifest, in.Job.RunID)
	if err != nil {
		return out, err
	}
	out.Reads = reads
	for _, side := range []struct {
		hash  string
		score **float64
	}{{in.Before, &out.Before}, {in.After, &out.After}} {
		got, err := a.Evaluate(ctx, EvaluateIn{Job: in.Job, Stage: "test", Hash: side.hash, Side: validation.Test, Trials: in.Trials})
		if err != nil || got.Stopped != "" {
			out.Stopped = got.Stopped
			return out, err
		}
		*side.score = got.Score
	}
	return out, nil
}

// Finish completes the result with what only the store knows, and closes the run's record. The first ending stays.
func (a *Activities) Finish(ctx context.Context, in FinishIn) (FinishOut, error) {
	defer beat(ctx)()
	r := in.Result
	spent, calls, err := a.o.Store.Spent(ctx, in.Job.RunID)
	if err != nil {
		return FinishOut{}, err
	}
	r.SpentUSD, r.Calls = spent.USD(), calls
	patches, err := a.o.Store.Patches(ctx, in.Job.RunID, 0)
	if err != nil {
		return FinishOut{}, err
	}
	r.Patches = countPatches(patches)
	if in.SelectionStage != "" {
		items, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Selection)
		if err != nil {
			return FinishOut{}, err
		}
		before, err := a.measured(ctx, in.Job.RunID, "baseline", in.Before, items)
		if err != nil {
			return FinishOut{}, err
		}
		after, err := a.measured(ctx, in.Job.RunID, in.SelectionStage, r.HashAfter, items)
		if err != nil {
			return FinishOut{}, err
		}
		r.Interval = validation.Interval(before, after, optimizer.SeedFor(in.Job.Params.Seed, "interval"))
	}
	steps, err := a.o.Store.Steps(ctx, in.Job.RunID)
	if err != nil {
		return FinishOut{}, err
	}
	if err := a.o.Store.EndRun(ctx, in.Job.RunID, r.Outcome, &r); err != nil {
		return FinishOut{}, err
	}
	return FinishOut{Result: r, Markdown: report.Markdown(r, steps)}, nil
}

func countPatches(ps []run.PatchRecord) run.PatchCounts {
	c := run.PatchCounts{Proposed: len(ps)}
	for _, p := range ps {
		switch p.State {
		case validation.Accepted:
			c.Applied++
		case "clipped":
		default:
			c.Refused++
		}
	}
	return c
}
