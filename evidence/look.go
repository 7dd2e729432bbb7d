// Package evidence decides looks from recorded verdicts: while a run goes on, from the store, and afterwards from what
// `starter runs evidence` wrote down. It is pure and asks nobody; equal verdicts have equal words. The stages under which the
// verdicts of a look are kept are named here.
package evidence

import (
	"fmt"

	"whetstone/optimizer"
	"whetstone/validation"
)

// Verdicts reads what was recorded of one text at one stage of a run.
type Verdicts func(stage, hash string) ([]validation.Verdict, error)

// The stages of a look besides validation's.
const (
	StageOwn    = "own"    // the edits' own train items, under "adopt"
	StageSecond = "second" // the second judge's
	StageCredit = "credit" // of credit assignment
)

// StageBaseline is where the verdicts of the text that a run begins with are.
const StageBaseline = "baseline"

// Site is where the verdicts of a look are kept. by is the judge that made the whole look in another one's place; "" is the run's.
func Site(step, try int, by string) string {
	if by != "" {
		return fmt.Sprintf("step-%d.%d-by-%s", step, try, by)
	}
	return fmt.Sprintf("step-%d.%d", step, try)
}

// ScoreSite is where the verdicts are that a text accepted by a look is scored by. A pairwise comparison says which side does
// better and not how well, so that what it accepts is judged on its own as well.
func ScoreSite(step, try int, by string, pairwise bool) string {
	if pairwise {
		return Site(step, try, by) + "-score"
	}
	return Site(step, try, by)
}

// Look is one comparison of a candidate with its parent.
type Look struct {
	RunSeed       int64
	Step, Try     int
	By            string // the judge, where it is not the run's
	Parent        string
	Candidate     string
	ParentStage   string // where the verdicts are that told triage which items the parent fails
	Trials        int
	Held          []validation.Item
	Deterministic bool
	Adopt         bool
	Own           []validation.Item   // the train items that the edits answer to, under Adopt
	ByEdit        map[string][]string // and which edit answers to which
	// Second says that a second judge must agree; SecondDeterministic that it answers the same every time.
	Second, SecondDeterministic bool
}

// Design is how the look spends its measurements.
func (l Look) Design() validation.Design { return validation.Design{Trials: l.Trials} }

// Seed is the look's: of triage's random share, and of a test whose distribution can not be had exactly.
func (l Look) Seed() uint64 { return optimizer.SeedFor(l.RunSeed, "gate", l.Step, l.Try) }

// Staged reports whether the look is made in stages. With a judge that answers the same every time one trial says it all, and
// under "adopt" nothing may be lost anywhere, so that everything is measured.
func (l Look) Staged() bool { return !l.Deterministic && !l.Adopt }

// Site is where the verdicts of one of the look's stages are kept.
func (l Look) Site(stage string) string {
	where := Site(l.Step, l.Try, l.By)
	if stage == validation.StageMain {
		return where
	}
	return where + "-" + stage
}

// Sides reads both sides' verdicts at one stage.
func (l Look) Sides(read Verdicts, stage string, items []validation.Item) (parent, candidate validation.Measured, err error) {
	parent.Items, candidate.Items = items, items
	if parent.Verdicts, err = read(l.Site(stage), l.Parent); err != nil {
		return parent, candidate, err
	}
	candidate.Verdicts, err = read(l.Site(stage), l.Candidate)
	return parent, candidate, err
}

// Next says what a staged look has to measure next, or decides. spend gives the look's alpha; it is asked once triage has let
// the candidate on, and not for one that triage refuses.
func (l Look) Next(read Verdicts, spend func() (float64, error)) (*validation.Decision, *validation.Ask, error) {
	s, err := l.Sights(read)
	if err != nil {
		return nil, nil, err
	}
	if ask, d := l.Design().Triage(s, l.Seed()); ask != nil || d != nil {
		return d, ask, nil
	}
	alpha, err := spend()
	if err != nil {
		return nil, nil, err
	}
	ask, d := l.Design().Next(s, alpha, l.Seed())
	return d, ask, nil
}

// Decide is the gate's word on what is recorded. A look that is not measured to its end is indecisive.
func (l Look) Decide(read Verdicts, spend func() (float64, error)) (validation.Decision, error) {
	d, err := l.first(read, spend)
	if err != nil || d.Outcome != validation.Accepted || !l.Second {
		return d, err
	}
	parent, candidate, err := l.Sides(read, StageSecond, l.Held)
	if err != nil {
		return d, err
	}
	return validation.Agree(d, parent, candidate, l.SecondDeterministic, l.Seed()), nil
}

// first is the word of the first judge.
func (l Look) first(read Verdicts, spend func() (float64, error)) (validation.Decision, error) {
	if l.Staged() {
		d, _, err := l.Next(read, spend)
		if err == nil && d == nil {
			d = &validation.Decision{Outcome: validation.Indecisive, Stage: validation.StageMain, Reason: "the measurement is not complete"}
		}
		if err != nil {
			return validation.Decision{}, err
		}
		return *d, nil
	}
	return l.Whole(read)
}

// Whole is the first judge's word where everything is measured.
func (l Look) Whole(read Verdicts) (validation.Decision, error) {
	parent, candidate, err := l.Sides(read, validation.StageMain, l.Held)
	if err != nil {
		return validation.Decision{}, err
	}
	if !l.Adopt {
		return validation.Strict(parent, candidate), nil
	}
	ownParent, ownCandidate, err := l.Sides(read, StageOwn, l.Own)
	if err != nil {
		return validation.Decision{}, err
	}
	var again *validation.Again
	if fallen := validation.Fallen(parent, candidate); len(fallen) > 0 && !l.Deterministic {
		again = &validation.Again{}
		if again.Parent, again.Candidate, err = l.Sides(read, validation.StageAgain, fallen); err != nil {
			return validation.Decision{}, err
		}
	}
	return validation.AdoptGate(ownParent, ownCandidate, parent, candidate, l.ByEdit, l.Deterministic, again), nil
}
