package workflows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/learning"
	"whetstone/llm"
	"whetstone/llm/statement"
	"whetstone/model"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/store"
	"whetstone/validation"
)

// client is the offline model behind a name that makes it count as one that answers at random, with failures on demand.
type client struct {
	mu        sync.Mutex
	answering sync.Mutex // calls come side by side; what a test answers with may count and remember
	n         int
	fail      func(n int, r model.Request) (model.Reply, error)
	price     model.Price
}

func (c *client) Client(model.Ref) (model.Client, error) { return c, nil }
func (c *client) Price(model.Ref) (model.Price, error)   { return c.price, nil }
func (c *client) Complete(ctx context.Context, r model.Request) (model.Reply, error) {
	c.mu.Lock()
	n := c.n
	c.n++
	c.mu.Unlock()
	if c.fail != nil {
		c.answering.Lock()
		reply, err := c.fail(n, r)
		c.answering.Unlock()
		if err != nil || reply.Text != "" {
			return reply, err
		}
	}
	reply, err := llm.OfflineClient{}.Complete(ctx, r)
	reply.Usage = model.Usage{Input: 1000, Output: 100}
	return reply, err
}

type world struct {
	t      *testing.T
	dir    string
	store  *store.Store
	client *client
	acts   *activities.Activities
	params run.Params
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "data.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w := &world{t: t, dir: dir, store: st, client: &client{}}
	if w.acts, err = activities.New(activities.Options{Store: st, Models: w.client, KillFile: filepath.Join(dir, "STOP")}); err != nil {
		t.Fatal(err)
	}
	example := filepath.Join("..", "examples", "go-testing")
	text, err := os.ReadFile(filepath.Join(example, "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(example, "learnings.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	ls, bad, err := learning.ReadJSONL(f, time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	for i := range ls {
		ls[i].Skill = "go-testing"
	}
	if _, err := st.AddLearnings(t.Context(), ls); err != nil {
		t.Fatal(err)
	}
	w.params = run.Params{
		SkillPath: filepath.Join(dir, "SKILL.md"), SkillKey: "go-testing", SkillName: "go-testing", Provider: "offline", Judge: "offline", Goal: "improve", Mode: "judge",
		Epochs: 3, BatchSize: 8, Minibatch: 2, LR: 4, MinLR: 2, MaxAdds: 3, MaxDeletes: 2, MaxReplace: 3, Alpha: 0.05, BudgetUSD: 0.5, Patience: 5, Seed: 1, MaxTokens: 5000, Deliver: "stage",
	}
	return w
}

// env is a test environment with the real activities over the real store.
func (w *world) env() *testsuite.TestWorkflowEnvironment {
	var s testsuite.WorkflowTestSuite
	e := s.NewTestWorkflowEnvironment()
	e.SetTestTimeout(time.Minute)
	e.RegisterWorkflowWithOptions(OptimizeSkill, workflow.RegisterOptions{Name: OptimizeName})
	e.RegisterActivity(w.acts)
	return e
}

func (w *world) input() OptimizeInput {
	return OptimizeInput{Params: w.params, SearchAttributes: true}
}

// optimize runs to the end and returns the result, or the error.
func (w *world) optimize(e *testsuite.TestWorkflowEnvironment) (OptimizeOutput, error) {
	w.t.Helper()
	e.ExecuteWorkflow(OptimizeName, w.input())
	if !e.IsWorkflowCompleted() {
		w.t.Fatal("the workflow did not end")
	}
	var out OptimizeOutput
	if err := e.GetWorkflowError(); err != nil {
		return out, err
	}
	if err := e.GetWorkflowResult(&out); err != nil {
		w.t.Fatal(err)
	}
	return out, nil
}

func TestAWholeRunImprovesAndIsTheSameEveryTime(t *testing.T) {
	first := ""
	for range 2 {
		w := newWorld(t)
		out, err := w.optimize(w.env())
		if err != nil {
			t.Fatal(err)
		}
		r := out.Result
		if r.Outcome != run.Accepted || r.Accepted == 0 || r.Delivered != "staged" || r.StoppedReason == "" {
			t.Fatalf("%+v", r)
		}
		if *r.Final.Selection <= *r.Baseline.Selection || *r.Final.Test < *r.Baseline.Test {
			t.Errorf("selection %v -> %v, test %v -> %v", *r.Baseline.Selection, *r.Final.Selection, *r.Baseline.Test, *r.Final.Test)
		}
		if r.Interval == nil || r.Interval[0] > r.Interval[1] || r.Patches.Proposed < r.Patches.Applied+r.Patches.Refused {
			t.Errorf("interval %v, patches %+v", r.Interval, r.Patches)
		}
		if !strings.Contains(out.Markdown, "accepted") || strings.Contains(out.Markdown, "t.Cleanup") {
			t.Errorf("the Markdown names no outcome, or carries a learning's text:\n%s", out.Markdown)
		}
		if first == "" {
			first = r.HashAfter
		}
		if r.HashAfter != first {
			t.Errorf("hash %s, then %s", first, r.HashAfter)
		}
		rec, err := w.store.Run(t.Context(), r.RunID)
		if err != nil || rec.Outcome != run.Accepted || rec.Result.HashAfter != first {
			t.Errorf("the record: %+v (%v)", rec, err)
		}
	}
}

func TestAdoptStatesTheCorrectionsItWasGiven(t *testing.T) {
	w := newWorld(t)
	w.params.Goal = "adopt"
	out, err := w.optimize(w.env())
	if err != nil || out.Result.Outcome != run.Accepted || !strings.Contains(out.Result.Why, "adopted") {
		t.Fatalf("%+v, %v", out.Result, err)
	}
	// Each accepted edit made its own item pass: judge the delivered text again.
	text, err := w.store.Text(t.Context(), out.Result.HashAfter)
	if err != nil {
		t.Fatal(err)
	}
	f, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	items, err := w.store.RunItems(t.Context(), out.Result.RunID, validation.Train)
	if err != nil {
		t.Fatal(err)
	}
	patches, err := w.store.Patches(t.Context(), out.Result.RunID, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range patches {
		if p.State != "accepted" {
			continue
		}
		passes := false
		for _, it := range items {
			for _, id := range p.Items {
				passes = passes || (it.ID == id && statement.Judge(f.Body, it.Expected).Stated)
			}
		}
		if passes {
			n++
		}
	}
	if n == 0 {
		t.Error("no accepted edit states what it answers to")
	}
}

// Activities are executed at least once: with every single one of them executed twice, the run ends the same and no
// settled call is paid again.
func TestEveryActivityMayRunTwice(t *testing.T) {
	w := newWorld(t)
	once, err := w.optimize(w.env())
	if err != nil {
		t.Fatal(err)
	}
	w = newWorld(t)
	e := w.env()
	twice(e, "Preflight", w.acts.Preflight)
	twice(e, "Evaluate", w.acts.Evaluate)
	twice(e, "Reflect", w.acts.Reflect)
	twice(e, "Propose", w.acts.Propose)
	twice(e, "Build", w.acts.Build)
	twice(e, "Validate", w.acts.Validate)
	twice(e, "Decide", w.acts.Decide)
	twice(e, "OpenTest", w.acts.OpenTest)
	twice(e, "Deliver", w.acts.Deliver)
	twice(e, "Finish", w.acts.Finish)
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	a, b := once.Result, out.Result
	if a.HashAfter != b.HashAfter || a.Calls != b.Calls || a.Accepted != b.Accepted || a.Rejected != b.Rejected || b.Delivered != "staged" {
		t.Errorf("once %+v\ntwice %+v", a, b)
	}
	if dup, err := w.store.DoublePaid(t.Context(), b.RunID); err != nil || len(dup) > 0 {
		t.Errorf("paid twice: %v (%v)", dup, err)
	}
}

func twice[In, Out any](e *testsuite.TestWorkflowEnvironment, name string, f func(context.Context, In) (Out, error)) {
	e.OnActivity(name, mock.Anything, mock.Anything).Return(func(ctx context.Context, in In) (Out, error) {
		if _, err := f(ctx, in); err != nil {
			var none Out
			return none, err
		}
		return f(ctx, in)
	})
}

func TestAStopKeepsWhatWasAccepted(t *testing.T) {
	w := newWorld(t)
	e := w.env()
	accepted, asked := false, false
	e.SetOnActivityCompletedListener(func(info *activity.Info, result converter.EncodedValue, _ error) {
		var d activities.DecideOut
		if info.ActivityType.Name == "Decide" && result.Get(&d) == nil && d.Outcome == validation.Accepted && !accepted {
			accepted = true
			e.UpdateWorkflow(StopUpdate, "stop-1", &testsuite.TestUpdateCallback{
				OnAccept:   func() { asked = true },
				OnReject:   func(err error) { t.Errorf("the stop was refused: %v", err) },
				OnComplete: func(any, error) {},
			}, StopRequest{Why: "enough"})
		}
	})
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	r := out.Result
	if !asked || r.Outcome != run.Accepted || r.StoppedReason != activities.StopPerson || r.Accepted != 1 || r.Delivered != "staged" {
		t.Errorf("asked %v: %+v", asked, r)
	}
	v, err := e.QueryWorkflow(ProgressQuery)
	if err != nil {
		t.Fatal(err)
	}
	var p Progress
	if err := v.Get(&p); err != nil || p.Phase != "done" || p.Accepted != 1 || p.StoppedReason != activities.StopPerson {
		t.Errorf("progress %+v (%v)", p, err)
	}
}

func TestRunsStopForTheirReasons(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*world)
		outcome run.Outcome
		reason  string
	}{
		"the kill file":       {func(w *world) { _ = os.WriteFile(filepath.Join(w.dir, "STOP"), nil, 0o600) }, run.Stopped, activities.StopKillFile},
		"the number of calls": {func(w *world) { w.params.MaxCalls = 1 }, run.Stopped, activities.StopCalls},
		"the budget": {func(w *world) {
			w.params.Provider, w.params.Judge = "openai:m", "openai:m"
			w.client.price = model.Price{Input: 1, Output: 1}
			w.params.BudgetUSD = 0.35
		}, run.NoImprovement, ""},
		"patience": {func(w *world) {
			w.params.Patience = 1
			w.params.MaxAdds, w.params.MaxReplace, w.params.MaxDeletes = 0, 0, 0
		}, run.NoImprovement, activities.StopPatience},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.change(w)
			out, err := w.optimize(w.env())
			if err != nil {
				t.Fatal(err)
			}
			r := out.Result
			if c.reason != "" && (r.Outcome != c.outcome || r.StoppedReason != c.reason) {
				t.Errorf("%s by %s, want %s by %s", r.Outcome, r.StoppedReason, c.outcome, c.reason)
			}
			if r.SpentUSD > r.BudgetUSD {
				t.Errorf("spent %v of %v", r.SpentUSD, r.BudgetUSD)
			}
			if r.Why == "" {
				t.Error("it does not say why")
			}
		})
	}
}

func TestBadInputFailsTheRunWithItsWords(t *testing.T) {
	w := newWorld(t)
	w.params.SkillKey = "nothing-linked"
	e := w.env()
	_, err := w.optimize(e)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != activities.TypeInput || !strings.Contains(app.Message(), "8 are needed") {
		t.Fatalf("%v", err)
	}
	runs, err := w.store.Runs(t.Context(), 0)
	if err != nil || len(runs) != 1 || runs[0].Outcome != run.Failed || runs[0].Result.Why == "" {
		t.Errorf("the record: %+v (%v)", runs, err)
	}
}

// With 30 % of model answers replaced by failures of all kinds, over many runs: no wrong verdict, no outage scored as a
// zero, and whatever is accepted is truly better.
func TestFaultsNeverBecomeVerdicts(t *testing.T) {
	completed, runs := 0, 20
	if racing {
		runs = 4
	}
	if v := os.Getenv("RUNS"); v != "" { // 200 of them were run once
		if _, err := fmt.Sscan(v, &runs); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range uint64(runs) {
		w := newWorld(t)
		rng := rand.New(rand.NewPCG(seed, 99))
		w.client.fail = func(int, model.Request) (model.Reply, error) {
			w.client.mu.Lock()
			defer w.client.mu.Unlock()
			if rng.Float64() > 0.3 {
				return model.Reply{}, nil
			}
			switch rng.IntN(6) {
			case 0:
				return model.Reply{}, &model.Error{Kind: model.RateLimited, Provider: "x", Status: 429, RetryAfter: time.Second, Err: errors.New("slow down")}
			case 1:
				return model.Reply{}, &model.Error{Kind: model.Unavailable, Provider: "x", Status: 500, Err: errors.New("oops")}
			case 2:
				return model.Reply{}, &model.Error{Kind: model.Timeout, Provider: "x", Err: errors.New("late")}
			case 3:
				return model.Reply{Text: `{"verdicts": [{"id": "i_0`, Finish: "length"}, nil
			case 4:
				return model.Reply{Text: "I am sorry.", Finish: "stop"}, nil
			default:
				return model.Reply{Text: `{"verdicts": [], "patches": []}`, Finish: "stop"}, nil
			}
		}
		out, err := w.optimize(w.env())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r := out.Result
		if r.Outcome != run.Stopped {
			completed++
		}
		checkVerdicts(t, w, r)
		if r.Final.Selection != nil && r.Baseline.Selection != nil && *r.Final.Selection < *r.Baseline.Selection {
			t.Errorf("seed %d: it got worse: %v -> %v", seed, *r.Baseline.Selection, *r.Final.Selection)
		}
	}
	t.Logf("%d of %d runs completed", completed, runs)
	if completed*100 < runs*95 && completed < runs-1 {
		t.Errorf("%d of %d runs completed", completed, runs)
	}
}

// checkVerdicts judges every recorded verdict again without any fault.
func checkVerdicts(t *testing.T, w *world, r run.Result) {
	t.Helper()
	items, err := w.store.RunItems(t.Context(), r.RunID, validation.Selection)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := w.store.Steps(t.Context(), r.RunID)
	if err != nil {
		t.Fatal(err)
	}
	type place struct{ stage, hash string }
	places := []place{{"baseline", r.HashBefore}}
	for _, s := range steps {
		places = append(places, place{activities.Site(s.Step, s.Try, s.Judge), s.Parent}, place{activities.Site(s.Step, s.Try, s.Judge), s.Candidate})
	}
	for _, p := range places {
		if p.hash == "" {
			continue
		}
		text, err := w.store.Text(t.Context(), p.hash)
		if err != nil {
			t.Fatal(err)
		}
		f, err := skill.Parse([]byte(text), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		judge := statement.Read(f.Body)
		vs, err := w.store.Verdicts(t.Context(), r.RunID, p.stage, p.hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vs {
			if v.State == validation.Missing {
				continue
			}
			for _, it := range items {
				if it.ID == v.Item && (v.State == validation.Pass) != judge.Judge(it.Expected).Stated {
					t.Errorf("%s: a wrong verdict %s on %q", p.stage, v.State, it.Expected)
				}
			}
		}
	}
}

func TestThreeOutagesInARowOpenTheBreaker(t *testing.T) {
	w := newWorld(t)
	w.client.fail = func(n int, r model.Request) (model.Reply, error) {
		if r.Stage == "reflect" {
			return model.Reply{}, &model.Error{Kind: model.Unauthorised, Provider: "x", Status: 401, Err: fmt.Errorf("bad key")}
		}
		return model.Reply{}, nil
	}
	out, err := w.optimize(w.env())
	if err != nil {
		t.Fatal(err)
	}
	if out.Result.Outcome != run.Stopped || out.Result.StoppedReason != activities.StopBreaker || !strings.Contains(out.Result.Why, "bad key") {
		t.Errorf("%+v", out.Result)
	}
}

func TestContinueAsNewCarriesOn(t *testing.T) {
	w := newWorld(t)
	whole, err := w.optimize(w.env())
	if err != nil {
		t.Fatal(err)
	}
	w = newWorld(t)
	in := w.input()
	for hops := 0; ; hops++ {
		if hops > 20 {
			t.Fatal("it never ends")
		}
		e := w.env()
		if hops < 3 {
			// Suggested from the first step on: each execution makes one step at most.
			steps := 0
			e.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
				if info.ActivityType.Name == "Decide" {
					steps++
					e.SetContinueAsNewSuggested(true)
				}
			})
		}
		e.ExecuteWorkflow(OptimizeName, in)
		err := e.GetWorkflowError()
		var next *workflow.ContinueAsNewError
		if errors.As(err, &next) {
			if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var out OptimizeOutput
		if err := e.GetWorkflowResult(&out); err != nil {
			t.Fatal(err)
		}
		if hops < 3 {
			t.Fatalf("only %d hops", hops)
		}
		if out.Result.HashAfter != whole.Result.HashAfter || out.Result.Accepted != whole.Result.Accepted {
			t.Errorf("whole %+v\nhopping %+v", whole.Result, out.Result)
		}
		return
	}
}
