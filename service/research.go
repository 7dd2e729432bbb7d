package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"whetstone/activities"
	"whetstone/claim"
	"whetstone/run"
	"whetstone/workflows"
)

// ResearchID is the business key of a wiki's research: while one is open, a second start attaches to it.
func ResearchID(slug string) string { return "research/" + slug }

// Run is a workflow of a wiki that is under way.
type Run struct {
	WorkflowID string
	RunID      string
	Attached   bool
	handle     client.WorkflowRun
	c          *Connection
}

// StartResearch starts a wiki's research, or attaches to the open one of the same choices. A private wiki is not researched
// over a Temporal server on another machine.
func (c *Connection) StartResearch(ctx context.Context, p run.ResearchParams) (*Run, error) {
	w, err := c.s.Store.Wiki(ctx, p.Wiki)
	if err != nil {
		return nil, err
	}
	if err := c.keepHome(w.Private); err != nil {
		return nil, err
	}
	return c.start(ctx, ResearchID(p.Wiki), workflows.ResearchName, workflows.ResearchInput{Params: p, SearchAttributes: c.attrs}, p, fmt.Sprintf("grow wiki %s", p.Wiki), describeResearch(p))
}

// KeepHome refuses, before anything is dialled, to take a private wiki to a Temporal server on another machine.
func (s *Service) KeepHome(private bool) error {
	address := s.o.Getenv("TEMPORAL_ADDRESS")
	if !private || address == "" {
		return nil
	}
	return (&Connection{External: true, Address: address}).keepHome(true)
}

// keepHome refuses to take a private wiki to another machine.
func (c *Connection) keepHome(private bool) error {
	if !private || !c.External {
		return nil
	}
	host, _, err := net.SplitHostPort(c.Address)
	if err == nil {
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			return nil
		}
	}
	return inputError(fmt.Sprintf("the wiki is private and the Temporal server at %s is on another machine: unset TEMPORAL_ADDRESS to use the embedded server", c.Address))
}

func describeResearch(p run.ResearchParams) string {
	var parts []string
	if p.MaxPages != nil {
		parts = append(parts, fmt.Sprintf("at most %d page(s)", *p.MaxPages))
	}
	if p.BudgetUSD != nil {
		parts = append(parts, fmt.Sprintf("budget $%.2f", *p.BudgetUSD))
	}
	if len(p.Fetchers) > 0 {
		parts = append(parts, "sources "+strings.Join(p.Fetchers, ", "))
	}
	return strings.Join(parts, ", ")
}

// start starts a workflow under a business key, or attaches to the open one whose choices are the same.
func (c *Connection) start(ctx context.Context, id, name string, input, params any, summary, details string) (*Run, error) {
	memo, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", id, err)
	}
	h, err := c.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: c.s.TaskQueue(), WorkflowTaskTimeout: 5 * time.Second,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo: map[string]any{memoParams: string(memo)}, StaticSummary: clip(summary), StaticDetails: details,
	}, name, input)
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &already) {
		return c.join(ctx, id, string(memo))
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", id, err)
	}
	c.follow(id)
	return &Run{WorkflowID: id, RunID: h.GetRunID(), handle: h, c: c}, nil
}

// join attaches to an open run, if its choices are the same.
func (c *Connection) join(ctx context.Context, id, memo string) (*Run, error) {
	d, err := c.describe(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attach to %s: %w", id, err)
	}
	info := d.GetWorkflowExecutionInfo()
	var running string
	if err := converter.GetDefaultDataConverter().FromPayload(info.GetMemo().GetFields()[memoParams], &running); err != nil {
		return nil, fmt.Errorf("attach to %s: %w", id, err)
	}
	if running != memo {
		return nil, fmt.Errorf("%w: %s there, %s here; wait for it, or stop it", ErrOpenElsewhere, running, memo)
	}
	c.follow(id)
	return &Run{WorkflowID: id, RunID: info.GetFirstRunId(), Attached: true, handle: c.Client.GetWorkflow(ctx, id, ""), c: c}, nil
}

// ErrOpenElsewhere is returned where a run of the wiki is open with other choices.
var ErrOpenElsewhere = errors.New("a run of this wiki is open with other choices")

// wait blocks until a run is over and reads its output.
func (r *Run) wait(ctx context.Context, out any) error {
	err := r.handle.Get(ctx, out)
	if err == nil {
		return nil
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		if app.Type() == activities.TypeInput {
			return inputError(app.Message())
		}
		return errors.New(app.Message())
	}
	return fmt.Errorf("wait for %s: %w", r.WorkflowID, err)
}

// WaitResearch blocks until a research run is over.
func (r *Run) WaitResearch(ctx context.Context) (workflows.ResearchOutput, error) {
	var out workflows.ResearchOutput
	return out, r.wait(ctx, &out)
}

// Progress asks a research run how far it is.
func (r *Run) Progress(ctx context.Context) (workflows.ResearchProgress, error) {
	var p workflows.ResearchProgress
	v, err := r.c.Client.QueryWorkflow(ctx, r.WorkflowID, "", workflows.ProgressQuery)
	if err == nil {
		err = v.Get(&p)
	}
	return p, err
}

// Tell sends an update (stop, pause, resume) to a wiki's open run. ok is false where none is open.
func (c *Connection) Tell(ctx context.Context, workflowID, update, why string) (ok bool, err error) {
	h, err := c.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: workflowID, UpdateName: update, Args: []any{workflows.StopRequest{Why: why}}, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err == nil {
		err = h.Get(ctx, nil)
	}
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", update, workflowID, err)
	}
	return true, nil
}

// CouncilID is the business key of a wiki's council about a question.
func CouncilID(slug, question string) string { return "council/" + slug + "/" + claim.ID(question) }

// SurveyID is the business key of a survey.
func SurveyID(slug, topic string) string { return "survey/" + slug + "/" + claim.ID(topic) }

// StartCouncil starts a council, or attaches to the open one about the same question.
func (c *Connection) StartCouncil(ctx context.Context, p run.CouncilParams, question string) (*Run, error) {
	var err error
	if err = c.keepHome(p.Private); err != nil {
		return nil, err
	}
	if p.Question, err = c.s.Store.PutText(ctx, question); err != nil {
		return nil, err
	}
	return c.start(ctx, CouncilID(p.Wiki, question), workflows.CouncilName, workflows.CouncilInput{Params: p, SearchAttributes: c.attrs}, p, fmt.Sprintf("ask a council of %d about wiki %s", len(p.Members), p.Wiki), strings.Join(p.Members, ", "))
}

// WaitCouncil blocks until a council is over.
func (r *Run) WaitCouncil(ctx context.Context) (workflows.CouncilOutput, error) {
	var out workflows.CouncilOutput
	return out, r.wait(ctx, &out)
}

// StartSurvey starts a survey, or attaches to the open one of the same topic.
func (c *Connection) StartSurvey(ctx context.Context, p run.SurveyParams, topic string) (*Run, error) {
	var err error
	if err = c.keepHome(p.Private); err != nil {
		return nil, err
	}
	if topic != "" {
		if p.Topic, err = c.s.Store.PutText(ctx, topic); err != nil {
			return nil, err
		}
	}
	return c.start(ctx, SurveyID(p.Wiki, topic), workflows.SurveyName, workflows.SurveyInput{Params: p, SearchAttributes: c.attrs}, p, "survey wiki "+p.Wiki, "")
}

// WaitSurvey blocks until a survey is over.
func (r *Run) WaitSurvey(ctx context.Context) (workflows.SurveyOutput, error) {
	var out workflows.SurveyOutput
	return out, r.wait(ctx, &out)
}

// EndRuns terminates workflows that are open; those that are over stay as they are.
func (c *Connection) EndRuns(ctx context.Context, workflowIDs []string, why string) error {
	for _, id := range workflowIDs {
		err := c.Client.TerminateWorkflow(ctx, id, "", why)
		var none *serviceerror.NotFound
		if err != nil && !errors.As(err, &none) {
			return fmt.Errorf("end %s: %w", id, err)
		}
	}
	return nil
}
