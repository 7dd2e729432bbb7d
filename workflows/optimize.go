package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

// Names under which the workflow, its query and its update are reached. They are wire names.
const (
	OptimizeName  = "OptimizeSkill"
	ProgressQuery = "progress"
	StopUpdate    = "stop"
	// MemoParams names the memo in which a run's choices are kept as JSON: a second start compares its own with them.
	MemoParams = "params"
)

// OptimizeInput starts an optimization. Carry is set by continue-as-new only.
type OptimizeInput struct {
	Params run.Params
	// SearchAttributes says that the cluster has the attributes registered; setting unknown ones would fail the run.
	SearchAttributes bool
	Carry            *State
}

// OptimizeOutput is the run's result, with the Markdown that lets it be read in the Web UI without a worker.
type OptimizeOutput struct {
	Result   run.Result
	Markdown string
}

// State is what a run knows between steps: counters, hashes and scores, never a text. It is what continue-as-new carries.
type State struct {
	Started        time.Time
	Pre            activities.PreflightOut
	Current        string // hash of the best text so far
	SelectionStage string // where the best text's selection verdicts are
	Baseline       *float64
	Score          *float64
	Epoch          int // from 1
	StepInEpoch    int // from 0
	Step           int // from 1, over the whole run
	Accepted       int
	Rejected       int
	Indecisive     int
	Idle           int                 // steps in a row without improvement
	Failing        string              // of the failures in a row
	FailingAt      string              // and whose they are: reflecting or judging
	Failures       int                 // failed model activities of one kind in a row
	Closed         int                 // epochs whose slow and meta updates are done
	Prev           string              // the best text at the end of the epoch before
	Advice         string              // hash of the advice in force
	Pool           []activities.Member // what a search along a Pareto front may start from
	StopReason     string
	Stopping       bool   // somebody asked to stop
	Last           string // what happened last, for people
	SpentUSD       float64
	Calls          int
}

// optimization is one execution of the workflow.
type optimization struct {
	State
	job      activities.Job
	in       OptimizeInput
	phase    string
	finished bool
	review   reviewing
}

// OptimizeSkill trains one skill: preflight, baseline, epochs of reflect, aggregate, select, apply, validate and gate, the
// sealed test, delivery. See optimizer.md's "one run" for the order.
func OptimizeSkill(ctx workflow.Context, in OptimizeInput) (OptimizeOutput, error) {
	info := workflow.GetInfo(ctx)
	o := &optimization{in: in, phase: "preflight"}
	o.job = activities.Job{RunID: info.FirstRunID, WorkflowID: info.WorkflowExecution.ID, Params: in.Params}
	if err := o.listen(ctx); err != nil {
		return OptimizeOutput{}, err
	}
	if in.Carry != nil {
		o.State = *in.Carry
	} else {
		o.Started = workflow.Now(ctx)
		if done, out, err := o.begin(ctx); done || err != nil {
			return out, err
		}
	}
	for o.StopReason == "" {
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return OptimizeOutput{}, o.continueAsNew(ctx)
		}
		if err := o.next(ctx); err != nil {
			return o.fail(ctx, err)
		}
		o.show(ctx)
	}
	return o.end(ctx)
}

// begin runs preflight and baseline. done is true when the run is over already.
func (o *optimization) begin(ctx workflow.Context) (done bool, out OptimizeOutput, err error) {
	o.Pre, err = callPreflight(ctx, activities.PreflightIn{Job: o.job, StartedAt: o.Started})
	if err != nil {
		out, err = o.fail(ctx, err)
		return true, out, err
	}
	o.Pre.Gate = o.Pre.GateOf(o.in.Params.Alpha)
	o.Current, o.SelectionStage, o.Prev = o.Pre.Hash, "baseline", o.Pre.Hash
	o.Epoch = 1
	o.phase = "baseline"
	o.show(ctx)
	base, err := callEvaluate(ctx, activities.EvaluateIn{Job: o.job, Stage: "baseline", Hash: o.Pre.Hash, Side: validation.Selection, Trials: o.Pre.Gate.Trials})
	switch {
	case err != nil && isOutage(err):
		o.StopReason, o.Last = activities.StopBreaker, "the judge gives no answer: "+cause(err)
	case err != nil:
		out, err = o.fail(ctx, err)
		return true, out, err
	case base.Stopped != "":
		o.StopReason = base.Stopped
	case base.Score == nil:
		o.StopReason, o.Last = activities.StopBaseline, "the baseline has items without a usable verdict, so there is nothing to compare with"
		o.Indecisive++
	default:
		o.Baseline, o.Score = base.Score, base.Score
		o.Pool = []activities.Member{{Hash: o.Pre.Hash, Stage: "baseline"}}
		o.checkDone(ctx)
	}
	o.phase = "training"
	o.show(ctx)
	return false, OptimizeOutput{}, nil
}

func (o *optimization) stepsPerEpoch() int {
	return optimizer.StepsPerEpoch(o.Pre.TrainItems, o.in.Params.BatchSize, o.in.Params.Minibatch)
}

// next makes one step and moves on.
func (o *optimization) next(ctx workflow.Context) error {
	if o.checkDone(ctx); o.StopReason != "" {
		return nil
	}
	if o.StepInEpoch >= o.stepsPerEpoch() {
		if o.Closed < o.Epoch {
			if err := o.closeEpoch(ctx); err != nil {
				return err
			}
			if o.checkDone(ctx); o.StopReason != "" {
				return nil
			}
		}
		if o.Epoch >= o.in.Params.Epochs {
			o.StopReason = activities.StopEpochs
			return nil
		}
		o.Epoch++
		o.StepInEpoch = 0
	}
	o.Step++
	before := o.Current
	if err := o.step(ctx); err != nil {
		return err
	}
	o.StepInEpoch++
	if o.Current != before {
		o.Idle = 0
	} else {
		o.Idle++
	}
	return nil
}

// checkDone sets the reason to stop where there is one before the next step.
func (o *optimization) checkDone(ctx workflow.Context) {
	p := o.in.Params
	switch {
	case o.StopReason != "":
	case o.Stopping:
		o.StopReason = activities.StopPerson
	case p.TimeoutSec > 0 && workflow.Now(ctx).Sub(o.Started) >= time.Duration(p.TimeoutSec)*time.Second:
		o.StopReason = activities.StopTimeout
	case o.Failures >= breakerAt:
		o.StopReason = activities.StopBreaker
	case p.Goal == "improve" && o.Score != nil && *o.Score >= 1:
		o.StopReason = activities.StopAllPass
	case p.Patience > 0 && o.Idle >= p.Patience:
		o.StopReason = activities.StopPatience
	}
}

// breakerAt is the number of failed model activities of one kind in a row that ends a run with its work kept.
const breakerAt = 3

// Whose failures are counted together. A reflecting model that answers says nothing about a judge that does not.
const (
	reflecting = "reflecting"
	judging    = "judging"
)

// failed counts a failed model activity. What a person has to mend first ends the run at once.
func (o *optimization) failed(ctx workflow.Context, whose string, err error) {
	kind := activities.KindOf(err)
	if workflow.GetVersion(ctx, "breaker by kind", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		kind, whose = "", "" // before 0.3 all failures were counted together
	}
	if kind != o.Failing || whose != o.FailingAt {
		o.Failing, o.FailingAt, o.Failures = kind, whose, 0
	}
	o.Failures++
	if activities.Lasting(kind) {
		o.Failures = breakerAt
	}
}

// worked ends a row of failures.
func (o *optimization) worked(whose string) {
	if o.FailingAt == whose || o.FailingAt == "" {
		o.Failing, o.FailingAt, o.Failures = "", "", 0
	}
}

// continueAsNew starts a fresh history with the state, after letting messages finish.
func (o *optimization) continueAsNew(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	next := o.in
	state := o.State
	next.Carry = &state
	return workflow.NewContinueAsNewError(ctx, OptimizeName, next)
}
