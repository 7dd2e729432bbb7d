package workflows

import (
	"testing"

	"whetstone/activities"
	"whetstone/run"
	"whetstone/validation"
)

// A pairwise comparison says which side does better. How good the accepted text is, is judged on its own: ties, which pass on both
// sides, are no passes, and the run does not end for "all pass".
func TestPairwiseAcceptsByComparisonAndScoresAlone(t *testing.T) {
	w := newWorld(t)
	w.params.Mode, w.params.Pairwise = activities.ModeRollout, true
	r := w.run("one")
	if r.Outcome != run.Accepted {
		t.Fatalf("%s: %s", r.Outcome, r.Why)
	}
	items, err := w.store.RunItems(t.Context(), "one", validation.Selection)
	if err != nil {
		t.Fatal(err)
	}
	var last run.Step
	for _, st := range w.steps("one") {
		if st.Outcome == validation.Accepted {
			last = st
		}
	}
	vs, err := w.store.Verdicts(t.Context(), "one", activities.ScoreSite(last.Step, last.Try, last.Judge, w.params), last.Candidate)
	if err != nil {
		t.Fatal(err)
	}
	alone := validation.Measured{Items: items, Verdicts: vs}.Score()
	if alone == nil || r.Final.Selection == nil || *alone != *r.Final.Selection || *alone >= 1 || *alone <= *r.Baseline.Selection {
		t.Errorf("judged alone %v, reported %v, %v before", alone, r.Final.Selection, r.Baseline.Selection)
	}
	if r.StoppedReason == activities.StopAllPass {
		t.Error("ties ended the run")
	}
}
