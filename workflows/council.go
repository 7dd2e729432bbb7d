package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/run"
)

// CouncilName is the wire name of the council workflow.
const CouncilName = "Council"

// CouncilInput starts a council.
type CouncilInput struct {
	Params           run.CouncilParams
	SearchAttributes bool
}

// CouncilOutput is the council's result, with the transcript.
type CouncilOutput struct {
	Result   run.CouncilResult
	Markdown string
}

// Council asks several models one question in three phases: independent answers, a ranking of the answers without their
// names, and a synthesis. One member that fails ends nothing: it is told in the transcript and ranked nowhere.
func Council(ctx workflow.Context, in CouncilInput) (CouncilOutput, error) {
	info := workflow.GetInfo(ctx)
	job := activities.CouncilJob{RunID: info.FirstRunID, WorkflowID: info.WorkflowExecution.ID, Params: in.Params}
	show := func(phase string, failed int) {
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("**%s** of a council of %d about wiki `%s`, %d member(s) failed", phase, len(in.Params.Members), in.Params.Wiki, failed))
	}
	if in.SearchAttributes {
		if err := workflow.UpsertTypedSearchAttributes(ctx, keyWiki.ValueSet(in.Params.Wiki)); err != nil {
			workflow.GetLogger(ctx).Warn("search attributes", "error", err)
		}
	}
	show("opening", 0)
	if _, err := callOpenCouncil(ctx, activities.OpenCouncilIn{Job: job, StartedAt: workflow.Now(ctx)}); err != nil {
		return CouncilOutput{}, err
	}
	show("answers", 0)
	answered, stopped, err := askAll(ctx, job, in.Params.Members, activities.PhaseAnswer)
	if err != nil {
		return CouncilOutput{}, err
	}
	failed := len(in.Params.Members) - len(answered)
	if stopped == "" && len(answered) > 1 {
		show("rankings", failed)
		if _, stopped, err = askAll(ctx, job, answered, activities.PhaseRanking); err != nil {
			return CouncilOutput{}, err
		}
	}
	if stopped == "" && len(answered) > 0 {
		show("synthesis", failed)
		// The chair first; where it fails, the members that answered, one after the other.
		for _, m := range unique(append([]string{in.Params.Chair}, answered...)) {
			out, err := startAskMember(ctx, activities.AskMemberIn{Job: job, Member: m, Phase: activities.PhaseSynthesis}).get(ctx)
			if err != nil && isInput(err) {
				return CouncilOutput{}, err
			}
			if stopped = out.Stopped; stopped != "" || err == nil && out.Failed == "" {
				break
			}
		}
	}
	f, err := callFinishCouncil(ctx, activities.FinishCouncilIn{Job: job, Stopped: stopped})
	if err != nil {
		return CouncilOutput{}, err
	}
	workflow.SetCurrentDetails(ctx, clip(f.Markdown))
	return CouncilOutput{Result: f.Result, Markdown: f.Markdown}, nil
}

// askAll asks members side by side and returns those that answered, in their order.
func askAll(ctx workflow.Context, job activities.CouncilJob, members []string, phase string) (answered []string, stopped string, err error) {
	var going []asking
	for _, m := range members {
		going = append(going, startAskMember(ctx, activities.AskMemberIn{Job: job, Member: m, Phase: phase}))
	}
	for i, g := range going {
		out, gerr := g.get(ctx)
		switch {
		case gerr != nil && isInput(gerr):
			err = gerr
		case gerr != nil: // after all of Temporal's repetitions: this member is out
		case out.Stopped != "":
			stopped = out.Stopped
		case out.Failed == "":
			answered = append(answered, members[i])
		}
	}
	return answered, stopped, err
}

func unique(xs []string) []string {
	var out []string
	for _, x := range xs {
		seen := false
		for _, o := range out {
			seen = seen || o == x
		}
		if !seen && x != "" {
			out = append(out, x)
		}
	}
	return out
}
