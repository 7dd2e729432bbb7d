package workflows

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

// The tests of this file are named after faults of the reference implementation; docs/faults.md lists them all.

// What is refused in one run is known to the next one: it is told to the reflecting model, and met again it costs nothing.
func TestFaultRejectionsForgottenBetweenRunsAndReproposedCandidatesPaidAgain(t *testing.T) {
	w := newWorld(t)
	w.params.Without = []string{run.PartCredit}
	w.params.Patience = 0
	refuse := func(r model.Request) (model.Reply, error) {
		if task, is := r.Task.(*model.JudgeTask); is {
			return sees(t, task, func(it model.JudgeItem) bool { return len(it.Expected)%2 == 0 }), nil
		}
		return model.Reply{}, nil
	}
	w.listen(refuse)
	first := w.run("one")
	if first.Rejected == 0 || first.Accepted > 0 {
		t.Fatalf("%+v", first)
	}
	h := w.listen(refuse)
	w.run("two")
	old := map[string]bool{}
	for _, st := range w.steps("one") {
		old[st.Candidate] = st.Candidate != ""
	}
	replayed := 0
	for _, st := range w.steps("two") {
		if !old[st.Candidate] {
			continue
		}
		replayed++
		if !st.Replayed || st.Outcome != validation.Rejected || st.Reason == "" {
			t.Errorf("%+v", st)
		}
	}
	if replayed == 0 {
		t.Fatal("the second run proposed nothing that the first one had")
	}
	for _, q := range h.of("judge") {
		if body := q.Task.(*model.JudgeTask).Body; body != mustBody(t, w) {
			for _, st := range w.steps("two") {
				if st.Replayed {
					text, err := w.store.Text(t.Context(), st.Candidate)
					if err != nil {
						t.Fatal(err)
					}
					if strings.HasSuffix(text, body) {
						t.Fatalf("the candidate of step %d was judged again", st.Step)
					}
				}
			}
		}
	}
	told := false
	for _, q := range h.of("reflect") {
		told = told || strings.Contains(promptOf(q), "no held-out item improves")
	}
	if !told {
		t.Error("the reflecting model is told of no refusal")
	}
}

// One epoch is one epoch, and every train item is reflected on once in each.
func TestFaultEpochCountOffByOne(t *testing.T) {
	for epochs := 1; epochs <= 3; epochs++ {
		w := newWorld(t)
		w.params.Epochs, w.params.Patience = epochs, 0
		w.params.MaxAdds, w.params.MaxDeletes, w.params.MaxReplace = 0, 0, 0 // nothing is accepted, nothing ends it early
		h := w.listen(nil)
		r := w.run("one")
		train, err := w.store.RunItems(t.Context(), "one", validation.Train)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, q := range h.of("reflect") {
			for _, x := range q.Task.(*model.ReflectTask).Trajectories {
				seen[x.ID]++
			}
		}
		for _, it := range train {
			if seen[it.ID] != epochs {
				t.Errorf("%d epoch(s): item %s was reflected on %d times", epochs, it.ID, seen[it.ID])
			}
		}
		if want := epochs * optimizer.StepsPerEpoch(len(train), w.params.BatchSize, w.params.Minibatch); r.Epochs != epochs || r.Steps != want || r.StoppedReason != activities.StopEpochs {
			t.Errorf("%d epoch(s): %d epochs, %d steps (want %d), stopped by %s", epochs, r.Epochs, r.Steps, want, r.StoppedReason)
		}
		last := 0
		for _, st := range w.steps("one") {
			last = max(last, st.Epoch)
			if st.Epoch < 1 || st.Epoch > epochs {
				t.Errorf("a step of epoch %d", st.Epoch)
			}
		}
		if last != epochs {
			t.Errorf("the last step is of epoch %d of %d", last, epochs)
		}
	}
}

// The kill file is looked for before every paid call, not once an epoch: written in the middle of a step, it lets no further
// call be made.
func TestFaultKillFileCheckedOnceAnEpoch(t *testing.T) {
	for _, at := range []int{1, 5, 9} {
		w := newWorld(t)
		var n atomic.Int32
		h := w.listen(nil)
		listen := w.client.fail
		w.client.fail = func(i int, r model.Request) (model.Reply, error) {
			if int(n.Add(1)) == at {
				w.stop()
			}
			return listen(i, r)
		}
		r := w.run("one")
		if r.StoppedReason != activities.StopKillFile {
			t.Errorf("at call %d: stopped by %s", at, r.StoppedReason)
		}
		if got := len(h.all()); got > at+3 { // those in flight beside it
			t.Errorf("written at call %d, and %d were made", at, got)
		}
	}
}

// The meta update runs after every epoch but the last, and what it says is in force.
func TestFaultMetaUpdateNeverRuns(t *testing.T) {
	w, h := updating(t, 3)
	w.run("one")
	meta := 0
	for _, q := range h.of("update") {
		if !q.Task.(*model.UpdateTask).Slow {
			meta++
		}
	}
	if meta != 2 {
		t.Errorf("%d meta updates in 3 epochs", meta)
	}
}

// The hash that is attested is the delivered file's.
func TestFaultStampsHashMatchesNothing(t *testing.T) {
	for _, how := range []string{"write", "stage"} {
		w := newWorld(t)
		w.params.Deliver = how
		r := w.run("one")
		path := w.params.SkillPath
		if how == "stage" {
			path += ".proposed"
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at, err := w.store.Attestations(t.Context(), path)
		if err != nil || len(at) != 1 || at[0].Hash != skill.Hash(string(data)) || at[0].Hash != r.HashAfter || at[0].RunID != "one" {
			t.Errorf("%s: %+v (%v), the file has %s", how, at, err, skill.Hash(string(data)))
		}
	}
}

// One bad edit does not sink good ones: the parts of a refused bundle are tried, and what is accepted of them is built upon by the
// next ones.
func TestOneBadEditDoesNotSinkGoodOnes(t *testing.T) {
	for _, search := range []string{activities.SearchGreedy, activities.SearchPareto} {
		t.Run(search, func(t *testing.T) {
			w := newWorld(t)
			w.params.Search, w.params.Epochs, w.params.Minibatch, w.params.MaxAdds = search, 1, 3, 9
			var once atomic.Bool
			w.listen(func(r model.Request) (model.Reply, error) {
				switch task := r.Task.(type) {
				case *model.ReflectTask:
					patches := []map[string]any{}
					if once.CompareAndSwap(false, true) {
						for _, line := range []string{"- Good one.", "- Good two.", "- Bad idea.", "- Good three."} {
							patches = append(patches, map[string]any{"op": "add", "anchor": "", "payload": line})
						}
					}
					return replyJSON(t, map[string]any{"reasoning": "r", "patches": patches}), nil
				case *model.JudgeTask:
					return sees(t, task, func(it model.JudgeItem) bool {
						switch c := skill.Hash(it.ID)[0]; {
						case c < '4':
							return strings.Contains(task.Body, "Good one.")
						case c < '8':
							return strings.Contains(task.Body, "Good two.")
						case c < 'c':
							return strings.Contains(task.Body, "Good three.")
						default:
							return !strings.Contains(task.Body, "Bad idea.")
						}
					}), nil
				}
				return model.Reply{}, nil
			})
			r := w.run("one")
			text, err := w.store.Text(t.Context(), r.HashAfter)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"Good one.", "Good two.", "Good three."} {
				if !strings.Contains(text, line) {
					t.Errorf("%q is lost:\n%s", line, trace(w, "one"))
				}
			}
			if strings.Contains(text, "Bad idea.") {
				t.Error("the bad one is in")
			}
		})
	}
}

// With a judge that answers at random most refusals say only that a gain could not be told from chance: nothing of those is held
// against their edits. An edit that did harm alone is told, and so is a person's word.
func TestOnlyWhatIsKnownAgainstEditsIsTold(t *testing.T) {
	w := newWorld(t)
	w.random()
	w.params.Epochs, w.params.Minibatch, w.params.MaxAdds, w.params.Patience = 2, 1, 9, 0
	asked := 0
	var told []string
	w.listen(func(r model.Request) (model.Reply, error) {
		switch task := r.Task.(type) {
		case *model.ReflectTask:
			_, rest, _ := strings.Cut(promptOf(r), "<refused_before>")
			layer, _, _ := strings.Cut(rest, "</refused_before>")
			told = append(told, layer)
			patches := []map[string]any{}
			for _, line := range [][]string{{"- Good one.", "- Bad idea."}, {"- Means nothing."}, nil}[min(asked, 2)] {
				patches = append(patches, map[string]any{"op": "add", "anchor": "", "payload": line})
			}
			asked++
			return replyJSON(t, map[string]any{"reasoning": "r", "patches": patches}), nil
		case *model.JudgeTask:
			return sees(t, task, func(it model.JudgeItem) bool {
				if skill.Hash(it.ID)[0] < '8' {
					return strings.Contains(task.Body, "Good one.")
				}
				return !strings.Contains(task.Body, "Bad idea.")
			}), nil
		}
		return model.Reply{}, nil
	})
	w.run("one")
	if asked < 3 {
		t.Fatalf("%d reflections:\n%s", asked, trace(w, "one"))
	}
	refused := 0
	for _, st := range w.steps("one") {
		if st.Outcome == validation.Rejected {
			refused++
		}
	}
	last := told[len(told)-1]
	if refused < 2 || !strings.Contains(last, "Bad idea.") || !strings.Contains(last, "alone it loses") {
		t.Errorf("%d refusals, and the harmful edit is not told: %q\n%s", refused, told, trace(w, "one"))
	}
	for i, layer := range told {
		if strings.Contains(layer, "Good one.") || strings.Contains(layer, "Means nothing.") {
			t.Errorf("prompt %d holds against an edit what says nothing of it: %q", i, layer)
		}
	}
}
