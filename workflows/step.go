package workflows

import (
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

// step chooses a parent, reflects on the step's minibatches in parallel, proposes, and tries the bundle.
func (o *optimization) step(ctx workflow.Context) error {
	base := o.Current
	if o.in.Params.Search == activities.SearchPareto {
		c, err := callChoose(ctx, activities.ChooseIn{Job: o.job, Step: o.Step, Current: o.Current, Pool: o.Pool})
		if err != nil {
			return err
		}
		o.Pool = c.Pool
		if c.Merge != "" {
			if tried, err := o.merge(ctx, c.Merge); tried || err != nil {
				return err
			}
		}
		base = c.Parent
	}
	proposed, failed, err := o.reflect(ctx, base)
	if err != nil || o.StopReason != "" {
		return err
	}
	if proposed == 0 && failed != "" {
		_, err := o.record(ctx, activities.DecideIn{Missing: failed})
		return err
	}
	p := o.in.Params
	total := p.Epochs * o.stepsPerEpoch()
	prop, err := callPropose(ctx, activities.ProposeIn{Job: o.job, Hash: base, Step: o.Step, Patches: optimizer.EditBudget(o.Step-1, total, p.LR, p.MinLR)})
	switch {
	case err != nil && isOutage(err): // of the ranking
		o.failed(ctx, reflecting, err)
		_, err := o.record(ctx, activities.DecideIn{Missing: "the ranking model gives no answer: " + cause(err)})
		return err
	case err != nil:
		return err
	case prop.Stopped != "":
		o.StopReason = prop.Stopped
		return nil
	}
	if len(prop.Keys) == 0 {
		_, err := o.record(ctx, activities.DecideIn{Empty: "no patch is left to try"})
		return err
	}
	t := &tries{o: o, kind: run.KindStep}
	if base != o.Current {
		t.base = base
	}
	return t.bundle(ctx, prop.Keys)
}

// reflect asks for patches from the step's minibatches, side by side. failed says why there may be none.
func (o *optimization) reflect(ctx workflow.Context, base string) (proposed int, failed string, err error) {
	p := o.in.Params
	chunks := (o.Pre.TrainItems + p.BatchSize - 1) / p.BatchSize
	first := o.StepInEpoch * p.Minibatch
	var going []reflection
	for b := first; b < min(first+p.Minibatch, chunks); b++ {
		going = append(going, startReflect(ctx, activities.ReflectIn{Job: o.job, Hash: base, Epoch: o.Epoch, Step: o.Step, Batch: b, Advice: o.Advice}))
	}
	for _, r := range going {
		out, err := r.get(ctx)
		switch {
		case err != nil && isOutage(err):
			o.failed(ctx, reflecting, err)
			failed = "the reflecting model gives no answer: " + cause(err)
		case err != nil:
			return 0, "", err
		case out.Stopped != "":
			o.StopReason = out.Stopped
		case out.Failed != "":
			failed = out.Failed
		default:
			o.worked(reflecting)
			proposed += out.Patches
		}
	}
	return proposed, failed, nil
}

// tries tests a step's bundle, and where it is refused, parts of it, so that one bad edit does not sink good ones.
type tries struct {
	o    *optimization
	base string // the text that the edits change; "" is the present one, which moves when a part of a bundle is accepted
	kind string
	next int
}

func (t *tries) bundle(ctx workflow.Context, keys []string) error {
	o := t.o
	if o.StopReason != "" || o.Stopping {
		return nil
	}
	try := t.next
	t.next++
	divisible, err := t.try(ctx, keys, try)
	switch {
	case err != nil || !divisible || !o.in.Params.Has(run.PartCredit):
		return err
	case !o.Pre.Gate.Deterministic && workflow.GetVersion(ctx, "credit", workflow.DefaultVersion, 1) == workflow.DefaultVersion:
		return nil // before 0.3 only bundles that a deterministic judge refused were taken apart
	case !o.Pre.Gate.Deterministic && o.in.Params.Goal != "adopt":
		return t.credit(ctx, keys, try)
	}
	half := len(keys) / 2
	if err := t.bundle(ctx, keys[:half]); err != nil {
		return err
	}
	return t.bundle(ctx, keys[half:])
}

// try builds a candidate from some edits, measures it against the present text, and asks the gate. divisible tells that
// it was refused and that its parts are worth a try.
func (t *tries) try(ctx workflow.Context, keys []string, try int) (divisible bool, err error) {
	o := t.o
	base := t.base
	if base == "" {
		base = o.Current
	}
	built, err := callBuild(ctx, activities.BuildIn{Job: o.job, Hash: base, Against: o.Current, Kind: t.kind, Step: o.Step, Try: try, Epoch: o.Epoch, Keys: keys})
	if err != nil {
		return false, err
	}
	in := activities.DecideIn{Try: try, Kind: t.kind, Candidate: built.Hash, Bundle: built.Bundle, Keys: keys, Replayed: built.Replayed}
	switch {
	case built.Refused != "":
		in.Empty = built.Refused
		_, err := o.record(ctx, in)
		return len(keys) > 1, err // the edits do not fit together; some of them may
	case built.Replayed != "":
		return o.record(ctx, in)
	}
	if divisible, err = o.measure(ctx, in); o.Current == built.Hash {
		t.base = "" // what is tried next builds upon what was accepted
	}
	return divisible, err
}

// measure compares a candidate with the present text and records the gate's word. Where the judge gives no answer, the models of
// --fallback are asked in turn, each for the whole comparison: judges are never mixed within one.
func (o *optimization) measure(ctx workflow.Context, in activities.DecideIn) (divisible bool, err error) {
	var outage error
	for _, by := range append([]string{""}, o.in.Params.Fallback...) {
		if by != "" && (by == o.in.Params.Judge || workflow.GetVersion(ctx, "fallback judges", workflow.DefaultVersion, 1) == workflow.DefaultVersion) {
			continue
		}
		v, err := callValidate(ctx, activities.ValidateIn{Job: o.job, Step: o.Step, Try: in.Try, Parent: o.Current, ParentStage: o.SelectionStage, Candidate: in.Candidate, Keys: in.Keys, Gate: o.Pre.Gate, By: by})
		switch {
		case err != nil && isOutage(err):
			if outage == nil {
				outage = err
			}
			continue
		case err != nil:
			return false, err
		case v.Stopped != "":
			o.StopReason = v.Stopped
			return false, nil
		}
		o.worked(judging)
		in.By = by
		return o.record(ctx, in)
	}
	o.failed(ctx, judging, outage)
	in.Missing = "the judge gives no answer: " + cause(outage)
	return o.record(ctx, in)
}

// score judges the text that a pairwise comparison accepted on its own: that one is better says nothing of how good it is.
func (o *optimization) score(ctx workflow.Context) error {
	o.Score = nil
	s, err := callEvaluate(ctx, activities.EvaluateIn{Job: o.job, Stage: o.SelectionStage, Step: o.Step, Hash: o.Current, Side: validation.Selection, Trials: o.Pre.Gate.Trials})
	switch {
	case err != nil && isOutage(err):
		o.failed(ctx, judging, err)
	case err != nil:
		return err
	case s.Stopped != "":
		o.StopReason = s.Stopped
	default:
		o.Score = s.Score
	}
	return nil
}

// record asks the gate about what was measured, or notes why nothing could be, and counts its word.
func (o *optimization) record(ctx workflow.Context, in activities.DecideIn) (divisible bool, err error) {
	in.Job, in.Epoch, in.Step, in.Parent, in.ParentStage = o.job, o.Epoch, o.Step, o.Current, o.SelectionStage
	in.Gate, in.ParentScore = o.Pre.Gate, o.Score
	d, err := callDecide(ctx, in)
	if err != nil {
		return false, err
	}
	o.SpentUSD, o.Calls, o.Last = d.SpentUSD, d.Calls, d.Outcome+": "+d.Reason
	site := activities.ScoreSite(o.Step, in.Try, in.By, o.in.Params)
	switch d.Outcome {
	case validation.Accepted:
		o.Accepted++
		o.Current, o.Score = in.Candidate, d.Candidate
		o.SelectionStage = site
		if o.in.Params.Pairwise {
			if err := o.score(ctx); err != nil {
				return false, err
			}
		}
	case validation.Rejected:
		o.Rejected++
	case validation.Indecisive:
		o.Indecisive++
	}
	if d.Whole && in.Candidate != "" && (!o.in.Params.Pairwise || d.Outcome == validation.Accepted) && o.in.Params.Search == activities.SearchPareto {
		o.Pool = append(o.Pool, activities.Member{Hash: in.Candidate, Stage: site})
	}
	return d.Divisible, nil
}
