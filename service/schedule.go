package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"whetstone/workflows"
)

// ResearchSchedule is the id of a home's schedule of ticks, as people name it.
const ResearchSchedule = "research"

// What a schedule is for.
const (
	KindResearch = "research"
	KindOptimize = "optimize"
)

// scheduleID is a schedule's id on the server: homes that share a cluster have each their own.
func (s *Service) scheduleID(id string) string {
	if key, ok := strings.CutPrefix(id, nightPrefix); ok {
		return s.nightPrefix() + key
	}
	return "research-tick/" + s.homeID
}

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
	Kind     string   `json:"kind"`
	Skill    string   `json:"skill"`     // the key of the skill that nights train; "" for research
	At       string   `json:"at"`        // HH:MM of each day; "" where Every tells
	TimeZone string   `json:"time_zone"` // of At
	Review   bool     `json:"review"`    // a night's result waits for a person
}

// catchUp lets a machine that slept run one missed tick, never a flood: no more than one interval back.
func catchUp(every time.Duration) time.Duration {
	return min(max(every, time.Minute), 365*24*time.Hour)
}

// ScheduleTicks makes the schedule of research ticks, or changes it. A tick is skipped while the one before runs; a failed
// one does not pause the schedule.
func (c *Connection) ScheduleTicks(ctx context.Context, every time.Duration, perDay *float64) (created bool, err error) {
	action := &client.ScheduleWorkflowAction{
		ID: "research-tick", Workflow: workflows.TickName, Args: []any{workflows.TickInput{PerDay: perDay, SearchAttributes: c.attrs}}, TaskQueue: c.s.TaskQueue(), WorkflowTaskTimeout: 5 * time.Second,
		StaticSummary: "one page for the wiki that waited longest", Memo: map[string]any{memoParams: tickMemo(perDay)},
	}
	return c.putSchedule(ctx, client.ScheduleOptions{
		ID: c.s.scheduleID(ResearchSchedule), Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every}}}, Action: action,
		CatchupWindow: catchUp(every), Note: "research ticks of this home", Memo: map[string]any{memoParams: tickMemo(perDay)},
	})
}

// putSchedule makes a schedule that skips what overlaps and goes on after failures, or changes the one there is. Whether
// that one is paused stays as it is.
func (c *Connection) putSchedule(ctx context.Context, o client.ScheduleOptions) (created bool, err error) {
	o.Overlap, o.PauseOnFailure = enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, false
	_, err = c.Client.ScheduleClient().Create(ctx, o)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return false, fmt.Errorf("make the schedule: %w", err)
	}
	err = c.Client.ScheduleClient().GetHandle(ctx, o.ID).Update(ctx, client.ScheduleUpdateOptions{DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
		s := in.Description.Schedule
		s.Spec, s.Action = &o.Spec, o.Action
		s.Policy.CatchupWindow, s.Policy.Overlap, s.Policy.PauseOnFailure = o.CatchupWindow, o.Overlap, o.PauseOnFailure
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

// Schedules lists this home's schedules: that of research first, then those of skills by key.
func (c *Connection) Schedules(ctx context.Context) ([]Schedule, error) {
	nights, err := c.nights(ctx)
	if err != nil {
		return nil, err
	}
	out := []Schedule{}
	for _, id := range append([]string{ResearchSchedule}, nights...) {
		s, err := c.DescribeSchedule(ctx, id)
		if errors.Is(err, ErrNoSchedule) { // one that was removed stays listed for a moment
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// DescribeSchedule tells how a schedule stands. ErrNoSchedule if there is none of that id.
func (c *Connection) DescribeSchedule(ctx context.Context, id string) (Schedule, error) {
	d, err := c.Client.ScheduleClient().GetHandle(ctx, c.s.scheduleID(id)).Describe(ctx)
	if err != nil {
		return Schedule{}, scheduleError("look at", id, err)
	}
	out := Schedule{ID: id, Next: []string{}, LastRuns: []string{}, Kind: KindResearch}
	if key, ok := strings.CutPrefix(id, nightPrefix); ok {
		out.Kind, out.Skill = KindOptimize, key
	}
	if d.Schedule.State != nil {
		out.Paused, out.Note = d.Schedule.State.Paused, d.Schedule.State.Note
	}
	if d.Schedule.Spec != nil && len(d.Schedule.Spec.Intervals) > 0 {
		out.Every = d.Schedule.Spec.Intervals[0].Every.String()
	}
	if d.Schedule.Spec != nil {
		out.At, out.TimeZone = clockOf(d.Schedule.Spec)
	}
	if a, ok := d.Schedule.Action.(*client.ScheduleWorkflowAction); ok {
		if out.Kind == KindOptimize {
			out.PerDay, out.Review = nightChoices(a)
		} else {
			out.PerDay = c.perDay(a)
		}
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

// Change pauses, resumes, triggers or deletes a schedule.
func (c *Connection) Change(ctx context.Context, id, what, note string) error {
	h := c.Client.ScheduleClient().GetHandle(ctx, c.s.scheduleID(id))
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
		return scheduleError(what, id, err)
	}
	return nil
}

func scheduleError(what, id string, err error) error {
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		hint := "starter schedule research --every 1h"
		if strings.HasPrefix(id, nightPrefix) {
			hint = "starter schedule optimize --skill PATH"
		}
		return fmt.Errorf("%s the schedule %s: %w: make it with `%s`", what, id, ErrNoSchedule, hint)
	}
	return fmt.Errorf("%s the schedule: %w", what, err)
}

// TriggerTick runs a tick now and waits for its end.
func (c *Connection) TriggerTick(ctx context.Context) (workflows.TickOutput, error) {
	var out workflows.TickOutput
	err := c.triggerAndWait(ctx, ResearchSchedule, "tick", &out)
	return out, err
}

// triggerAndWait has a schedule act now, and waits for the end of the workflow that it starts.
func (c *Connection) triggerAndWait(ctx context.Context, id, what string, out any) error {
	before, err := c.describeRuns(ctx, id)
	if err != nil {
		return err
	}
	if err := c.Change(ctx, id, "trigger", ""); err != nil {
		return err
	}
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	deadline := time.Now().Add(30 * time.Second)
	for {
		now, err := c.describeRuns(ctx, id)
		if err != nil {
			return err
		}
		for key, r := range now {
			if _, old := before[key]; old {
				continue
			}
			return c.Client.GetWorkflow(ctx, r[0], r[1]).Get(ctx, out)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the %s was skipped: the one before is still running", what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}

func (c *Connection) describeRuns(ctx context.Context, id string) (map[string][2]string, error) {
	d, err := c.Client.ScheduleClient().GetHandle(ctx, c.s.scheduleID(id)).Describe(ctx)
	if err != nil {
		return nil, scheduleError("trigger", id, err)
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
