package workflows

import (
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
)

// credit finds the parts of a refused bundle that are worth keeping, by halving it as long as a part shows no clear gain, and
// tries what is kept together. Screening is cheap and spends no alpha; only the last try is a look.
func (t *tries) credit(ctx workflow.Context, keys []string, try int) error {
	built, err := callBuild(ctx, activities.BuildIn{Job: t.o.job, Hash: t.o.Current, Against: t.o.Current, Step: t.o.Step, Try: try, Epoch: t.o.Epoch, Keys: keys})
	if err != nil || t.base != "" && t.base != t.o.Current {
		return err // parts of an edited pool member are not compared with the present text
	}
	half := len(keys) / 2
	var kept []string
	for _, part := range [][]string{keys[:half], keys[half:]} {
		good, err := t.screen(ctx, part, try, built.Hash)
		if err != nil || t.o.StopReason != "" {
			return err
		}
		kept = append(kept, good...)
	}
	if len(kept) == 0 || len(kept) == len(keys) {
		return nil
	}
	next := t.next
	t.next++
	_, err = t.try(ctx, kept, next)
	return err
}

func (t *tries) screen(ctx workflow.Context, keys []string, try int, bundle string) (kept []string, err error) {
	o := t.o
	if o.StopReason != "" || o.Stopping {
		return nil, nil
	}
	out, err := callScreen(ctx, activities.ScreenIn{Job: o.job, Step: o.Step, Try: try, Parent: o.Current, ParentStage: o.SelectionStage, Candidate: bundle, Keys: keys, Gate: o.Pre.Gate})
	switch {
	case err != nil && isOutage(err):
		o.failed(ctx, err)
		return nil, nil // nothing is known of these edits, so that they are not kept this time
	case err != nil:
		return nil, err
	case out.Stopped != "":
		o.StopReason = out.Stopped
		return nil, nil
	case out.Keep:
		return keys, nil
	case len(keys) == 1:
		return nil, nil
	}
	half := len(keys) / 2
	for _, part := range [][]string{keys[:half], keys[half:]} {
		good, err := t.screen(ctx, part, try, bundle)
		if err != nil {
			return nil, err
		}
		kept = append(kept, good...)
	}
	return kept, nil
}
