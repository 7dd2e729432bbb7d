package workflows

import (
	"strings"
	"testing"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/run"
	"whetstone/validation"
)

// What a person has to mend first ends a run at its first failure, and the result says what it is and what to do.
func TestWhatAPersonHasToMendEndsTheRunAtOnce(t *testing.T) {
	for _, c := range []struct {
		kind   model.Kind
		status int
		why    string
		remedy string
	}{
		{model.Unauthorised, 401, "bad key", "starter doctor"},
		{model.Quota, 429, "insufficient_quota", "raise it at the provider"},
		{model.NotFound, 404, "no such model", "--model"},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			w := newWorld(t)
			w.params.Minibatch = 1
			h := w.listen(func(r model.Request) (model.Reply, error) {
				if r.Stage == "reflect" {
					return model.Reply{}, outage(c.kind, c.status, c.why)
				}
				return model.Reply{}, nil
			})
			r := w.run("one")
			if r.Outcome != run.Stopped || r.StoppedReason != activities.StopBreaker || !strings.Contains(r.Why, c.why) || !strings.Contains(r.Why, c.remedy) {
				t.Errorf("%s by %s: %s", r.Outcome, r.StoppedReason, r.Why)
			}
			if n := len(h.of("reflect")); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// The same after something was accepted: that is delivered, and the cause is told all the same.
func TestAcceptedWorkOutlivesTheKey(t *testing.T) {
	w := newWorld(t)
	w.params.Minibatch = 1
	e := w.envOf("one")
	gone := false
	onDecide(e, func(d activities.DecideOut) { gone = gone || d.Outcome == validation.Accepted })
	w.listen(func(r model.Request) (model.Reply, error) {
		if gone && r.Stage == "reflect" {
			return model.Reply{}, outage(model.Quota, 429, "insufficient_quota")
		}
		return model.Reply{}, nil
	})
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	r := out.Result
	if r.Outcome != run.Accepted || r.Accepted != 1 || r.Delivered != "staged" || w.proposed() == "" || r.StoppedReason != activities.StopBreaker {
		t.Errorf("%+v", r)
	}
	said := r.Why + strings.Join(r.Notes, "\n")
	if !strings.Contains(said, "insufficient_quota") || !strings.Contains(said, "raise it at the provider") {
		t.Errorf("it does not say why it ended: %s", said)
	}
}

// Three failures of one kind in a row end a run; two of one kind and one of another, or a success between, do not.
func TestTheBreakerCountsFailuresOfOneKindInARow(t *testing.T) {
	const ok = model.Kind("")
	for name, c := range map[string]struct {
		kinds []model.Kind
		opens bool
		calls int
	}{
		"three of one kind":            {[]model.Kind{model.Refused, model.Refused, model.Refused}, true, 3},
		"two of one kind, then others": {[]model.Kind{model.Refused, model.Refused, model.CutOff, model.CutOff}, false, 9},
		"a success between":            {[]model.Kind{model.Refused, model.Refused, ok}, false, 9},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.params.Minibatch, w.params.Patience = 1, 0
			n := 0
			h := w.listen(func(r model.Request) (model.Reply, error) {
				if r.Stage != "reflect" {
					return model.Reply{}, nil
				}
				kind := c.kinds[n%len(c.kinds)]
				n++
				if kind == ok {
					return replyJSON(t, map[string]any{"reasoning": "", "patches": []any{}}), nil
				}
				return model.Reply{}, outage(kind, 0, "oops")
			})
			r := w.run("one")
			if opened := r.StoppedReason == activities.StopBreaker; opened != c.opens {
				t.Errorf("stopped by %s: %s", r.StoppedReason, r.Why)
			}
			if got := len(h.of("reflect")); got != c.calls {
				t.Errorf("%d calls, want %d", got, c.calls)
			}
		})
	}
}

// An outage of hours at the judge, after something was accepted, costs what was to come and nothing of what there is.
func TestAnOutageAfterAnAcceptanceKeepsTheWork(t *testing.T) {
	w := newWorld(t)
	e := w.envOf("one")
	gone := false
	onDecide(e, func(d activities.DecideOut) { gone = gone || d.Outcome == validation.Accepted })
	w.listen(func(r model.Request) (model.Reply, error) {
		if gone {
			return model.Reply{}, outage(model.Unavailable, 503, "down")
		}
		return model.Reply{}, nil
	})
	out, err := w.optimize(e)
	if err != nil {
		t.Fatal(err)
	}
	r := out.Result
	if r.Outcome != run.Accepted || r.Accepted != 1 || r.Delivered != "staged" || r.Final.Test != nil {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "sealed test could not be measured") {
		t.Errorf("notes %q", r.Notes)
	}
}

// second is a world whose first judge sees a large gain in every candidate, and whose second judge, of another provider, says
// what answer says.
func second(t *testing.T, answer func(w *world, r model.Request, task *model.JudgeTask) (model.Reply, error)) *world {
	w := newWorld(t)
	w.random()
	w.params.Judge2 = "groq:other"
	w.listen(func(r model.Request) (model.Reply, error) {
		if task, is := r.Task.(*model.JudgeTask); is && r.Ref.Provider == "groq" {
			return answer(w, r, task)
		}
		return w.lifts(r)
	})
	return w
}

// words are what the second judge had the last word on.
func (w *world) words(id string) (out []run.Step) {
	w.t.Helper()
	for _, st := range w.steps(id) {
		if st.Stage == validation.StageSecond {
			out = append(out, st)
		}
	}
	if len(out) == 0 {
		w.t.Errorf("the second judge was never asked: %+v", w.steps(id))
	}
	return out
}

func TestASecondJudgeMustSeeTheGain(t *testing.T) {
	manyRuns(t)
	t.Run("one that sees none refuses", func(t *testing.T) {
		w := second(t, func(_ *world, _ model.Request, task *model.JudgeTask) (model.Reply, error) {
			return sees(t, task, func(it model.JudgeItem) bool { return len(it.Expected)%2 == 0 }), nil
		})
		r := w.run("one")
		if r.Accepted != 0 || r.HashAfter != r.HashBefore || r.Delivered != "none" || r.Outcome != run.NoImprovement {
			t.Errorf("%+v", r)
		}
		for _, st := range w.words("one") {
			if st.Outcome != validation.Rejected || !strings.Contains(st.Reason, "second judge sees no gain") {
				t.Errorf("%+v", st)
			}
		}
	})
	t.Run("one that sees it in one item alone is not sure", func(t *testing.T) {
		w := second(t, func(w *world, r model.Request, task *model.JudgeTask) (model.Reply, error) {
			first := task.Items[0].ID
			for _, it := range task.Items {
				first = min(first, it.ID)
			}
			reply, _ := w.lifts(model.Request{Task: &model.JudgeTask{Body: task.Body, Items: []model.JudgeItem{{ID: "x", Expected: "xxxxxxx1"}}}})
			better := strings.Contains(reply.Text, "true")
			return sees(t, task, func(it model.JudgeItem) bool { return better && it.ID == first }), nil
		})
		if r := w.run("one"); r.Accepted != 0 {
			t.Errorf("%+v", r)
		}
		for _, st := range w.words("one") {
			if st.Outcome != validation.Rejected || !strings.Contains(st.Reason, "not sure") {
				t.Errorf("%+v", st)
			}
		}
	})
	t.Run("one that agrees confirms", func(t *testing.T) {
		w := second(t, func(w *world, r model.Request, _ *model.JudgeTask) (model.Reply, error) { return w.lifts(r) })
		if r := w.run("one"); r.Outcome != run.Accepted || r.Accepted != 1 {
			t.Fatalf("%+v", r)
		}
		for _, st := range w.words("one") {
			if st.Outcome != validation.Accepted || !strings.Contains(st.Reason, "second judge agrees") {
				t.Errorf("%+v", st)
			}
		}
	})
	t.Run("one that leaves an item out decides nothing", func(t *testing.T) {
		w := second(t, func(w *world, r model.Request, task *model.JudgeTask) (model.Reply, error) {
			less := *task
			less.Items = less.Items[1:]
			r.Task = &less
			return w.lifts(r)
		})
		if r := w.run("one"); r.Accepted != 0 || r.Indecisive == 0 || r.HashAfter != r.HashBefore {
			t.Errorf("%+v", r)
		}
		for _, st := range w.words("one") {
			if st.Outcome != validation.Indecisive {
				t.Errorf("%+v", st)
			}
		}
	})
	t.Run("one that gives no verdicts decides nothing", func(t *testing.T) {
		w := second(t, func(*world, model.Request, *model.JudgeTask) (model.Reply, error) {
			return model.Reply{Text: "They all look fine to me.", Finish: "stop"}, nil
		})
		if r := w.run("one"); r.Accepted != 0 || r.HashAfter != r.HashBefore || r.Indecisive == 0 {
			t.Errorf("%+v", r)
		}
		for _, st := range w.words("one") {
			if st.Outcome != validation.Indecisive {
				t.Errorf("%+v", st)
			}
		}
	})
	t.Run("one that is out decides nothing", func(t *testing.T) {
		w := second(t, func(*world, model.Request, *model.JudgeTask) (model.Reply, error) {
			return model.Reply{}, outage(model.Unavailable, 503, "down")
		})
		if r := w.run("one"); r.Accepted != 0 || r.HashAfter != r.HashBefore || r.Indecisive == 0 {
			t.Errorf("%+v", r)
		}
	})
}
