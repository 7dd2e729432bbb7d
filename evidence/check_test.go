package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"whetstone/evidence"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

const first = "---\nname: demo\ndescription: d\n---\n# Demo\n\n## Tests\n\n- Keep tests small.\n\n## Commits\n\n- Keep commits small.\n"

// book writes a record as a run does: every look is measured as it asks to be, and decided by the code that decides a run.
type book struct {
	t        *testing.T
	r        evidence.Record
	verdicts map[[2]string][]validation.Verdict
	current  string
	stage    string // where the present text's verdicts are
	looks    int
	// passes says how an item fares.
	passes func(stage, hash string, item, trial int) validation.State
}

func newBook(t *testing.T) *book {
	t.Helper()
	b := &book{t: t, verdicts: map[[2]string][]validation.Verdict{}, current: skill.Hash(first), stage: "baseline"}
	b.r = evidence.Record{
		RunID: "r", Skill: "demo", Judge: "openai:m", Mode: "judge", Goal: "improve", Seed: 7, Outcome: run.Accepted, HashBefore: b.current,
		Gate: run.Gate{Trials: 3, Alpha: 0.05, PlannedLooks: 4}, Texts: map[string]string{b.current: first},
	}
	for i := range 30 {
		side := validation.Selection
		if i >= 24 {
			side = validation.Train
		}
		b.r.Items = append(b.r.Items, evidence.Item{ID: fmt.Sprintf("i%02d", i), Kind: validation.KindLLM, Side: side, Weight: 1 + float64(i%3)/2})
	}
	return b
}

func (b *book) read(stage, hash string) ([]validation.Verdict, error) {
	return b.verdicts[[2]string{stage, hash}], nil
}

func (b *book) items(side validation.Side) (out []validation.Item) {
	for _, it := range b.r.Items {
		if it.Side == side {
			out = append(out, validation.Item{ID: it.ID, Kind: it.Kind, Side: side, Weight: it.Weight})
		}
	}
	return out
}

func (b *book) draw(stage, hash string, items []validation.Item, from, trials int) {
	for trial := from; trial < from+trials; trial++ {
		for _, it := range items {
			n := 0
			_, _ = fmt.Sscanf(it.ID, "i%d", &n)
			v := validation.Verdict{Item: it.ID, Trial: trial, State: b.passes(stage, hash, n, trial), Judge: "openai:m"}
			k := [2]string{stage, hash}
			b.verdicts[k] = append(b.verdicts[k], v)
			b.r.Verdicts = append(b.r.Verdicts, evidence.Verdict{Stage: stage, Hash: hash, Item: v.Item, Trial: v.Trial, State: v.State, Judge: v.Judge})
		}
	}
}

// step proposes one line more, measures it and writes down the word on it.
func (b *book) step(line string) evidence.Step {
	b.t.Helper()
	n := len(b.r.Steps) + 1
	f, err := skill.Parse([]byte(b.r.Texts[b.current]), skill.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	patch := optimizer.Patch{Op: optimizer.Add, Anchor: "- Keep tests small.", Payload: line, Items: []string{"i24"}}
	e, perr := optimizer.NewDoc(f.Body).Resolve(patch)
	if perr != nil {
		b.t.Fatal(perr)
	}
	body, perr := optimizer.NewDoc(f.Body).Apply([]optimizer.Edit{e})
	if perr != nil {
		b.t.Fatal(perr)
	}
	text := f.WithBody(body)
	hash := skill.Hash(text)
	b.r.Texts[hash] = text
	b.r.Patches = append(b.r.Patches, evidence.Patch{Step: n, Key: e.Key, Op: "add", Anchor: patch.Anchor, Payload: patch.Payload, Items: patch.Items})

	held := b.items(validation.Selection)
	if n == 1 {
		b.draw("baseline", b.current, held, 0, b.r.Gate.Trials)
	}
	l := evidence.Look{
		RunSeed: b.r.Seed, Step: n, Parent: b.current, Candidate: hash, ParentStage: b.stage, Trials: b.r.Gate.Trials, Held: held,
		Deterministic: b.r.Gate.Deterministic, Adopt: b.r.Goal == "adopt", Second: b.r.SecondJudge != "",
	}
	if l.Adopt {
		l.ByEdit = map[string][]string{e.Key: patch.Items}
		l.Own = b.items(validation.Train)[:1]
	}
	var look *int
	spend := func() (float64, error) {
		if look == nil {
			number := b.looks
			b.looks++
			look = &number
		}
		return validation.AlphaFor(b.r.Gate.Alpha, b.r.Gate.PlannedLooks, *look), nil
	}
	both := func(stage string, items []validation.Item, from, trials int) {
		b.draw(l.Site(stage), l.Parent, items, from, trials)
		b.draw(l.Site(stage), l.Candidate, items, from, trials)
	}
	for l.Staged() {
		d, ask, err := l.Next(b.read, spend)
		if err != nil {
			b.t.Fatal(err)
		}
		if d != nil {
			break
		}
		var of []validation.Item
		for _, i := range ask.Items {
			of = append(of, held[i])
		}
		both(ask.Stage, of, ask.From, ask.Trials)
	}
	if !l.Staged() {
		both(validation.StageMain, held, 0, l.Trials)
		if l.Adopt {
			both(evidence.StageOwn, l.Own, 0, l.Trials)
		}
	}
	if l.Second {
		both(evidence.StageSecond, held, 0, l.Trials)
	}
	d, err := l.Decide(b.read, spend)
	if err != nil {
		b.t.Fatal(err)
	}
	st := evidence.Step{
		Step: n, Epoch: 1, Kind: run.KindStep, Parent: b.current, ParentStage: b.stage, Candidate: hash, Edits: []string{e.Key}, Outcome: d.Outcome,
		Reason: d.Reason, Stage: d.Stage, Look: look, ParentScore: d.Parent, Score: d.Candidate, P: d.P, Alpha: d.Alpha,
	}
	b.r.Steps = append(b.r.Steps, st)
	if d.Outcome == validation.Accepted {
		b.current, b.stage = hash, l.Site(validation.StageMain)
	}
	b.r.HashAfter = b.current
	return st
}

func state(pass bool) validation.State {
	if pass {
		return validation.Pass
	}
	return validation.Fail
}

// written is a record with a candidate that triage refuses, one that is accepted, one that is refused after further trials, and
// one more that is accepted.
func written(t *testing.T) evidence.Record {
	t.Helper()
	b := newBook(t)
	want := func(st evidence.Step, outcome, stage string) {
		t.Helper()
		if st.Outcome != outcome || st.Stage != stage {
			t.Fatalf("step %d is %s at %s (%s), want %s at %s", st.Step, st.Outcome, st.Stage, st.Reason, outcome, stage)
		}
	}
	good := map[string]int{b.current: 8} // so many items pass
	b.passes = func(_, hash string, item, _ int) validation.State {
		n, ok := good[hash]
		if !ok {
			n = 8
		}
		return state(item < n)
	}
	want(b.step("- Worth nothing."), validation.Rejected, validation.StageTriage)
	b.passes = func(_, hash string, item, _ int) validation.State {
		if hash == skill.Hash(first) {
			return state(item < 8)
		}
		return state(item < 16)
	}
	want(b.step("- Worth something."), validation.Accepted, validation.StageMain)
	middle := b.current
	b.passes = func(stage, hash string, item, trial int) validation.State {
		if hash == middle {
			return state(item < 16)
		}
		// A gain in triage that the following trials take back piece by piece.
		if strings.HasSuffix(stage, "triage") {
			return state(item < 20)
		}
		return state(item < 16 || item < 22 && trial%2 == 0 && item%2 == 0)
	}
	want(b.step("- Worth a doubt."), validation.Rejected, validation.StageMain)
	b.passes = func(_, hash string, item, _ int) validation.State {
		return state(item < 16 || hash != middle)
	}
	want(b.step("- Worth a lot."), validation.Accepted, validation.StageMain)
	return b.r
}

func clone(t *testing.T, r evidence.Record) evidence.Record {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var out evidence.Record
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestARecordThatIsTrueChecksWithoutDifferences(t *testing.T) {
	r := clone(t, written(t)) // as `runs evidence --json` would give it
	got := evidence.Check(r)
	if len(got.Differences) > 0 || got.Decided != 4 || got.Rebuilt != 4 || got.Unmeasured != 0 || got.Withheld != 0 {
		t.Errorf("%+v", got)
	}
}

// Whatever is changed in a record after the fact shows.
func TestEachTamperingIsFound(t *testing.T) {
	whole := written(t)
	two := func(x float64) *float64 { return &x }
	for name, change := range map[string]func(r *evidence.Record){
		"a refusal called an acceptance":     func(r *evidence.Record) { r.Steps[0].Outcome = validation.Accepted },
		"an acceptance called a refusal":     func(r *evidence.Record) { r.Steps[1].Outcome = validation.Rejected },
		"the last acceptance taken back":     func(r *evidence.Record) { r.Steps[3].Outcome = validation.Rejected },
		"p":                                  func(r *evidence.Record) { r.Steps[1].P = two(*r.Steps[1].P / 2) },
		"p of a refusal":                     func(r *evidence.Record) { r.Steps[2].P = two(*r.Steps[2].P / 2) },
		"p left out":                         func(r *evidence.Record) { r.Steps[1].P = nil },
		"alpha":                              func(r *evidence.Record) { r.Steps[1].Alpha = two(0.05) },
		"a score":                            func(r *evidence.Record) { r.Steps[1].Score = two(0.99) },
		"the parent's score":                 func(r *evidence.Record) { r.Steps[1].ParentScore = two(0.01) },
		"a look's number used twice":         func(r *evidence.Record) { r.Steps[2].Look = r.Steps[1].Look },
		"a look without a number":            func(r *evidence.Record) { r.Steps[1].Look = nil },
		"a look with a smaller number":       func(r *evidence.Record) { r.Steps[2].Look, r.Steps[1].Look = r.Steps[1].Look, nil },
		"the payload of an accepted patch":   func(r *evidence.Record) { r.Patches[1].Payload += " And more." },
		"the payload of a refused patch":     func(r *evidence.Record) { r.Patches[0].Payload += " And more." },
		"the anchor of a patch":              func(r *evidence.Record) { r.Patches[3].Anchor = "- Keep commits small." },
		"a patch left out":                   func(r *evidence.Record) { r.Patches = r.Patches[1:] },
		"an accepted step left out":          func(r *evidence.Record) { r.Steps = slices.Delete(r.Steps, 1, 2) },
		"the last accepted step left out":    func(r *evidence.Record) { r.Steps = r.Steps[:3] },
		"accepted steps in another order":    func(r *evidence.Record) { r.Steps[1], r.Steps[3] = r.Steps[3], r.Steps[1] },
		"the stage that told what fails":     func(r *evidence.Record) { r.Steps[1].ParentStage = "elsewhere" },
		"the stage of the last step":         func(r *evidence.Record) { r.Steps[3].ParentStage = "baseline" },
		"the text it ended with":             func(r *evidence.Record) { r.HashAfter = r.HashBefore },
		"the text it began with":             func(r *evidence.Record) { r.HashBefore = r.HashAfter },
		"a step's parent":                    func(r *evidence.Record) { r.Steps[3].Parent = r.HashBefore },
		"a step's candidate":                 func(r *evidence.Record) { r.Steps[1].Candidate = r.Steps[0].Candidate },
		"the seed":                           func(r *evidence.Record) { r.Seed++ },
		"the number of trials":               func(r *evidence.Record) { r.Gate.Trials = 2 },
		"alpha of the gate":                  func(r *evidence.Record) { r.Gate.Alpha = 0.2 },
		"the number of planned looks":        func(r *evidence.Record) { r.Gate.PlannedLooks = 1 },
		"an item's weight":                   func(r *evidence.Record) { r.Items[12].Weight = 3 },
		"an item left out":                   func(r *evidence.Record) { r.Items = r.Items[1:] },
		"an item on another side":            func(r *evidence.Record) { r.Items[0].Side = validation.Test },
		"an acceptance without measurements": func(r *evidence.Record) { r.Steps[1].Stage = "" },
		"an acceptance said to be replayed":  func(r *evidence.Record) { r.Steps[1].Replayed = true },
		"a second judge that never answered": func(r *evidence.Record) { r.SecondJudge = "groq:other" },
		"the outcome of the run":             func(r *evidence.Record) { r.Outcome = run.NoImprovement },
		"the stage at which the word fell":   func(r *evidence.Record) { r.Steps[0].Stage = validation.StageMain },
		"verdicts left out": func(r *evidence.Record) {
			r.Verdicts = slices.DeleteFunc(r.Verdicts, func(v evidence.Verdict) bool { return v.Stage == "step-2.0" && v.Trial == 0 && v.Item == "i03" })
		},
		"a goal": func(r *evidence.Record) { r.Goal = "adopt" },
	} {
		t.Run(name, func(t *testing.T) {
			r := clone(t, whole)
			change(&r)
			if got := evidence.Check(r); len(got.Differences) == 0 {
				t.Errorf("it was not found: %+v", got)
			}
		})
	}
	for hash := range whole.Texts {
		t.Run("a text", func(t *testing.T) {
			r := clone(t, whole)
			r.Texts[hash] = strings.Replace(r.Texts[hash], "commits small", "commits huge", 1)
			if got := evidence.Check(r); len(got.Differences) == 0 {
				t.Errorf("it was not found: %+v", got)
			}
		})
	}
}

// Every single verdict that a test was made from is bound by the numbers beside it.
func TestEachFlippedVerdictOfATestIsFound(t *testing.T) {
	whole := written(t)
	flipped := 0
	for i, v := range whole.Verdicts {
		if v.Stage == "baseline" || strings.HasSuffix(v.Stage, validation.StageTriage) {
			continue
		}
		for _, to := range []validation.State{validation.Pass, validation.Fail, validation.Missing} {
			if to == v.State {
				continue
			}
			r := clone(t, whole)
			r.Verdicts[i].State = to
			flipped++
			if got := evidence.Check(r); len(got.Differences) == 0 {
				t.Fatalf("%+v called %s was not found", v, to)
			}
		}
	}
	if flipped < 400 {
		t.Errorf("only %d", flipped)
	}
}

// Triage is a word without a number: its verdicts are bound as far as the word goes.
func TestTriageThatIsTurnedRoundIsFound(t *testing.T) {
	for step, gain := range map[string]bool{"step-1.0-triage": true, "step-2.0-triage": false} {
		r := clone(t, written(t))
		for i, v := range r.Verdicts {
			if v.Stage == step {
				r.Verdicts[i].State = state(gain && v.Hash != r.HashBefore)
			}
		}
		if got := evidence.Check(r); len(got.Differences) == 0 {
			t.Errorf("%s: %+v", step, got)
		}
	}
}

func TestAForgottenTextIsToldAndNoDifference(t *testing.T) {
	r := clone(t, written(t))
	r.Texts[r.Steps[1].Candidate] = evidence.Withheld
	r.Patches[0].Payload = evidence.Withheld
	got := evidence.Check(r)
	// The accepted text is the parent of two more candidates; the first patch made the first one.
	if len(got.Differences) > 0 || got.Withheld != 4 || got.Rebuilt != 0 || got.Decided != 4 {
		t.Errorf("%+v", got)
	}
}

func TestAPersonsRejectionIsNoDifference(t *testing.T) {
	r := clone(t, written(t))
	r.Reviewed, r.HashAfter, r.Outcome = run.ReviewRejected, r.HashBefore, run.NoImprovement
	if got := evidence.Check(r); len(got.Differences) > 0 {
		t.Errorf("%+v", got)
	}
	r.Reviewed = ""
	if got := evidence.Check(r); len(got.Differences) == 0 {
		t.Error("without the rejection it is one")
	}
}

// What is decided in other ways than in stages is checked, too.
func TestOtherGatesAreDecidedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*book)
		outcome string
		stage   string
		tamper  []string // stages each of whose verdicts of the candidate matters
	}{
		"a judge that answers the same every time": {func(b *book) { b.r.Gate.Deterministic, b.r.Gate.Trials = true, 1 }, validation.Accepted, "strict", []string{"step-1.0"}},
		"adopt":                      {func(b *book) { b.r.Goal = "adopt" }, validation.Accepted, "adopt", []string{"step-1.0"}},
		"a second judge that agrees": {func(b *book) { b.r.SecondJudge = "groq:x" }, validation.Accepted, validation.StageSecond, []string{"step-1.0"}},
		"a second judge that does not": {func(b *book) {
			b.r.SecondJudge = "groq:x"
			before := b.passes
			b.passes = func(stage, hash string, item, trial int) validation.State {
				if strings.HasSuffix(stage, evidence.StageSecond) {
					return state(item%2 == 0)
				}
				return before(stage, hash, item, trial)
			}
		}, validation.Rejected, validation.StageSecond, []string{"step-1.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			b.passes = func(_, hash string, item, _ int) validation.State {
				return state(item < 8 || hash != skill.Hash(first) && (item < 20 || item == 24))
			}
			c.change(b)
			st := b.step("- Worth something.")
			if st.Outcome != c.outcome || st.Stage != c.stage {
				t.Fatalf("%s at %s: %s", st.Outcome, st.Stage, st.Reason)
			}
			if c.outcome == validation.Rejected {
				b.r.Outcome = run.NoImprovement
			}
			r := clone(t, b.r)
			if got := evidence.Check(r); len(got.Differences) > 0 || got.Decided != 1 || got.Rebuilt != 1 {
				t.Fatalf("%+v", got)
			}
			for _, stage := range c.tamper {
				for i, v := range b.r.Verdicts {
					if v.Stage != stage || v.Hash != st.Candidate {
						continue
					}
					r := clone(t, b.r)
					r.Verdicts[i].State = state(v.State != validation.Pass)
					if got := evidence.Check(r); len(got.Differences) == 0 {
						t.Errorf("%+v turned round was not found", v)
					}
				}
			}
			// The word of the last instance can not be turned round either.
			r = clone(t, b.r)
			for i, v := range r.Verdicts {
				if strings.HasSuffix(v.Stage, evidence.StageOwn) || strings.HasSuffix(v.Stage, evidence.StageSecond) {
					r.Verdicts[i].State = state((v.Hash == st.Candidate) == (c.outcome == validation.Rejected))
				}
			}
			if c.stage != "strict" {
				if got := evidence.Check(r); len(got.Differences) == 0 {
					t.Error("the last word turned round was not found")
				}
			}
		})
	}
}
