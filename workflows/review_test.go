package workflows

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/run"
	"whetstone/validation"
)

// word is an update that a person sent, and what became of it.
type word struct {
	accepted, refused bool
	why               string
}

func send(e *testsuite.TestWorkflowEnvironment, update, id string, arg any) *word {
	w := &word{}
	e.UpdateWorkflow(update, id, &testsuite.TestUpdateCallback{
		OnAccept:   func() { w.accepted = true },
		OnReject:   func(err error) { w.refused, w.why = true, err.Error() },
		OnComplete: func(any, error) {},
	}, arg)
	return w
}

func (w *world) proposed() string {
	b, _ := os.ReadFile(filepath.Join(w.dir, "SKILL.md.proposed"))
	return string(b)
}

func TestAResultWaitsForDaysUntilAPersonAcceptsIt(t *testing.T) {
	w := newWorld(t)
	w.params.Review = true
	e := w.envOf("one")
	var early, second *word
	e.RegisterDelayedCallback(func() { early = send(e, DecideUpdate, "early", Verdict{Accept: true}) }, 0)
	began := e.Now()
	waited := time.Duration(0)
	e.RegisterDelayedCallback(func() {
		v, err := e.QueryWorkflow(ProgressQuery)
		var p Progress
		if err != nil || v.Get(&p) != nil || p.Phase != "review" || !p.Review || p.HashAfter == p.HashBefore {
			t.Errorf("progress %+v (%v)", p, err)
		}
		if w.proposed() != "" {
			t.Error("it was delivered before anybody decided")
		}
		waited = e.Now().Sub(began)
		send(e, DecideUpdate, "first", Verdict{Accept: true})
		second = send(e, DecideUpdate, "second", Verdict{Accept: false, Why: "no"})
	}, 9*24*time.Hour)
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	r := out.Result
	if early == nil || !early.refused || !strings.Contains(early.why, "no result waits") {
		t.Errorf("a word before anything waits: %+v", early)
	}
	if second == nil || second.accepted {
		t.Errorf("a second word: %+v", second)
	}
	if waited < 9*24*time.Hour {
		t.Errorf("it waited %v", waited)
	}
	if r.Outcome != run.Accepted || r.Reviewed != run.ReviewAccepted || r.Delivered != "staged" || w.proposed() == "" || r.HashAfter == r.HashBefore {
		t.Errorf("%+v", r)
	}
}

func TestARejectionByAPersonIsKeptAndNotTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.params.Review = true
	e := w.envOf("one")
	var mute *word
	e.RegisterDelayedCallback(func() {
		mute = send(e, DecideUpdate, "mute", Verdict{Accept: false, Why: "  \n"})
		send(e, DecideUpdate, "no", Verdict{Accept: false, Why: "we never write it that way"})
	}, time.Hour)
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	r := out.Result
	if mute == nil || !mute.refused || !strings.Contains(mute.why, "needs a reason") {
		t.Errorf("a rejection without a reason: %+v", mute)
	}
	if r.Outcome != run.NoImprovement || r.Reviewed != run.ReviewRejected || r.HashAfter != r.HashBefore || r.Delivered != "none" || w.proposed() != "" || r.Accepted != 0 || r.ProposalPath != nil {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.Why, "we never write it that way") || *r.Final.Selection != *r.Baseline.Selection || r.TestInterval != nil {
		t.Errorf("%+v", r)
	}
	if r.Patches.Applied != 0 {
		t.Errorf("%d patches count as applied", r.Patches.Applied)
	}
	// Every bundle that the gate had accepted is among the refusals, with the person's words.
	taken := map[string]bool{}
	candidates, err := w.store.RunCandidates(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range w.steps("one") {
		if st.Outcome != validation.Accepted {
			continue
		}
		for _, c := range candidates {
			if c.Step != st.Step || c.Try != st.Try {
				continue
			}
			rej, found, err := w.store.Rejection(t.Context(), c.Bundle)
			if err != nil || !found || !strings.Contains(rej.Reason, "we never write it that way") || len(rej.Patches) == 0 {
				t.Errorf("the bundle of step %d.%d: %+v, %v", st.Step, st.Try, rej, err)
			}
			taken[c.Hash] = true
		}
	}
	if len(taken) == 0 {
		t.Fatal("the gate had accepted nothing")
	}
	// A second run of the same skill is told, pays for none of them and delivers none of them.
	w.params.Review = false
	h := w.listen(nil)
	second := w.run("two")
	if taken[second.HashAfter] {
		t.Error("the second run ends with what was rejected")
	}
	told := false
	for _, q := range h.of("reflect") {
		told = told || strings.Contains(promptOf(q), "we never write it that way")
	}
	if !told {
		t.Error("the reflecting model is not told why")
	}
	for _, st := range w.steps("two") {
		if taken[st.Candidate] && st.Parent == r.HashBefore && (!st.Replayed || st.Outcome != validation.Rejected) {
			t.Errorf("step %d.%d tried a rejected bundle: %+v", st.Step, st.Try, st)
		}
	}
}

func TestAStopDuringReviewDeliversNothing(t *testing.T) {
	w := newWorld(t)
	w.params.Review = true
	e := w.envOf("one")
	e.RegisterDelayedCallback(func() { send(e, StopUpdate, "stop", StopRequest{Why: "later"}) }, 48*time.Hour)
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	r := out.Result
	if r.Reviewed != run.ReviewStopped || r.Delivered != "none" || w.proposed() != "" || r.HashAfter != r.HashBefore || !strings.Contains(r.Why, "before anybody decided") {
		t.Errorf("%+v", r)
	}
	// Nobody rejected anything: nothing is on file against the edits.
	rejected, err := w.store.Established(t.Context(), "go-testing", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range rejected {
		if strings.Contains(x.Reason, "person") {
			t.Errorf("%+v", x)
		}
	}
}

// A run that a person stopped still waits for a word on what it had accepted, and a second stop ends the wait.
func TestAStoppedRunCanBeStoppedAgainInReview(t *testing.T) {
	w := newWorld(t)
	w.params.Review = true
	e := w.envOf("one")
	stopAfterFirst(t, e)
	var again *word
	e.RegisterDelayedCallback(func() { again = send(e, StopUpdate, "again", StopRequest{}) }, time.Hour)
	e.RegisterDelayedCallback(func() { send(e, DecideUpdate, "give up", Verdict{Why: "the second stop did nothing"}) }, 24*time.Hour)
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	if again == nil || again.refused || !strings.Contains(out.Result.Why, "before anybody decided") || out.Result.Delivered != "none" {
		t.Errorf("%+v, %+v", again, out.Result)
	}
}

func TestADecisionIsRefusedWhereNothingWaits(t *testing.T) {
	w := newWorld(t)
	e := w.envOf("one")
	var mid *word
	onDecide(e, func(activities.DecideOut) {
		if mid == nil {
			mid = send(e, DecideUpdate, "mid", Verdict{Accept: true})
		}
	})
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	if mid == nil || !mid.refused || !strings.Contains(mid.why, "no result waits") || out.Result.Delivered != "staged" {
		t.Errorf("%+v, %+v", mid, out.Result)
	}
}

// A stop that arrives while the history is about to be renewed is no less a stop.
func TestAStopSurvivesContinueAsNew(t *testing.T) {
	w := newWorld(t)
	e := w.envOf("one")
	asked := false
	e.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
		switch info.ActivityType.Name {
		case "Build":
			if !asked {
				asked = true
				send(e, StopUpdate, "stop", StopRequest{Why: "enough"})
			}
		case "Decide":
			e.SetContinueAsNewSuggested(true)
		}
	})
	in := w.input()
	e.ExecuteWorkflow(OptimizeName, in)
	var next *workflow.ContinueAsNewError
	if errors.As(e.GetWorkflowError(), &next) {
		if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil {
			t.Fatal(err)
		}
		e = w.envOf("one")
		e.ExecuteWorkflow(OptimizeName, in)
	}
	var out OptimizeOutput
	if err := e.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	if !asked || out.Result.StoppedReason != activities.StopPerson || out.Result.Accepted != 1 || out.Result.Delivered != "staged" {
		t.Errorf("asked %v: %+v", asked, out.Result)
	}
}
