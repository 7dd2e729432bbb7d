package service

import (
	"context"
	"errors"
	"fmt"

	"whetstone/evidence"
	"whetstone/run"
	"whetstone/store"
	"whetstone/validation"
)

// Evidence gathers all that decided an optimization's steps.
func (s *Service) Evidence(ctx context.Context, r run.Run) (evidence.Record, error) {
	rec := evidence.Record{
		RunID: r.ID, Skill: r.SkillKey, Provider: r.Provider, Judge: r.Judge, Mode: r.Mode, Goal: r.Goal, Seed: r.Seed, Outcome: r.Outcome, HashBefore: r.HashBefore,
		Items: []evidence.Item{}, Steps: []evidence.Step{}, Patches: []evidence.Patch{}, Verdicts: []evidence.Verdict{}, Texts: map[string]string{},
	}
	if r.Result == nil || r.Result.Gate == nil {
		return rec, fmt.Errorf("%w: run %s recorded no gate: it failed before its baseline, is still open, or was made before evidence was kept", ErrBadInput, r.ID)
	}
	rec.Result = *r.Result
	rec.Pairwise = r.Result.Params != nil && r.Result.Params.Pairwise
	rec.Gate, rec.HashAfter, rec.SecondJudge = *r.Result.Gate, r.Result.HashAfter, r.Result.Gate.SecondJudge
	if r.Result.Reviewed != run.ReviewAccepted {
		rec.Reviewed = r.Result.Reviewed
	}
	for _, side := range []validation.Side{validation.Train, validation.Selection, validation.Test} {
		items, err := s.Store.RunItems(ctx, r.ID, side)
		if err != nil {
			return rec, err
		}
		for _, it := range items {
			rec.Items = append(rec.Items, evidence.Item{ID: it.ID, Kind: it.Kind, Side: it.Side, Weight: it.Weight})
		}
	}
	candidates, err := s.Store.RunCandidates(ctx, r.ID)
	if err != nil {
		return rec, err
	}
	built := map[[2]int]run.Candidate{}
	for _, c := range candidates {
		built[[2]int{c.Step, c.Try}] = c
	}
	steps, err := s.Store.Steps(ctx, r.ID)
	if err != nil {
		return rec, err
	}
	hashes := map[string]bool{r.HashBefore: true}
	for _, st := range steps {
		x := evidence.Step{
			Step: st.Step, Try: st.Try, Epoch: st.Epoch, Kind: st.Kind, Parent: st.Parent, ParentStage: st.ParentStage, Candidate: st.Candidate, Outcome: st.Outcome, Reason: st.Reason,
			Stage: st.Stage, Judge: st.Judge, Look: st.Look, ParentScore: st.Parent01, Score: st.Cand01, P: st.P, Alpha: st.Alpha, Replayed: st.Replayed, Edits: []string{},
		}
		if c, ok := built[[2]int{st.Step, st.Try}]; ok && st.Kind != run.KindMerge {
			x.Edits = c.Edits
			if c.Parent != st.Parent {
				x.Base = c.Parent
			}
			hashes[c.Parent] = true
		}
		hashes[st.Parent], hashes[st.Candidate] = true, true
		rec.Steps = append(rec.Steps, x)
	}
	patches, err := s.Store.Patches(ctx, r.ID, 0)
	if err != nil {
		return rec, err
	}
	for _, p := range patches {
		rec.Patches = append(rec.Patches, evidence.Patch{Step: p.Step, Key: p.Key, Op: p.Op, Anchor: p.Anchor, Payload: p.Payload, Support: p.Support, Items: p.Items, State: p.State, Reason: p.Reason, File: p.File})
	}
	if rec.Looks, err = s.Store.LooksOf(ctx, r.ID); err != nil {
		return rec, err
	}
	verdicts, err := s.Store.AllVerdicts(ctx, r.ID)
	if err != nil {
		return rec, err
	}
	for _, v := range verdicts {
		rec.Verdicts = append(rec.Verdicts, evidence.Verdict{Stage: v.Stage, Hash: v.Hash, Item: v.Item, Trial: v.Trial, State: v.State, Judge: v.Judge})
	}
	for hash := range hashes {
		if hash == "" {
			continue
		}
		text, err := s.Store.Text(ctx, hash)
		switch {
		case errors.Is(err, store.ErrNotFound): // a forgotten text says that it is withheld; this one is gone
		case err != nil:
			return rec, err
		default:
			rec.Texts[hash] = text
		}
	}
	return rec, nil
}
