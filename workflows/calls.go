// Package workflows orchestrates runs as Temporal workflows: it holds state, asks pure functions, and calls activities. It
// is deterministic: no clock, no randomness, no environment, no texts. A workflow ends with a result wherever it can;
// work accepted so far survives every kind of stop.
package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
)

// This file is the only one that calls ExecuteActivity: one typed wrapper for each activity, since a wrong input struct
// would compile and arrive as a zero value.

// quick are activities that read and write the store, in milliseconds. They heartbeat, too: a process that is killed in
// one is noticed within five seconds, however long a slow disk may take.
func quick(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 2 * time.Minute,
		HeartbeatTimeout:    5 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, MaximumAttempts: 20},
	})
}

// paid are activities that call a model: they heartbeat, and Temporal does all the retrying there is.
func paid(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    5 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: 6},
	})
}

func callPreflight(ctx workflow.Context, in activities.PreflightIn) (out activities.PreflightOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "Preflight", in).Get(ctx, &out)
	return out, err
}

func callEvaluate(ctx workflow.Context, in activities.EvaluateIn) (out activities.EvaluateOut, err error) {
	err = workflow.ExecuteActivity(paid(ctx), "Evaluate", in).Get(ctx, &out)
	return out, err
}

// reflection is a Reflect activity on its way.
type reflection struct{ f workflow.Future }

func startReflect(ctx workflow.Context, in activities.ReflectIn) reflection {
	return reflection{workflow.ExecuteActivity(paid(ctx), "Reflect", in)}
}

func (r reflection) get(ctx workflow.Context) (out activities.ReflectOut, err error) {
	err = r.f.Get(ctx, &out)
	return out, err
}

func callPropose(ctx workflow.Context, in activities.ProposeIn) (out activities.ProposeOut, err error) {
	options := quick
	if in.Job.Params.Rank { // a model may be asked
		options = paid
	}
	err = workflow.ExecuteActivity(options(ctx), "Propose", in).Get(ctx, &out)
	return out, err
}

func callChoose(ctx workflow.Context, in activities.ChooseIn) (out activities.ChooseOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "Choose", in).Get(ctx, &out)
	return out, err
}

func callMerge(ctx workflow.Context, in activities.MergeIn) (out activities.MergeOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "Merge", in).Get(ctx, &out)
	return out, err
}

func callScreen(ctx workflow.Context, in activities.ScreenIn) (out activities.ScreenOut, err error) {
	err = workflow.ExecuteActivity(paid(ctx), "Screen", in).Get(ctx, &out)
	return out, err
}

func callUpdate(ctx workflow.Context, in activities.UpdateIn) (out activities.UpdateOut, err error) {
	err = workflow.ExecuteActivity(paid(ctx), "Update", in).Get(ctx, &out)
	return out, err
}

func callBaseline(ctx workflow.Context, in activities.BaselineIn) (out activities.BaselineOut, err error) {
	err = workflow.ExecuteActivity(paid(ctx), "Baseline", in).Get(ctx, &out)
	return out, err
}

func callPutBack(ctx workflow.Context, in activities.PutBackIn) (out activities.PutBackOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "PutBack", in).Get(ctx, &out)
	return out, err
}

func callBuild(ctx workflow.Context, in activities.BuildIn) (out activities.BuildOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "Build", in).Get(ctx, &out)
	return out, err
}

func callValidate(ctx workflow.Context, in activities.ValidateIn) (out activities.ValidateOut, err error) {
	err = workflow.ExecuteActivity(paid(ctx), "Validate", in).Get(ctx, &out)
	return out, err
}

func callDecide(ctx workflow.Context, in activities.DecideIn) (out activities.DecideOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "Decide", in).Get(ctx, &out)
	return out, err
}

func callOpenTest(ctx workflow.Context, in activities.OpenTestIn) (out activities.OpenTestOut, err error) {
	err = workflow.ExecuteActivity(paid(ctx), "OpenTest", in).Get(ctx, &out)
	return out, err
}

func callDeliver(ctx workflow.Context, in activities.DeliverIn) (out activities.DeliverOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "Deliver", in).Get(ctx, &out)
	return out, err
}

func callFinish(ctx workflow.Context, in activities.FinishIn) (out activities.FinishOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "Finish", in).Get(ctx, &out)
	return out, err
}

// fetched are activities that ask a source: Temporal repeats what may pass, a few times.
func fetched(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 20 * time.Minute,
		HeartbeatTimeout:    5 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: activities.FetchAttempts + 6},
	})
}

func callOpenResearch(ctx workflow.Context, in activities.OpenResearchIn) (out activities.OpenResearchOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "OpenResearch", in).Get(ctx, &out)
	return out, err
}

func callClaimSeeds(ctx workflow.Context, in activities.ClaimSeedsIn) (out activities.ClaimSeedsOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "ClaimSeeds", in).Get(ctx, &out)
	return out, err
}

// fetching is a FetchSeed activity on its way.
type fetching struct{ f workflow.Future }

func startFetchSeed(ctx workflow.Context, in activities.FetchSeedIn) fetching {
	return fetching{workflow.ExecuteActivity(fetched(ctx), "FetchSeed", in)}
}

func (f fetching) get(ctx workflow.Context) (out activities.FetchSeedOut, err error) {
	err = f.f.Get(ctx, &out)
	return out, err
}

func callExtractClaims(ctx workflow.Context, in activities.ExtractClaimsIn) (out activities.ExtractClaimsOut, err error) {
	err = workflow.ExecuteActivity(fetched(ctx), "ExtractClaims", in).Get(ctx, &out)
	return out, err
}

func callSettleSeed(ctx workflow.Context, in activities.SettleSeedIn) (out activities.SettleSeedOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "SettleSeed", in).Get(ctx, &out)
	return out, err
}

func callReturnSeeds(ctx workflow.Context, in activities.ReturnSeedsIn) error {
	var out activities.ReturnSeedsOut
	return workflow.ExecuteActivity(quick(ctx), "ReturnSeeds", in).Get(ctx, &out)
}

func callEmbedPages(ctx workflow.Context, in activities.EmbedPagesIn) (out activities.EmbedPagesOut, err error) {
	err = workflow.ExecuteActivity(paid(ctx), "EmbedPages", in).Get(ctx, &out)
	return out, err
}

func callFinishResearch(ctx workflow.Context, in activities.FinishResearchIn) (out activities.FinishResearchOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "FinishResearch", in).Get(ctx, &out)
	return out, err
}

func callOpenCouncil(ctx workflow.Context, in activities.OpenCouncilIn) (out activities.OpenCouncilOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "OpenCouncil", in).Get(ctx, &out)
	return out, err
}

// asking is an AskMember activity on its way.
type asking struct{ f workflow.Future }

func startAskMember(ctx workflow.Context, in activities.AskMemberIn) asking {
	return asking{workflow.ExecuteActivity(fetched(ctx), "AskMember", in)}
}

func (a asking) get(ctx workflow.Context) (out activities.AskMemberOut, err error) {
	err = a.f.Get(ctx, &out)
	return out, err
}

func callFinishCouncil(ctx workflow.Context, in activities.FinishCouncilIn) (out activities.FinishCouncilOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "FinishCouncil", in).Get(ctx, &out)
	return out, err
}

func callOutlineSurvey(ctx workflow.Context, in activities.OutlineSurveyIn) (out activities.OutlineSurveyOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "OutlineSurvey", in).Get(ctx, &out)
	return out, err
}

func callWriteSection(ctx workflow.Context, in activities.WriteSectionIn) (out activities.WriteSectionOut, err error) {
	err = workflow.ExecuteActivity(fetched(ctx), "WriteSection", in).Get(ctx, &out)
	return out, err
}

func callFinishSurvey(ctx workflow.Context, in activities.FinishSurveyIn) (out activities.FinishSurveyOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "FinishSurvey", in).Get(ctx, &out)
	return out, err
}

func callOpenNight(ctx workflow.Context, in activities.OpenNightIn) (out activities.OpenNightOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "OpenNight", in).Get(ctx, &out)
	return out, err
}

func callCloseNight(ctx workflow.Context, in activities.CloseNightIn) (out activities.CloseNightOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "CloseNight", in).Get(ctx, &out)
	return out, err
}

func callPickWiki(ctx workflow.Context, in activities.PickWikiIn) (out activities.PickWikiOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "PickWiki", in).Get(ctx, &out)
	return out, err
}

func callMarkTick(ctx workflow.Context, in activities.MarkTickIn) (out activities.MarkTickOut, err error) {
	err = workflow.ExecuteActivity(quick(ctx), "MarkTick", in).Get(ctx, &out)
	return out, err
}
