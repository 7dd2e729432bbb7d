package evidence_test

import (
	"fmt"
	"testing"

	"whetstone/evidence"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

// claimed is the record of written with a sealed test and the result that its run would claim.
func claimed(t *testing.T) evidence.Record {
	t.Helper()
	r := written(t)
	sides := [2]validation.Measured{}
	for i := range 12 {
		id := fmt.Sprintf("t%02d", i)
		r.Items = append(r.Items, evidence.Item{ID: id, Kind: validation.KindLLM, Side: validation.Test, Weight: 1})
		for side, hash := range []string{r.HashBefore, r.HashAfter} {
			v := validation.Verdict{Item: id, State: state(i < 4+6*side), Judge: "openai:m"}
			sides[side].Items = append(sides[side].Items, validation.Item{ID: id, Kind: validation.KindLLM, Side: validation.Test, Weight: 1})
			sides[side].Verdicts = append(sides[side].Verdicts, v)
			r.Verdicts = append(r.Verdicts, evidence.Verdict{Stage: evidence.StageTest, Hash: hash, Item: id, State: v.State, Judge: v.Judge})
		}
	}
	score := func(x float64) *float64 { return &x }
	// The items' weights are 1, 1.5 and 2 by turns: the first eight of 24 weigh 11.5 of 36, and in the end all pass.
	r.Result = run.Result{
		RunID: "r", Outcome: r.Outcome, StoppedReason: "epochs", Steps: 4, Accepted: 2, Rejected: 2,
		Baseline: run.Scores{Selection: score(11.5 / 36), Test: score(4.0 / 12)}, Final: run.Scores{Selection: score(1), Test: score(10.0 / 12)},
		TestInterval: validation.Interval(sides[0], sides[1], optimizer.SeedFor(r.Seed, "test interval")),
	}
	selection := [2]validation.Measured{}
	last := r.Steps[3]
	for _, it := range r.Items[:24] {
		for side := range selection {
			selection[side].Items = append(selection[side].Items, validation.Item{ID: it.ID, Kind: it.Kind, Side: it.Side, Weight: it.Weight})
		}
	}
	for _, v := range r.Verdicts {
		for side, at := range [][2]string{{"baseline", r.HashBefore}, {"step-4.0", last.Candidate}} {
			if v.Stage == at[0] && v.Hash == at[1] {
				selection[side].Verdicts = append(selection[side].Verdicts, validation.Verdict{Item: v.Item, Trial: v.Trial, State: v.State, Judge: v.Judge})
			}
		}
	}
	r.Result.Interval = validation.Interval(selection[0], selection[1], optimizer.SeedFor(r.Seed, "interval"))
	for _, st := range r.Steps {
		if st.Look != nil {
			r.Looks = append(r.Looks, [3]int{st.Step, st.Try, *st.Look})
		}
	}
	return r
}

// What a run claims beyond its steps is worked out again, and so is the ledger of looks.
func TestEachFalseClaimIsFound(t *testing.T) {
	whole := claimed(t)
	if got := evidence.Check(clone(t, whole)); len(got.Differences) > 0 {
		t.Fatalf("%+v", got)
	}
	if whole.Result.Interval == nil || whole.Result.TestInterval == nil || len(whole.Looks) < 2 {
		t.Fatalf("%+v", whole.Result)
	}
	for name, change := range map[string]func(r *evidence.Record){
		"its outcome":                      func(r *evidence.Record) { r.Result.Outcome = run.NoImprovement },
		"one acceptance more":              func(r *evidence.Record) { r.Result.Accepted++ },
		"one refusal less":                 func(r *evidence.Record) { r.Result.Rejected-- },
		"an indecisive step that is none":  func(r *evidence.Record) { r.Result.Indecisive++ },
		"fewer steps":                      func(r *evidence.Record) { r.Result.Steps = 3 },
		"a lower score to begin with":      func(r *evidence.Record) { *r.Result.Baseline.Selection -= 0.1 },
		"no score to begin with":           func(r *evidence.Record) { r.Result.Baseline.Selection = nil },
		"a higher score in the end":        func(r *evidence.Record) { *r.Result.Final.Selection += 0.01 },
		"a better sealed test":             func(r *evidence.Record) { *r.Result.Final.Test += 1.0 / 12 },
		"a worse sealed test to begin":     func(r *evidence.Record) { *r.Result.Baseline.Test -= 1.0 / 12 },
		"an interval above zero":           func(r *evidence.Record) { r.Result.Interval[0] += 0.05 },
		"no interval":                      func(r *evidence.Record) { r.Result.Interval = nil },
		"a wider interval of the test":     func(r *evidence.Record) { r.Result.TestInterval[1] += 0.05 },
		"no interval of the test":          func(r *evidence.Record) { r.Result.TestInterval = nil },
		"a look that was never booked":     func(r *evidence.Record) { r.Looks = r.Looks[1:] },
		"a look booked under another":      func(r *evidence.Record) { r.Looks[0][2]++ },
		"a look booked for another step":   func(r *evidence.Record) { r.Looks[0][0]++ },
		"no ledger":                        func(r *evidence.Record) { r.Looks = nil },
		"a verdict of the sealed test":     func(r *evidence.Record) { r.Verdicts[len(r.Verdicts)-1].State = validation.Pass },
		"a verdict of the test left out":   func(r *evidence.Record) { r.Verdicts = r.Verdicts[:len(r.Verdicts)-1] },
		"a person's refusal that was none": func(r *evidence.Record) { r.Reviewed = run.ReviewRejected },
	} {
		t.Run(name, func(t *testing.T) {
			r := clone(t, whole)
			change(&r)
			if got := evidence.Check(r); len(got.Differences) == 0 {
				t.Errorf("it was not found: %+v", got)
			}
		})
	}
}
