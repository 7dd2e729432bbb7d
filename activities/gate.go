package activities

import (
	"context"
	"fmt"
	"slices"

	"whetstone/evidence"
	"whetstone/run"
	"whetstone/validation"
)

// Empty is the outcome of a step that had nothing to try.
const Empty = "empty"

// Site is where the measurements of one look are kept.
func Site(step, try int, by string) string { return evidence.Site(step, try, by) }

// ScoreSite is where a text that a look accepted is scored.
func ScoreSite(step, try int, by string, p run.Params) string {
	return evidence.ScoreSite(step, try, by, p.Pairwise)
}

// Validate measures parent and candidate on the same held-out items, interleaved trial by trial, both drawn afresh, until the
// gate can decide. Under the goal "adopt" the train items that the edits answer to are measured too. What the gate would
// accept is measured by the second judge as well, where there is one.
func (a *Activities) Validate(ctx context.Context, in ValidateIn) (ValidateOut, error) {
	defer beat(ctx)()
	err := a.validate(ctx, in)
	if reason, ok := stopReason(err); ok {
		return ValidateOut{Stopped: reason}, nil
	}
	return ValidateOut{}, translate(err)
}

func (a *Activities) validate(ctx context.Context, in ValidateIn) error {
	l, err := a.lookAt(ctx, in.Job, in.Step, in.Try, in.By, in.Parent, in.ParentStage, in.Candidate, in.Keys, in.Gate)
	if err != nil {
		return err
	}
	var d *validation.Decision
	if l.Staged() {
		d, err = a.look(ctx, in.Job, l, in.Gate)
	} else {
		d, err = a.whole(ctx, in.Job, l)
	}
	if err != nil {
		return err
	}
	if d.Outcome == validation.Accepted && l.Second {
		return a.draw(ctx, in.Job, l, l.Site(evidence.StageSecond), l.Held, 0, l.Trials, true)
	}
	return nil
}

// whole measures every held-out item in every trial, and under "adopt" the edits' own items and again what fell.
func (a *Activities) whole(ctx context.Context, job Job, l evidence.Look) (*validation.Decision, error) {
	if err := a.draw(ctx, job, l, l.Site(validation.StageMain), l.Held, 0, l.Trials, false); err != nil {
		return nil, err
	}
	if len(l.Own) > 0 {
		if err := a.draw(ctx, job, l, l.Site(evidence.StageOwn), l.Own, 0, l.Trials, false); err != nil {
			return nil, err
		}
	}
	read := a.recorded(ctx, job.RunID)
	if l.Adopt && !l.Deterministic {
		parent, candidate, err := l.Sides(read, validation.StageMain, l.Held)
		if err != nil {
			return nil, err
		}
		if fallen := validation.Fallen(parent, candidate); len(fallen) > 0 {
			if err := a.draw(ctx, job, l, l.Site(validation.StageAgain), fallen, 0, validation.AgainTrials(l.Trials), false); err != nil {
				return nil, err
			}
		}
	}
	d, err := l.Whole(read)
	return &d, err
}

// ownItems are the train items that edits answer to, and which edit answers to which; both empty unless the goal is
// "adopt".
func (a *Activities) ownItems(ctx context.Context, job Job, step int, keys []string) ([]validation.Item, map[string][]string, error) {
	if job.Params.Goal != "adopt" {
		return nil, nil, nil
	}
	patches, err := a.o.Store.Patches(ctx, job.RunID, step)
	if err != nil {
		return nil, nil, err
	}
	train, err := a.o.Store.RunItems(ctx, job.RunID, validation.Train)
	if err != nil {
		return nil, nil, err
	}
	own := map[string][]string{}
	var wanted []string
	for _, p := range patches {
		if slices.Contains(keys, p.Key) && len(p.Items) > 0 {
			own[p.Key] = p.Items
			wanted = append(wanted, p.Items...)
		}
	}
	var items []validation.Item
	for _, it := range train {
		if slices.Contains(wanted, it.ID) {
			items = append(items, it)
		}
	}
	return items, own, nil
}

// Decide asks the gate and records its word: the step, the patches' fate, and a refusal under the bundle's key so that it
// is never paid for again.
func (a *Activities) Decide(ctx context.Context, in DecideIn) (DecideOut, error) {
	defer beat(ctx)()
	var d validation.Decision
	var look *int
	var parts bool
	var err error
	if in.Replayed != "" {
		d, parts, err = a.replay(ctx, in)
	} else {
		d, look, parts, err = a.decision(ctx, in)
	}
	if err != nil {
		return DecideOut{}, err
	}
	st := run.Step{
		RunID: in.Job.RunID, Epoch: in.Epoch, Step: in.Step, Try: in.Try, Parent: in.Parent, Candidate: in.Candidate, Outcome: d.Outcome, Reason: d.Reason,
		Parent01: d.Parent, Cand01: d.Candidate, P: d.P, Alpha: d.Alpha, Replayed: in.Replayed != "",
		Stage: d.Stage, Look: look, Kind: in.Kind, ParentStage: in.ParentStage, Judge: in.By,
	}
	if err := a.o.Store.PutStep(ctx, st); err != nil {
		return DecideOut{}, err
	}
	if err := a.o.Store.MarkPatches(ctx, in.Job.RunID, in.Step, in.Keys, d.Outcome, d.Reason); err != nil {
		return DecideOut{}, err
	}
	// What another judge than the run's refused is not held against the bundle: the run's own may see it otherwise.
	if d.Outcome == validation.Rejected && in.Replayed == "" && in.By == "" {
		if err := a.keepRejection(ctx, in, d, parts); err != nil {
			return DecideOut{}, err
		}
	}
	spent, calls, err := a.o.Store.Spent(ctx, in.Job.RunID)
	return DecideOut{Outcome: d.Outcome, Reason: d.Reason, Parent: d.Parent, Candidate: d.Candidate, Divisible: parts, Whole: d.Candidate != nil, SpentUSD: spent.USD(), Calls: calls}, err
}

// divisible reports whether it is worth trying the parts of a refused bundle: something in it was good. A bundle that
// moved nothing has no part that does.
func divisible(in DecideIn, d validation.Decision, s []validation.Sight) bool {
	if d.Outcome != validation.Rejected || len(in.Keys) < 2 || !in.Job.Params.Has(run.PartCredit) {
		return false
	}
	if in.Job.Params.Goal == "adopt" || in.Gate.Deterministic {
		return in.Job.Params.Goal == "adopt" || len(d.Gained) > 0
	}
	return validation.Divisible(d, s)
}

// replay repeats a refusal on file, word for word.
func (a *Activities) replay(ctx context.Context, in DecideIn) (validation.Decision, bool, error) {
	r, found, err := a.o.Store.Rejection(ctx, in.Bundle)
	if err != nil {
		return validation.Decision{}, false, err
	}
	if !found {
		return validation.Decision{}, false, fmt.Errorf("replay the refusal of %s: it is not on file", in.Bundle)
	}
	return validation.Decision{Outcome: validation.Rejected, Reason: r.Reason, Parent: r.ParentScore, Candidate: r.CandidateScore}, r.Divisible, nil
}

func (a *Activities) decision(ctx context.Context, in DecideIn) (d validation.Decision, look *int, parts bool, err error) {
	switch {
	case in.Empty != "":
		return validation.Decision{Outcome: Empty, Reason: in.Empty, Parent: in.ParentScore}, nil, false, nil
	case in.Missing != "":
		return validation.Decision{Outcome: validation.Indecisive, Reason: in.Missing, Parent: in.ParentScore}, nil, false, nil
	}
	l, err := a.lookAt(ctx, in.Job, in.Step, in.Try, in.By, in.Parent, in.ParentStage, in.Candidate, in.Keys, in.Gate)
	if err != nil {
		return d, nil, false, err
	}
	read := a.recorded(ctx, in.Job.RunID)
	if d, err = l.Decide(read, a.spend(ctx, in.Job, l, in.Gate, &look)); err != nil {
		return d, nil, false, err
	}
	var s []validation.Sight
	if l.Staged() {
		if s, err = l.Sights(read); err != nil {
			return d, nil, false, err
		}
	}
	return d, look, divisible(in, d, s), nil
}

// unproven reports whether a refusal says only that there is not enough evidence. What a judge that answers the same every time
// refuses is known to be no better, and a veto has found a loss twice. What the first judge accepted and a second one doubts is
// contested, which is no knowledge either.
func unproven(in DecideIn, d validation.Decision) bool {
	if d.Stage == validation.StageSecond {
		return true
	}
	vetoed := d.P != nil && d.Alpha != nil && *d.P <= *d.Alpha
	return !in.Gate.Deterministic && in.Job.Params.Goal != "adopt" && !vetoed
}

func (a *Activities) keepRejection(ctx context.Context, in DecideIn, d validation.Decision, parts bool) error {
	patches, err := a.o.Store.Patches(ctx, in.Job.RunID, in.Step)
	if err != nil {
		return err
	}
	var of []run.PatchRecord
	for _, p := range patches {
		if slices.Contains(in.Keys, p.Key) {
			of = append(of, p)
		}
	}
	return a.o.Store.PutRejection(ctx, run.Rejection{
		Bundle: in.Bundle, SkillKey: in.Job.Params.SkillKey, Parent: in.Parent, Manifest: in.Gate.Manifest, Judge: judgeName(in.Job), Reason: d.Reason,
		Patches: of, Divisible: parts, Unproven: unproven(in, d), RunID: in.Job.RunID, ParentScore: d.Parent, CandidateScore: d.Candidate,
	})
}
