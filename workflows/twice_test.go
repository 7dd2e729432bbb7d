package workflows

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

// everyTwice makes every activity of an optimization run two times in a row.
func everyTwice(e *testsuite.TestWorkflowEnvironment, a *activities.Activities) {
	twice(e, "Preflight", a.Preflight)
	twice(e, "Evaluate", a.Evaluate)
	twice(e, "Reflect", a.Reflect)
	twice(e, "Propose", a.Propose)
	twice(e, "Choose", a.Choose)
	twice(e, "Merge", a.Merge)
	twice(e, "Build", a.Build)
	twice(e, "Validate", a.Validate)
	twice(e, "Decide", a.Decide)
	twice(e, "Screen", a.Screen)
	twice(e, "Update", a.Update)
	twice(e, "OpenTest", a.OpenTest)
	twice(e, "Baseline", a.Baseline)
	twice(e, "PutBack", a.PutBack)
	twice(e, "Deliver", a.Deliver)
	twice(e, "Finish", a.Finish)
}

// draws is a judge that answers at random by the request's seed, so that equal requests have equal answers. A text is worth
// more the more of the good lines it holds.
func draws(t testing.TB, orig string, rate func(body string) byte) func(model.Request) (model.Reply, error) {
	return func(r model.Request) (model.Reply, error) {
		task, is := r.Task.(*model.JudgeTask)
		if !is {
			return model.Reply{}, nil
		}
		return sees(t, task, func(it model.JudgeItem) bool {
			if skill.Hash(it.ID)[0] < '4' {
				return true
			}
			return skill.Hash(fmt.Sprint(r.Seed, it.ID))[0] < rate(task.Body)
		}), nil
	}
}

// Activities are executed at least once: the stages that are not in every run, too, may run twice.
func TestEveryRareActivityMayRunTwice(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		review bool
		want   []string
	}{
		"credit of a refused bundle": {func(w *world) {
			w.random()
			orig := mustBody(w.t, w)
			n := len(strings.Split(orig, "\n"))
			w.listen(draws(w.t, orig, func(body string) byte {
				switch more := len(strings.Split(body, "\n")) - n; {
				case body == orig:
					return '2'
				case more%2 == 1:
					return '6'
				default:
					return '4'
				}
			}))
		}, false, []string{"Screen"}},
		"slow and meta updates, baselines, a second judge": {func(w *world) {
			w.params.Provider, w.params.Judge2, w.params.Baselines, w.params.Patience = "openai:m", "offline", true, 0
			w.listen(func(r model.Request) (model.Reply, error) {
				if task, is := r.Task.(*model.RewriteTask); is {
					return replyJSON(w.t, map[string]any{"body": task.Body + "- One more.\n"}), nil
				}
				return model.Reply{}, nil
			})
		}, false, []string{"Update", "Baseline"}},
		"a front, merges and a person's rejection": {func(w *world) {
			w.params.Search, w.params.Epochs, w.params.Patience, w.params.Review = activities.SearchPareto, 4, 0, true
			w.listen(contested(w.t, mustBody(w.t, w)))
		}, true, []string{"Choose", "Merge", "PutBack"}},
	} {
		t.Run(name, func(t *testing.T) {
			var results [2]run.Result
			var traces [2]string
			for i := range results {
				w := newWorld(t)
				c.change(w)
				e := w.envOf("one")
				if i == 1 {
					everyTwice(e, w.acts)
				}
				var mu sync.Mutex
				seen := map[string]int{}
				e.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
					mu.Lock()
					defer mu.Unlock()
					seen[info.ActivityType.Name]++
				})
				if c.review {
					e.RegisterDelayedCallback(func() { send(e, DecideUpdate, "no", Verdict{Why: "not ours"}) }, time.Hour)
				}
				out, err := w.optimize(e)
				if err != nil {
					t.Fatal(err)
				}
				results[i] = out.Result
				for _, a := range c.want {
					if seen[a] == 0 {
						t.Errorf("%s did not occur: %v\n%s", a, seen, trace(w, "one"))
					}
				}
				traces[i] = trace(w, "one")
				if dup, err := w.store.DoublePaid(t.Context(), "one"); err != nil || len(dup) > 0 {
					t.Errorf("paid twice: %v (%v)", dup, err)
				}
			}
			a, b := results[0], results[1]
			if a.HashAfter != b.HashAfter || a.Calls != b.Calls || a.Accepted != b.Accepted || a.Rejected != b.Rejected || a.Indecisive != b.Indecisive || a.Delivered != b.Delivered || a.Why != b.Why {
				t.Errorf("once %+v\ntwice %+v", a, b)
			}
			if traces[0] != traces[1] {
				t.Errorf("once\n%s\ntwice\n%s", traces[0], traces[1])
			}
		})
	}
}

// trace writes down all that was decided in a run, and what is on file after it.
func trace(w *world, id string) string {
	w.t.Helper()
	var b strings.Builder
	num := func(x *float64) string {
		if x == nil {
			return "-"
		}
		return fmt.Sprintf("%.6f", *x)
	}
	for _, st := range w.steps(id) {
		look := -1
		if st.Look != nil {
			look = *st.Look
		}
		fmt.Fprintf(&b, "%d.%d %s %.8s %s %s look %d p %s alpha %s %s\n", st.Step, st.Try, st.Kind, st.Candidate, st.Outcome, st.Stage, look, num(st.P), num(st.Alpha), st.Reason)
	}
	patches, err := w.store.Patches(w.t.Context(), id, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range patches {
		fmt.Fprintf(&b, "patch %d %s %s %s\n", p.Step, p.Key, p.State, p.Reason)
	}
	rejected, err := w.store.RefusedHere(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	fmt.Fprintf(&b, "%d refusals on file\n", len(rejected))
	return b.String()
}

// A look that breaks off in the middle of a trial, with some verdicts recorded, and is made again decides as one that did not:
// at every judging call of a run that has triage, base trials, further trials and credit.
func TestALookThatBreaksOffDecidesAsOneThatDoesNot(t *testing.T) {
	manyRuns(t)
	world := func() (*world, func(model.Request) (model.Reply, error)) {
		w := newWorld(t)
		w.random()
		w.params.Epochs = 2
		orig := mustBody(t, w)
		n := len(strings.Split(orig, "\n"))
		return w, draws(t, orig, func(body string) byte {
			if body == orig {
				return '3'
			}
			return "79bdab"[min(max(len(strings.Split(body, "\n"))-n, 0), 5)]
		})
	}
	w, judge := world()
	h := w.listen(judge)
	w.run("one")
	want := trace(w, "one")
	stages := map[string]bool{}
	further := false
	verdicts, err := w.store.AllVerdicts(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		stages[v.Stage] = true
		further = further || strings.HasPrefix(v.Stage, "step-") && !strings.Contains(v.Stage, "triage") && !strings.Contains(v.Stage, "again") && v.Trial >= 3
	}
	for _, st := range w.steps("one") {
		stages[st.Outcome] = true
	}
	if !further || !stages["step-1.0-triage"] || !stages["step-1.0"] || !stages[validation.Accepted] || !stages[validation.Rejected] {
		t.Fatalf("the run has too little to break off: further trials %v, %v\n%s", further, stages, want)
	}
	calls := len(h.of("judge"))
	every := 5
	if racing {
		every = 12
	}
	for at := 4; at < calls; at += every { // the first calls are the baseline's
		w, judge := world()
		var mu sync.Mutex
		n, broke := 0, false
		w.listen(func(r model.Request) (model.Reply, error) {
			if r.Stage == "judge" {
				mu.Lock()
				n++
				now := n == at && !broke
				broke = broke || now
				mu.Unlock()
				if now {
					return model.Reply{}, errors.New("the process died here")
				}
			}
			return judge(r)
		})
		w.run("one")
		if got := trace(w, "one"); got != want {
			t.Errorf("broken off at call %d of %d:\n%s\nwant\n%s", at, calls, got, want)
			return
		}
		if !broke {
			t.Errorf("call %d was never made", at)
		}
	}
}
