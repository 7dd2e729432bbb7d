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
}

// The gate's outcomes.
const (
	Accepted   = "accepted"
	Rejected   = "rejected"
	Indecisive = "indecisive"
)

// GateOptions is what a gate needs besides the measurements.
type GateOptions struct {
	Deterministic bool    // the judge gives the same verdict to the same question, so one trial says it all
	Alpha         float64 // what this look may spend; unused with a deterministic judge
	Seed          uint64
	// Again is the second measurement of items that fell by more than half under the candidate; nil where none did.
	Again *Measured
}

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

// Gate decides whether the candidate is better than the parent on the same items. A deterministic judge: strictly
// greater and no item lost; a tie is not an improvement. Otherwise: a one-sided sign-flip test at o.Alpha, and no item
// whose fall by more than half was confirmed by measuring again. Any missing verdict makes it indecisive.
func Gate(parent, candidate Measured, o GateOptions) Decision {
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
	if o.Deterministic {
		return gateStrict(d)
	}
	return gateSignFlip(d, parent, candidate, o)
}

func gateStrict(d Decision) Decision {
	switch {
	case len(d.Lost) > 0:
		d.Outcome, d.Reason = Rejected, fmt.Sprintf("%d held-out item(s) that passed would be lost", len(d.Lost))
	case *d.Candidate <= *d.Parent:
		d.Outcome, d.Reason = Rejected, "no held-out item improves, and a tie is not an improvement"
	default:
		d.Outcome, d.Reason = Accepted, fmt.Sprintf("%d held-out item(s) gained, none lost", len(d.Gained))
	}
	return d
}

func gateSignFlip(d Decision, parent, candidate Measured, o GateOptions) Decision {
	diffs, _, _ := differences(parent, candidate)
	p, any := SignFlip(diffs, o.Seed)
	alpha := o.Alpha
	d.P, d.Alpha = &p, &alpha
	switch {
	case !any:
		d.Outcome, d.Reason = Rejected, "no held-out item changed"
		return d
	case p > alpha:
		d.Outcome, d.Reason = Rejected, fmt.Sprintf("the gain may be chance: p %.4f is above the %.4f this look may spend", p, alpha)
		return d
	}
	fallen := Fallen(parent, candidate)
	if len(fallen) > 0 {
		if o.Again == nil {
			d.Outcome, d.Reason = Indecisive, fmt.Sprintf("%d item(s) fell by more than half and were not measured again", len(fallen))
			return d
		}
		for _, it := range fallen {
			r, ok := o.Again.Rate(it.ID)
			if !ok {
				d.Outcome, d.Reason = Indecisive, "an item that fell could not be measured again"
				return d
			}
			if was, _ := parent.Rate(it.ID); was-r > VetoFall {
				d.Outcome, d.Reason = Rejected, "an item fell by more than half, twice"
				return d
			}
		}
	}
	d.Outcome, d.Reason = Accepted, fmt.Sprintf("p %.4f within the %.4f this look may spend", p, alpha)
	return d
}

// AdoptGate decides under the goal "adopt": each edit must make its own items pass in most trials, at least one of them
// anew, and nothing held out may be lost. own maps an edit to the items it answers to.
func AdoptGate(ownParent, ownCandidate, heldParent, heldCandidate Measured, own map[string][]string, deterministic bool) Decision {
	d := Decision{Parent: heldParent.Score(), Candidate: heldCandidate.Score()}
	if d.Parent == nil || d.Candidate == nil || ownParent.Score() == nil || ownCandidate.Score() == nil {
		d.Outcome, d.Reason = Indecisive, "items without a usable verdict: there is no score to compare"
		return d
	}
	for _, it := range heldParent.Items {
		p, _ := heldParent.Rate(it.ID)
		c, _ := heldCandidate.Rate(it.ID)
		switch {
		case c < p && (deterministic || p-c > VetoFall):
			d.Lost = append(d.Lost, it.ID)
		case c > p:
			d.Gained = append(d.Gained, it.ID)
		}
	}
	if len(d.Lost) > 0 {
		d.Outcome, d.Reason = Rejected, fmt.Sprintf("%d held-out item(s) that passed would be lost", len(d.Lost))
		return d
	}
	anew := 0
	for _, items := range own {
		passes := false
		for _, id := range items {
			c, ok := ownCandidate.Rate(id)
			if !ok || c <= 0.5 {
				continue
			}
			passes = true
			if p, _ := ownParent.Rate(id); p <= 0.5 {
				anew++
			}
		}
		if !passes {
			d.Outcome, d.Reason = Rejected, "an edit does not make its own correction pass"
			return d
		}
	}
	if anew == 0 {
		d.Outcome, d.Reason = Rejected, "no correction passes that did not pass before"
		return d
	}
	d.Outcome, d.Reason = Accepted, fmt.Sprintf("%d correction(s) adopted, nothing held out lost", anew)
	return d
}

// AlphaFor is what the look with this number (from 0, counted over the life of one skill and selection manifest) may
// spend of alpha, when looks come in blocks of planned. The first block shares 80 % of alpha equally, each later one 80 %
// of what is left, so that all looks that will ever be made spend alpha together.
func AlphaFor(alpha float64, planned, look int) float64 {
	if planned < 1 {
		planned = 1
	}
	left := alpha
	for block := look / planned; block > 0; block-- {
		left *= 0.2
	}
	return left * 0.8 / float64(planned)
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
