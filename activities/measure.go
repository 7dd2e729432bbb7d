package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/skill"
	"whetstone/validation"
)

const (
	judgeBatch   = 10  // items a judging prompt carries
	offlineBatch = 500 // the offline judge reads items one by one anyway
	judgeTemp    = 0.7 // trials are draws; at zero they would be one draw made three times
	parallel     = 4   // model calls of one activity in flight together
)

// judgeTokens bounds the reply for n verdicts.
func judgeTokens(n int) int { return 120 + 60*n }

// measuring is one side of a measurement.
type measuring struct {
	job    Job
	site   string // where the verdicts are kept and the calls are booked
	step   int
	hash   string
	items  []validation.Item
	trials int
	from   int // number of the first trial
}

// measure judges a text on items and records the verdicts. An item whose verdict is missing is asked once more; then it
// stays missing.
func (a *Activities) measure(ctx context.Context, m measuring) error {
	text, err := a.o.Store.Text(ctx, m.hash)
	if err != nil {
		return err
	}
	var failed error
	for trial := m.from; trial < m.from+m.trials; trial++ {
		if err := a.trial(ctx, m, text, trial); err != nil {
			if !passing(err) {
				return err
			}
			failed = cmp.Or(failed, err)
		}
	}
	return failed
}

// passing reports whether the calls after a failed one are worth making in this attempt: what they answer is kept in the
// ledger, so that with a provider that fails every third time each attempt comes closer to the end.
func passing(err error) bool {
	me, ok := model.AsError(err)
	return ok && me.Retryable() && me.RetryAfter == 0
}

// trial judges every item once. Calls run side by side; what they answer does not depend on their order.
func (a *Activities) trial(ctx context.Context, m measuring, text string, trial int) error {
	ref, err := m.job.judge()
	if err != nil {
		return InputError("%w", err)
	}
	size := judgeBatch
	if ref.Provider == model.Offline {
		size = offlineBatch
	}
	seed := optimizer.SeedFor(m.job.Params.Seed, "judge", m.site, trial)
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, batch := range validation.Batches(m.items, size, seed) {
		g.Go(func() error { return a.batch(ctx, m, ref, text, batch, trial) })
	}
	return g.Wait()
}

// batch asks about some items, and once more about those whose verdict is missing.
func (a *Activities) batch(ctx context.Context, m measuring, ref model.Ref, text string, batch []validation.Item, trial int) error {
	verdicts, err := a.ask(ctx, m, ref, text, batch, trial, 0)
	if err != nil {
		return err
	}
	var again []validation.Item
	for _, v := range verdicts {
		if v.State == validation.Missing {
			again = append(again, itemByID(batch, v.Item))
		}
	}
	if len(again) > 0 {
		second, err := a.ask(ctx, m, ref, text, again, trial, 1)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, second...) // recorded later, so they replace what was missing
	}
	return a.o.Store.PutVerdicts(ctx, m.job.RunID, m.site, m.hash, verdicts)
}

func itemByID(items []validation.Item, id string) validation.Item {
	for _, it := range items {
		if it.ID == id {
			return it
		}
	}
	return validation.Item{ID: id}
}

// ask makes one judging call and reads its verdicts. A reply that is no JSON is no error: its verdicts are missing.
func (a *Activities) ask(ctx context.Context, m measuring, ref model.Ref, text string, items []validation.Item, trial, repair int) ([]validation.Verdict, error) {
	asked := make([]model.JudgeItem, len(items))
	ids := make([]string, len(items))
	for i, it := range items {
		asked[i] = model.JudgeItem{ID: it.ID, Prompt: it.Prompt, Expected: it.Expected}
		ids[i] = it.ID
	}
	f, err := skill.Parse([]byte(text), skill.Options{Plain: true})
	if err != nil {
		return nil, fmt.Errorf("parse text %.12s: %w", m.hash, err)
	}
	reply, err := a.complete(ctx, call{
		job: m.job, ref: ref, stage: "judge", site: m.site, step: m.step, trial: trial, repair: repair,
		req: model.Request{
			Ref: ref, Stage: "judge", Messages: validation.JudgeMessages(text, asked), MaxTokens: judgeTokens(len(items)), Temperature: judgeTemp,
			Seed:   int64(optimizer.SeedFor(m.job.Params.Seed, m.site, m.hash, trial, repair) >> 1),
			Schema: validation.JudgeSchema,
			Task:   &model.JudgeTask{Body: f.Body, Items: asked},
		},
	})
	if err != nil {
		return nil, err
	}
	verdicts, err := validation.ParseVerdicts(reply.Text, ids, trial)
	if err != nil && !errors.Is(err, validation.ErrReply) {
		return nil, err
	}
	return verdicts, nil
}

// measured reads recorded verdicts back.
func (a *Activities) measured(ctx context.Context, runID, site, hash string, items []validation.Item) (validation.Measured, error) {
	vs, err := a.o.Store.Verdicts(ctx, runID, site, hash)
	return validation.Measured{Items: items, Verdicts: vs}, err
}

// Evaluate measures one text on one side of the split, for the baseline and the sealed test.
func (a *Activities) Evaluate(ctx context.Context, in EvaluateIn) (EvaluateOut, error) {
	defer beat(ctx)()
	items, err := a.o.Store.RunItems(ctx, in.Job.RunID, in.Side)
	if err != nil {
		return EvaluateOut{}, err
	}
	if len(items) == 0 {
		return EvaluateOut{}, nil
	}
	err = a.measure(ctx, measuring{job: in.Job, site: in.Stage, step: in.Step, hash: in.Hash, items: items, trials: in.Trials})
	if reason, ok := stopReason(err); ok {
		return EvaluateOut{Stopped: reason}, nil
	}
	if err != nil {
		return EvaluateOut{}, translate(err)
	}
	m, err := a.measured(ctx, in.Job.RunID, in.Stage, in.Hash, items)
	if err != nil {
		return EvaluateOut{}, err
	}
	return EvaluateOut{Score: m.Score(), Missing: len(m.MissingItems())}, nil
}
