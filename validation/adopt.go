package validation

import "fmt"

// StageAdopt is the stage of a decision under the goal "adopt".
const StageAdopt = "adopt"

// Again is the second measurement of items that fell, of both sides.
type Again struct{ Parent, Candidate Measured }

// AdoptGate decides under the goal "adopt": each edit must make its own items pass in most trials, at least one of them
// anew, and nothing held out may be lost. With a judge that answers at random an item counts as lost where it fell by more
// than half and, measured again, did so again. own maps an edit to the items it answers to; again is the second
// measurement of the held-out items that Fallen names, nil where it was not made.
func AdoptGate(ownParent, ownCandidate, heldParent, heldCandidate Measured, own map[string][]string, deterministic bool, again *Again) Decision {
	d := Decision{Parent: heldParent.Score(), Candidate: heldCandidate.Score(), Stage: StageAdopt}
	if d.Parent == nil || d.Candidate == nil || ownParent.Score() == nil || ownCandidate.Score() == nil {
		d.Outcome, d.Reason = Indecisive, "items without a usable verdict: there is no score to compare"
		return d
	}
	for _, it := range heldParent.Items {
		p, _ := heldParent.Rate(it.ID)
		c, _ := heldCandidate.Rate(it.ID)
		switch {
		case c < p && deterministic:
			d.Lost = append(d.Lost, it.ID)
		case p-c > VetoFall:
			if again == nil {
				d.Outcome, d.Reason = Indecisive, "an item that fell by more than half was not measured again"
				return d
			}
			pr, okP := again.Parent.Rate(it.ID)
			cr, okC := again.Candidate.Rate(it.ID)
			if !okP || !okC {
				d.Outcome, d.Reason = Indecisive, "an item that fell could not be measured again"
				return d
			}
			if pr-cr > VetoFall {
				d.Lost = append(d.Lost, it.ID)
			}
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
