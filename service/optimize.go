package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/encoding/protojson"

	"whetstone/activities"
	"whetstone/run"
	"whetstone/workflows"
)

// ErrOtherFlags is returned where a run of the skill is open with other choices.
var ErrOtherFlags = errors.New("a run of this skill is open with other choices")

// ErrBadInput is what a person has to mend; its text says how.
var ErrBadInput = errors.New("bad input")

// inputError is ErrBadInput with nothing but its own words.
type inputError string

func (e inputError) Error() string        { return string(e) }
func (e inputError) Is(target error) bool { return target == ErrBadInput }

const memoParams = workflows.MemoParams

// Started is an optimization that is under way.
type Started struct {
	WorkflowID string
	RunID      string
	Attached   bool // it was open already
	handle     client.WorkflowRun
	c          *Connection
}

// WorkflowID is the business key of a skill's optimization: while one is open, a second start attaches to it.
func WorkflowID(skillKey string) string { return "optimize/" + skillKey }

// StartOptimize starts an optimization, or attaches to the open one of the same skill and the same choices.
func (c *Connection) StartOptimize(ctx context.Context, p run.Params) (*Started, error) {
	id := WorkflowID(p.SkillKey)
	memo, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", id, err)
	}
	opts := client.StartWorkflowOptions{
		ID:                                       id,
		TaskQueue:                                c.s.TaskQueue(),
		WorkflowTaskTimeout:                      5 * time.Second, // a killed worker's task is handed on soon
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     map[string]any{memoParams: string(memo)},
		StaticSummary:                            clip(fmt.Sprintf("train %s on corrections, goal %s, model %s", p.SkillKey, p.Goal, p.Provider)),
		StaticDetails:                            fmt.Sprintf("`%s`, seed %d, %d epochs, budget $%.2f", p.SkillPath, p.Seed, p.Epochs, p.BudgetUSD),
	}
	h, err := c.Client.ExecuteWorkflow(ctx, opts, workflows.OptimizeName, workflows.OptimizeInput{Params: p, SearchAttributes: c.attrs})
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &already) {
		return c.attach(ctx, id, p)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", id, err)
	}
	c.follow(id)
	return &Started{WorkflowID: id, RunID: h.GetRunID(), handle: h, c: c}, nil
}

// attach joins an open run, if its choices are the same. How the result is delivered belongs to them: two people waiting
// for one run can not want two things of it.
func (c *Connection) attach(ctx context.Context, id string, p run.Params) (*Started, error) {
	d, err := c.describe(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attach to %s: %w", id, err)
	}
	var raw string
	if err := converter.GetDefaultDataConverter().FromPayload(d.GetWorkflowExecutionInfo().GetMemo().GetFields()[memoParams], &raw); err != nil {
		return nil, fmt.Errorf("attach to %s: %w", id, err)
	}
	var running run.Params
	if err := json.Unmarshal([]byte(raw), &running); err != nil {
		return nil, fmt.Errorf("attach to %s: %w", id, err)
	}
	if running.SkillPath != p.SkillPath {
		return nil, fmt.Errorf("%w: it is of another file of that name, %s: wait for it, or give this one another name in its frontmatter", ErrOtherFlags, running.SkillPath)
	}
	if diff := differences(running, p); len(diff) > 0 {
		return nil, fmt.Errorf("%w: %s; wait for it, stop it with `starter runs stop %s`, or give the same", ErrOtherFlags, strings.Join(diff, ", "), d.GetWorkflowExecutionInfo().GetFirstRunId())
	}
	first := d.GetWorkflowExecutionInfo().GetFirstRunId()
	c.follow(id)
	return &Started{WorkflowID: id, RunID: first, Attached: true, handle: c.Client.GetWorkflow(ctx, id, ""), c: c}, nil
}

// differences names the fields in which two sets of choices differ, with both values.
func differences(running, asked run.Params) []string {
	// That a schedule started the run that is open does not keep a person who wants the same from waiting for it.
	running.Night, running.NightUSD, asked.Night, asked.NightUSD = false, nil, false, nil
	a, b := reflect.ValueOf(running), reflect.ValueOf(asked)
	var out []string
	for i := range a.NumField() {
		x, y := a.Field(i).Interface(), b.Field(i).Interface()
		if reflect.DeepEqual(x, y) {
			continue
		}
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		out = append(out, fmt.Sprintf("%s is %v there and %v here", name, show(x), show(y)))
	}
	return out
}

func show(v any) any {
	if p, ok := v.(*float64); ok && p != nil {
		return *p
	}
	return v
}

// Wait blocks until the run is over and returns its output.
func (st *Started) Wait(ctx context.Context) (workflows.OptimizeOutput, error) {
	var out workflows.OptimizeOutput
	err := st.handle.Get(ctx, &out)
	if err == nil {
		return out, nil
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		if app.Type() == activities.TypeInput {
			return out, inputError(app.Message())
		}
		return out, errors.New(app.Message())
	}
	return out, fmt.Errorf("wait for %s: %w", st.WorkflowID, err)
}

// Progress asks the run how far it is.
func (st *Started) Progress(ctx context.Context) (workflows.Progress, error) {
	return st.c.Progress(ctx, st.WorkflowID)
}

// Progress asks an optimization how far it is. It needs a live worker.
func (c *Connection) Progress(ctx context.Context, workflowID string) (workflows.Progress, error) {
	var p workflows.Progress
	v, err := c.Client.QueryWorkflow(ctx, workflowID, "", workflows.ProgressQuery)
	if err == nil {
		err = v.Get(&p)
	}
	return p, err
}

// Stop asks an optimization to stop after its present look.
func (c *Connection) Stop(ctx context.Context, workflowID, why string) error {
	h, err := c.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: workflows.StopUpdate, Args: []any{workflows.StopRequest{Why: why}}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = h.Get(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("stop %s: %w", workflowID, err)
	}
	return nil
}

// Decide gives a person's word on a result that waits for review.
func (c *Connection) Decide(ctx context.Context, workflowID string, accept bool, why string) error {
	h, err := c.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: workflows.DecideUpdate, Args: []any{workflows.Verdict{Accept: accept, Why: why}}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = h.Get(ctx, nil)
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return inputError(fmt.Sprintf("decide on %s: %s", workflowID, app.Message()))
	}
	if err != nil {
		return fmt.Errorf("decide on %s: %w", workflowID, err)
	}
	return nil
}

// RunURL is where the Web UI shows a run, "" when nobody serves it.
func (c *Connection) RunURL(workflowID, runID string) string {
	base := c.UIURL()
	if base == "" {
		return ""
	}
	return fmt.Sprintf("%s/namespaces/%s/workflows/%s/%s/history", base, c.Namespace, strings.ReplaceAll(workflowID, "/", "%2F"), runID)
}

// mostSummary is what the server takes as a workflow's or schedule's summary, in bytes, with room to spare.
const mostSummary = 380

func clip(s string) string {
	if len(s) <= mostSummary {
		return s
	}
	return strings.ToValidUTF8(s[:mostSummary], "")
}

// Follow returns a handle on a run that was started earlier.
func (c *Connection) Follow(workflowID, runID string) *Started {
	c.follow(workflowID)
	return &Started{WorkflowID: workflowID, RunID: runID, Attached: true, handle: c.Client.GetWorkflow(context.Background(), workflowID, runID), c: c}
}

// History returns a run's event history as protobuf JSON. It holds ids, hashes and counters, and no texts.
func (c *Connection) History(ctx context.Context, workflowID, runID string) ([]byte, error) {
	var h historypb.History
	it := c.Client.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", workflowID, err)
		}
		h.Events = append(h.Events, e)
	}
	b, err := protojson.MarshalOptions{Multiline: true, Indent: " "}.Marshal(&h)
	if err != nil {
		return nil, fmt.Errorf("write the history of %s: %w", workflowID, err)
	}
	return b, nil
}
