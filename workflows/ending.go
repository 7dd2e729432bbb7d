package workflows

import (
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/run"
)

// end opens the sealed test, delivers and closes the record. However the run stopped, what was accepted is kept.
func (o *optimization) end(ctx workflow.Context) (OptimizeOutput, error) {
	r := o.result()
	if why := o.breaker(); why != "" && o.Accepted > 0 { // else the result's Why says it
		r.Notes = append(r.Notes, "the run ended before its time"+why+lastWords(o.Last))
	}
	if o.Accepted > 0 && o.Pre.Counts.Test > 0 && o.StopReason != activities.StopKillFile {
		o.phase = "sealed test"
		o.show(ctx)
		t, err := callOpenTest(ctx, activities.OpenTestIn{Job: o.job, Manifest: o.Pre.TestManifest, Before: o.Pre.Hash, After: o.Current, Trials: o.Pre.Gate.Trials})
		switch {
		case err != nil && isOutage(err):
			r.Notes = append(r.Notes, "the sealed test could not be measured: "+cause(err))
		case err != nil:
			return o.fail(ctx, err)
		case t.Stopped != "":
			r.Notes = append(r.Notes, "the sealed test was not measured: "+t.Stopped)
		default:
			r.Baseline.Test, r.Final.Test, r.TestInterval = t.Before, t.After, t.Interval
			if t.Reads > 1 {
				r.Notes = append(r.Notes, fmt.Sprintf("this sealed test has been read by %d runs: it is less of a surprise each time", t.Reads))
			}
		}
	}
	if o.in.Params.Baselines {
		if err := o.baselines(ctx, &r); err != nil {
			return o.fail(ctx, err)
		}
	}
	if o.in.Params.Review && o.Accepted > 0 {
		word, why, err := o.awaitReview(ctx)
		if err != nil {
			return o.fail(ctx, err)
		}
		if r.Reviewed = word; word != run.ReviewAccepted {
			o.reject(&r, why)
		}
	}
	o.phase = "delivery"
	d, err := callDeliver(ctx, activities.DeliverIn{Job: o.job, Before: o.Pre.Hash, After: o.Current})
	if err != nil {
		return o.fail(ctx, err)
	}
	r.Delivered = d.Delivered
	if d.ProposalPath != "" {
		r.ProposalPath = &d.ProposalPath
	}
	if d.Why != "" {
		r.Notes = append(r.Notes, d.Why)
	}
	in := activities.FinishIn{Job: o.job, Result: r, Before: o.Pre.Hash}
	if o.Baseline != nil {
		in.SelectionStage = o.SelectionStage
	}
	f, err := callFinish(ctx, in)
	if err != nil {
		return OptimizeOutput{}, err
	}
	o.close(ctx, f.Result, f.Markdown)
	return OptimizeOutput{Result: f.Result, Markdown: f.Markdown}, nil
}

// reject takes back what was accepted: the text is as it was before the run.
func (o *optimization) reject(r *run.Result, why string) {
	o.Current, o.SelectionStage, o.Score = o.Pre.Hash, "baseline", o.Baseline
	r.Outcome, r.Why, r.HashAfter = run.NoImprovement, why, o.Pre.Hash
	r.Final, r.TestInterval, r.Accepted, r.Rejected = r.Baseline, nil, 0, r.Rejected+r.Accepted
}

// baselines measures what simpler ways would have reached. What can not be measured any more is told.
func (o *optimization) baselines(ctx workflow.Context, r *run.Result) error {
	if o.Stopping || interrupted(o.StopReason) {
		why := o.StopReason
		if o.Stopping {
			why = activities.StopPerson
		}
		for _, name := range activities.Baselines {
			r.Notes = append(r.Notes, "baseline "+name+" was not measured: "+why)
		}
		return nil
	}
	o.phase = "baselines"
	o.show(ctx)
	for _, name := range activities.Baselines {
		out, err := callBaseline(ctx, activities.BaselineIn{Job: o.job, Name: name, Before: o.Pre.Hash, Gate: o.Pre.Gate})
		switch {
		case err != nil && isOutage(err):
			r.Notes = append(r.Notes, "baseline "+name+" could not be measured: "+cause(err))
		case err != nil:
			return err
		case out.Stopped != "":
			r.Notes = append(r.Notes, "baseline "+name+" was not measured: "+out.Stopped)
		}
	}
	return nil
}

// fail closes the record of a run that an error ended, and returns the error.
func (o *optimization) fail(ctx workflow.Context, cause error) (OptimizeOutput, error) {
	r := o.result()
	r.Outcome, r.Why, r.Delivered, r.HashAfter = run.Failed, message(cause), "none", o.Current
	keep, cancel := workflow.NewDisconnectedContext(ctx) // a cancelled run is recorded, too
	defer cancel()
	if f, err := callFinish(keep, activities.FinishIn{Job: o.job, Result: r, Before: o.Pre.Hash}); err == nil {
		o.close(keep, f.Result, f.Markdown)
	}
	o.finished = true
	return OptimizeOutput{}, cause
}

// result is what the workflow itself knows of the outcome.
func (o *optimization) result() run.Result {
	p := o.in.Params
	r := run.Result{
		RunID: o.job.RunID, WorkflowID: o.job.WorkflowID, Skill: p.SkillKey, Provider: p.Provider, Mode: p.Mode, StoppedReason: o.StopReason,
		Learnings: o.Pre.Counts, Baseline: run.Scores{Selection: o.Baseline}, Final: run.Scores{Selection: o.Score},
		Epochs: o.Epoch, Steps: o.Step, Accepted: o.Accepted, Rejected: o.Rejected, Indecisive: o.Indecisive,
		BudgetUSD: p.BudgetUSD, HashBefore: o.Pre.Hash, HashAfter: o.Current, Delivered: "none", Path: p.SkillPath,
		Goal: p.Goal, Judge: p.Judge, Notes: o.Pre.Notes, Measures: o.Pre.Measures, EstimateUSD: o.Pre.Estimate,
	}
	r.Params = &p
	if o.Pre.Gate.Trials > 0 {
		gate := o.Pre.Gate
		r.Gate = &gate
	}
	if o.Step == 0 {
		r.Epochs = 0
	}
	r.Outcome, r.Why = o.outcome()
	return r
}

// outcome names how the run ended, and why in one sentence.
func (o *optimization) outcome() (run.Outcome, string) {
	switch {
	case o.Accepted > 0:
		return run.Accepted, "" // Finish knows what exactly was reached
	case interrupted(o.StopReason):
		return run.Stopped, "stopped with nothing accepted so far" + o.breaker() + lastWords(o.Last)
	case o.Indecisive > 0 && o.Rejected == 0:
		return run.Indecisive, "the evidence is missing to decide anything" + lastWords(o.Last)
	case o.Rejected > 0:
		return run.NoImprovement, "no evidence of improvement" + lastWords(o.Last)
	case o.StopReason == activities.StopAllPass:
		return run.NoImprovement, "every held-out correction passes already: there is nothing to improve"
	}
	return run.NoImprovement, "no patch was found to try" + lastWords(o.Last)
}

func lastWords(s string) string {
	if s == "" {
		return ""
	}
	return " (last: " + s + ")"
}

// interrupted reports whether something from outside ended the run, instead of its own course.
func interrupted(reason string) bool {
	switch reason {
	case activities.StopBudget, activities.StopCalls, activities.StopKillFile, activities.StopPerson, activities.StopBreaker, activities.StopTimeout:
		return true
	}
	return strings.HasPrefix(reason, activities.StopCap)
}

// breaker names a breaker's cause.
func (o *optimization) breaker() string {
	if o.StopReason != activities.StopBreaker || o.Failing == "" {
		return ""
	}
	return fmt.Sprintf(" (%s, %s)", o.Failing, activities.Remedy(o.Failing))
}

// isOutage reports whether an activity failed for want of the model, after all of Temporal's retries.
func isOutage(err error) bool {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type() == activities.TypeModel
	}
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout)
}

// cause is the innermost message of an activity's error.
func cause(err error) string { return message(err) }

func message(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	return err.Error()
}
