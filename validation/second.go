package validation

import "fmt"

// StageSecond is the stage of a decision that the second judge had the last word on.
const StageSecond = "second"

// secondAlpha is what the second judge's own test must come below. It is asked only about what the first judge accepts, so it
// can lower the chance of a false acceptance and never raise it.
const secondAlpha = 0.05

// Agree lets a second judge confirm an acceptance: by its own verdicts the candidate must be better, too. A missing verdict
// leaves the look indecisive; a judge of another provider that sees no gain refuses it.
func Agree(d Decision, parent, candidate Measured, deterministic bool, seed uint64) Decision {
	if d.Outcome != Accepted {
		return d
	}
	before, after := parent.Score(), candidate.Score()
	d.Stage = StageSecond
	switch {
	case before == nil || after == nil:
		d.Outcome, d.Reason = Indecisive, "the second judge left items without a usable verdict"
	case *after <= *before:
		d.Outcome, d.Reason = Rejected, fmt.Sprintf("the second judge sees no gain (%.3f before, %.3f after)", *before, *after)
	case !deterministic:
		diffs, _, _ := differences(parent, candidate)
		if p, _ := SignFlip(diffs, seed); p > secondAlpha {
			d.Outcome, d.Reason = Rejected, fmt.Sprintf("the second judge is not sure of the gain: its p %.4f is above %.2f", p, secondAlpha)
			return d
		}
		fallthrough
	default:
		d.Reason += "; the second judge agrees"
	}
	return d
}
