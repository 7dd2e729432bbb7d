package activities

import (
	"context"
	"slices"

	"whetstone/run"
	"whetstone/validation"
)

// PutBack keeps every bundle that a run had accepted and a person rejected among the refusals, with the person's words: it is
// not tried again for this parent, and the reflecting model is told why.
func (a *Activities) PutBack(ctx context.Context, in PutBackIn) (PutBackOut, error) {
	defer beat(ctx)()
	var out PutBackOut
	steps, err := a.o.Store.Steps(ctx, in.Job.RunID)
	if err != nil {
		return out, err
	}
	candidates, err := a.o.Store.RunCandidates(ctx, in.Job.RunID)
	if err != nil {
		return out, err
	}
	reason := "a person rejected it: " + in.Why
	for _, st := range steps {
		if st.Outcome != validation.Accepted {
			continue
		}
		patches, err := a.o.Store.Patches(ctx, in.Job.RunID, st.Step)
		if err != nil {
			return out, err
		}
		at := slices.IndexFunc(candidates, func(c run.Candidate) bool { return c.Step == st.Step && c.Try == st.Try })
		if at < 0 {
			continue
		}
		var of []run.PatchRecord
		for _, p := range patches {
			if slices.Contains(candidates[at].Edits, p.Key) {
				of = append(of, p)
			}
		}
		err = a.o.Store.PutRejection(ctx, run.Rejection{
			Bundle: candidates[at].Bundle, SkillKey: in.Job.Params.SkillKey, Parent: st.Parent, Manifest: in.Gate.Manifest,
			Judge: judgeName(in.Job), Reason: reason, Patches: of, RunID: in.Job.RunID, ParentScore: st.Parent01, CandidateScore: st.Cand01,
		})
		if err != nil {
			return out, err
		}
		if err := a.o.Store.MarkRejectedByPerson(ctx, in.Job.RunID, st.Step, reason); err != nil {
			return out, err
		}
		out.Bundles++
	}
	return out, nil
}
