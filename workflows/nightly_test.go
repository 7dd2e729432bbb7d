package workflows

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"whetstone/learning"
	"whetstone/model"
	"whetstone/run"
)

// night has one night in an environment of its own. child stands in for the training; nil is the real one.
func (w *world) night(perDay *float64, child func(workflow.Context, OptimizeInput) (OptimizeOutput, error)) NightOutput {
	w.t.Helper()
	e := w.env()
	e.RegisterWorkflowWithOptions(NightlyOptimize, workflow.RegisterOptions{Name: NightName})
	if child != nil {
		e.OnWorkflow(OptimizeName, mock.Anything, mock.Anything).Return(child)
	}
	return nightOn(w, e, perDay)
}

func nightOn(w *world, e *testsuite.TestWorkflowEnvironment, perDay *float64) NightOutput {
	w.t.Helper()
	e.ExecuteWorkflow(NightName, NightInput{Params: w.params, PerDay: perDay, SearchAttributes: true})
	var out NightOutput
	if err := e.GetWorkflowError(); err != nil {
		w.t.Fatal(err)
	}
	if err := e.GetWorkflowResult(&out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// started counts how often a night came to train, with what, and trains nothing.
func started(n *int, in *OptimizeInput) func(workflow.Context, OptimizeInput) (OptimizeOutput, error) {
	return func(_ workflow.Context, x OptimizeInput) (OptimizeOutput, error) {
		*n++
		*in = x
		return OptimizeOutput{Result: run.Result{Outcome: run.NoImprovement, Delivered: "none", SpentUSD: 0.25}}, nil
	}
}

func TestANightTrainsAndTellsWhatCameOfIt(t *testing.T) {
	w := newWorld(t)
	out := w.night(nil, nil)
	if out.Outcome != run.Accepted || out.Delivered != "staged" || out.Proposal == "" || out.Before == nil || out.After == nil || *out.After <= *out.Before || out.RunID == "" || out.Skipped || out.Failed != "" {
		t.Fatalf("%+v", out)
	}
	if _, err := os.Stat(out.Proposal); err != nil {
		t.Error(err)
	}
	text := out.markdown()
	for _, want := range []string{"accepted", out.RunID, "staged", "go-testing"} {
		if !strings.Contains(text, want) {
			t.Errorf("the details lack %q:\n%s", want, text)
		}
	}
}

// A night that would find what the last one found is not paid for; one new correction, one byte of the file, or other
// choices make it take place.
func TestANightWithNothingNewIsSkipped(t *testing.T) {
	w := newWorld(t)
	settled := func(outcome run.Outcome, delivered string) string {
		t.Helper()
		var n int
		var in OptimizeInput
		w.night(nil, started(&n, &in)) // what a night's run is given
		if n != 1 || !in.Params.Night {
			t.Fatalf("%d run(s), %+v", n, in.Params)
		}
		id := "night-" + time.Now().Format(time.RFC3339Nano)
		w.record(id, in.Params, outcome, delivered)
		return id
	}
	trains := func(what string) {
		t.Helper()
		var n int
		var in OptimizeInput
		if out := w.night(nil, started(&n, &in)); n != 1 || out.Skipped {
			t.Errorf("%s: %+v", what, out)
		}
	}
	id := settled(run.NoImprovement, "none")
	out := w.night(nil, func(workflow.Context, OptimizeInput) (OptimizeOutput, error) {
		t.Error("it trains")
		return OptimizeOutput{}, nil
	})
	if !out.Skipped || !strings.Contains(out.Why, id) || !strings.Contains(out.Why, "no improvement") || out.Outcome != "" || !strings.Contains(out.markdown(), "**skipped**") {
		t.Errorf("%+v", out)
	}
	if w.client.n != 0 {
		t.Errorf("%d model calls", w.client.n)
	}

	before := w.params
	w.params.Goal = "adopt"
	trains("another goal")
	w.params = before
	w.params.BudgetUSD = 0.1 // what bounds a run is no news
	if out := w.night(nil, nil); !out.Skipped {
		t.Errorf("another budget: %+v", out)
	}
	w.params = before

	text, err := os.ReadFile(w.params.SkillPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.params.SkillPath, append(text, "\nMore.\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	trains("another file")
	if err := os.WriteFile(w.params.SkillPath, text, 0o600); err != nil {
		t.Fatal(err)
	}

	now := time.Now().Add(-time.Minute)
	if _, err := w.store.AddLearnings(t.Context(), []learning.Learning{{Category: "Testing", Rule: "Close every response body that a handler test opens, at once", Mistake: "leaks bodies", Correction: "defer resp.Body.Close() after the error check", Status: learning.Approved, Skill: "go-testing", CreatedAt: now, ValidFrom: now}}); err != nil {
		t.Fatal(err)
	}
	trains("a new learning")

	settled(run.Accepted, "staged") // the proposal waits, and the file is as it was
	if out := w.night(nil, nil); !out.Skipped || !strings.Contains(out.Why, "accepted") {
		t.Errorf("%+v", out)
	}
	w.params.Deliver = "write"
	trains("what was staged is to be written")
}

// record writes a night's run down as if it had ended so.
func (w *world) record(id string, p run.Params, outcome run.Outcome, delivered string) {
	w.t.Helper()
	e := w.envOf(id + "-as-run") // each run has an id of its own: what a run froze stays
	e.ExecuteWorkflow(OptimizeName, OptimizeInput{Params: p})
	var out OptimizeOutput
	if err := e.GetWorkflowResult(&out); err != nil {
		w.t.Fatal(err)
	}
	items, err := w.store.RunItems(w.t.Context(), out.Result.RunID, "")
	if err != nil {
		w.t.Fatal(err)
	}
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	must(w.store.BeginRun(w.t.Context(), run.Run{ID: id, WorkflowID: "optimize/" + p.SkillKey, SkillKey: p.SkillKey, SkillPath: p.SkillPath, HashBefore: out.Result.HashBefore, StartedAt: time.Now().Add(time.Hour)}))
	must(w.store.Freeze(w.t.Context(), id, p.SkillKey, items, nil))
	must(w.store.EndRun(w.t.Context(), id, outcome, &run.Result{RunID: id, Outcome: outcome, Delivered: delivered, Params: &p}))
	w.client.n = 0
}

func TestANightLeavesAnOpenTrainingAlone(t *testing.T) {
	w := newWorld(t)
	e := w.env()
	e.RegisterWorkflowWithOptions(NightlyOptimize, workflow.RegisterOptions{Name: NightName})
	e.RegisterWorkflowWithOptions(func(ctx workflow.Context) (out NightOutput, err error) {
		in := w.input()
		in.Params.Review = true // it stays open
		person := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: "optimize/go-testing"}), OptimizeName, in)
		if err := person.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
			return out, err
		}
		err = workflow.ExecuteChildWorkflow(ctx, NightName, NightInput{Params: w.params}).Get(ctx, &out)
		return out, err
	}, workflow.RegisterOptions{Name: "both"})
	e.ExecuteWorkflow("both")
	var out NightOutput
	if err := e.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if err := e.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	if !out.Skipped || !strings.Contains(out.Why, "open already") || out.RunID != "" || out.Failed != "" {
		t.Errorf("%+v", out)
	}
}

// What fails is told, and the workflow ends well: the schedule goes on.
func TestANightThatFailsSaysSo(t *testing.T) {
	t.Run("in its training", func(t *testing.T) {
		w := newWorld(t)
		out := w.night(nil, func(workflow.Context, OptimizeInput) (OptimizeOutput, error) {
			return OptimizeOutput{}, temporal.NewApplicationError("the disk is full", "X")
		})
		if out.Failed != "the disk is full" || out.Outcome != run.Failed || out.Skipped || !strings.Contains(out.markdown(), "**failed**: the disk is full") {
			t.Errorf("%+v", out)
		}
	})
	t.Run("before it", func(t *testing.T) {
		w := newWorld(t)
		if err := os.Remove(w.params.SkillPath); err != nil {
			t.Fatal(err)
		}
		if out := w.night(nil, nil); !strings.Contains(out.Failed, "no such file") || out.RunID != "" {
			t.Errorf("%+v", out)
		}
	})
}

func TestANightKeepsTheBudgetOfItsDay(t *testing.T) {
	w := newWorld(t)
	var n int
	var in OptimizeInput
	if out := w.night(ptr(0.2), started(&n, &in)); n != 1 || in.Params.BudgetUSD != 0.2 || in.Params.NightUSD == nil || *in.Params.NightUSD != 0.2 || out.Spent != 0.25 {
		t.Errorf("%+v, %+v", out, in.Params)
	}
	// Another skill's night spends most of the day's.
	book := model.Booking{Key: "a", RunID: "other", Stage: "judge", Ref: model.Ref{Provider: "openai", Model: "m"}, Reserve: model.FromUSD(0.15), Budget: model.FromUSD(1), Night: true}
	if _, err := w.store.Reserve(t.Context(), book); err != nil {
		t.Fatal(err)
	}
	if w.night(ptr(0.2), started(&n, &in)); n != 2 || in.Params.BudgetUSD < 0.0499 || in.Params.BudgetUSD > 0.0501 {
		t.Errorf("%d, %+v", n, in.Params)
	}
	if w.night(nil, started(&n, &in)); n != 3 || in.Params.BudgetUSD != 0.5 {
		t.Errorf("without a cap: %+v", in.Params)
	}
	if out := w.night(ptr(0.15), started(&n, &in)); n != 3 || !out.Skipped || !strings.Contains(out.Why, "spent") {
		t.Errorf("%+v", out)
	}
}

func TestTheKillFileKeepsNightsFromTraining(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(w.dir+"/STOP", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := w.night(nil, nil); !out.Skipped || !strings.Contains(out.Why, "kill file") {
		t.Errorf("%+v", out)
	}
}

// A result that is to be reviewed keeps its night open until somebody has decided.
func TestANightWaitsForReview(t *testing.T) {
	w := newWorld(t)
	w.params.Review = true
	e := w.env()
	e.RegisterWorkflowWithOptions(NightlyOptimize, workflow.RegisterOptions{Name: NightName})
	e.SetTestTimeout(2 * time.Minute)
	var refused []error
	decided := false
	e.RegisterDelayedCallback(func() {
		_ = e.UpdateWorkflowByID("optimize/go-testing", DecideUpdate, "decide", &answer{rejected: func(err error) { refused = append(refused, err) }, done: func() { decided = true }}, Verdict{Accept: true})
	}, 30*time.Hour)
	out := nightOn(w, e, nil)
	if len(refused) > 0 || !decided || out.Outcome != run.Accepted || out.Delivered != "staged" {
		t.Errorf("refused %v, decided %v, %+v", refused, decided, out)
	}
}

type answer struct {
	rejected func(error)
	done     func()
}

func (a *answer) Accept()             {}
func (a *answer) Reject(err error)    { a.rejected(err) }
func (a *answer) Complete(any, error) { a.done() }
