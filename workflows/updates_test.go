package workflows

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

// updating is a world whose reflecting model writes slow blocks and advice, with the offline judge:
// its epochs have something to accept.
func updating(t *testing.T, epochs int) (*world, *heard) {
	w := newWorld(t)
	w.params.Provider = "openai:m" // the judge stays offline, so that one trial says it all
	w.params.Epochs, w.params.Patience = epochs, 0
	return w, w.listen(nil)
}

func (w *world) kinds(id string) map[string]int {
	w.t.Helper()
	out := map[string]int{}
	for _, st := range w.steps(id) {
		out[st.Kind]++
	}
	return out
}

// The slow block enters a skill through the gate or not at all; advice reaches the next epoch's prompts and never the skill.
func TestSlowAndMetaUpdatesOfARun(t *testing.T) {
	w, h := updating(t, 3)
	r := w.run("one")
	advice, err := w.store.Advice(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for _, a := range advice {
		said[a.Kind]++
	}
	if said["meta"] != 2 { // after the first two of three epochs
		t.Errorf("advice %+v", advice)
	}
	kinds := w.kinds("one")
	if kinds[run.KindSlow] == 0 {
		t.Fatalf("no slow update was tried: %v", kinds)
	}
	// A text has the block exactly if an accepted slow step, or a step after it, made it.
	blocked := map[string]bool{}
	current := r.HashBefore
	for _, st := range w.steps("one") {
		if st.Candidate == "" {
			continue
		}
		text, err := w.store.Text(t.Context(), st.Candidate)
		if err != nil {
			t.Fatal(err)
		}
		has := strings.Contains(text, optimizer.SlowOpen)
		if want := st.Kind == run.KindSlow || blocked[current]; has != want {
			t.Errorf("step %d.%d (%s): block %v, want %v", st.Step, st.Try, st.Kind, has, want)
		}
		if st.Outcome == validation.Accepted {
			if st.Stage == "" {
				t.Errorf("step %d was accepted without the gate", st.Step)
			}
			blocked[st.Candidate] = has
			current = st.Candidate
		}
	}
	// Advice of an epoch is in every reflecting prompt of the next one.
	perEpoch := 3 // minibatches of 23 train items
	reflects := h.of("reflect")
	if len(reflects) != 3*perEpoch {
		t.Fatalf("%d reflecting calls", len(reflects))
	}
	for i, q := range reflects {
		if got := strings.Contains(promptOf(q), "Prefer one line over three."); got != (i >= perEpoch) {
			t.Errorf("reflecting call %d: advice %v", i, got)
		}
	}
	texts := []string{r.HashAfter}
	for _, st := range w.steps("one") {
		if st.Candidate != "" {
			texts = append(texts, st.Candidate)
		}
	}
	for _, hash := range texts {
		text, err := w.store.Text(t.Context(), hash)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "Prefer one line over three.") || strings.Contains(text, "slow advice") {
			t.Errorf("the advice is in text %.12s", hash)
		}
	}
	// The judge is never told the advice either.
	for _, q := range h.of("judge") {
		if strings.Contains(promptOf(q), "Prefer one line over three.") {
			t.Error("the judge is told the advice")
		}
	}
}

// A slow update that the gate does not accept leaves no trace in the skill.
func TestASlowBlockIsGatedLikeAnyCandidate(t *testing.T) {
	w, _ := updating(t, 3)
	data := map[string]bool{}
	var mu sync.Mutex
	w.listen(func(r model.Request) (model.Reply, error) {
		if task, is := r.Task.(*model.JudgeTask); is && strings.Contains(task.Body, optimizer.SlowOpen) {
			mu.Lock()
			data["judged"] = true
			mu.Unlock()
			return sees(t, task, func(model.JudgeItem) bool { return false }), nil
		}
		return model.Reply{}, nil
	})
	r := w.run("one")
	text, err := w.store.Text(t.Context(), r.HashAfter)
	if err != nil {
		t.Fatal(err)
	}
	if !data["judged"] || strings.Contains(text, optimizer.SlowOpen) {
		t.Errorf("judged %v, and the block is in the skill: %v", data["judged"], strings.Contains(text, optimizer.SlowOpen))
	}
	for _, st := range w.steps("one") {
		if st.Kind == run.KindSlow && st.Outcome == validation.Accepted {
			t.Errorf("%+v", st)
		}
	}
}

// The slow update sees what the epoch changed, as a diff.
func TestSlowUpdateSeesTheDiff(t *testing.T) {
	w, h := updating(t, 3)
	w.run("one")
	slow := 0
	for _, q := range h.of("update") {
		if !q.Task.(*model.UpdateTask).Slow {
			continue
		}
		slow++
		added := false
		for _, line := range strings.Split(promptOf(q), "\n") {
			added = added || strings.HasPrefix(line, "+- ")
		}
		if !added || !strings.Contains(promptOf(q), "@@") {
			t.Errorf("no diff in the prompt:\n%s", promptOf(q))
		}
	}
	if slow == 0 {
		t.Error("there was no slow update")
	}
}

// No prompt of an update, nor of a reflection, holds a held-out item's words, whatever the seed deals to which side.
func TestNoHeldOutTextReachesAnUpdate(t *testing.T) {
	checked := 0
	for seed := range int64(3) {
		w, h := updating(t, 2)
		w.params.Seed, w.params.Baselines = seed, true
		id := fmt.Sprintf("run-%d", seed)
		w.run(id)
		before, err := w.store.Text(t.Context(), mustHash(t, w))
		if err != nil {
			t.Fatal(err)
		}
		var held, train []validation.Item
		for _, side := range []validation.Side{validation.Selection, validation.Test} {
			items, err := w.store.RunItems(t.Context(), id, side)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, items...)
		}
		if train, err = w.store.RunItems(t.Context(), id, validation.Train); err != nil {
			t.Fatal(err)
		}
		public := before // what the file or a train item says anyway is no leak
		for _, it := range train {
			public += "\n" + it.Prompt + "\n" + it.Expected
		}
		for _, q := range h.all() {
			if q.Stage == "judge" {
				continue
			}
			for _, it := range held {
				for _, secret := range []string{it.ID, it.Expected, it.Prompt} {
					if len(secret) < 12 || strings.Contains(public, secret) || strings.HasPrefix(secret, "A task that touches on") {
						continue
					}
					checked++
					if strings.Contains(promptOf(q), secret) {
						t.Fatalf("seed %d: a %s prompt holds %q of a %s item", seed, q.Stage, secret, it.Side)
					}
				}
			}
			if strings.Contains(promptOf(q), "because") && q.Stage == "update" && strings.Contains(promptOf(q), `"why"`) {
				t.Fatal("a judge's words are in an update's prompt")
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d comparisons", checked)
	}
}

func mustHash(t *testing.T, w *world) string {
	t.Helper()
	runs, err := w.store.Runs(t.Context(), 1)
	if err != nil || len(runs) != 1 {
		t.Fatal(err)
	}
	return runs[0].HashBefore
}

func TestPartsCanBeLeftOut(t *testing.T) {
	manyRuns(t)
	base, h := updating(t, 3)
	base.run("one")
	if base.kinds("one")[run.KindSlow] == 0 || len(h.of("update")) < 3 {
		t.Fatal("there is nothing to leave out")
	}
	t.Run(run.PartSlow, func(t *testing.T) {
		w, h := updating(t, 3)
		w.params.Without = []string{run.PartSlow}
		w.run("one")
		if n := w.kinds("one")[run.KindSlow]; n != 0 {
			t.Errorf("%d slow steps", n)
		}
		for _, q := range h.of("update") {
			if q.Task.(*model.UpdateTask).Slow {
				t.Error("a slow update was asked for")
			}
		}
	})
	t.Run(run.PartMeta, func(t *testing.T) {
		w, h := updating(t, 3)
		w.params.Without = []string{run.PartMeta}
		w.run("one")
		for _, q := range h.all() {
			if task, is := q.Task.(*model.UpdateTask); is && !task.Slow {
				t.Error("a meta update was asked for")
			}
			if strings.Contains(promptOf(q), "Prefer one line") {
				t.Error("advice without a meta update")
			}
		}
	})
	t.Run(run.PartMemory, func(t *testing.T) {
		w, _ := updating(t, 3)
		w.params.Without = []string{run.PartMemory}
		judge := func(r model.Request) (model.Reply, error) { // refuses everything
			if task, is := r.Task.(*model.JudgeTask); is {
				return sees(t, task, func(it model.JudgeItem) bool { return len(it.Expected)%2 == 0 }), nil
			}
			return model.Reply{}, nil
		}
		h := w.listen(judge)
		w.run("one")
		with, _ := updating(t, 3)
		hw := with.listen(judge)
		with.run("one")
		told := func(h *heard) (n int) {
			for _, q := range h.of("reflect") {
				if strings.Contains(promptOf(q), "a tie is not an improvement") || strings.Contains(promptOf(q), "no held-out item improves") {
					n++
				}
			}
			return n
		}
		if told(hw) == 0 || told(h) != 0 {
			t.Errorf("refusals are told in %d prompts with memory, in %d without", told(hw), told(h))
		}
	})
	t.Run(run.PartCredit, func(t *testing.T) {
		for _, without := range [][]string{nil, {run.PartCredit}} {
			w, _ := updating(t, 1)
			w.params.Provider = "offline"
			w.params.Without = without
			orig := mustBody(t, w)
			w.listen(func(r model.Request) (model.Reply, error) { // one item gains, one is lost: parts are worth a try
				task, is := r.Task.(*model.JudgeTask)
				if !is {
					return model.Reply{}, nil
				}
				return sees(t, task, func(it model.JudgeItem) bool { return (len(it.Expected)%2 == 0) == (task.Body == orig) }), nil
			})
			w.run("one")
			tries := 0
			for _, st := range w.steps("one") {
				tries += min(st.Try, 1)
			}
			if (tries > 0) != (without == nil) {
				t.Errorf("without %v: %d parts were tried", without, tries)
			}
		}
	})
}

func mustBody(t *testing.T, w *world) string {
	t.Helper()
	f, _, err := activities.ReadSkill(w.params.SkillPath, false)
	if err != nil {
		t.Fatal(err)
	}
	return f.Body
}

func TestASearchAlongAFrontEndsAndIsTheSameEveryTime(t *testing.T) {
	first := ""
	merges := 0
	for range 2 {
		w := newWorld(t)
		w.params.Search, w.params.Epochs, w.params.Patience, w.params.Seed = activities.SearchPareto, 8, 0, 3
		w.listen(contested(t, mustBody(t, w)))
		r := w.run("one")
		if r.StoppedReason == "" || r.Final.Selection == nil || *r.Final.Selection < *r.Baseline.Selection {
			t.Fatalf("%+v", r)
		}
		// The best text is never lost: what was accepted follows from what was accepted before, and is what it ends with.
		current, score := r.HashBefore, *r.Baseline.Selection
		for _, st := range w.steps("one") {
			if st.Parent != current {
				t.Errorf("step %d.%d was compared with %.12s, and the best text was %.12s", st.Step, st.Try, st.Parent, current)
			}
			if st.Kind == run.KindMerge {
				if st.Stage != "" {
					merges++
				}
				if st.Outcome == validation.Accepted && st.Stage == "" {
					t.Errorf("a merge was accepted without the gate: %+v", st)
				}
			}
			if st.Outcome == validation.Accepted {
				if *st.Cand01 <= score {
					t.Errorf("step %d.%d was accepted at %v, and the best text had %v", st.Step, st.Try, *st.Cand01, score)
				}
				current, score = st.Candidate, *st.Cand01
			}
		}
		if r.HashAfter != current {
			t.Errorf("it ends with %.12s, and the best text is %.12s", r.HashAfter, current)
		}
		trace := r.HashAfter + " " + r.StoppedReason + " " + r.Why
		for _, st := range w.steps("one") {
			trace += fmt.Sprintf(" %d.%d %s %s %.8s %s", st.Step, st.Try, st.Kind, st.Outcome, st.Candidate, st.Reason)
		}
		if first == "" {
			first = trace
		} else if trace != first {
			t.Errorf("first %s\n then %s", first, trace)
		}
	}
	if merges == 0 || !strings.Contains(first, "accepted") {
		t.Errorf("nothing was merged, or accepted: %s", first)
	}
}

// What is on record as a step's candidate is what was measured, also where the step began from another text of the pool: evidence
// makes it again from there, and a refusal is found under its name.
func TestTheCandidateOnRecordIsTheOneThatWasMeasured(t *testing.T) {
	manyRuns(t)
	elsewhere := 0
	for seed := range int64(6) {
		w := newWorld(t)
		w.random()
		w.params.Search, w.params.Epochs, w.params.Patience, w.params.Seed = activities.SearchPareto, 4, 0, seed
		w.listen(contested(t, mustBody(t, w)))
		w.run("one")
		candidates, err := w.store.RunCandidates(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		built := map[string]run.Candidate{}
		for _, c := range candidates {
			built[activities.Site(c.Step, c.Try, "")] = c
		}
		for _, st := range w.steps("one") {
			if st.Candidate == "" {
				continue
			}
			c := built[activities.Site(st.Step, st.Try, "")]
			if c.Hash != st.Candidate {
				t.Errorf("seed %d: step %d.%d measured %.12s, and %.12s (of %.12s) is on record", seed, st.Step, st.Try, st.Candidate, c.Hash, c.Parent)
			}
			if c.Parent != st.Parent {
				elsewhere++
			}
		}
	}
	if elsewhere == 0 {
		t.Error("no step began elsewhere: the test proves nothing")
	}
}
