package workflows

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

// named gives a run an id of its own: the test environment gives none, and two runs over one store need two.
type named struct {
	interceptor.WorkerInterceptorBase
	id string
}

func (n *named) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &namedIn{interceptor.WorkflowInboundInterceptorBase{Next: next}, n.id}
}

type namedIn struct {
	interceptor.WorkflowInboundInterceptorBase
	id string
}

func (n *namedIn) Init(out interceptor.WorkflowOutboundInterceptor) error {
	return n.Next.Init(&namedOut{interceptor.WorkflowOutboundInterceptorBase{Next: out}, n.id})
}

type namedOut struct {
	interceptor.WorkflowOutboundInterceptorBase
	id string
}

func (n *namedOut) GetInfo(ctx workflow.Context) *workflow.Info {
	info := *n.Next.GetInfo(ctx)
	info.FirstRunID = n.id
	return &info
}

// manyRuns is for tests that make many whole runs of one kind: under the race detector one run takes ten times as long, and others
// race every activity that they use (TestEveryActivityMayRunTwice, TestEveryRareActivityMayRunTwice). They run at full length
// without it, in the same CI.
func manyRuns(t *testing.T) {
	t.Helper()
	if racing {
		t.Skip("many whole runs of one kind: at full length without the race detector")
	}
}

// envOf is a quiet environment for the run with this id.
func (w *world) envOf(id string) *testsuite.TestWorkflowEnvironment {
	var s testsuite.WorkflowTestSuite
	s.SetLogger(log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	e := s.NewTestWorkflowEnvironment()
	e.SetTestTimeout(2 * time.Minute)
	e.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&named{id: id}}})
	e.RegisterWorkflowWithOptions(OptimizeSkill, workflow.RegisterOptions{Name: OptimizeName})
	e.RegisterActivity(w.acts)
	return e
}

// run runs to the end under an id and wants no error.
func (w *world) run(id string) run.Result {
	w.t.Helper()
	out, err := w.optimize(w.envOf(id))
	if err != nil {
		w.t.Fatal(err)
	}
	if out.Result.RunID != id {
		w.t.Fatalf("the run is %q, not %q", out.Result.RunID, id)
	}
	return out.Result
}

// heard keeps what the models were asked, and answers some of it.
type heard struct {
	mu       sync.Mutex
	requests []model.Request
}

// listen lets answer reply to a request; an empty reply leaves it to the offline model.
func (w *world) listen(answer func(model.Request) (model.Reply, error)) *heard {
	h := &heard{}
	w.client.fail = func(_ int, r model.Request) (model.Reply, error) {
		h.mu.Lock()
		h.requests = append(h.requests, r)
		h.mu.Unlock()
		if answer != nil {
			if reply, err := answer(r); err != nil || reply.Text != "" {
				return reply, err
			}
		}
		reply, _ := updates(w.t, r)
		return reply, nil
	}
	return h
}

// updates answers what the offline model does not know: a slow block with the expected behaviour of what fails, and advice.
func updates(t testing.TB, r model.Request) (model.Reply, bool) {
	task, is := r.Task.(*model.UpdateTask)
	if !is {
		return model.Reply{}, false
	}
	block := "Mind in every task:\n"
	for _, p := range task.Pairs {
		if p.After < 1 {
			block += "- " + strings.ReplaceAll(p.Expected, "\n", " ") + "\n"
			break
		}
	}
	if task.Slow {
		return replyJSON(t, map[string]any{"reasoning": "r", "block": block, "advice": "slow advice"}), true
	}
	return replyJSON(t, map[string]any{"reasoning": "r", "advice": "Prefer one line over three."}), true
}

func (h *heard) all() []model.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]model.Request(nil), h.requests...)
}

// of are those of one stage.
func (h *heard) of(stage string) (out []model.Request) {
	for _, r := range h.all() {
		if r.Stage == stage {
			out = append(out, r)
		}
	}
	return out
}

func promptOf(r model.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Content + "\n")
	}
	return b.String()
}

// random makes the models ones that count as answering at random, so that looks are made in stages.
func (w *world) random() {
	w.params.Provider, w.params.Judge = "openai:m", "openai:m"
	w.params.BudgetUSD = 1000
}

func (w *world) steps(id string) []run.Step {
	w.t.Helper()
	s, err := w.store.Steps(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func replyJSON(t testing.TB, v any) model.Reply {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return model.Reply{Text: string(b), Finish: "stop", Usage: model.Usage{Input: 100, Output: 50}}
}

// sees is a judge's answer to a JudgeTask: pass says of each item whether it passes.
func sees(t testing.TB, task *model.JudgeTask, pass func(model.JudgeItem) bool) model.Reply {
	type verdict struct {
		ID   string `json:"id"`
		Pass bool   `json:"pass"`
		Why  string `json:"why"`
	}
	var vs []verdict
	for _, it := range task.Items {
		vs = append(vs, verdict{it.ID, pass(it), "because"})
	}
	return replyJSON(t, map[string]any{"verdicts": vs})
}

func outage(kind model.Kind, status int, why string) error {
	return &model.Error{Kind: kind, Provider: "x", Status: status, Err: errors.New(why)}
}

// onDecide hears each of the gate's words.
func onDecide(e *testsuite.TestWorkflowEnvironment, f func(activities.DecideOut)) {
	e.SetOnActivityCompletedListener(func(info *activity.Info, result converter.EncodedValue, err error) {
		var d activities.DecideOut
		if info.ActivityType.Name == "Decide" && err == nil && result.Get(&d) == nil {
			f(d)
		}
	})
}

// stopAfterFirst lets a person stop the run once something was accepted.
func stopAfterFirst(t *testing.T, e *testsuite.TestWorkflowEnvironment) {
	done := false
	onDecide(e, func(d activities.DecideOut) {
		if d.Outcome == validation.Accepted && !done {
			done = true
			if w := send(e, StopUpdate, "stop", StopRequest{}); w.refused {
				t.Errorf("the stop was refused: %s", w.why)
			}
		}
	})
}

// lifts is a judge that finds few of the items in the text a run begins with, and every item in any other.
func (w *world) lifts(r model.Request) (model.Reply, error) {
	w.t.Helper()
	task, is := r.Task.(*model.JudgeTask)
	if !is {
		return model.Reply{}, nil
	}
	data, err := os.ReadFile(w.params.SkillPath)
	if err != nil {
		return model.Reply{}, err
	}
	f, err := skill.Parse(data, skill.Options{})
	if err != nil {
		return model.Reply{}, err
	}
	return sees(w.t, task, func(it model.JudgeItem) bool { return task.Body != f.Body || len(it.Expected)%7 == 0 }), nil
}

// contested is a judge under which the first text does badly, and every other one well at some items, badly at others, and at a
// few never: which of them, depends on its bytes.
func contested(t testing.TB, orig string) func(model.Request) (model.Reply, error) {
	return func(r model.Request) (model.Reply, error) {
		task, is := r.Task.(*model.JudgeTask)
		if !is {
			return model.Reply{}, nil
		}
		return sees(t, task, func(it model.JudgeItem) bool {
			switch c := skill.Hash(it.ID)[0]; {
			case c >= 'd':
				return true
			case c < '3' || task.Body == orig:
				return false
			}
			return skill.Hash(task.Body + it.ID)[0] >= '6'
		}), nil
	}
}

// stop writes the kill file.
func (w *world) stop() { _ = os.WriteFile(filepath.Join(w.dir, "STOP"), nil, 0o600) }
