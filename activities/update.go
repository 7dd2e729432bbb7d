package activities

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

const (
	mostPairs    = 20 // train items that an update looks at
	updateTokens = 2500
)

// Update makes the slow or the meta update of an epoch (SkillOpt, arXiv 2605.23904): train items are judged once under the text
// of the epoch before and under the present one, and the reflecting model writes a new slow block, which becomes an ordinary
// patch of this step, or advice to the next epoch, which never enters the skill.
func (a *Activities) Update(ctx context.Context, in UpdateIn) (UpdateOut, error) {
	defer beat(ctx)()
	out, err := a.update(ctx, in)
	if reason, ok := stopReason(err); ok {
		return UpdateOut{Stopped: reason}, nil
	}
	return out, translate(err)
}

func (a *Activities) update(ctx context.Context, in UpdateIn) (UpdateOut, error) {
	pairs, err := a.pairs(ctx, in)
	if err != nil {
		return UpdateOut{}, err
	}
	before, err := a.o.Store.Text(ctx, in.Before)
	if err != nil {
		return UpdateOut{}, err
	}
	after, err := a.o.Store.Text(ctx, in.After)
	if err != nil {
		return UpdateOut{}, err
	}
	set, err := optimizer.NewSet(after)
	if err != nil {
		return UpdateOut{}, fmt.Errorf("parse text %.12s: %w", in.After, err)
	}
	f := set.Head()
	diff := optimizer.Diff(before, after, func(path string) (string, string) {
		if path == skill.Main {
			return "before", "after"
		}
		return path + " before", path + " after"
	})
	after = set.Package().View()
	if in.Slow {
		return a.slowUpdate(ctx, in, f, after, diff, pairs)
	}
	return a.metaUpdate(ctx, in, f, diff, pairs)
}

// pairs judges train items under both texts.
func (a *Activities) pairs(ctx context.Context, in UpdateIn) ([]optimizer.Pair, error) {
	items, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Train)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(optimizer.SeedFor(in.Job.Params.Seed, "pairs", in.Epoch), 1))
	rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	items = items[:min(len(items), mostPairs)]
	site := fmt.Sprintf("update-%d", in.Epoch)
	rates := [2]map[string]float64{{}, {}}
	for i, hash := range []string{in.Before, in.After} {
		if err := a.measure(ctx, measuring{job: in.Job, site: site, step: in.Step, hash: hash, items: items, trials: 1}); err != nil {
			return nil, err
		}
		m, err := a.measured(ctx, in.Job.RunID, site, hash, items)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			rates[i][it.ID] = math.NaN()
			if r, ok := m.Rate(it.ID); ok {
				rates[i][it.ID] = r
			}
		}
	}
	out := make([]optimizer.Pair, len(items))
	for i, it := range items {
		out[i] = optimizer.Pair{ID: it.ID, Category: it.Category, Prompt: it.Prompt, Expected: validation.Describe(it), Before: rates[0][it.ID], After: rates[1][it.ID]}
	}
	return out, nil
}

func (a *Activities) slowUpdate(ctx context.Context, in UpdateIn, f *skill.File, text, diff string, pairs []optimizer.Pair) (UpdateOut, error) {
	_, _, block, _ := optimizer.SlowBlock(f.Body)
	messages := optimizer.SlowMessages(optimizer.SlowInput{Skill: text, Block: block, Diff: diff, Pairs: pairs})
	var made, advice string
	failed, err := a.askForUpdate(ctx, in, f.Body, messages, optimizer.SlowSchema, pairs, func(reply string) (err error) {
		made, advice, err = optimizer.ParseSlow(reply)
		return err
	})
	if err != nil || failed != "" {
		return UpdateOut{Failed: failed}, err
	}
	if advice != "" {
		if _, err := a.keepAdvice(ctx, in, "slow", advice); err != nil {
			return UpdateOut{}, err
		}
	}
	patch, why := slowPatch(f.Body, made)
	if why != "" {
		return UpdateOut{Failed: "the slow update was refused: " + why}, nil
	}
	record := run.PatchRecord{RunID: in.Job.RunID, Step: in.Step, Op: string(patch.Op), Anchor: patch.Anchor, Payload: patch.Payload, Support: 1, State: "selected"}
	out := UpdateOut{}
	edit, perr := optimizer.NewSlowDoc(f.Body).Resolve(patch)
	if perr != nil {
		record.State, record.Reason = "refused", perr.Error()
		out.Failed = "the slow update was refused: " + perr.Error()
	} else {
		record.Key = edit.Key
		out.Keys = []string{edit.Key}
	}
	return out, a.o.Store.PutPatches(ctx, in.Job.RunID, in.Step, []run.PatchRecord{record})
}

// slowPatch is the block's patch, or why there can be none: the model's text is at fault then, not the run.
func slowPatch(body, text string) (patch optimizer.Patch, why string) {
	patch, err := optimizer.SlowPatch(body, text)
	if err != nil {
		why = err.Error()
	}
	return patch, why
}

func (a *Activities) metaUpdate(ctx context.Context, in UpdateIn, f *skill.File, diff string, pairs []optimizer.Pair) (UpdateOut, error) {
	rejected, err := a.rejections(ctx, in.Job)
	if err != nil {
		return UpdateOut{}, err
	}
	input := optimizer.MetaInput{Diff: diff, Pairs: pairs, Rejections: rejected}
	all, err := a.o.Store.Advice(ctx, in.Job.RunID)
	if err != nil {
		return UpdateOut{}, err
	}
	for _, x := range all {
		if x.Kind == "meta" && x.Epoch < in.Epoch {
			if input.Advice, err = a.o.Store.Text(ctx, x.Hash); err != nil {
				return UpdateOut{}, err
			}
		}
	}
	var advice string
	failed, err := a.askForUpdate(ctx, in, f.Body, optimizer.MetaMessages(input), optimizer.MetaSchema, pairs, func(reply string) (err error) {
		advice, err = optimizer.ParseMeta(reply)
		return err
	})
	if err != nil || failed != "" || advice == "" {
		return UpdateOut{Failed: failed}, err
	}
	hash, err := a.keepAdvice(ctx, in, "meta", advice)
	return UpdateOut{Advice: hash}, err
}

func (a *Activities) keepAdvice(ctx context.Context, in UpdateIn, kind, text string) (string, error) {
	hash, err := a.o.Store.PutText(ctx, text)
	if err != nil {
		return "", err
	}
	return hash, a.o.Store.PutAdvice(ctx, run.Advice{RunID: in.Job.RunID, Epoch: in.Epoch, Kind: kind, Hash: hash})
}

// askForUpdate asks the reflecting model, with one repair where its answer can not be read. failed tells that it stayed so.
func (a *Activities) askForUpdate(ctx context.Context, in UpdateIn, body string, messages []model.Message, schema *model.Schema, pairs []optimizer.Pair, parse func(string) error) (failed string, err error) {
	ref, err := model.ParseRef(in.Job.Params.Provider)
	if err != nil {
		return "", InputError("%w", err)
	}
	task := &model.UpdateTask{Body: body, Slow: in.Slow}
	for _, p := range pairs {
		task.Pairs = append(task.Pairs, model.UpdatePair{ID: p.ID, Category: p.Category, Prompt: p.Prompt, Expected: p.Expected, Before: p.Before, After: p.After})
	}
	site := fmt.Sprintf("meta-%d", in.Epoch)
	if in.Slow {
		site = fmt.Sprintf("slow-%d", in.Epoch)
	}
	for repair := range 2 {
		reply, err := a.complete(ctx, call{
			job: in.Job, ref: ref, stage: "update", site: site, step: in.Step, repair: repair,
			req: model.Request{
				Ref: ref, Stage: "update", Messages: messages, MaxTokens: updateTokens, Temperature: reflectTemp,
				Seed: int64(optimizer.SeedFor(in.Job.Params.Seed, site, repair) >> 1), Schema: schema, Task: task,
			},
		})
		if err != nil {
			return "", err
		}
		if reply.Finish == "refusal" || reply.Finish == "content_filter" {
			return "the model declined to answer (" + reply.Finish + ")", nil
		}
		switch err := parse(reply.Text); {
		case err == nil:
			return "", nil
		case !errors.Is(err, optimizer.ErrReply):
			return "", err
		default:
			failed = fmt.Sprintf("the reply could not be read, twice: %v", err)
		}
	}
	return failed, nil
}
