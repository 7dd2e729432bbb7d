package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// night is what `schedule trigger --json` says of a night.
type night struct {
	ID        string
	RunID     string `json:"run_id"`
	Outcome   string
	Skipped   bool
	Why       string
	Failed    string
	Before    *float64 `json:"score_before"`
	After     *float64 `json:"score_after"`
	Delivered string
	Proposal  *string `json:"proposal_path"`
}

func (p *Place) night(t *testing.T, code int, args ...string) night {
	t.Helper()
	out := p.Run("starter", append([]string{"schedule", "trigger", "--json"}, args...)...)
	var n night
	if err := json.Unmarshal([]byte(out.Stdout), &n); err != nil || out.Code != code {
		t.Fatalf("exit %d, want %d: %s%s (%v)", out.Code, code, out.Stdout, out.Stderr, err)
	}
	return n
}

// With a worker that stays, a skill is trained by schedule: a night trains and stages, the next one has nothing new and is
// skipped, one that finds the training open leaves it alone, and a failed one does not end the schedule.
func TestNightsTrainASkill(t *testing.T) {
	p := NewPlace(t, "go-testing")
	p.Env = append(p.Env, "TZ=Asia/Tokyo")
	w := p.start("worker")
	until(t, "the worker", func() bool { return strings.Contains(w.out.String(), "hosting Temporal") })
	schedule := []string{"schedule", "optimize", "--skill", p.Skill, "--at", "03:30", "--budget-usd-per-day", "1"}
	var out Output
	until(t, "a schedule", func() bool {
		out = p.Run("starter", append(schedule, "--json")...)
		return out.Code == 0
	})
	var made struct {
		ID, Kind, Skill, At, Deliver string
		Created                      bool
	}
	if err := json.Unmarshal([]byte(out.Stdout), &made); err != nil || made.ID != "optimize/go-testing" || made.Kind != "optimize" || made.At != "03:30" || made.Deliver != "stage" || !made.Created {
		t.Errorf("%s (%v)", out.Stdout, err)
	}

	if n := p.night(t, 1); !strings.Contains(n.Failed, "needed") || n.Outcome != "failed" {
		t.Errorf("a night without learnings: %+v", n)
	}
	if out := p.Run("starter", "learn", "import", p.Learn, "--skill", "go-testing"); out.Code != 0 {
		t.Fatal(out.Stderr)
	}
	n := p.night(t, 0)
	if n.Outcome != "accepted" || n.Before == nil || n.After == nil || *n.After <= *n.Before || n.Delivered != "staged" || n.Proposal == nil || n.RunID == "" || n.ID != "optimize/go-testing" {
		t.Fatalf("%+v", n)
	}
	if _, err := os.Stat(*n.Proposal); err != nil {
		t.Error(err)
	}
	if out := p.Run("starter", "runs", "show", n.RunID); out.Code != 0 {
		t.Errorf("the night's run is none of the runs: %s", out.Stderr)
	}
	if again := p.night(t, 0); !again.Skipped || !strings.Contains(again.Why, n.RunID) || again.RunID != "" {
		t.Errorf("a night with nothing new: %+v", again)
	}

	if out := p.Run("starter", append(schedule, "--write")...); out.Code != 0 || !strings.Contains(out.Stdout, "changed") || !strings.Contains(out.Stdout, "Asia/Tokyo") {
		t.Fatalf("exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
	}
	open := p.Run("starter", "optimize", "--skill", p.Skill, "--review", "--detach", "--json")
	var person struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(open.Stdout), &person); err != nil || open.Code != 0 {
		t.Fatalf("exit %d: %s%s (%v)", open.Code, open.Stdout, open.Stderr, err)
	}
	if n := p.night(t, 0, "optimize/go-testing"); !n.Skipped || !strings.Contains(n.Why, "open already") {
		t.Errorf("a night beside a person's run: %+v", n)
	}
	until(t, "the end of the person's run", func() bool {
		return p.Run("starter", "runs", "decide", person.RunID, "reject", "--why", "too long").Code == 0
	})
	until(t, "a night that writes", func() bool { return p.night(t, 0).Delivered == "written" })
}

// Several schedules are told apart by their ids; where there is one, it need not be named.
func TestSchedulesAreToldApart(t *testing.T) {
	p := NewPlace(t, "go-testing")
	w := p.start("worker")
	until(t, "the worker", func() bool { return strings.Contains(w.out.String(), "hosting Temporal") })
	until(t, "a schedule", func() bool {
		return p.Run("starter", "schedule", "optimize", "--skill", p.Skill, "--every", "12h").Code == 0
	})
	list := func() []map[string]any {
		t.Helper()
		out := p.Run("starter", "schedule", "list", "--json")
		var l []map[string]any
		if err := json.Unmarshal([]byte(out.Stdout), &l); err != nil || out.Code != 0 {
			t.Fatalf("exit %d: %s%s (%v)", out.Code, out.Stdout, out.Stderr, err)
		}
		return l
	}
	if out := p.Run("starter", "schedule", "pause", "--json"); out.Code != 0 || !strings.Contains(out.Stdout, `"id":"optimize/go-testing"`) {
		t.Errorf("the only one: exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
	}
	if l := list(); len(l) != 1 || l[0]["id"] != "optimize/go-testing" || l[0]["kind"] != "optimize" || l[0]["skill"] != "go-testing" || l[0]["every"] != "12h0m0s" || l[0]["paused"] != true || l[0]["budget_usd_per_day"] != nil {
		t.Errorf("%v", l)
	}
	if out := p.Run("starter", "schedule", "research", "--every", "1h"); out.Code != 0 {
		t.Fatal(out.Stderr)
	}
	l := list()
	if len(l) != 2 || l[0]["id"] != "research" || l[0]["kind"] != "research" || l[0]["skill"] != "" {
		t.Errorf("%v", l)
	}
	for _, what := range []string{"pause", "resume", "trigger", "delete"} {
		if out := p.Run("starter", "schedule", what); out.Code != 2 || !strings.Contains(out.Stderr, "research, optimize/go-testing") {
			t.Errorf("%s of several: exit %d: %s", what, out.Code, out.Stderr)
		}
	}
	for _, args := range [][]string{{"resume", "optimize/go-testing"}, {"pause", "research"}, {"delete", "optimize/go-testing"}} {
		if out := p.Run("starter", append([]string{"schedule"}, args...)...); out.Code != 0 {
			t.Errorf("%v: exit %d: %s", args, out.Code, out.Stderr)
		}
	}
	if l := list(); len(l) != 1 || l[0]["id"] != "research" || l[0]["paused"] != true {
		t.Errorf("%v", l)
	}
	if out := p.Run("starter", "schedule", "trigger", "optimize/go-testing"); out.Code != 2 || !strings.Contains(out.Stderr, "starter schedule optimize") {
		t.Errorf("a night of a schedule that is gone: exit %d: %s", out.Code, out.Stderr)
	}
}
