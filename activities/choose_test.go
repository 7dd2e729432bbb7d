package activities

import (
	"slices"
	"testing"
	"time"

	"whetstone/validation"
)

// The best text so far stays in the pool, whatever leads: the gate compares everything with it.
func TestTheBestTextStaysInThePool(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	items, err := p.store.RunItems(t.Context(), p.job.RunID, validation.Selection)
	if err != nil {
		t.Fatal(err)
	}
	put := func(stage, hash string, pass func(i int) bool) Member {
		var vs []validation.Verdict
		for i, it := range items {
			state := validation.Fail
			if pass(i) {
				state = validation.Pass
			}
			vs = append(vs, validation.Verdict{Item: it.ID, State: state, Judge: "offline"})
		}
		if err := p.store.PutVerdicts(t.Context(), p.job.RunID, stage, hash, vs); err != nil {
			t.Fatal(err)
		}
		return Member{Hash: hash, Stage: stage}
	}
	best := put("baseline", pre.Hash, func(int) bool { return false })
	pool := []Member{best, put("step-1.0", "aa", func(i int) bool { return i%2 == 0 }), put("step-2.0", "bb", func(i int) bool { return i%2 == 1 }), put("step-3.0", "cc", func(i int) bool { return i == 0 })}
	for step := range 6 {
		out, err := p.a.Choose(t.Context(), ChooseIn{Job: p.job, Step: step, Current: pre.Hash, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(out.Pool, best) || len(out.Pool) != 3 || out.Parent != "aa" && out.Parent != "bb" || out.Merge == pre.Hash || (out.Merge != "") != (step%mergeEvery == 0) {
			t.Errorf("step %d: %+v", step, out)
		}
	}
}
