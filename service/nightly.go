package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"whetstone/run"
	"whetstone/workflows"
)

// nightPrefix begins the ids of the schedules that train skills, as people name them.
const nightPrefix = "optimize/"

// NightScheduleID is the id of a skill's schedule, as people name it.
func NightScheduleID(skillKey string) string { return nightPrefix + skillKey }

// nightPrefix begins the ids of this home's schedules that train skills, on the server.
func (s *Service) nightPrefix() string { return nightPrefix + s.homeID + "/" }

// nightCatchUp is how late a night may begin: a machine that slept through it waits for the next.
const nightCatchUp = 10 * time.Minute

// Night is a skill's nightly training.
type Night struct {
	Params run.Params
	PerDay *float64      // dollars that all nights of a day (UTC) may spend together; nil is no cap
	Every  time.Duration // between two nights, where At is nil
	At     *Clock
}

// Clock is a time of day in a zone.
type Clock struct {
	Hour, Minute int
	Zone         string // its IANA name; "" is UTC
}

// String is HH:MM.
func (k Clock) String() string { return fmt.Sprintf("%02d:%02d", k.Hour, k.Minute) }

// nightMemo is what a schedule's listing needs of a night.
type nightMemo struct {
	PerDay *float64   `json:"per_day"`
	Params run.Params `json:"params"`
}

// ScheduleNights makes a skill's schedule, or changes it. A night is skipped while the one before runs; a failed one does
// not pause the schedule.
func (c *Connection) ScheduleNights(ctx context.Context, n Night) (created bool, err error) {
	key := n.Params.SkillKey
	memo, err := json.Marshal(nightMemo{n.PerDay, n.Params})
	if err != nil {
		return false, fmt.Errorf("make the schedule of %s: %w", key, err)
	}
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: n.Every}}}
	if n.At != nil {
		spec = client.ScheduleSpec{TimeZoneName: n.At.Zone, Calendars: []client.ScheduleCalendarSpec{{
			Hour: []client.ScheduleRange{{Start: n.At.Hour}}, Minute: []client.ScheduleRange{{Start: n.At.Minute}}, Comment: "each day",
		}}}
	}
	id := c.s.nightPrefix() + key
	created, err = c.putSchedule(ctx, client.ScheduleOptions{
		ID: id, Spec: spec, CatchupWindow: nightCatchUp, Note: clip("nightly training of " + key), Memo: map[string]any{memoParams: string(memo)},
		Action: &client.ScheduleWorkflowAction{
			ID: "night/" + c.s.homeID + "/" + key, Workflow: workflows.NightName, TaskQueue: c.s.TaskQueue(), WorkflowTaskTimeout: 5 * time.Second,
			Args:          []any{workflows.NightInput{Params: n.Params, PerDay: n.PerDay, SearchAttributes: c.attrs}},
			StaticSummary: clip("nightly training of " + key), Memo: map[string]any{memoParams: string(memo)},
		},
	})
	if err != nil || !created {
		return created, err
	}
	return true, c.awaitListed(ctx, NightScheduleID(key))
}

// awaitListed waits until the server lists a schedule that was made, which it does a moment later: the next command is to
// find it. One that takes longer than that is there nevertheless.
func (c *Connection) awaitListed(ctx context.Context, id string) error {
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) {
		ids, err := c.nights(ctx)
		if err != nil {
			return err
		}
		if slices.Contains(ids, id) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
	c.s.Log.Warn("the schedule is made and not listed yet", "id", id)
	return nil
}

// nights lists the ids of this home's schedules that train skills, as people name them.
func (c *Connection) nights(ctx context.Context) ([]string, error) {
	it, err := c.Client.ScheduleClient().List(ctx, client.ScheduleListOptions{PageSize: 100})
	if err != nil {
		return nil, fmt.Errorf("list the schedules: %w", err)
	}
	var out []string
	for it.HasNext() {
		e, err := it.Next()
		if err != nil {
			return nil, fmt.Errorf("list the schedules: %w", err)
		}
		if key, ok := strings.CutPrefix(e.ID, c.s.nightPrefix()); ok {
			out = append(out, NightScheduleID(key))
		}
	}
	slices.Sort(out)
	return out, nil
}

// TriggerNight runs a skill's night now and waits for its end.
func (c *Connection) TriggerNight(ctx context.Context, id string) (workflows.NightOutput, error) {
	var out workflows.NightOutput
	err := c.triggerAndWait(ctx, id, "night", &out)
	return out, err
}

// clockOf reads the time of day back out of a schedule, "" where it goes by an interval.
func clockOf(s *client.ScheduleSpec) (at, zone string) {
	if len(s.Calendars) == 0 || len(s.Calendars[0].Hour) == 0 {
		return "", ""
	}
	k := Clock{Hour: s.Calendars[0].Hour[0].Start, Zone: s.TimeZoneName}
	if m := s.Calendars[0].Minute; len(m) > 0 {
		k.Minute = m[0].Start
	}
	if k.Zone == "" {
		k.Zone = "UTC"
	}
	return k.String(), k.Zone
}

// nightChoices reads a night's choices back out of a schedule's action.
func nightChoices(a *client.ScheduleWorkflowAction) (perDay *float64, review bool) {
	var m nightMemo
	if json.Unmarshal([]byte(payloadText(a.Memo[memoParams])), &m) != nil {
		return nil, false
	}
	return m.PerDay, m.Params.Review
}
