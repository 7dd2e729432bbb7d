package simworld

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"whetstone/activities"
	"whetstone/evidence"
	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/service"
	"whetstone/skill"
	"whetstone/store"
	"whetstone/validation"
)

func add(body string, lines ...string) string { return body + strings.Join(lines, "\n") + "\n" }

func TestTheWorldAddsUp(t *testing.T) {
	w := New(10000, Standing)
	body := bodyOf(w.Text)
	sides := map[validation.Side]int{}
	byTopic := map[int]map[validation.Side]int{}
	for _, it := range w.items {
		sides[it.side]++
		if byTopic[it.topic] == nil {
			byTopic[it.topic] = map[validation.Side]int{}
		}
		byTopic[it.topic][it.side]++
		if w.Chance(body, it.id) != it.chance {
			t.Fatalf("item %s passes with %v under the first body, want %v", it.id, w.Chance(body, it.id), it.chance)
		}
	}
	if len(w.items) != Standing.Topics*Standing.PerTopic {
		t.Fatalf("%d items of %d learnings: some are near-duplicates or contradict each other", len(w.items), len(w.Learnings))
	}
	for topic := range Standing.Topics {
		for _, side := range []validation.Side{validation.Train, validation.Selection, validation.Test} {
			if byTopic[topic][side] == 0 {
				t.Errorf("topic %d has no item on the side %s", topic, side)
			}
		}
	}
	first := w.TrueScore(body, validation.Selection)
	good := add(body, "- rule t1 (a): x")
	if got := w.TrueScore(good, validation.Selection); got <= first {
		t.Errorf("a good edit takes the score from %v to %v", first, got)
	}
	if w.TrueScore(add(good, "- rule t1 (b): x"), validation.Selection) != w.TrueScore(good, validation.Selection) {
		t.Error("another wording of the same edit does something")
	}
	if w.TrueScore(add(body, "- habit h1 (a): x"), validation.Selection) != first {
		t.Error("a harmless edit does something")
	}
	harmed := add(body, "- rule x2 (a): x")
	if got := w.TrueScore(harmed, validation.Selection); got >= first || !w.Harmful(harmed) {
		t.Errorf("a harmful edit takes the score from %v to %v", first, got)
	}
	if w.TrueScore(add(harmed, "- restore t2: x"), validation.Selection) != first {
		t.Error("restoring a topic does not undo the harm to it")
	}
	for _, it := range w.items {
		if p, q := w.Chance(harmed, it.id), w.Chance(body, it.id); it.topic != 2 && p != q {
			t.Errorf("an edit that harms topic 2 changes an item of topic %d", it.topic)
		}
		if p, q := w.Judged(harmed, it.id), w.Chance(harmed, it.id); p <= q || p > q+Standing.Bias {
			t.Errorf("the judge takes %v for %v", q, p)
		}
	}
	if w.Chance(body, "i_unknown") != 0 {
		t.Error("an unknown item passes")
	}
}

// The judge's verdicts follow the chances, and depend on the request alone.
func TestTheJudgeDrawsFromTheChances(t *testing.T) {
	w := New(10001, Standing)
	m := &Models{World: w}
	task := &model.JudgeTask{Body: bodyOf(w.Text)}
	want := 0.0
	for _, it := range w.items {
		task.Items = append(task.Items, model.JudgeItem{ID: it.id})
		want += w.Judged(task.Body, it.id)
	}
	passed := 0
	const rounds = 200
	for seed := range int64(rounds) {
		var texts [2]string
		for i := range texts {
			reply, err := m.Complete(t.Context(), model.Request{Seed: seed, Task: task})
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = reply.Text
		}
		if texts[0] != texts[1] {
			t.Fatal("the same request has two answers")
		}
		var out struct{ Verdicts []struct{ Pass bool } }
		if err := json.Unmarshal([]byte(texts[0]), &out); err != nil {
			t.Fatal(err)
		}
		for _, v := range out.Verdicts {
			if v.Pass {
				passed++
			}
		}
	}
	n := float64(len(w.items) * rounds)
	if got := float64(passed) / n; math.Abs(got-want/float64(len(w.items))) > 4*math.Sqrt(0.25/n) {
		t.Errorf("%v pass, of %v expected", got, want/float64(len(w.items)))
	}
}

func TestTheReflectingModelSeesWhatThePromptShows(t *testing.T) {
	w := New(10002, Standing)
	m := &Models{World: w}
	in := optimizer.ReflectInput{Skill: w.Text, Body: bodyOf(w.Text), MaxPatches: 8, Goal: "improve"}
	for i, it := range w.Learnings[:8] { // all of topic 0
		in.Train = append(in.Train, model.Trajectory{ID: w.items[i].id, Category: it.Category, Prompt: it.Mistake, Expected: it.Correction})
	}
	count := func(in optimizer.ReflectInput, needle string) (n, all int) {
		for seed := range int64(300) {
			reply, err := m.Complete(t.Context(), model.Request{Seed: seed, Messages: optimizer.ReflectMessages(in), Task: &model.ReflectTask{Body: in.Body, Trajectories: in.Train, MaxPatches: in.MaxPatches}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := optimizer.ParseReflection(reply.Text)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Patches {
				all++
				if _, perr := optimizer.NewDoc(in.Body).Resolve(p); perr != nil {
					t.Fatalf("%+v does not fit: %v", p, perr)
				}
				if strings.Contains(p.Payload, needle) {
					n++
				}
			}
		}
		return n, all
	}
	plain, all := count(in, "rule t0 (")
	if share := float64(plain) / float64(all); share < 0.2 || share > 0.5 {
		t.Errorf("%d of %d edits are the good one", plain, all)
	}
	if other, _ := count(in, "rule t3 ("); other != 0 {
		t.Errorf("%d edits are on a topic that no correction is on", other)
	}
	in.Advice = "Topics that still fail: t3."
	if other, _ := count(in, "rule t3 ("); other == 0 {
		t.Error("advice on a topic changes nothing")
	}
	in.Advice = ""
	in.Rejections = []optimizer.Rejection{{Reason: "x", Patches: []optimizer.Patch{{Op: optimizer.Add, Payload: idea{"t", 0}.line(0)}}}}
	if again, _ := count(in, idea{"t", 0}.label(0)); again != 0 {
		t.Errorf("a refused wording is proposed %d times", again)
	}
	if fewer, _ := count(in, "rule t0 ("); fewer >= plain {
		t.Errorf("the idea is proposed %d times after a refusal, %d before", fewer, plain)
	}
}

// At a budget that does not bind: where it does, what is in flight decides which call no longer fits.
func TestTheSameSeedHasTheSameOutcome(t *testing.T) {
	var first Outcome
	for i := range 2 {
		o, err := Run(t.Context(), 10003, func(p *run.Params) { p.BudgetUSD, p.Epochs = 5, 2 })
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = o
		}
		if o != first {
			t.Errorf("%+v\nthen %+v", first, o)
		}
		if o.Accepted == 0 || o.TestAfter <= o.TestBefore {
			t.Errorf("%+v", o)
		}
	}
}

// What a run records decides again to the same, and every candidate is made again of its parent and patches: greedily, along
// the front, and with every part left out. The order of what is inserted at one place depends on its support, which the
// record did not hold once; the record of an edited pool member was overwritten when its bundle was refused.
func TestRunsCanBeDecidedAgain(t *testing.T) {
	variants := map[string]func(*run.Params){
		"greedy":       nil,
		"without them": func(p *run.Params) { p.Without = run.Parts },
		"pareto":       func(p *run.Params) { p.Search = activities.SearchPareto },
	}
	looks := 0
	for name, change := range variants {
		for seed := uint64(10000); seed < 10001; seed++ {
			w := New(seed, Standing)
			_, err := runIn(t.Context(), w, &Models{World: w}, change, func(st *store.Store, r run.Result) error {
				rec, err := st.Run(t.Context(), r.RunID)
				if err != nil {
					return err
				}
				e, err := (&service.Service{Store: st}).Evidence(t.Context(), rec)
				if err != nil {
					return err
				}
				c := evidence.Check(e)
				looks += c.Decided
				for _, d := range c.Differences {
					t.Errorf("%s, seed %d: %s", name, seed, d)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if looks == 0 {
		t.Error("nothing was decided again")
	}
}

// Where no edit does anything, nothing is accepted: of these runs none, of a hundred the gate's alpha allows five.
func TestEqualCandidatesAreNotAccepted(t *testing.T) {
	rules := Standing
	rules.Good, rules.Harmful, rules.Harmless, rules.Bias = 0, 0, 1, 0
	for seed := uint64(10010); seed < 10012; seed++ {
		o, err := RunIn(t.Context(), New(seed, rules), nil)
		if err != nil {
			t.Fatal(err)
		}
		if o.Accepted != 0 || o.SelectionAfter != o.SelectionBefore || o.Steps < 5 {
			t.Errorf("%+v", o)
		}
	}
}

// watched notes what the models were asked for.
type watched struct {
	*Models
	client *watcher
}

type watcher struct {
	*Models
	slow, meta, advised, refused bool
}

func (w watched) Client(model.Ref) (model.Client, error) { return w.client, nil }

func (w *watcher) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	switch task := req.Task.(type) {
	case *model.UpdateTask:
		w.slow, w.meta = w.slow || task.Slow, w.meta || !task.Slow
	case *model.ReflectTask:
		prompt := req.Messages[len(req.Messages)-1].Content
		w.advised = w.advised || section(prompt, "advice") != ""
		w.refused = w.refused || section(prompt, "refused_before") != ""
	}
	return w.Models.Complete(ctx, req)
}

// A part that is left out is left out, and one that is not has its say.
func TestLeavingAPartOutHasAnEffect(t *testing.T) {
	see := func(seed uint64, without ...string) (watcher, int) {
		w := New(seed, Standing)
		m := &Models{World: w}
		client := &watcher{Models: m}
		screened := 0
		_, err := runIn(t.Context(), w, watched{m, client}, func(p *run.Params) { p.Without, p.BudgetUSD = without, 0.4 }, func(st *store.Store, r run.Result) error {
			vs, err := st.AllVerdicts(t.Context(), r.RunID)
			for _, v := range vs {
				if strings.HasSuffix(v.Stage, "-"+evidence.StageCredit) {
					screened++
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return *client, screened
	}
	with, _ := see(10011) // a text is accepted in the second epoch
	if !with.slow || !with.meta || !with.advised {
		t.Errorf("the full loop: %+v", with)
	}
	// Only what is known against edits is told, which not every run comes to know.
	told := with.refused
	for seed := uint64(10000); !told && seed < 10010; seed++ {
		w, _ := see(seed)
		told = w.refused
	}
	if !told {
		t.Error("no run was told of what did harm")
	}
	if _, screened := see(10000); screened == 0 { // a refused bundle has parts
		t.Error("credit looked at nothing")
	}
	without, screened := see(10000, run.Parts...)
	if without.slow || without.meta || without.advised || without.refused || screened != 0 {
		t.Errorf("without every part: %+v, %d verdicts of credit", without, screened)
	}
}

func TestTheFirstTextIsASkill(t *testing.T) {
	w := New(1, Standing)
	f, err := skill.Parse([]byte(w.Text), skill.Options{})
	if err != nil || f.Body != bodyOf(w.Text) {
		t.Errorf("%v", err)
	}
}
