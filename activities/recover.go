package activities

import (
	"context"
	"errors"
	"fmt"

	"whetstone/model"
	"whetstone/optimizer"
)

// askWithin asks one model, and where it finds the prompt too long, asks with less: without the oldest refusals, without any,
// without the less supported half of the corrections, and at last with the minibatch in two halves, whose patches are put
// together. part names the half.
func (a *Activities) askWithin(ctx context.Context, in ReflectIn, ref model.Ref, input optimizer.ReflectInput, part string) (ReflectOut, []optimizer.Patch, error) {
	var tooLong error
	for level := 0; ; level++ {
		less, dropped, ok := optimizer.Shrink(input, level)
		if !ok {
			break
		}
		if level > 0 && dropped == "" {
			continue // this level has nothing to drop
		}
		out, patches, err := a.askForPatches(ctx, in, ref, less, part)
		if me, is := model.AsError(err); !is || me.Kind != model.TooLong {
			return out, patches, err
		}
		tooLong = err
	}
	if len(input.Train) < 2 {
		return ReflectOut{}, nil, tooLong
	}
	half := len(input.Train) / 2
	var both ReflectOut
	var all []optimizer.Patch
	for i, train := range [][]model.Trajectory{input.Train[:half], input.Train[half:]} {
		piece := input
		piece.Train, piece.Rejections = train, nil
		out, patches, err := a.askWithin(ctx, in, ref, piece, part+string(rune('a'+i)))
		if err != nil {
			return ReflectOut{}, nil, err
		}
		both.Patches += out.Patches
		if out.Failed != "" {
			both.Failed = out.Failed
		}
		all = append(all, patches...)
	}
	if both.Patches > 0 {
		both.Failed = "" // one half is better than none
	}
	return both, all, nil
}

// askForPatches asks one model. An answer that ends at the bound on its tokens is asked for again with twice the bound, and then
// to be continued; one that is no JSON is asked for once more.
func (a *Activities) askForPatches(ctx context.Context, in ReflectIn, ref model.Ref, input optimizer.ReflectInput, part string) (ReflectOut, []optimizer.Patch, error) {
	p := in.Job.Params
	messages := optimizer.ReflectMessages(input)
	task := &model.ReflectTask{Body: input.Body, Trajectories: input.Train, MaxPatches: input.MaxPatches}
	for _, r := range input.References {
		task.References = append(task.References, model.Reference{Path: r.Path, Body: r.Text})
	}
	ask := func(repair, most int, messages []model.Message) (model.Reply, error) {
		return a.complete(ctx, call{
			job: in.Job, ref: ref, stage: "reflect", site: fmt.Sprintf("reflect-%d.%d%s", in.Step, in.Batch, part), step: in.Step, repair: repair,
			req: model.Request{
				Ref: ref, Stage: "reflect", Messages: messages, MaxTokens: most, Temperature: reflectTemp,
				Seed: int64(optimizer.SeedFor(p.Seed, "reflect", in.Step, in.Batch, repair) >> 1), Schema: input.Schema(), Task: task,
			},
		})
	}
	reply, err := ask(0, reflectTokens, messages)
	if err != nil {
		return ReflectOut{}, nil, err
	}
	best, readErr := optimizer.ParseReflection(reply.Text)
	switch {
	case cutOff(reply):
		if reply, err = ask(1, 2*reflectTokens, messages); err != nil {
			return ReflectOut{}, nil, err
		}
		text := reply.Text
		if cutOff(reply) {
			more := append(append([]model.Message{}, messages...), model.Message{Role: "assistant", Content: text},
				model.Message{Role: "user", Content: "The answer was cut off. Go on exactly where it stopped, without repeating anything."})
			if reply, err = ask(2, 2*reflectTokens, more); err != nil {
				return ReflectOut{}, nil, err
			}
			text += reply.Text
		}
		if r, err := optimizer.ParseReflection(text); err == nil {
			best, readErr = r, nil
		} else if readErr != nil {
			readErr = &model.Error{Kind: model.CutOff, Provider: ref.Provider, Err: fmt.Errorf("the answer was cut off at %d tokens", 2*reflectTokens)}
		}
	case errors.Is(readErr, optimizer.ErrReply) && !declined(reply):
		if reply, err = ask(1, reflectTokens, messages); err != nil {
			return ReflectOut{}, nil, err
		}
		best, readErr = optimizer.ParseReflection(reply.Text)
	}
	switch {
	case declined(reply):
		return ReflectOut{Failed: "the model declined to answer (" + reply.Finish + ")"}, nil, nil
	case readErr != nil:
		return ReflectOut{Failed: fmt.Sprintf("the reply could not be read, twice: %v", readErr)}, nil, nil
	}
	return ReflectOut{Patches: len(best.Patches)}, knownItems(best.Patches, input.Train), nil
}

func cutOff(r model.Reply) bool { return r.Finish == "length" }

func declined(r model.Reply) bool { return r.Finish == "refusal" || r.Finish == "content_filter" }
