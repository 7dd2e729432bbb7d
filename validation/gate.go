package validation

import (
	"fmt"
)

// Decision is the gate's word on one candidate.
type Decision struct {
	Outcome   string // accepted, rejected or indecisive
	Reason    string // for a person
	Parent    *float64
	Candidate *float64
	P         *float64 // nil for a deterministic judge
	Alpha     *float64
	Lost      []string // items that fell
	Gained    []string // items that rose
	Stage     string   // where in the look the word fell: triage, main, strict or adopt
}

// The gate's outcomes.
const (
	Accepted   = "accepted"
	Rejected   = "rejected"
	Indecisive = "indecisive"
)

// VetoFall is the fall in an item's pass rate beyond which it is measured again and, if confirmed, vetoes.
const VetoFall = 0.5

// Fallen lists the items whose rate fell by more than VetoFall.
func Fallen(parent, candidate Measured) []Item {
	var out []Item
	for _, it := range parent.Items {
		p, okP := parent.Rate(it.ID)
		c, okC := candidate.Rate(it.ID)
		if okP && okC && p-c > VetoFall {
			out = append(out, it)
		}
	}
	return out
}

// Strict decides with a deterministic judge: the candidate must score strictly higher on the same items, and no item may be
// lost. A tie is not an improvement. Any missing verdict makes it indecisive.
func Strict(parent, candidate Measured) Decision {
	d := compare(parent, candidate)
	d.Stage = StageStrict
	switch {
	case d.Outcome == Indecisive:
	case len(d.Lost) > 0:
		d.Outcome, d.Reason = Rejected, fmt.Sprintf("%d held-out item(s) that passed would be lost", len(d.Lost))
	case *d.Candidate <= *d.Parent:
		d.Outcome, d.Reason = Rejected, "no held-out item improves, and a tie is not an improvement"
	default:
		d.Outcome, d.Reason = Accepted, fmt.Sprintf("%d held-out item(s) gained, none lost", len(d.Gained))
	}
	return d
}

// StageStrict is the stage of a decision that needed no test.
const StageStrict = "strict"

// compare scores both sides and lists what rose and fell. Its outcome is Indecisive where a verdict is missing, else empty.
func compare(parent, candidate Measured) Decision {
	d := Decision{Parent: parent.Score(), Candidate: candidate.Score()}
	if d.Parent == nil || d.Candidate == nil {
		d.Outcome = Indecisive
		d.Reason = fmt.Sprintf("%d of %d items have no usable verdict, so there is no score to compare", len(union(parent.MissingItems(), candidate.MissingItems())), len(parent.Items))
		return d
	}
	for _, it := range parent.Items {
		p, _ := parent.Rate(it.ID)
		c, _ := candidate.Rate(it.ID)
		switch {
		case c < p:
			d.Lost = append(d.Lost, it.ID)
		case c > p:
			d.Gained = append(d.Gained, it.ID)
		}
	}
	return d
}

func union(a, b []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range append(append([]string{}, a...), b...) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
