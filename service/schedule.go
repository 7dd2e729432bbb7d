package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"whetstone/workflows"
)

// scheduleID names a home's schedule of ticks: homes that share a cluster have each their own.
func (s *Service) scheduleID() string { return "research-tick/" + s.homeID }

// ErrNoSchedule is returned where there is no such schedule.
var ErrNoSchedule = errors.New("no such schedule")

// Schedule is a schedule as it stands.
type Schedule struct {
	ID       string   `json:"id"`
	Every    string   `json:"every"`
	PerDay   *float64 `json:"budget_usd_per_day"`
	Paused   bool     `json:"paused"`
	Note     string   `json:"note"`
	Next     []string `json:"next"`
	Runs     int      `json:"runs"`
	Skipped  int      `json:"skipped"` // since the one before was still running
	Missed   int      `json:"missed"`
	LastRuns []string `json:"last_runs"` // ids of workflows
}

// catchUp lets a machine that slept run one missed tick, never a flood: no more than one interval back.
func catchUp(every time.Duration) time.Duration {
	return min(max(every, time.Minute), 365*24*time.Hour)
}

// ScheduleTicks makes the schedule of research ticks, or changes it. A tick is skipped while the one before runs; a failed
// one does not pause the schedule.
func (c *Connection) ScheduleTicks(ctx context.Context, every time.Duration, perDay *float64) (created bool, err error) {
	id := c.s.scheduleID()
	action := &client.ScheduleWorkflowAction{
		ID: "research-tick", Workflow: workflows.TickName, Args: []any{workflows.TickInput{PerDay: perDay, SearchAttributes: c.attrs}}, TaskQueue: c.s.TaskQueue(), WorkflowTaskTimeout: 5 * time.Second,
		StaticSummary: "one page for the wiki that waited longest", Memo: map[string]any{memoParams: tickMemo(perDay)},
	}
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every}}}
	_, err = c.Client.ScheduleClient().Create(ctx, client.ScheduleOptions{ID: id, Spec: spec, Action: action, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: catchUp(every), PauseOnFailure: false, Note: "research ticks of this home", Memo: map[string]any{memoParams: tickMemo(perDay)}})
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return false, fmt.Errorf("make the schedule: %w", err)
	}
	err = c.Client.ScheduleClient().GetHandle(ctx, id).Update(ctx, client.ScheduleUpdateOptions{DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
		s := in.Description.Schedule
		s.Spec, s.Action = &spec, action
		s.Policy.CatchupWindow, s.Policy.Overlap, s.Policy.PauseOnFailure = catchUp(every), enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, false
		return &client.ScheduleUpdate{Schedule: &s}, nil
	}})
	if err != nil {
		return false, fmt.Errorf("change the schedule: %w", err)
	}
	return false, nil
}

func tickMemo(perDay *float64) string {
	if perDay == nil {
		return ""
	}
	return fmt.Sprint(*perDay)
}

// Schedules lists this home's schedules.
func (c *Connection) Schedules(ctx context.Context) ([]Schedule, error) {
	s, err := c.describeSchedule(ctx)
	if errors.Is(err, ErrNoSchedule) {
		return []Schedule{}, nil
	}
	if err != nil {
		return nil, err
	}
	return []Schedule{s}, nil
}

func (c *Connection) describeSchedule(ctx context.Context) (Schedule, error) {
	id := c.s.scheduleID()
	d, err := c.Client.ScheduleClient().GetHandle(ctx, id).Describe(ctx)
	if err != nil {
		return Schedule{}, scheduleError("look at", err)
	}
	out := Schedule{ID: "research", Next: []string{}, LastRuns: []string{}}
	if d.Schedule.State != nil {
		out.Paused, out.Note = d.Schedule.State.Paused, d.Schedule.State.Note
	}
	if d.Schedule.Spec != nil && len(d.Schedule.Spec.Intervals) > 0 {
		out.Every = d.Schedule.Spec.Intervals[0].Every.String()
	}
	if a, ok := d.Schedule.Action.(*client.ScheduleWorkflowAction); ok {
		out.PerDay = c.perDay(a)
	}
	out.Runs, out.Skipped, out.Missed = d.Info.NumActions, d.Info.NumActionsSkippedOverlap, d.Info.NumActionsMissedCatchupWindow
	for i, t := range d.Info.NextActionTimes {
		if i == 3 {
			break
		}
		out.Next = append(out.Next, t.UTC().Format(time.RFC3339))
	}
	for _, r := range d.Info.RecentActions {
		if r.StartWorkflowResult != nil {
			out.LastRuns = append(out.LastRuns, r.StartWorkflowResult.WorkflowID)
		}
	}
	return out, nil
}

// perDay reads the cap back out of a schedule's action.
func (c *Connection) perDay(a *client.ScheduleWorkflowAction) *float64 {
	var s string
	if p, ok := a.Memo[memoParams]; ok {
		s = payloadText(p)
	}
	var v float64
	if _, err := fmt.Sscan(s, &v); err != nil {
		return nil
	}
	return &v
}

// Change pauses, resumes, triggers or deletes the schedule.
func (c *Connection) Change(ctx context.Context, what, note string) error {
	h := c.Client.ScheduleClient().GetHandle(ctx, c.s.scheduleID())
	var err error
	switch what {
	case "pause":
		err = h.Pause(ctx, client.SchedulePauseOptions{Note: "by a person"})
	case "resume":
		err = h.Unpause(ctx, client.ScheduleUnpauseOptions{Note: note})
	case "delete":
		err = h.Delete(ctx)
	case "trigger":
		err = h.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP})
	default:
		err = fmt.Errorf("unknown change %q", what)
	}
	if err != nil {
		return scheduleError(what, err)
	}
	return nil
}

func scheduleError(what string, err error) error {
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return fmt.Errorf("%s the schedule: %w: make it with `starter schedule research --every 1h`", what, ErrNoSchedule)
	}
	return fmt.Errorf("%s the schedule: %w", what, err)
}

// TriggerAndWait runs a tick now and waits for its end.
func (c *Connection) TriggerAndWait(ctx context.Context) (workflows.TickOutput, error) {
	var out workflows.TickOutput
	before, err := c.describeRuns(ctx)
	if err != nil {
		return out, err
	}
	if err := c.Change(ctx, "trigger", ""); err != nil {
		return out, err
	}
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	deadline := time.Now().Add(30 * time.Second)
	for {
		now, err := c.describeRuns(ctx)
		if err != nil {
			return out, err
		}
		for key, r := range now {
			if _, old := before[key]; old {
				continue
			}
			err := c.Client.GetWorkflow(ctx, r[0], r[1]).Get(ctx, &out)
			return out, err
		}
		if time.Now().After(deadline) {
			return out, errors.New("the tick was skipped: the one before is still running")
		}
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-t.C:
		}
	}
}

func (c *Connection) describeRuns(ctx context.Context) (map[string][2]string, error) {
	d, err := c.Client.ScheduleClient().GetHandle(ctx, c.s.scheduleID()).Describe(ctx)
	if err != nil {
		return nil, scheduleError("trigger", err)
	}
	out := map[string][2]string{}
	for _, r := range d.Info.RecentActions {
		if x := r.StartWorkflowResult; x != nil {
			out[x.WorkflowID+"/"+x.FirstExecutionRunID] = [2]string{x.WorkflowID, x.FirstExecutionRunID}
		}
	}
	return out, nil
}

// payloadText reads a memo's text, which comes back from the server as a payload.
func payloadText(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case *commonpb.Payload:
		var s string
		if converter.GetDefaultDataConverter().FromPayload(x, &s) == nil {
			return s
		}
	}
	return ""
}
