package workflows

import (
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/run"
)

// closeEpoch makes the slow update, which is a candidate like any other, and the meta update, which is advice to the next
// epoch. Both look at how train items fare under the text of the epoch before and under the present one.
func (o *optimization) closeEpoch(ctx workflow.Context) error {
	o.Closed = o.Epoch
	p := o.in.Params
	prev := o.Prev
	o.Prev = o.Current
	if !o.Pre.Updates {
		return nil
	}
	if o.Epoch >= 2 && prev != o.Current && p.Has(run.PartSlow) {
		if err := o.slow(ctx, prev); err != nil || o.StopReason != "" {
			return err
		}
	}
	if o.Epoch < p.Epochs && p.Has(run.PartMeta) {
		return o.meta(ctx, prev)
	}
	return nil
}

// slow asks for a new slow block and tries it.
func (o *optimization) slow(ctx workflow.Context, prev string) error {
	o.Step++
	out, err := callUpdate(ctx, activities.UpdateIn{Job: o.job, Epoch: o.Epoch, Step: o.Step, Before: prev, After: o.Current, Slow: true})
	switch {
	case err != nil && isOutage(err): // the run goes on without it
		_, err := o.record(ctx, activities.DecideIn{Kind: run.KindSlow, Missing: "no slow update: " + cause(err)})
		return err
	case err != nil:
		return err
	case out.Stopped != "":
		o.StopReason = out.Stopped
		return nil
	case out.Failed != "" || len(out.Keys) == 0:
		why := out.Failed
		if why == "" {
			why = "the slow update changes nothing"
		}
		_, err := o.record(ctx, activities.DecideIn{Kind: run.KindSlow, Empty: why})
		return err
	}
	t := &tries{o: o, kind: run.KindSlow}
	return t.bundle(ctx, out.Keys)
}

// meta asks for advice to the next epoch. Without it the run goes on as well.
func (o *optimization) meta(ctx workflow.Context, prev string) error {
	out, err := callUpdate(ctx, activities.UpdateIn{Job: o.job, Epoch: o.Epoch, Step: o.Step, Before: prev, After: o.Current})
	switch {
	case err != nil && isOutage(err):
		return nil
	case err != nil:
		return err
	}
	if out.Stopped != "" {
		o.StopReason = out.Stopped
	}
	if out.Advice != "" {
		o.Advice = out.Advice
	}
	return nil
}

// merge tries what two texts of the pool make together, section by section. tried is false where that is nothing new, so that the
// step is made in the usual way.
func (o *optimization) merge(ctx workflow.Context, other string) (tried bool, err error) {
	m, err := callMerge(ctx, activities.MergeIn{Job: o.job, Step: o.Step, Epoch: o.Epoch, Base: o.Pre.Hash, Current: o.Current, Other: other})
	if err != nil || m.Refused != "" || m.Replayed != "" {
		return false, err
	}
	_, err = o.measure(ctx, activities.DecideIn{Kind: run.KindMerge, Candidate: m.Hash, Bundle: m.Bundle})
	return true, err
}
