package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"go.temporal.io/sdk/activity"

	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

const (
	reflectTokens   = 4000
	reflectTemp     = 0.7
	promptRejection = 20 // refused bundles shown to the reflecting model
)

// Reflect asks the reflecting model for patches from one minibatch of train items and records them. A reply that stays
// unreadable after one repair is a failed call, which is not the same as no patches.
func (a *Activities) Reflect(ctx context.Context, in ReflectIn) (ReflectOut, error) {
	defer beat(ctx)()
	out, patches, err := a.reflect(ctx, in)
	if reason, ok := stopReason(err); ok {
		return ReflectOut{Stopped: reason}, nil
	}
	if err != nil {
		return ReflectOut{}, translate(err)
	}
	if patches == nil {
		patches = []optimizer.Patch{}
	}
	b, err := json.Marshal(patches)
	if err != nil {
		return ReflectOut{}, fmt.Errorf("record a reflection: %w", err)
	}
	return out, a.o.Store.PutReflection(ctx, in.Job.RunID, in.Step, in.Batch, string(b), out.Failed)
}

func (a *Activities) reflect(ctx context.Context, in ReflectIn) (ReflectOut, []optimizer.Patch, error) {
	p := in.Job.Params
	batch, err := a.minibatch(ctx, in)
	if err != nil {
		return ReflectOut{}, nil, err
	}
	set, err := a.packageSet(ctx, in.Hash)
	if err != nil {
		return ReflectOut{}, nil, err
	}
	pkg := set.Package()
	input := optimizer.ReflectInput{Skill: pkg.Main(), Body: set.Main().Body, References: pkg.Parts[1:], Train: batch, MaxPatches: p.LR * 2, Goal: p.Goal}
	if input.Rejections, err = a.rejections(ctx, in.Job); err != nil {
		return ReflectOut{}, nil, err
	}
	if in.Advice != "" {
		if input.Advice, err = a.o.Store.Text(ctx, in.Advice); err != nil {
			return ReflectOut{}, nil, err
		}
	}
	refs, err := in.Job.reflectors()
	if err != nil {
		return ReflectOut{}, nil, InputError("%w", err)
	}
	// Each try of Temporal's asks the next model of the list once the first one failed for good, or twice.
	var out ReflectOut
	var patches []optimizer.Patch
	for i, ref := range refs {
		last := i == len(refs)-1
		if tries := attempt(ctx); !last && tries > 2*(i+1) {
			continue
		}
		out, patches, err = a.askWithin(ctx, in, ref, input, "")
		if me, ok := model.AsError(err); last || !ok || me.Retryable() {
			break
		}
	}
	return out, patches, err
}

// rejections are what the reflecting model is told to avoid: what is known against edits. A refusal that says only that a gain could
// not be told from chance is no such thing; most bundles refused by a noisy judge hold good edits, and a model that is shown them
// keeps away from what helps (docs/optimizer.md, "What each part earns").
func (a *Activities) rejections(ctx context.Context, job Job) ([]optimizer.Rejection, error) {
	if !job.Params.Has(run.PartMemory) {
		return nil, nil
	}
	rejected, err := a.o.Store.Established(ctx, job.Params.SkillKey, promptRejection)
	if err != nil {
		return nil, err
	}
	var out []optimizer.Rejection
	for _, r := range rejected {
		x := optimizer.Rejection{Reason: r.Reason}
		for _, q := range r.Patches {
			x.Patches = append(x.Patches, optimizer.Patch{Op: optimizer.Op(q.Op), Anchor: q.Anchor, Payload: q.Payload, File: q.File})
		}
		if len(x.Patches) > 0 {
			out = append(out, x)
		}
	}
	return out, nil
}

// attempt is how often Temporal has started this activity, from 1.
func attempt(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return int(activity.GetInfo(ctx).Attempt)
}

// minibatch is the train items of one chunk. The chunks follow from seed and epoch alone.
func (a *Activities) minibatch(ctx context.Context, in ReflectIn) ([]model.Trajectory, error) {
	train, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Train)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]validation.Item, len(train))
	ids := make([]string, len(train))
	for i, it := range train {
		ids[i], byID[it.ID] = it.ID, it
	}
	chunks := optimizer.Minibatches(ids, in.Job.Params.BatchSize, in.Job.Params.Seed, in.Epoch)
	if in.Batch >= len(chunks) {
		return nil, fmt.Errorf("reflect: there is no minibatch %d of %d", in.Batch, len(chunks))
	}
	var of []validation.Item
	for _, id := range chunks[in.Batch] {
		of = append(of, byID[id])
	}
	return trajectories(of), nil
}

// knownItems drops ids that the model made up. A patch that names none keeps none: under "adopt" it then answers to
// nothing and is refused.
func knownItems(ps []optimizer.Patch, ts []model.Trajectory) []optimizer.Patch {
	known := map[string]bool{}
	for _, t := range ts {
		known[t.ID] = true
	}
	for i := range ps {
		var items []string
		for _, id := range ps[i].Items {
			if known[id] {
				items = append(items, id)
			}
		}
		ps[i].Items = items
	}
	return ps
}
