package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/validation"
)

const (
	answerTokens = 1200
	pairBatch    = 3
	// pairwise follows the judge's name in verdicts of comparisons: they are not what it says of an answer alone.
	pairwise = " (pairwise)"
)

// answerRole stands before the skill in the system prompt of a rollout.
const answerRole = `You are a coding agent. A person gives you a situation. Answer in at most 300 words with what you do and say, as you would in
their project, with the commands or code that matter. You work by this skill:

`

// answers lets the target model answer every item with the skill as its system prompt. An answer that the model declined to
// give is an empty answer, which is judged like any other.
func (a *Activities) answers(ctx context.Context, m measuring, body string, trial int) (map[string]string, error) {
	ref, err := m.job.target()
	if err != nil {
		return nil, InputError("%w", err)
	}
	out := make(map[string]string, len(m.items))
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, it := range m.items {
		g.Go(func() error {
			reply, err := a.complete(ctx, call{
				job: m.job, ref: ref, stage: "rollout", site: m.site, step: m.step, trial: trial,
				req: model.Request{
					Ref: ref, Stage: "rollout", MaxTokens: answerTokens, Temperature: judgeTemp,
					Messages: []model.Message{{Role: "system", Content: answerRole + strings.TrimSpace(body)}, {Role: "user", Content: it.Prompt}},
					Seed:     int64(optimizer.SeedFor(m.job.Params.Seed, "rollout", m.site, m.hash, it.ID, trial) >> 1),
					Task:     &model.RolloutTask{Body: body, Prompt: it.Prompt},
				},
			})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			out[it.ID] = reply.Text
			return nil
		})
	}
	return out, g.Wait()
}

func (j Job) target() (model.Ref, error) {
	if j.Params.Target != "" {
		return model.ParseRef(j.Params.Target)
	}
	return model.ParseRef(j.Params.Provider)
}

// pair measures both sides of one trial by comparing their answers blind, and records a verdict on each side.
func (a *Activities) pair(ctx context.Context, parent, candidate measuring, trial int) error {
	ref, err := parent.judge()
	if err != nil {
		return InputError("%w", err)
	}
	var answered [2]map[string]string
	for i, m := range []measuring{parent, candidate} {
		text, err := a.o.Store.Text(ctx, m.hash)
		if err != nil {
			return err
		}
		s, err := read(text)
		if err != nil {
			return fmt.Errorf("parse text %.12s: %w", m.hash, err)
		}
		if answered[i], err = a.answers(ctx, m, s.body, trial); err != nil {
			return err
		}
		// What needs no judge is checked on each side alone.
		fixed, _ := byKind(m.items)
		if len(fixed) == 0 {
			continue
		}
		verdicts, err := a.check(ctx, m, subject{text: s.text, body: s.body, answers: answered[i]}, fixed, trial)
		if err != nil {
			return err
		}
		if err := a.o.Store.PutVerdicts(ctx, m.job.RunID, m.site, m.hash, verdicts); err != nil {
			return err
		}
	}
	_, judged := byKind(parent.items)
	seed := optimizer.SeedFor(parent.job.Params.Seed, "pair", parent.site, trial)
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, batch := range validation.Batches(judged, pairBatch, seed) {
		g.Go(func() error {
			pairs := make([]validation.Pair, len(batch))
			for i, it := range batch {
				pairs[i] = validation.Pair{Item: it, Parent: answered[0][it.ID], Candidate: answered[1][it.ID]}
			}
			return a.compareBlind(ctx, parent, candidate, ref, pairs, trial)
		})
	}
	return g.Wait()
}

// compareBlind asks for one blind comparison, and once more for what is missing.
func (a *Activities) compareBlind(ctx context.Context, parent, candidate measuring, ref model.Ref, pairs []validation.Pair, trial int) error {
	for repair := range 2 {
		seed := optimizer.SeedFor(parent.job.Params.Seed, "swap", parent.site, candidate.hash, trial, repair, pairs[0].Item.ID)
		swapped := validation.Swapped(pairs, seed)
		task := &model.PairTask{}
		for i, p := range pairs {
			x := model.PairItem{ID: p.Item.ID, Prompt: p.Item.Prompt, Expected: p.Item.Expected, A: p.Parent, B: p.Candidate}
			if swapped[i] {
				x.A, x.B = x.B, x.A
			}
			task.Items = append(task.Items, x)
		}
		reply, err := a.complete(ctx, call{
			job: parent.job, ref: ref, stage: "judge", site: parent.site + "-pair", step: parent.step, trial: trial, repair: repair,
			req: model.Request{
				Ref: ref, Stage: "judge", Messages: validation.PairMessages(pairs, swapped), MaxTokens: judgeTokens(len(pairs)), Temperature: judgeTemp,
				Seed: int64(seed >> 1), Schema: validation.PairSchema, Task: task,
			},
		})
		if err != nil {
			return err
		}
		pv, cv, err := validation.ParsePairs(reply.Text, pairs, swapped, trial)
		if err != nil && !errors.Is(err, validation.ErrReply) {
			return err
		}
		var again []validation.Pair
		for i := range pv {
			pv[i].Judge, cv[i].Judge = ref.String()+pairwise, ref.String()+pairwise
			if pv[i].State == validation.Missing {
				again = append(again, pairs[i])
			}
		}
		if err := a.o.Store.PutVerdicts(ctx, parent.job.RunID, parent.site, parent.hash, pv); err != nil {
			return err
		}
		if err := a.o.Store.PutVerdicts(ctx, candidate.job.RunID, candidate.site, candidate.hash, cv); err != nil {
			return err
		}
		if len(again) == 0 {
			break
		}
		pairs = again
	}
	return nil
}
