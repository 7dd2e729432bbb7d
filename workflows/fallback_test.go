package workflows

import (
	"strings"
	"testing"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/run"
	"whetstone/validation"
)

// A judge that gives no answer any more is stood in for by the models of --fallback, for whole comparisons: no look holds verdicts of
// two judges, each verdict names its own, and what two judges said of first and last text is not compared.
func TestAFallbackJudgesWholeComparisons(t *testing.T) {
	w := newWorld(t)
	w.random()
	w.params.Fallback = []string{"openai:spare"}
	looks := 0
	w.listen(func(r model.Request) (model.Reply, error) {
		if r.Stage == "judge" && r.Ref.Model == "m" {
			if looks++; looks > 9 { // the baseline's three trials of two prompts each, and half a look
				return model.Reply{}, outage(model.Unavailable, 503, "gone")
			}
		}
		return w.lifts(r)
	})
	r := w.run("one")
	if r.Accepted == 0 || r.Outcome != run.Accepted {
		t.Fatalf("%s by %s: %s", r.Outcome, r.StoppedReason, r.Why)
	}
	spared := 0
	for _, st := range w.steps("one") {
		if st.Candidate == "" {
			continue
		}
		for _, hash := range []string{st.Parent, st.Candidate} {
			for _, stage := range []string{"", "-triage", "-again"} {
				vs, err := w.store.Verdicts(t.Context(), "one", activities.Site(st.Step, st.Try, st.Judge)+stage, hash)
				if err != nil {
					t.Fatal(err)
				}
				judges := validation.Measured{Verdicts: vs}.Judges()
				want := "openai:m"
				if st.Judge != "" {
					want = st.Judge
				}
				if judges != "" && judges != want {
					t.Errorf("step %d.%d%s: judged by %s, not by %s", st.Step, st.Try, stage, judges, want)
				}
			}
		}
		if st.Judge == "openai:spare" && st.Outcome == validation.Accepted {
			spared++
		}
	}
	if spared == 0 {
		t.Error("nothing was accepted by the spare judge")
	}
	if r.Interval != nil || !strings.Contains(strings.Join(r.Notes, "|"), "judged by openai:spare and the first by openai:m") {
		t.Errorf("verdicts of two judges were compared: %v, %v", r.Interval, r.Notes)
	}
}

// Without a fallback the same is an outage, and indecisive.
func TestWithoutAFallbackAJudgeThatIsGoneDecidesNothing(t *testing.T) {
	w := newWorld(t)
	w.random()
	n := 0
	w.listen(func(r model.Request) (model.Reply, error) {
		if r.Stage == "judge" {
			if n++; n > 9 {
				return model.Reply{}, outage(model.Unavailable, 503, "gone")
			}
		}
		return w.lifts(r)
	})
	if r := w.run("one"); r.Accepted != 0 || r.StoppedReason != activities.StopBreaker {
		t.Errorf("%s by %s: %s", r.Outcome, r.StoppedReason, r.Why)
	}
}
