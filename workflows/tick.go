package workflows

import (
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/run"
)

// TickName is the wire name of the tick workflow.
const TickName = "ResearchTick"

// TickInput is what a schedule starts a tick with.
type TickInput struct {
	PerDay           *float64 // dollars that all ticks of a day may spend; nil leaves it to each wiki's budget
	SearchAttributes bool
}

// TickOutput tells which wiki had its turn and what came of it.
type TickOutput struct {
	Wiki   string
	Why    string // why no wiki had one
	Halted string
	Failed string
	Pages  int
	Claims int
	Spent  float64
}

// tickTimeout is the wall clock of one page, in seconds.
const tickTimeout = 1800

// ResearchTick gives the opted-in wiki that waited longest one page. A tick that fails says so, lets its wiki back off and
// ends well: a schedule is not stopped by it.
func ResearchTick(ctx workflow.Context, in TickInput) (TickOutput, error) {
	pick, err := callPickWiki(ctx, activities.PickWikiIn{PerDay: in.PerDay})
	if err != nil {
		return TickOutput{}, err
	}
	if pick.Wiki == "" {
		workflow.SetCurrentDetails(ctx, "No wiki had a turn: "+pick.Why)
		return TickOutput{Why: pick.Why}, nil
	}
	if in.SearchAttributes {
		if err := workflow.UpsertTypedSearchAttributes(ctx, keyWiki.ValueSet(pick.Wiki)); err != nil {
			workflow.GetLogger(ctx).Warn("search attributes", "error", err)
		}
	}
	one := 1
	params := run.ResearchParams{Wiki: pick.Wiki, MaxPages: &one, BudgetUSD: pick.BudgetUSD, Timeout: tickTimeout, Tick: true}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: "research/" + pick.Wiki, WorkflowTaskTimeout: 5 * time.Second, WorkflowExecutionTimeout: 2 * tickTimeout * time.Second,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
		StaticSummary: "one page for wiki " + pick.Wiki + ", by schedule",
	})
	out := TickOutput{Wiki: pick.Wiki}
	var res ResearchOutput
	err = workflow.ExecuteChildWorkflow(child, ResearchName, ResearchInput{Params: params, SearchAttributes: in.SearchAttributes}).Get(ctx, &res)
	switch {
	case err != nil && temporal.IsWorkflowExecutionAlreadyStartedError(err):
		out.Why = "its research is open already"
	case err != nil:
		out.Failed = message(err)
	default:
		out.Halted, out.Pages, out.Claims, out.Spent = res.Result.Halted, res.Result.Pages, res.Result.Claims, res.Result.SpentUSD
	}
	if _, err := callMarkTick(ctx, activities.MarkTickIn{Wiki: pick.Wiki, Failed: out.Failed}); err != nil {
		return out, err
	}
	text := fmt.Sprintf("Wiki `%s`: %s, %d page(s), %d new claim(s), $%.4f", out.Wiki, out.Halted, out.Pages, out.Claims, out.Spent)
	if out.Failed != "" {
		text = fmt.Sprintf("Wiki `%s` **failed** and backs off: %s", out.Wiki, out.Failed)
	}
	workflow.SetCurrentDetails(ctx, text)
	return out, nil
}
