package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"

	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/skill"
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
	trajectories, err := a.minibatch(ctx, in)
	if err != nil {
		return ReflectOut{}, nil, err
	}
	text, err := a.o.Store.Text(ctx, in.Hash)
	if err != nil {
		return ReflectOut{}, nil, err
	}
	f, err := skill.Parse([]byte(text), skill.Options{Plain: true})
	if err != nil {
		return ReflectOut{}, nil, fmt.Errorf("parse text %.12s: %w", in.Hash, err)
	}
	rejected, err := a.o.Store.LatestRejections(ctx, p.SkillKey, promptRejection)
	if err != nil {
		return ReflectOut{}, nil, err
	}
	refs, err := in.Job.reflectors()
	if err != nil {
		return ReflectOut{}, nil, InputError("%w", err)
	}
	most := p.LR * 2
	input := optimizer.ReflectInput{Skill: text, Body: f.Body, Train: trajectories, MaxPatches: most, Goal: p.Goal}
	for _, r := range rejected {
		x := optimizer.Rejection{Reason: r.Reason}
		for _, q := range r.Patches {
			x.Patches = append(x.Patches, optimizer.Patch{Op: optimizer.Op(q.Op), Anchor: q.Anchor, Payload: q.Payload})
		}
		input.Rejections = append(input.Rejections, x)
	}
	messages := optimizer.ReflectMessages(input)
	// Each try of Temporal's asks the next model of the list once the first one failed for good, or twice.
	var out ReflectOut
	var patches []optimizer.Patch
	for i, ref := range refs {
		last := i == len(refs)-1
		if tries := attempt(ctx); !last && tries > 2*(i+1) {
			continue
		}
		out, patches, err = a.askForPatches(ctx, in, ref, messages, f.Body, trajectories, most)
		if me, ok := model.AsError(err); last || !ok || me.Retryable() {
			break
		}
	}
	return out, patches, err
}

// attempt is how often Temporal has started this activity, from 1.
func attempt(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return int(activity.GetInfo(ctx).Attempt)
}

// askForPatches asks one model, with one repair where its answer is no JSON.
func (a *Activities) askForPatches(ctx context.Context, in ReflectIn, ref model.Ref, messages []model.Message, body string, trajectories []model.Trajectory, most int) (ReflectOut, []optimizer.Patch, error) {
	p := in.Job.Params
	var last error
	for repair := range 2 {
		reply, err := a.complete(ctx, call{
			job: in.Job, ref: ref, stage: "reflect", site: fmt.Sprintf("reflect-%d.%d", in.Step, in.Batch), step: in.Step, repair: repair,
			req: model.Request{
				Ref: ref, Stage: "reflect", Messages: messages, MaxTokens: reflectTokens, Temperature: reflectTemp,
				Seed:   int64(optimizer.SeedFor(p.Seed, "reflect", in.Step, in.Batch, repair) >> 1),
				Schema: optimizer.ReflectSchema,
				Task:   &model.ReflectTask{Body: body, Trajectories: trajectories, MaxPatches: most},
			},
		})
		if err != nil {
			return ReflectOut{}, nil, err
		}
		if reply.Finish == "refusal" || reply.Finish == "content_filter" {
			return ReflectOut{Failed: "the model declined to answer (" + reply.Finish + ")"}, nil, nil
		}
		r, err := optimizer.ParseReflection(reply.Text)
		if err == nil {
			return ReflectOut{Patches: len(r.Patches)}, knownItems(r.Patches, trajectories), nil
		}
		if !errors.Is(err, optimizer.ErrReply) {
			return ReflectOut{}, nil, err
		}
		if last = err; reply.Finish == "length" {
			last = &model.Error{Kind: model.CutOff, Provider: ref.Provider, Err: fmt.Errorf("the answer was cut off at %d tokens", reflectTokens)}
		}
	}
	return ReflectOut{Failed: fmt.Sprintf("the reply could not be read, twice: %v", last)}, nil, nil
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
	var out []model.Trajectory
	for _, id := range chunks[in.Batch] {
		it := byID[id]
		out = append(out, model.Trajectory{ID: it.ID, Category: it.Category, Prompt: it.Prompt, Expected: it.Expected})
	}
	return out, nil
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
