package activities

import (
	"context"
	"fmt"

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
	items, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Test)
	if err != nil {
		return out, err
	}
	before, err := a.measured(ctx, in.Job.RunID, "test", in.Before, items)
	if err != nil {
		return out, err
	}
	after, err := a.measured(ctx, in.Job.RunID, "test", in.After, items)
	if err != nil {
		return out, err
	}
	out.Interval = validation.Interval(before, after, optimizer.SeedFor(in.Job.Params.Seed, "test interval"))
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
		if before.Judges() == after.Judges() {
			r.Interval = validation.Interval(before, after, optimizer.SeedFor(in.Job.Params.Seed, "interval"))
		} else {
			r.Notes = append(r.Notes, fmt.Sprintf("the last text was judged by %s and the first by %s, so that their scores on the selection items can not be compared", after.Judges(), before.Judges()))
		}
	}
	steps, err := a.o.Store.Steps(ctx, in.Job.RunID)
	if err != nil {
		return FinishOut{}, err
	}
	if r.Outcome == run.Accepted {
		train, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Train)
		if err != nil {
			return FinishOut{}, err
		}
		adopted, err := a.adopted(ctx, in.Job.RunID, steps, train)
		if err != nil {
			return FinishOut{}, err
		}
		r.Why, r.Notes = wording(r, adopted, len(train)), append(r.Notes, caveats(r)...)
	}
	if r.Files, err = a.filesChanged(ctx, in.Job.Params.SkillPath, r.HashBefore, r.HashAfter); err != nil {
		return FinishOut{}, err
	}
	if e := r.EstimateUSD; len(e) == 2 && r.SpentUSD > e[1] {
		r.Notes = append(r.Notes, fmt.Sprintf("it spent $%.4f, more than the $%.4f that were estimated for 95 of 100 runs", r.SpentUSD, e[1]))
	}
	if err := a.o.Store.EndRun(ctx, in.Job.RunID, r.Outcome, &r); err != nil {
		return FinishOut{}, err
	}
	return FinishOut{Result: r, Markdown: report.Markdown(r, steps)}, nil
}

// adopted counts the train items that passed in most trials under an accepted candidate. An edit may answer to several
// wordings of one correction and state only one of them; those it does not state do not count.
func (a *Activities) adopted(ctx context.Context, runID string, steps []run.Step, train []validation.Item) (int, error) {
	passed := map[string]bool{}
	for _, st := range steps {
		if st.Outcome != validation.Accepted {
			continue
		}
		m, err := a.measured(ctx, runID, Site(st.Step, st.Try, st.Judge)+"-own", st.Candidate, train)
		if err != nil {
			return 0, err
		}
		for _, it := range train {
			if rate, ok := m.Rate(it.ID); ok && rate > 0.5 {
				passed[it.ID] = true
			}
		}
	}
	return len(passed), nil
}

// wording says what was reached, and no more than that.
func wording(r run.Result, adopted, train int) string {
	looks := fmt.Sprintf("%d of %d candidate(s) accepted", r.Accepted, r.Accepted+r.Rejected+r.Indecisive)
	if r.Goal != "adopt" {
		return looks + " on held-out corrections"
	}
	return fmt.Sprintf("%s: %d of the %d corrections in the train part were adopted into the skill, nothing held out was lost (this is not shown to generalise)", looks, adopted, train)
}

// caveats are what keeps an accepted result from being read as more than it is.
func caveats(r run.Result) []string {
	var out []string
	if r.Interval != nil && r.Interval[0] <= 0 {
		out = append(out, "the 95 % interval of the change on the selection items includes zero: with so few items this is no statistical evidence of improvement")
	}
	if b, f := r.Baseline.Test, r.Final.Test; b != nil && f != nil && *f <= *b {
		out = append(out, fmt.Sprintf("the sealed test did not improve (%.3f before, %.3f after)", *b, *f))
	}
	return out
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
