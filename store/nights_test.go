package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"whetstone/model"
	"whetstone/run"
)

// Two nights of one hour take turns at the ledger: together they never pass the cap, what people run does not count, and
// the next day begins anew.
func TestTheNightsOfADayShareACap(t *testing.T) {
	at := time.Date(2026, 5, 1, 23, 0, 0, 0, time.UTC)
	s := capped(t, &at)
	limit := model.NanoUSD(100)
	book := func(runID string, n int, night bool) error {
		b := model.Booking{Key: fmt.Sprint(runID, n), RunID: runID, Stage: "judge", Ref: model.Ref{Provider: "openai"}, Reserve: 40, Budget: 1000, Night: night}
		if night {
			b.NightCap = &limit
		}
		_, err := s.Reserve(t.Context(), b)
		return err
	}
	must(t, book("person", 1, false))
	must(t, book("person", 2, false))
	must(t, book("a", 1, true))
	must(t, book("b", 1, true))
	for _, runID := range []string{"a", "b", "c"} {
		var e *model.CapError
		if err := book(runID, 2, true); !errors.As(err, &e) || e.Cap != model.CapNight || !errors.Is(err, model.ErrBudget) {
			t.Errorf("%s: %v", runID, err)
		}
	}
	must(t, book("person", 3, false))
	if spent, err := s.NightSpend(t.Context()); err != nil || spent != 80 {
		t.Errorf("%d, %v", spent, err)
	}
	es, err := s.Events(t.Context(), "a")
	if err != nil || len(es) != 1 || es[0].Kind != eventNight {
		t.Errorf("%+v, %v", es, err)
	}
	at = at.Add(2 * time.Hour)
	if spent, err := s.NightSpend(t.Context()); err != nil || spent != 0 {
		t.Errorf("the next day: %d, %v", spent, err)
	}
	must(t, book("a", 3, true))
}

func TestTheLastNightIsTheLastThatDecided(t *testing.T) {
	s := open(t)
	begin := time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC)
	for i, x := range []struct {
		outcome run.Outcome
		night   bool
		path    string
	}{{run.NoImprovement, true, "/a"}, {run.Accepted, true, "/a"}, {run.Stopped, true, "/a"}, {run.Failed, true, "/a"}, {run.Indecisive, true, "/a"}, {run.NoImprovement, false, "/a"}, {run.NoImprovement, true, "/b"}} {
		id := fmt.Sprint("run-", i)
		must(t, s.BeginRun(t.Context(), run.Run{ID: id, SkillKey: "k", SkillPath: x.path, StartedAt: begin.Add(time.Duration(i) * time.Hour)}))
		must(t, s.EndRun(t.Context(), id, x.outcome, &run.Result{Outcome: x.outcome, Params: &run.Params{Night: x.night}}))
	}
	r, found, err := s.LastNight(t.Context(), "k", "/a")
	if err != nil || !found || r.ID != "run-1" || r.Result == nil {
		t.Errorf("%+v, %v, %v", r, found, err)
	}
	if r, found, err := s.LastNight(t.Context(), "other", "/a"); found || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
