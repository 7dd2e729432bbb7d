package workflows

import (
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/report"
	"whetstone/run"
)

// NightName is the wire name of the workflow that trains a skill by schedule.
const NightName = "NightlyOptimize"

// NightInput is what a schedule starts a night with.
type NightInput struct {
	Params           run.Params
	PerDay           *float64 // dollars that all nights of a day (UTC) may spend together; nil is no cap
	SearchAttributes bool
}

// NightOutput tells what came of a night.
type NightOutput struct {
	Skill     string
	RunID     string // of the training; "" where there was none
	Outcome   run.Outcome
	Before    *float64 // held-out score at the start; nil where there is none
	After     *float64
	Spent     float64
	Delivered string
	Proposal  string // path of what was staged
	Why       string // why the night had no run, or the run's own last word
	Skipped   bool
	Failed    string
}

// NightlyOptimize trains a skill as a person's `starter optimize` would, under the same business id, where there is
// anything new to learn from. A night that fails says so and ends well: a schedule is not stopped by it.
func NightlyOptimize(ctx workflow.Context, in NightInput) (NightOutput, error) {
	out := NightOutput{Skill: in.Params.SkillKey, Delivered: "none"}
	if in.SearchAttributes {
		attribute(ctx, keySkill.ValueSet(out.Skill))
	}
	open, err := callOpenNight(ctx, activities.OpenNightIn{Params: in.Params, PerDay: in.PerDay})
	switch {
	case err == nil && open.Skip != "":
		out.Skipped, out.Why = true, open.Skip
	case err == nil:
		err = train(ctx, in, open, &out)
	}
	if err != nil {
		if temporal.IsCanceledError(err) {
			return out, err
		}
		out.Outcome, out.Failed = run.Failed, message(err)
		if out.RunID != "" {
			closed, err := callCloseNight(ctx, activities.CloseNightIn{RunID: out.RunID})
			if err != nil {
				return out, err
			}
			out.Spent = closed.SpentUSD
		}
	}
	workflow.SetCurrentDetails(ctx, clip(out.markdown()))
	if in.SearchAttributes {
		if out.Outcome != "" {
			attribute(ctx, keyOutcome.ValueSet(string(out.Outcome)))
		}
		attribute(ctx, keySpent.ValueSet(out.Spent))
	}
	return out, nil
}

// train runs the optimization to its end, for days if a person is to decide on its result. A night that is ended from
// outside leaves it to go on.
func train(ctx workflow.Context, in NightInput, open activities.OpenNightOut, out *NightOutput) error {
	p := open.Params
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: "optimize/" + p.SkillKey, WorkflowTaskTimeout: 5 * time.Second,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
		Memo:          map[string]any{MemoParams: open.Memo},
		StaticSummary: fmt.Sprintf("train %s on corrections, goal %s, by schedule", p.SkillKey, p.Goal),
	}), OptimizeName, OptimizeInput{Params: p, SearchAttributes: in.SearchAttributes})
	var started workflow.Execution
	err := child.GetChildWorkflowExecution().Get(ctx, &started)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		out.Skipped, out.Why = true, "its training is open already"
		return nil
	}
	if err != nil {
		return err
	}
	out.RunID = started.RunID
	details := fmt.Sprintf("Run `%s` of `%s` is under way.", out.RunID, out.Skill)
	if p.Review {
		details += fmt.Sprintf(" What it finds waits for `starter runs decide %s accept|reject`, and so does this night.", out.RunID)
	}
	workflow.SetCurrentDetails(ctx, details)
	var res OptimizeOutput
	if err := child.Get(ctx, &res); err != nil {
		return err
	}
	r := res.Result
	out.Outcome, out.Before, out.After, out.Spent, out.Delivered, out.Why = r.Outcome, r.Baseline.Selection, r.Final.Selection, r.SpentUSD, r.Delivered, r.Why
	if r.ProposalPath != nil {
		out.Proposal = *r.ProposalPath
	}
	return nil
}

// markdown is what the Web UI shows of a night.
func (out NightOutput) markdown() string {
	var b strings.Builder
	switch {
	case out.Failed != "":
		fmt.Fprintf(&b, "The night of `%s` **failed**: %s\n", out.Skill, out.Failed)
	case out.Skipped:
		fmt.Fprintf(&b, "The night of `%s` was **skipped**: %s\n", out.Skill, out.Why)
	default:
		fmt.Fprintf(&b, "The night of `%s`: **%s**\n", out.Skill, out.Outcome)
	}
	if out.RunID == "" {
		return b.String()
	}
	fmt.Fprintf(&b, "\n- run: `%s`\n- spent: $%.4f\n", out.RunID, out.Spent)
	if out.Failed != "" {
		return b.String()
	}
	fmt.Fprintf(&b, "- held-out score: %s before, %s after\n- delivered: %s\n", report.Score(out.Before), report.Score(out.After), out.Delivered)
	if out.Why != "" {
		fmt.Fprintf(&b, "- %s\n", out.Why)
	}
	return b.String()
}

// attribute sets a search attribute. One that can not be set costs a line in the Web UI, not the night.
func attribute(ctx workflow.Context, a temporal.SearchAttributeUpdate) {
	if err := workflow.UpsertTypedSearchAttributes(ctx, a); err != nil {
		workflow.GetLogger(ctx).Warn("search attributes", "error", err)
	}
}
