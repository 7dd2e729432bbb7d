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
	answerBatch  = 4   // items with their answers
	offlineBatch = 500 // the offline judge reads items one by one anyway
	judgeTemp    = 0.7 // trials are draws; at zero they would be one draw made three times
	parallel     = 4   // model calls of one activity in flight together
)

// The modes of evaluation.
const (
	ModeJudge   = "judge"   // would the text lead an agent to the expected behaviour?
	ModeRollout = "rollout" // an agent works by the text, and its answer is judged
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
	from   int    // number of the first trial
	second bool   // by the second judge
	by     string // the judge, where it is not the run's
}

func (m measuring) judge() (model.Ref, error) {
	if m.second {
		return model.ParseRef(m.job.Params.Judge2)
	}
	if m.by != "" {
		return model.ParseRef(m.by)
	}
	return m.job.judge()
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

// subject is what is judged in one trial: a text, or, in mode rollout, an answer to each item.
type subject struct {
	text    string // the whole file; of a package, all files, each below its path
	body    string // the same without the frontmatter
	answers map[string]string
}

// read makes a subject of a kept text.
func read(text string) (subject, error) {
	p := skill.Split(text)
	body, err := p.BodyView()
	return subject{text: p.View(), body: body}, err
}

// trial judges every item once. Calls run side by side; what they answer does not depend on their order.
func (a *Activities) trial(ctx context.Context, m measuring, text string, trial int) error {
	ref, err := m.judge()
	if err != nil {
		return InputError("%w", err)
	}
	s, err := read(text)
	if err != nil {
		return fmt.Errorf("parse text %.12s: %w", m.hash, err)
	}
	size := judgeBatch
	if m.job.Params.Mode == ModeRollout {
		if s.answers, err = a.answers(ctx, m, s.body, trial); err != nil {
			return err
		}
		size = answerBatch
	}
	if ref.Provider == model.Offline {
		size = offlineBatch
	}
	fixed, judged := byKind(m.items)
	if len(fixed) > 0 {
		verdicts, err := a.check(ctx, m, s, fixed, trial)
		if err != nil {
			return err
		}
		if err := a.o.Store.PutVerdicts(ctx, m.job.RunID, m.site, m.hash, verdicts); err != nil {
			return err
		}
	}
	if deterministic(ref, m.job.Params) {
		if judged, err = a.fromCache(ctx, m, ref, judged, trial); err != nil {
			return err
		}
	}
	seed := optimizer.SeedFor(m.job.Params.Seed, "judge", m.site, trial)
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, batch := range validation.Batches(judged, size, seed) {
		g.Go(func() error { return a.batch(ctx, m, ref, s, batch, trial) })
	}
	return g.Wait()
}

// fromCache records what a judge that answers the same every time has said of this text before, and returns the items that it has
// not been asked about. A judge that answers at random is always asked anew: a lucky draw that was kept would be tested again
// and again.
func (a *Activities) fromCache(ctx context.Context, m measuring, ref model.Ref, items []validation.Item, trial int) (left []validation.Item, err error) {
	known, err := a.o.Store.KnownVerdicts(ctx, m.job.RunID, m.hash, ref.String())
	if err != nil {
		return nil, err
	}
	var verdicts []validation.Verdict
	for _, it := range items {
		if v, ok := known[it.ID]; ok {
			v.Trial = trial
			verdicts = append(verdicts, v)
			continue
		}
		left = append(left, it)
	}
	if len(verdicts) == 0 {
		return left, nil
	}
	return left, a.o.Store.PutVerdicts(ctx, m.job.RunID, m.site, m.hash, verdicts)
}

// batch asks about some items, and once more about those whose verdict is missing.
func (a *Activities) batch(ctx context.Context, m measuring, ref model.Ref, s subject, batch []validation.Item, trial int) error {
	verdicts, err := a.ask(ctx, m, ref, s, batch, trial, 0)
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
		second, err := a.ask(ctx, m, ref, s, again, trial, 1)
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
func (a *Activities) ask(ctx context.Context, m measuring, ref model.Ref, s subject, items []validation.Item, trial, repair int) ([]validation.Verdict, error) {
	asked := make([]model.JudgeItem, len(items))
	ids := make([]string, len(items))
	for i, it := range items {
		asked[i] = model.JudgeItem{ID: it.ID, Prompt: it.Prompt, Expected: it.Expected, Answer: s.answers[it.ID]}
		ids[i] = it.ID
	}
	messages := validation.JudgeMessages(s.text, asked)
	if s.answers != nil {
		messages = validation.RolloutMessages(asked)
	}
	reply, err := a.complete(ctx, call{
		job: m.job, ref: ref, stage: "judge", site: m.site, step: m.step, trial: trial, repair: repair,
		req: model.Request{
			Ref: ref, Stage: "judge", Messages: messages, MaxTokens: judgeTokens(len(items)), Temperature: judgeTemp,
			Seed:   int64(optimizer.SeedFor(m.job.Params.Seed, m.site, m.hash, trial, repair) >> 1),
			Schema: validation.JudgeSchema,
			Task:   &model.JudgeTask{Body: s.body, Answers: s.answers != nil, Items: asked},
		},
	})
	if err != nil {
		return nil, err
	}
	verdicts, err := validation.ParseVerdicts(reply.Text, ids, trial)
	if err != nil && !errors.Is(err, validation.ErrReply) {
		return nil, err
	}
	for i := range verdicts {
		verdicts[i].Judge = ref.String()
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
