package workflows

import (
	"strings"
	"testing"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/run"
)

// rewrites is a world whose reflecting model can rewrite a skill in one go.
func rewrites(t *testing.T) (*world, *heard) {
	w := newWorld(t)
	w.params.Provider, w.params.Baselines = "openai:m", true
	h := w.listen(func(r model.Request) (model.Reply, error) {
		if task, is := r.Task.(*model.RewriteTask); is {
			body := task.Body
			for _, x := range task.Trajectories[:len(task.Trajectories)/2] {
				body += "- " + strings.ReplaceAll(x.Expected, "\n", " ") + "\n"
			}
			return replyJSON(t, map[string]any{"body": body}), nil
		}
		return model.Reply{}, nil
	})
	return w, h
}

func (w *world) baselines(id string) map[string]run.Baseline {
	w.t.Helper()
	all, err := w.store.Baselines(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]run.Baseline{}
	for _, b := range all {
		out[b.Name] = b
	}
	return out
}

func TestBaselinesAreMeasuredOnWhatTheRunIsReportedOn(t *testing.T) {
	w, h := rewrites(t)
	w.client.price = model.Price{Input: 1, Output: 1}
	w.params.BudgetUSD = 100
	r := w.run("one")
	if r.Outcome != run.Accepted || r.SpentUSD > r.BudgetUSD || r.SpentUSD == 0 {
		t.Fatalf("%+v", r)
	}
	have := w.baselines("one")
	for _, name := range activities.Baselines {
		b, ok := have[name]
		if !ok || b.Hash == "" || b.Note != "" {
			t.Errorf("%s: %+v", name, b)
			continue
		}
		vs, err := w.store.Verdicts(t.Context(), "one", activities.BaselineSite(name), b.Hash)
		if err != nil || len(vs) == 0 {
			t.Errorf("%s was not measured: %v", name, err)
		}
		items, err := w.store.RunItems(t.Context(), "one", "test")
		if err != nil {
			t.Fatal(err)
		}
		on := map[string]bool{}
		for _, it := range items {
			on[it.ID] = true
		}
		for _, v := range vs {
			if !on[v.Item] {
				t.Errorf("%s was measured on %s, which is not of the sealed test", name, v.Item)
			}
		}
		// What it is made of is train items: a baseline that has seen the test would be an unfair one.
		text, err := w.store.Text(t.Context(), b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			if len(it.Expected) > 30 && strings.Contains(text, it.Expected) && !strings.Contains(mustBody(t, w), it.Expected) {
				t.Errorf("%s holds a sealed item: %q", name, it.Expected)
			}
		}
	}
	// They are paid from the run's own budget.
	var paid int
	for _, q := range h.all() {
		if _, is := q.Task.(*model.RewriteTask); is {
			paid++
		}
	}
	if paid != 1 {
		t.Errorf("%d rewrites", paid)
	}
}

func TestABaselineThatTheModelCanNotMakeIsTold(t *testing.T) {
	w := newWorld(t)
	w.params.Baselines = true // the offline model can not rewrite
	r := w.run("one")
	if r.Outcome != run.Accepted || r.Delivered != "staged" {
		t.Errorf("%+v", r)
	}
	have := w.baselines("one")
	if b := have[activities.BaselineOneShot]; b.Hash != "" || b.Note == "" {
		t.Errorf("%+v", b)
	}
	if b := have[activities.BaselineAppend]; b.Hash == "" {
		t.Errorf("%+v", b)
	}
}

// With nothing left to spend, the run delivers what it has, and says which baselines were not measured.
func TestWithoutMoneyARunDeliversAndSaysWhatWasNotMeasured(t *testing.T) {
	plain, _ := rewrites(t)
	plain.params.Baselines = false
	whole := plain.run("one")

	for name, calls := range map[string]int{"spent at the end": whole.Calls, "spent on the way": whole.Calls - 6} {
		t.Run(name, func(t *testing.T) {
			w, _ := rewrites(t)
			w.params.MaxCalls = calls
			r := w.run("one")
			if r.Outcome != run.Accepted || r.Delivered != "staged" || r.Calls > calls {
				t.Errorf("%+v", r)
			}
			said := strings.Join(r.Notes, "\n")
			for _, b := range activities.Baselines {
				if !strings.Contains(said, "baseline "+b+" was not measured: "+activities.StopCalls) {
					t.Errorf("it does not tell of %q: %s", b, said)
				}
			}
		})
	}
}
