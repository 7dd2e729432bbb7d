package workflows

import (
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/validation"
)

// credit finds the parts of a refused bundle that are worth keeping, by halving it as long as a part shows no clear gain, and
// tries what is kept together. Screening is cheap and spends no alpha; only the last try is a look.
func (t *tries) credit(ctx workflow.Context, keys []string, try int) error {
	if t.base != "" && t.base != t.o.Current {
		return nil // parts of an edited pool member are not compared with the present text
	}
	built, err := callBuild(ctx, activities.BuildIn{Job: t.o.job, Hash: t.o.Current, Against: t.o.Current, Step: t.o.Step, Try: try, Epoch: t.o.Epoch, Keys: keys})
	if err != nil {
		return err
	}
	kept, err := validation.Halve(keys, func(part []string) (validation.Word, error) { return t.screen(ctx, part, try, built.Hash) })
	if err != nil || t.o.StopReason != "" {
		return err
	}
	if len(kept) == 0 || len(kept) == len(keys) {
		return nil
	}
	next := t.next
	t.next++
	_, err = t.try(ctx, kept, next)
	return err
}

func (t *tries) screen(ctx workflow.Context, keys []string, try int, bundle string) (validation.Word, error) {
	o := t.o
	if o.StopReason != "" || o.Stopping {
		return validation.DropPart, nil
	}
	out, err := callScreen(ctx, activities.ScreenIn{Job: o.job, Step: o.Step, Try: try, Parent: o.Current, ParentStage: o.SelectionStage, Candidate: bundle, Keys: keys, Gate: o.Pre.Gate})
	switch {
	case err != nil && isOutage(err):
		o.failed(ctx, judging, err)
		return validation.DropPart, nil // nothing is known of these edits, so that they are not kept this time
	case err != nil:
		return "", err
	case out.Stopped != "":
		o.StopReason = out.Stopped
		return validation.DropPart, nil
	case out.Keep:
		return validation.KeepPart, nil
	}
	return validation.DividePart, nil
}
