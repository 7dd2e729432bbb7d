package workflows

import (
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/optimizer"
	"whetstone/validation"
)

// step reflects on the step's minibatches in parallel, proposes, and tries the bundle.
func (o *optimization) step(ctx workflow.Context) error {
	p := o.in.Params
	chunks := (o.Pre.TrainItems + p.BatchSize - 1) / p.BatchSize
	first := o.StepInEpoch * p.Minibatch
	var going []reflection
	for b := first; b < min(first+p.Minibatch, chunks); b++ {
		going = append(going, startReflect(ctx, activities.ReflectIn{Job: o.job, Hash: o.Current, Epoch: o.Epoch, Step: o.Step, Batch: b}))
	}
	failed, proposed := "", 0
	for _, r := range going {
		out, err := r.get(ctx)
		switch {
		case err != nil && isOutage(err):
			o.Outages++
			failed = "the reflecting model gives no answer: " + cause(err)
		case err != nil:
			return err
		case out.Stopped != "":
			o.StopReason = out.Stopped
		case out.Failed != "":
			failed = out.Failed
		default:
			o.Outages = 0
			proposed += out.Patches
		}
	}
	if o.StopReason != "" {
		return nil
	}
	if proposed == 0 && failed != "" {
		_, err := o.record(ctx, activities.DecideIn{Missing: failed})
		return err
	}
	total := p.Epochs * o.stepsPerEpoch()
	prop, err := callPropose(ctx, activities.ProposeIn{Job: o.job, Hash: o.Current, Step: o.Step, Patches: optimizer.EditBudget(o.Step-1, total, p.LR, p.MinLR)})
	if err != nil {
		return err
	}
	if len(prop.Keys) == 0 {
		_, err := o.record(ctx, activities.DecideIn{Empty: "no patch is left to try"})
		return err
	}
	t := &tries{o: o}
	return t.bundle(ctx, prop.Keys)
}

// tries tests a step's bundle, and where it is refused, its halves, so that one bad edit does not sink good ones.
type tries struct {
	o    *optimization
	next int
}

func (t *tries) bundle(ctx workflow.Context, keys []string) error {
	o := t.o
	if o.StopReason != "" || o.person {
		return nil
	}
	try := t.next
	t.next++
	divisible, err := o.try(ctx, keys, try)
	if err != nil || !divisible || !o.Pre.Deterministic {
		// With a judge that answers at random every look costs alpha and money: halving waits for the credit assignment
		// that budgets it.
		return err
	}
	half := len(keys) / 2
	if err := t.bundle(ctx, keys[:half]); err != nil {
		return err
	}
	return t.bundle(ctx, keys[half:])
}

// try builds a candidate from some edits, measures it against the present text, and asks the gate. divisible tells that
// it was refused and that its parts are worth a try.
func (o *optimization) try(ctx workflow.Context, keys []string, try int) (divisible bool, err error) {
	built, err := callBuild(ctx, activities.BuildIn{Job: o.job, Hash: o.Current, Step: o.Step, Try: try, Epoch: o.Epoch, Keys: keys})
	if err != nil {
		return false, err
	}
	in := activities.DecideIn{Try: try, Candidate: built.Hash, Bundle: built.Bundle, Keys: keys, Replayed: built.Replayed}
	switch {
	case built.Refused != "":
		in.Empty = built.Refused
		_, err := o.record(ctx, in)
		return len(keys) > 1, err // the edits do not fit together; some of them may
	case built.Replayed != "":
		return o.record(ctx, in)
	}
	v, err := callValidate(ctx, activities.ValidateIn{Job: o.job, Step: o.Step, Try: try, Parent: o.Current, Candidate: built.Hash, Keys: keys, Trials: o.Pre.Trials})
	switch {
	case err != nil && isOutage(err):
		o.Outages++
		in.Missing = "the judge gives no answer: " + cause(err)
		return o.record(ctx, in)
	case err != nil:
		return false, err
	case v.Stopped != "":
		o.StopReason = v.Stopped
		return false, nil
	}
	o.Outages = 0
	return o.record(ctx, in)
}

// record asks the gate about what was measured, or notes why nothing could be, and counts its word.
func (o *optimization) record(ctx workflow.Context, in activities.DecideIn) (divisible bool, err error) {
	in.Job, in.Epoch, in.Step, in.Parent = o.job, o.Epoch, o.Step, o.Current
	in.Manifest, in.Deterministic, in.PlannedLooks, in.ParentScore = o.Pre.Manifest, o.Pre.Deterministic, o.Pre.PlannedLooks, o.Score
	d, err := callDecide(ctx, in)
	if err != nil {
		return false, err
	}
	o.SpentUSD, o.Calls, o.Last = d.SpentUSD, d.Calls, d.Outcome+": "+d.Reason
	switch d.Outcome {
	case validation.Accepted:
		o.Accepted++
		o.Current, o.Score = in.Candidate, d.Candidate
		o.SelectionStage = activities.Site(o.Step, in.Try)
	case validation.Rejected:
		o.Rejected++
	case validation.Indecisive:
		o.Indecisive++
	}
	return d.Divisible, nil
}
