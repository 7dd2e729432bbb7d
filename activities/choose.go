package activities

import (
	"context"
	"slices"

	"whetstone/optimizer"
	"whetstone/validation"
)

const (
	mostPool   = 8 // texts that a search along a front keeps
	mergeEvery = 3 // every third step merges two texts of the front, where there are two
)

// Choose finds the front of the pool by the members' recorded verdicts on the selection items, and draws where the step
// starts. What a member scored may have been measured at different looks; it decides where to look next, never what is
// accepted.
func (a *Activities) Choose(ctx context.Context, in ChooseIn) (ChooseOut, error) {
	defer beat(ctx)()
	items, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Selection)
	if err != nil {
		return ChooseOut{}, err
	}
	stages := map[string]string{}
	var members []optimizer.Member
	for _, m := range in.Pool {
		measured, err := a.measured(ctx, in.Job.RunID, m.Stage, m.Hash, items)
		if err != nil {
			return ChooseOut{}, err
		}
		member := optimizer.Member{Hash: m.Hash, Rates: map[string]float64{}}
		for _, it := range items {
			if r, ok := measured.Rate(it.ID); ok {
				member.Rates[it.ID] = r
			}
		}
		if len(member.Rates) < len(items) {
			continue // an incomplete measurement leads nothing
		}
		if _, known := stages[m.Hash]; known {
			continue // measured more than once: the first counts
		}
		stages[m.Hash] = m.Stage
		members = append(members, member)
	}
	front := optimizer.Bound(optimizer.Front(members), mostPool, in.Current)
	out := ChooseOut{Parent: in.Current}
	for _, m := range front {
		out.Pool = append(out.Pool, Member{Hash: m.Hash, Stage: stages[m.Hash]})
	}
	if i := slices.IndexFunc(out.Pool, func(m Member) bool { return m.Hash == in.Current }); i < 0 {
		if stage, ok := stages[in.Current]; ok { // the best text so far is never lost, whatever leads
			out.Pool = append(out.Pool, Member{Hash: in.Current, Stage: stage})
		}
	}
	if len(front) == 0 {
		return out, nil
	}
	seed := optimizer.SeedFor(in.Job.Params.Seed, "parent", in.Step)
	out.Parent = optimizer.SampleParent(front, seed)
	if in.Step%mergeEvery == 0 {
		others := slices.DeleteFunc(slices.Clone(front), func(m optimizer.Member) bool { return m.Hash == in.Current })
		if len(others) > 0 {
			out.Merge = optimizer.SampleParent(others, seed)
		}
	}
	return out, nil
}

// Merge makes one text of two, section by section. Where both changed a section and the changes do not fit together, the
// present text's stays.
func (a *Activities) Merge(ctx context.Context, in MergeIn) (MergeOut, error) {
	defer beat(ctx)()
	var sets [3]*optimizer.Set
	for i, hash := range []string{in.Base, in.Other, in.Current} {
		var err error
		if sets[i], err = a.packageSet(ctx, hash); err != nil {
			return MergeOut{}, err
		}
	}
	merged, ok := sets[2].Merge(sets[0], sets[1])
	if !ok {
		return MergeOut{Refused: "the two texts merge into one that is there already"}, nil
	}
	if refusal := overCap(in.Job, sets[2], merged, "the merged body"); refusal != "" {
		return MergeOut{Refused: refusal}, nil
	}
	manifest, err := a.manifest(ctx, in.Job)
	if err != nil {
		return MergeOut{}, err
	}
	out := MergeOut{}
	if out.Hash, err = a.o.Store.PutText(ctx, sets[2].Text(merged)); err != nil {
		return MergeOut{}, err
	}
	out.Bundle = optimizer.BundleKey(in.Current, []string{"merge:" + out.Hash}, manifest, judgeName(in.Job))
	r, found, err := a.o.Store.Rejection(ctx, out.Bundle)
	if err != nil {
		return MergeOut{}, err
	}
	if found {
		out.Replayed = r.Reason
	}
	return out, a.o.Store.PutCandidate(ctx, in.Job.RunID, in.Step, 0, out.Hash, in.Current, out.Bundle, []string{})
}
