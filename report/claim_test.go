package report

import (
	"math"
	"strings"
	"testing"

	"whetstone/run"
)

func f(x float64) *float64          { return &x }
func iv(lo, hi float64) *[2]float64 { return &[2]float64{lo, hi} }

// An improvement is claimed by the sealed test alone, and only where its interval excludes zero.
func TestClaim(t *testing.T) {
	t.Parallel()
	base := run.Result{Outcome: run.Accepted, Goal: "improve", HashBefore: "a", HashAfter: "b", Learnings: run.Counts{Test: 8}, Baseline: run.Scores{Selection: f(0.2), Test: f(0.4)}, Final: run.Scores{Selection: f(0.9), Test: f(0.7)}}
	with := func(change func(*run.Result)) run.Result {
		r := base
		change(&r)
		return r
	}
	for _, c := range []struct {
		name string
		r    run.Result
		win  bool
		says string
	}{
		{"the interval lies above zero", with(func(r *run.Result) { r.TestInterval = iv(0.1, 0.5) }), true, "Improved on the sealed test (0.400 before, 0.700 after)"},
		{"the interval includes zero", with(func(r *run.Result) { r.TestInterval = iv(-0.1, 0.5) }), false, "No evidence of improvement"},
		{"the interval begins at zero", with(func(r *run.Result) { r.TestInterval = iv(0, 0.5) }), false, "No evidence of improvement"},
		{"nothing changed at all", with(func(r *run.Result) { r.TestInterval = iv(0, 0) }), false, "No evidence of improvement"},
		{"the interval lies below zero", with(func(r *run.Result) { r.TestInterval = iv(-0.5, -0.1) }), false, "Worse on the sealed test"},
		{"the selection items rose, and there is no test", with(func(r *run.Result) {
			r.Interval, r.Learnings.Test, r.Baseline.Test, r.Final.Test = iv(0.3, 0.9), 0, nil, nil
		}), false, "No sealed test, so nothing is claimed."},
		{"the test was not read", with(func(r *run.Result) { r.Interval, r.Baseline.Test, r.Final.Test = iv(0.3, 0.9), nil, nil }), false, "The sealed test was not measured"},
		{"an old result knows no interval of the test", with(func(r *run.Result) { r.Interval = iv(0.3, 0.9) }), false, "without an interval"},
		{"an interval that is none", with(func(r *run.Result) { r.TestInterval = iv(math.NaN(), 0.5) }), false, "nothing is claimed"},
		{"an interval without end", with(func(r *run.Result) { r.TestInterval = iv(0.1, math.Inf(1)) }), false, "nothing is claimed"},
		{"an interval upside down", with(func(r *run.Result) { r.TestInterval = iv(0.5, 0.1) }), false, "nothing is claimed"},
		{"an interval without scores", with(func(r *run.Result) { r.TestInterval, r.Final.Test = iv(0.1, 0.5), nil }), true, "Improved on the sealed test: the"},
		{"corrections were adopted", with(func(r *run.Result) { r.Goal, r.TestInterval = "adopt", iv(0.1, 0.5) }), false, "is not claimed. On the sealed test (0.400 before, 0.700 after) the 95 % interval of the paired change is +0.100 to +0.500."},
		{"corrections were adopted without a test", with(func(r *run.Result) { r.Goal = "adopt" }), false, "is not claimed."},
		{"the run failed", with(func(r *run.Result) { r.Outcome, r.TestInterval = run.Failed, iv(0.1, 0.5) }), false, "The run failed"},
		{"the run goes on", with(func(r *run.Result) { r.Outcome, r.TestInterval = run.Running, iv(0.1, 0.5) }), false, "The run goes on"},
		{"the skill is as it was, and the judge is noisy", with(func(r *run.Result) { r.HashAfter, r.TestInterval = "a", iv(0.1, 0.5) }), false, "the skill is unchanged"},
		{"a stopped run delivers what it has", with(func(r *run.Result) { r.Outcome, r.TestInterval = run.Stopped, iv(0.1, 0.5) }), true, "Improved on the sealed test"},
		{"nothing is known", run.Result{}, false, "No sealed test, so nothing is claimed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			win, sentence := Claim(c.r)
			if win != c.win || !strings.Contains(sentence, c.says) {
				t.Errorf("got %v, %q; want %v, %q", win, sentence, c.win, c.says)
			}
			if !win && strings.HasPrefix(sentence, "Improved") {
				t.Errorf("no win, but %q", sentence)
			}
			if md := Markdown(c.r, nil); !strings.Contains(md, "**"+sentence+"**") {
				t.Errorf("the Markdown does not say %q:\n%s", sentence, md)
			}
		})
	}
}

// The difference of two scores where one is missing is missing, too.
func TestNoScoreIsNeverAZero(t *testing.T) {
	t.Parallel()
	md := Markdown(run.Result{Outcome: run.Failed}, []run.Step{{Step: 1, Outcome: "empty"}})
	for _, want := range []string{"| selection (held out) | - | - |", "| sealed test | - | - |", "| 1 | 0 | - | - | empty |"} {
		if !strings.Contains(md, want) {
			t.Errorf("%q is missing in\n%s", want, md)
		}
	}
	if got := Change(nil); got != "-" {
		t.Errorf("no interval reads %q", got)
	}
}
