package activities

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"whetstone/model"
	"whetstone/run"
)

func (p *place) preflight() PreflightOut {
	p.t.Helper()
	pre, err := p.a.Preflight(p.t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		p.t.Fatal(err)
	}
	return pre
}

// A secret that lies in a skill or in a learning, where nobody noticed it, does not leave the machine.
func TestPromptsAreFreedOfSecrets(t *testing.T) {
	p := newPlace(t)
	key := "gh" + "p_V63mJi5WuZLJLG7ztuCSbeZABD6E4oly0EBB"
	p.write("SKILL.md", skillText+"\n- Deploy with "+key+".\n")
	p.learn(append([]string{"deploy with the token " + key + " of the bot"}, rules...)...)
	pre := p.preflight()
	if _, err := p.a.Evaluate(t.Context(), EvaluateIn{Job: p.job, Stage: "baseline", Hash: pre.Hash, Side: "selection", Trials: 1}); err != nil {
		t.Fatal(err)
	}
	for b := range (pre.TrainItems + 3) / 4 {
		if _, err := p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1, Batch: b}); err != nil {
			t.Fatal(err)
		}
	}
	marked := 0
	for _, r := range p.m.requests() {
		for _, m := range r.Messages {
			if strings.Contains(m.Content, key) {
				t.Fatalf("a %s prompt holds the key", r.Stage)
			}
			marked += strings.Count(m.Content, "[redacted:github-token]")
		}
	}
	if marked == 0 {
		t.Error("no prompt held the place of the key: the test shows nothing")
	}
}

func TestAnotherModelReflectsWhereTheFirstOneFailsForGood(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	p.job.Params.Provider, p.job.Params.Fallback = "openai:first", []string{"groq:second", "openai:third"}
	pre := p.preflight()
	failing := map[string]*model.Error{"openai:first": {Kind: model.Quota, Err: errors.New("used up")}}
	p.m.fail = func(n int) error {
		if e := failing[p.m.requests()[n].Ref.String()]; e != nil {
			return e
		}
		return nil
	}
	reflect := func(batch int) (asked []string, out ReflectOut, err error) {
		from := len(p.m.requests())
		out, err = p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1, Batch: batch})
		for _, r := range p.m.requests()[from:] {
			asked = append(asked, r.Ref.String())
		}
		return asked, out, err
	}
	asked, out, err := reflect(0)
	if err != nil || out.Failed != "" || strings.Join(asked, " ") != "openai:first groq:second" {
		t.Errorf("%v %+v %v", asked, out, err)
	}
	// What may pass is left to Temporal, which asks the same one again.
	failing["openai:first"] = &model.Error{Kind: model.Unavailable, Status: 500, Err: errors.New("oops")}
	if asked, _, err := reflect(1); err == nil || strings.Join(asked, " ") != "openai:first" {
		t.Errorf("%v %v", asked, err)
	}
	// Where all fail, the failure is the last one's.
	for name := range map[string]bool{"openai:first": true, "groq:second": true, "openai:third": true} {
		failing[name] = &model.Error{Kind: model.Unauthorised, Provider: name, Err: errors.New("no key of " + name)}
	}
	if asked, _, err := reflect(2); err == nil || !strings.Contains(err.Error(), "openai:third") || len(asked) != 3 {
		t.Errorf("%v %v", asked, err)
	}
	// The judge is never another one.
	for _, r := range p.m.requests() {
		if r.Stage == "judge" && r.Ref.String() != "offline" {
			t.Errorf("%s judged", r.Ref)
		}
	}
}

func TestARefusalIsNotAskedForTwice(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	pre := p.preflight()
	p.a.o.Models = answering{p.m, model.Reply{Text: "I can not help with that.", Finish: "content_filter", Usage: model.Usage{Input: 1, Output: 1}}}
	out, err := p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1})
	if err != nil || !strings.Contains(out.Failed, "declined") {
		t.Errorf("%+v %v", out, err)
	}
	if _, calls, err := p.store.Spent(t.Context(), p.job.RunID); err != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	p.a.o.Models = answering{p.m, model.Reply{Text: `{"patches": [{"op": "ad`, Finish: "length", Usage: model.Usage{Input: 1, Output: 1}}}
	out, err = p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1, Batch: 1})
	if err != nil || !strings.Contains(out.Failed, "max_tokens") {
		t.Errorf("%+v %v", out, err)
	}
}

func TestTheCostIsEstimatedBeforeAndComparedAfter(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	p.m.price = model.Price{Input: 0.1, Cached: 0.1, Output: 0.4}
	p.job.Params.Provider, p.job.Params.Judge = "openai:x", "openai:x"
	pre := p.preflight()
	if e := pre.Estimate; len(e) != 2 || e[0] <= 0 || e[1] < e[0] || e[1] > p.job.Params.BudgetUSD {
		t.Fatalf("%v", e)
	}
	for spent, told := range map[float64]bool{pre.Estimate[0]: false, pre.Estimate[1] * 1.5: true} {
		// The ledger is what counts; a call of that price is booked.
		key := strings.Repeat("k", 1+len(p.m.requests())) + time.Duration(spent*1e9).String()
		p.job.RunID = "run-" + key
		p.preflight()
		b, err := p.store.Reserve(t.Context(), model.Booking{Key: key, RunID: p.job.RunID, Stage: "judge", Reserve: model.FromUSD(spent), Budget: model.FromUSD(1)})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.store.Settle(t.Context(), key, b.Attempt, model.FromUSD(spent), model.Reply{}); err != nil {
			t.Fatal(err)
		}
		out, err := p.a.Finish(t.Context(), FinishIn{Job: p.job, Before: pre.Hash, Result: run.Result{RunID: p.job.RunID, Outcome: run.NoImprovement, EstimateUSD: pre.Estimate, HashBefore: pre.Hash, HashAfter: pre.Hash}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(out.Result.Notes, " "), "were estimated"); got != told {
			t.Errorf("spent %v of %v: told %v: %q", out.Result.SpentUSD, pre.Estimate, got, out.Result.Notes)
		}
	}
}

// answering gives one answer to everything.
type answering struct {
	*models
	reply model.Reply
}

func (a answering) Client(model.Ref) (model.Client, error) { return fixed(a), nil }

type fixed answering

func (f fixed) Complete(context.Context, model.Request) (model.Reply, error) { return f.reply, nil }
