package workflows

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"whetstone/model"
	"whetstone/run"
	"whetstone/validation"
)

// With a third of all answers replaced by failures: looks in stages, credit, updates and a second judge record no wrong verdict
// either, nothing is accepted that the second judge has not confirmed, and no answered call is paid again.
func TestFaultsNeverBecomeVerdictsInStages(t *testing.T) {
	seeds := uint64(4)
	if racing {
		seeds = 1
	}
	checked, stages := 0, map[string]bool{}
	for seed := range seeds {
		w := newWorld(t)
		w.random()
		w.params.Judge2, w.params.Epochs, w.params.Patience = "groq:other", 2, 0
		rng := rand.New(rand.NewPCG(seed, 5))
		var mu sync.Mutex
		w.listen(func(r model.Request) (model.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			if rng.Float64() > 0.3 {
				return w.lifts(r)
			}
			switch rng.IntN(6) {
			case 0:
				return model.Reply{}, &model.Error{Kind: model.RateLimited, Provider: "x", Status: 429, RetryAfter: time.Second, Err: errors.New("slow down")}
			case 1:
				return model.Reply{}, outage(model.Unavailable, 500, "oops")
			case 2:
				return model.Reply{}, outage(model.Timeout, 0, "late")
			case 3:
				return model.Reply{Text: `{"verdicts": [{"id": "i_0`, Finish: "length"}, nil
			case 4:
				return model.Reply{Text: "I am sorry.", Finish: "stop"}, nil
			default:
				return model.Reply{Text: `{"verdicts": [], "patches": []}`, Finish: "stop"}, nil
			}
		})
		r := w.run("one")
		items, err := w.store.RunItems(t.Context(), "one", "")
		if err != nil {
			t.Fatal(err)
		}
		byID := map[string]validation.Item{}
		for _, it := range items {
			byID[it.ID] = it
		}
		verdicts, err := w.store.AllVerdicts(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range verdicts {
			if v.State == validation.Missing {
				continue
			}
			checked++
			if want := v.Hash != r.HashBefore || len(byID[v.Item].Expected)%7 == 0; (v.State == validation.Pass) != want {
				t.Errorf("seed %d, %s: a wrong verdict %s on %q", seed, v.Stage, v.State, byID[v.Item].Expected)
			}
		}
		for _, st := range w.steps("one") {
			stages[st.Stage] = true
			if st.Outcome == validation.Accepted && st.Stage != validation.StageSecond {
				t.Errorf("seed %d: step %d.%d was accepted at %s", seed, st.Step, st.Try, st.Stage)
			}
		}
		if dup, err := w.store.DoublePaid(t.Context(), "one"); err != nil || len(dup) > 0 {
			t.Errorf("seed %d: paid twice: %v (%v)", seed, dup, err)
		}
		if r.Outcome == run.Failed {
			t.Errorf("seed %d: %s", seed, r.Why)
		}
	}
	if checked < 100 || !racing && !stages[validation.StageSecond] {
		t.Errorf("only %d verdicts, at %v", checked, stages)
	}
}
