package activities

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

// Empty is the outcome of a step that had nothing to try.
const Empty = "empty"

// Site is where the measurements of one look are kept.
func Site(step, try int) string { return fmt.Sprintf("step-%d.%d", step, try) }

// Validate measures parent and candidate on the same held-out items, interleaved trial by trial, both drawn afresh. Under
// the goal "adopt" the train items that the edits answer to are measured too. Items that fell by more than half are
// measured again.
func (a *Activities) Validate(ctx context.Context, in ValidateIn) (ValidateOut, error) {
	defer beat(ctx)()
	out, err := a.validate(ctx, in)
	if reason, ok := stopReason(err); ok {
		return ValidateOut{Stopped: reason}, nil
	}
	return out, translate(err)
}

func (a *Activities) validate(ctx context.Context, in ValidateIn) (ValidateOut, error) {
	held, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Selection)
	if err != nil {
		return ValidateOut{}, err
	}
	own, _, err := a.ownItems(ctx, in.Job, in.Step, in.Keys)
	if err != nil {
		return ValidateOut{}, err
	}
	where := Site(in.Step, in.Try)
	missing := 0
	var failed error
	for _, part := range []struct {
		site  string
		items []validation.Item
	}{{where, held}, {where + "-own", own}} {
		if len(part.items) == 0 {
			continue
		}
		for trial := range in.Trials {
			for _, hash := range []string{in.Parent, in.Candidate} {
				if err := a.measure(ctx, measuring{job: in.Job, site: part.site, step: in.Step, hash: hash, items: part.items, trials: 1, from: trial}); err != nil {
					if !passing(err) {
						return ValidateOut{}, err
					}
					failed = cmp.Or(failed, err)
				}
			}
		}
		for _, hash := range []string{in.Parent, in.Candidate} {
			m, err := a.measured(ctx, in.Job.RunID, part.site, hash, part.items)
			if err != nil {
				return ValidateOut{}, err
			}
			missing += len(m.MissingItems())
		}
	}
	if failed != nil {
		return ValidateOut{}, failed
	}
	parent, err := a.measured(ctx, in.Job.RunID, where, in.Parent, held)
	if err != nil {
		return ValidateOut{}, err
	}
	candidate, err := a.measured(ctx, in.Job.RunID, where, in.Candidate, held)
	if err != nil {
		return ValidateOut{}, err
	}
	if fallen := validation.Fallen(parent, candidate); len(fallen) > 0 && in.Trials > 1 {
		if err := a.measure(ctx, measuring{job: in.Job, site: where + "-again", step: in.Step, hash: in.Candidate, items: fallen, trials: in.Trials}); err != nil {
			return ValidateOut{}, err
		}
	}
	return ValidateOut{Missing: missing}, nil
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
	var parts bool
	var err error
	if in.Replayed != "" {
		d, parts, err = a.replay(ctx, in)
	} else {
		d, err = a.decision(ctx, in)
		parts = divisible(in, d)
	}
	if err != nil {
		return DecideOut{}, err
	}
	st := run.Step{
		RunID: in.Job.RunID, Epoch: in.Epoch, Step: in.Step, Try: in.Try, Parent: in.Parent, Candidate: in.Candidate, Outcome: d.Outcome, Reason: d.Reason,
		Parent01: d.Parent, Cand01: d.Candidate, P: d.P, Alpha: d.Alpha, Replayed: in.Replayed != "",
	}
	if err := a.o.Store.PutStep(ctx, st); err != nil {
		return DecideOut{}, err
	}
	if err := a.o.Store.MarkPatches(ctx, in.Job.RunID, in.Step, in.Keys, d.Outcome, d.Reason); err != nil {
		return DecideOut{}, err
	}
	if d.Outcome == validation.Rejected && in.Replayed == "" {
		if err := a.keepRejection(ctx, in, d, parts); err != nil {
			return DecideOut{}, err
		}
	}
	spent, calls, err := a.o.Store.Spent(ctx, in.Job.RunID)
	return DecideOut{Outcome: d.Outcome, Reason: d.Reason, Parent: d.Parent, Candidate: d.Candidate, Divisible: parts, SpentUSD: spent.USD(), Calls: calls}, err
}

// divisible reports whether it is worth trying the parts of a refused bundle: something in it was good. A bundle that
// moved nothing has no part that does.
func divisible(in DecideIn, d validation.Decision) bool {
	if d.Outcome != validation.Rejected || len(in.Keys) < 2 {
		return false
	}
	return in.Job.Params.Goal == "adopt" || len(d.Gained) > 0
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

func (a *Activities) decision(ctx context.Context, in DecideIn) (validation.Decision, error) {
	switch {
	case in.Empty != "":
		return validation.Decision{Outcome: Empty, Reason: in.Empty, Parent: in.ParentScore}, nil
	case in.Missing != "":
		return validation.Decision{Outcome: validation.Indecisive, Reason: in.Missing, Parent: in.ParentScore}, nil
	}
	held, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Selection)
	if err != nil {
		return validation.Decision{}, err
	}
	where := Site(in.Step, in.Try)
	parent, err := a.measured(ctx, in.Job.RunID, where, in.Parent, held)
	if err != nil {
		return validation.Decision{}, err
	}
	candidate, err := a.measured(ctx, in.Job.RunID, where, in.Candidate, held)
	if err != nil {
		return validation.Decision{}, err
	}
	if in.Job.Params.Goal == "adopt" {
		own, byEdit, err := a.ownItems(ctx, in.Job, in.Step, in.Keys)
		if err != nil {
			return validation.Decision{}, err
		}
		ownParent, err := a.measured(ctx, in.Job.RunID, where+"-own", in.Parent, own)
		if err != nil {
			return validation.Decision{}, err
		}
		ownCandidate, err := a.measured(ctx, in.Job.RunID, where+"-own", in.Candidate, own)
		if err != nil {
			return validation.Decision{}, err
		}
		return validation.AdoptGate(ownParent, ownCandidate, parent, candidate, byEdit, in.Deterministic), nil
	}
	o := validation.GateOptions{Deterministic: in.Deterministic, Seed: optimizer.SeedFor(in.Job.Params.Seed, "gate", in.Step, in.Try)}
	if !in.Deterministic {
		look, err := a.o.Store.Look(ctx, in.Job.Params.SkillKey, in.Manifest, in.Job.RunID, in.Step, in.Try)
		if err != nil {
			return validation.Decision{}, err
		}
		o.Alpha = validation.AlphaFor(in.Job.Params.Alpha, in.PlannedLooks, look)
	}
	if fallen := validation.Fallen(parent, candidate); len(fallen) > 0 {
		again, err := a.measured(ctx, in.Job.RunID, where+"-again", in.Candidate, fallen)
		if err != nil {
			return validation.Decision{}, err
		}
		o.Again = &again
	}
	return validation.Gate(parent, candidate, o), nil
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
		Bundle: in.Bundle, SkillKey: in.Job.Params.SkillKey, Parent: in.Parent, Manifest: in.Manifest, Judge: judgeName(in.Job), Reason: d.Reason,
		Patches: of, Divisible: parts, RunID: in.Job.RunID, ParentScore: d.Parent, CandidateScore: d.Candidate,
	})
}
