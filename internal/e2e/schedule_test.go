package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With a worker that stays, a schedule ticks: the wikis take turns, the budget of a day is kept, and it can be paused,
// resumed and removed.
func TestScheduledTicksTakeTurns(t *testing.T) {
	p := newWikiPlace(t, nil, "Raft leader election")
	if out := p.Run("starter", "wiki", "init", "zoo", "--title", "Zoo"); out.Code != 0 {
		t.Fatal(out.Stderr)
	}
	if out := p.Run("starter", "wiki", "seed", "zoo", "penguins"); out.Code != 0 {
		t.Fatal(out.Stderr)
	}
	for slug, text := range map[string]string{"raft": "Raft leader election needs a majority of the votes in the cluster.\n", "zoo": "Penguins are birds that cannot fly but swim very well in cold water.\n"} {
		root := filepath.Join(p.Home, "wikis", slug)
		if err := os.WriteFile(filepath.Join(root, "raw", "a.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config := "---\ntitle: " + slug + "\nauto_research:\n  enabled: true\n  fetchers: [local]\n---\n"
		if err := os.WriteFile(filepath.Join(root, "wiki.config.md"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := p.Run("starter", "schedule", "research", "--every", "1h"); out.Code != 2 || !strings.Contains(out.Stderr, "worker") {
		t.Fatalf("without a worker: exit %d: %s", out.Code, out.Stderr)
	}
	w := p.start("worker")
	until(t, "the worker", func() bool { return strings.Contains(w.out.String(), "hosting Temporal") })
	until(t, "a schedule", func() bool {
		return p.Run("starter", "schedule", "research", "--every", "1h", "--budget-usd-per-day", "1", "--json").Code == 0
	})
	turns := map[string]int{}
	for range 2 {
		out := p.Run("starter", "schedule", "trigger", "--json")
		var tick struct {
			Wiki   string
			Pages  int
			Halted string
		}
		if err := json.Unmarshal([]byte(out.Stdout), &tick); err != nil || out.Code != 0 || tick.Pages != 1 || tick.Halted != "max_pages" {
			t.Fatalf("exit %d: %s%s (%v)", out.Code, out.Stdout, out.Stderr, err)
		}
		turns[tick.Wiki]++
	}
	if turns["raft"] != 1 || turns["zoo"] != 1 {
		t.Errorf("turns %v", turns)
	}
	if out := p.Run("starter", "schedule", "pause"); out.Code != 0 {
		t.Fatal(out.Stderr)
	}
	out := p.Run("starter", "schedule", "list", "--json")
	var list []struct {
		Every  string   `json:"every"`
		Paused bool     `json:"paused"`
		PerDay *float64 `json:"budget_usd_per_day"`
		Runs   int      `json:"runs"`
	}
	if err := json.Unmarshal([]byte(out.Stdout), &list); err != nil || len(list) != 1 || !list[0].Paused || list[0].Every != "1h0m0s" || list[0].PerDay == nil || *list[0].PerDay != 1 || list[0].Runs != 2 {
		t.Errorf("%s (%v)", out.Stdout, err)
	}
	for _, args := range [][]string{{"resume"}, {"delete", "research"}} {
		if out := p.Run("starter", append([]string{"schedule"}, args...)...); out.Code != 0 {
			t.Errorf("%v: exit %d: %s", args, out.Code, out.Stderr)
		}
	}
	if out := p.Run("starter", "schedule", "trigger"); out.Code != 2 {
		t.Errorf("a tick of a schedule that is gone: exit %d: %s", out.Code, out.Stderr)
	}
}
