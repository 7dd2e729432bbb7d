package report

import (
	"fmt"
	"math"

	"whetstone/run"
)

// Claim says what a run's result supports, in one sentence. It is a win only where the 95 % interval of the paired change
// on the sealed test lies wholly above zero: the selection items chose the candidates, so their scores cannot testify.
// Runs with the goal "adopt" put given corrections into the skill and are never reported as a win, whatever the test says;
// neither are runs that failed, go on, or changed nothing.
func Claim(r run.Result) (win bool, sentence string) {
	switch {
	case r.Outcome == run.Running:
		return false, "The run goes on, so nothing is claimed yet."
	case r.Outcome == run.Failed:
		return false, "The run failed, so nothing is claimed."
	case r.HashBefore != "" && r.HashBefore == r.HashAfter:
		return false, "No evidence of improvement: the skill is unchanged."
	case r.Goal == "adopt":
		return false, "Corrections were adopted as asked; that the skill improved beyond them is not claimed." + tested(r)
	case !measured(r.TestInterval):
		return false, untested(r)
	}
	lo, hi := r.TestInterval[0], r.TestInterval[1]
	switch {
	case lo > 0:
		return true, fmt.Sprintf("Improved on the sealed test%s: the 95 %% interval of the paired change, %s, excludes zero.", scores(r), Change(r.TestInterval))
	case hi < 0:
		return false, fmt.Sprintf("Worse on the sealed test%s: the 95 %% interval of the paired change, %s, lies below zero.", scores(r), Change(r.TestInterval))
	}
	return false, fmt.Sprintf("No evidence of improvement: on the sealed test%s the 95 %% interval of the paired change, %s, includes zero.", scores(r), Change(r.TestInterval))
}

// untested tells a test that was given up from one that was not read to its end.
func untested(r run.Result) string {
	switch {
	case r.Learnings.Test > 0 && r.Baseline.Test != nil && r.Final.Test != nil:
		return "The sealed test came without an interval, so nothing is claimed."
	case r.Learnings.Test > 0:
		return "The sealed test was not measured, so nothing is claimed."
	}
	return "No sealed test, so nothing is claimed."
}

// tested adds what the sealed test says where it does not carry the claim.
func tested(r run.Result) string {
	if !measured(r.TestInterval) {
		return ""
	}
	return fmt.Sprintf(" On the sealed test%s the 95 %% interval of the paired change is %s.", scores(r), Change(r.TestInterval))
}

func scores(r run.Result) string {
	if r.Baseline.Test == nil || r.Final.Test == nil {
		return ""
	}
	return fmt.Sprintf(" (%s before, %s after)", Score(r.Baseline.Test), Score(r.Final.Test))
}

// measured reports whether an interval can be read: it exists, is finite and in order.
func measured(i *[2]float64) bool {
	return i != nil && i[0] <= i[1] && !math.IsInf(i[0], 0) && !math.IsInf(i[1], 0)
}

// Change renders the interval of a difference. An interval that is not there, or cannot be read, is not one around zero.
func Change(i *[2]float64) string {
	if !measured(i) {
		return "-"
	}
	return fmt.Sprintf("%+.3f to %+.3f", i[0], i[1])
}
