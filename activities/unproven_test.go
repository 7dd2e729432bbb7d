package activities

import (
	"testing"

	"whetstone/run"
	"whetstone/validation"
)

func TestARefusalIsUnprovenWhereOnlyEvidenceIsWanting(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	noisy, strict := run.Gate{Trials: 3}, run.Gate{Trials: 1, Deterministic: true}
	for name, c := range map[string]struct {
		gate run.Gate
		goal string
		d    validation.Decision
		want bool
	}{
		"triage sees no gain":        {noisy, "improve", validation.Decision{Stage: validation.StageTriage}, true},
		"p is above alpha":           {noisy, "improve", validation.Decision{P: f(0.2), Alpha: f(0.01)}, true},
		"an item fell, twice":        {noisy, "improve", validation.Decision{P: f(0.001), Alpha: f(0.01)}, false},
		"a second judge doubts it":   {noisy, "improve", validation.Decision{Stage: validation.StageSecond, P: f(0.001), Alpha: f(0.01)}, true},
		"and so of a strict gate":    {strict, "improve", validation.Decision{Stage: validation.StageSecond}, true},
		"the judge never changes":    {strict, "improve", validation.Decision{}, false},
		"a correction does not take": {noisy, "adopt", validation.Decision{}, false},
	} {
		in := DecideIn{Gate: c.gate, Job: Job{Params: run.Params{Goal: c.goal}}}
		if got := unproven(in, c.d); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
