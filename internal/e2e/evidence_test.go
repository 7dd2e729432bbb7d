package e2e

import (
	"encoding/json"
	"slices"
	"testing"

	"whetstone/evidence"
	"whetstone/run"
	"whetstone/validation"
)

// What a run claims is worked out again from what it recorded: each change of a record that would make it claim something else is
// found, in the steps, in the texts, and in the result itself.
func TestEvidenceBearsTheClaims(t *testing.T) {
	p := NewPlace(t, "go-testing")
	r, _ := p.Optimize()
	out := p.Run("starter", "runs", "evidence", r.RunID, "--json")
	read := func() evidence.Record {
		var rec evidence.Record
		if err := json.Unmarshal([]byte(out.Stdout), &rec); err != nil {
			t.Fatal(err)
		}
		return rec
	}
	if c := evidence.Check(read()); len(c.Differences) > 0 || c.Decided == 0 || c.Rebuilt == 0 || c.Withheld > 0 {
		t.Fatalf("untouched: %+v", c)
	}
	stage := func(rec *evidence.Record, stage string, state validation.State) {
		for i, v := range rec.Verdicts {
			if v.Stage == stage {
				rec.Verdicts[i].State = state
			}
		}
	}
	half := 0.5
	for name, tamper := range map[string]func(*evidence.Record){
		"the texts are gone":           func(x *evidence.Record) { x.Texts = map[string]string{} },
		"one candidate's text is gone": func(x *evidence.Record) { delete(x.Texts, x.Steps[0].Candidate) },
		"the sealed test passes":       func(x *evidence.Record) { stage(x, "test", validation.Pass) },
		"the baseline fails":           func(x *evidence.Record) { stage(x, "baseline", validation.Fail) },
		"the sealed test's verdicts vanish": func(x *evidence.Record) {
			x.Verdicts = slices.DeleteFunc(x.Verdicts, func(v evidence.Verdict) bool { return v.Stage == "test" })
		},
		"the last step vanishes":         func(x *evidence.Record) { x.Steps = x.Steps[:len(x.Steps)-1] },
		"a better score is claimed":      func(x *evidence.Record) { x.Result.Final.Test = &half },
		"another interval is claimed":    func(x *evidence.Record) { x.Result.TestInterval = &[2]float64{0.5, 0.9} },
		"more is claimed to be accepted": func(x *evidence.Record) { x.Result.Accepted = 40 },
		"another outcome is claimed":     func(x *evidence.Record) { x.Result.Outcome = run.NoImprovement },
		"fewer steps are claimed":        func(x *evidence.Record) { x.Result.Steps-- },
	} {
		rec := read()
		tamper(&rec)
		if c := evidence.Check(rec); len(c.Differences) == 0 {
			t.Errorf("%s: nothing was found (%+v)", name, c)
		}
	}
}
