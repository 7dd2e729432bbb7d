package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

// The baselines: what simpler ways than the full loop make of the same train items. "No change" is the text the run began with.
const (
	BaselineAppend  = "append all"
	BaselineOneShot = "one-shot rewrite"
)

// Baselines lists those that have to be measured.
var Baselines = []string{BaselineAppend, BaselineOneShot}

// BaselineSite is where a baseline's verdicts are: on the sealed test where the run has one, else on the selection items.
func BaselineSite(name string) string { return "baseline-" + strings.ReplaceAll(name, " ", "-") }

// Baseline makes a baseline's text and measures it once on the items that the run's own result is reported on, with as many
// trials. It spends from the run's budget.
func (a *Activities) Baseline(ctx context.Context, in BaselineIn) (BaselineOut, error) {
	defer beat(ctx)()
	err := a.baseline(ctx, in)
	if reason, ok := stopReason(err); ok {
		return BaselineOut{Stopped: reason}, nil
	}
	return BaselineOut{}, translate(err)
}

func (a *Activities) baseline(ctx context.Context, in BaselineIn) error {
	text, err := a.o.Store.Text(ctx, in.Before)
	if err != nil {
		return err
	}
	set, err := optimizer.NewSet(text)
	if err != nil {
		return fmt.Errorf("parse text %.12s: %w", in.Before, err)
	}
	f := set.Main()
	train, err := a.o.Store.RunItems(ctx, in.Job.RunID, validation.Train)
	if err != nil {
		return err
	}
	var made string
	switch in.Name {
	case BaselineAppend:
		made = set.Text(map[string]string{"": optimizer.AppendAll(f.Body, trajectories(train))})
	case BaselineOneShot:
		body, why, err := a.rewrite(ctx, in.Job, set.Package().View(), f.Body, train)
		if err != nil {
			return err
		}
		if why != "" {
			return a.o.Store.PutBaseline(ctx, run.Baseline{RunID: in.Job.RunID, Name: in.Name, Note: why})
		}
		made = set.Text(map[string]string{"": body})
	default:
		return fmt.Errorf("measure a baseline: there is none called %q", in.Name)
	}
	hash, err := a.o.Store.PutText(ctx, made)
	if err != nil {
		return err
	}
	if err := a.o.Store.PutBaseline(ctx, run.Baseline{RunID: in.Job.RunID, Name: in.Name, Hash: hash}); err != nil {
		return err
	}
	items, err := a.reportedItems(ctx, in.Job.RunID)
	if err != nil {
		return err
	}
	return a.measure(ctx, measuring{job: in.Job, site: BaselineSite(in.Name), hash: hash, items: items, trials: in.Gate.Trials})
}

// reportedItems are those that a run's result is reported on.
func (a *Activities) reportedItems(ctx context.Context, runID string) ([]validation.Item, error) {
	items, err := a.o.Store.RunItems(ctx, runID, validation.Test)
	if err == nil && len(items) == 0 {
		items, err = a.o.Store.RunItems(ctx, runID, validation.Selection)
	}
	return items, err
}

const rewriteTokens = 8000

// rewrite asks the reflecting model for a whole new body. why tells that there is none.
func (a *Activities) rewrite(ctx context.Context, job Job, text, body string, train []validation.Item) (made, why string, err error) {
	ref, err := model.ParseRef(job.Params.Provider)
	if err != nil {
		return "", "", InputError("%w", err)
	}
	reply, err := a.complete(ctx, call{
		job: job, ref: ref, stage: "baseline", site: "one-shot",
		req: model.Request{
			Ref: ref, Stage: "reflect", Messages: optimizer.RewriteMessages(text, trajectories(train)), MaxTokens: rewriteTokens, Temperature: reflectTemp,
			Seed: int64(optimizer.SeedFor(job.Params.Seed, "one-shot") >> 1), Schema: optimizer.RewriteSchema,
			Task: &model.RewriteTask{Body: body, Trajectories: trajectories(train)},
		},
	})
	var me *model.Error
	switch {
	case errors.As(err, &me) && !me.Retryable():
		return "", "the model gave none: " + me.Error(), nil
	case err != nil:
		return "", "", err
	}
	made, why = optimizer.ParseRewrite(reply.Text)
	return made, why, nil
}
