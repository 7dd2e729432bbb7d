package activities

import (
	"context"
	"fmt"
	"time"

	"whetstone/claim"
	"whetstone/research"
)

// seedAttempts is how often a seed is tried before it counts as failed.
const seedAttempts = 4

// ClaimSeeds leases the next batch: the shallowest and oldest seeds, all of one depth. The same batch number gets the same
// seeds again.
func (a *Activities) ClaimSeeds(ctx context.Context, in ClaimSeedsIn) (ClaimSeedsOut, error) {
	defer beat(ctx)()
	if a.killed() {
		return ClaimSeedsOut{Stopped: string(research.KillFile)}, nil
	}
	b, err := a.o.Store.ClaimSeeds(ctx, in.Job.Wiki, in.Job.RunID, in.Batch, in.Most, in.Job.Settings.MaxDepth)
	if err != nil {
		return ClaimSeedsOut{}, err
	}
	out := ClaimSeedsOut{Deeper: b.Deeper}
	for _, s := range b.Seeds {
		out.Seeds = append(out.Seeds, SeedRef{ID: s.ID, Verify: s.Kind == claim.Verify, Depth: s.Depth, Attempts: s.Attempts})
	}
	if b.Next != nil {
		out.WaitFor = max(b.Next.Sub(a.o.Now()), time.Millisecond)
	}
	return out, nil
}

// ReturnSeeds puts leased seeds back into the queue, with a delay where a source asked for one. A seed that has been tried
// too often fails, and says why.
func (a *Activities) ReturnSeeds(ctx context.Context, in ReturnSeedsIn) (ReturnSeedsOut, error) {
	defer beat(ctx)()
	if !in.Uncounted && in.Attempts >= seedAttempts {
		for _, id := range in.SeedIDs {
			s, err := a.o.Store.Seed(ctx, id)
			if err != nil {
				return ReturnSeedsOut{}, err
			}
			s.Status, s.Why = claim.Failed, fmt.Sprintf("tried %d times: %s", in.Attempts, in.Why)
			if err := a.o.Store.SettleSeed(ctx, claim.Settlement{RunID: in.Job.RunID, Seed: s}, research.Confidence); err != nil {
				return ReturnSeedsOut{}, err
			}
		}
		return ReturnSeedsOut{}, nil
	}
	var before *time.Time
	if in.Delay > 0 {
		t := a.o.Now().Add(in.Delay)
		before = &t
	}
	return ReturnSeedsOut{len(in.SeedIDs)}, a.o.Store.ReturnSeeds(ctx, in.Job.RunID, in.SeedIDs, in.Why, before, in.Uncounted)
}
