package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The databases have the shapes of every released version of the plugin; they and what is expected of them were written apart
// from the code.
func TestProWorkflowDatabasesOfEveryVersionAreRead(t *testing.T) {
	type learn struct {
		ID                                           int64
		Category, Rule, Mistake, Correction, Project string
		TimesApplied                                 int    `json:"times_applied"`
		CreatedAt                                    string `json:"created_at"`
		Wiki                                         string
	}
	type page struct {
		ID                int64
		Slug, Title, Body string
	}
	type seed struct {
		ID                    int64
		Query, Status, Parent string
		Depth                 int
	}
	type source struct {
		ID  int64
		URL string
	}
	type wiki struct {
		Slug, Title, Flavor string
		Private             bool
		Pages               []page
		Seeds               []seed
		Sources             []source
	}
	type want struct {
		Learnings []learn
		Wikis     []wiki
		Skipped   struct {
			Reasons []struct {
				Table, Reason string
				ID            int64
			}
		}
	}
	var all map[string]json.RawMessage
	b, err := os.ReadFile("testdata/proworkflow/want.json")
	must(t, err)
	must(t, json.Unmarshal(b, &all))
	files, err := filepath.Abs("testdata/proworkflow/files")
	must(t, err)
	for _, v := range []string{"v1", "v2", "v3"} {
		t.Run(v, func(t *testing.T) {
			var w want
			must(t, json.Unmarshal(all[v], &w))
			got, err := ReadProWorkflow(t.Context(), proDatabase(t, v, files))
			must(t, err)
			var ls []learn
			for _, l := range got.Learnings {
				at := ""
				if !l.CreatedAt.IsZero() {
					at = l.CreatedAt.Format(time.RFC3339Nano)
				}
				ls = append(ls, learn{l.ID, l.Category, l.Rule, l.Mistake, l.Correction, l.Project, l.TimesApplied, at, l.Wiki})
			}
			same(t, "learnings", ls, w.Learnings)
			var ws []wiki
			for _, x := range got.Wikis {
				y := wiki{Slug: x.Slug, Title: x.Title, Flavor: x.Flavor, Private: x.Private}
				for _, p := range x.Pages {
					y.Pages = append(y.Pages, page{p.ID, p.Slug, p.Title, p.Body})
				}
				for _, s := range x.Seeds {
					y.Seeds = append(y.Seeds, seed(s))
				}
				for _, s := range x.Sources {
					y.Sources = append(y.Sources, source{s.ID, s.URL})
				}
				ws = append(ws, y)
			}
			for i := range w.Wikis {
				if len(w.Wikis[i].Sources) == 0 {
					w.Wikis[i].Sources = nil
				}
			}
			if len(w.Wikis) == 0 {
				w.Wikis = nil
			}
			same(t, "wikis", ws, w.Wikis)
			skipped := map[string]int{}
			for _, s := range got.Skipped {
				skipped[fmt.Sprintf("%s %d: %s", s.Table, s.ID, s.Reason)]++
			}
			for _, s := range w.Skipped.Reasons {
				if s.Table == "wiki_claims" {
					continue // claims without a span are not taken at all
				}
				if k := fmt.Sprintf("%s %d: %s", s.Table, s.ID, s.Reason); skipped[k] == 0 {
					t.Errorf("not told: %s (told: %v)", k, skipped)
				}
			}
		})
	}
	if _, err := ReadProWorkflow(t.Context(), filepath.Join(files, "agent-memory", "sources.md")); err == nil {
		t.Error("a Markdown file was read as a database")
	}
	if _, err := ReadProWorkflow(t.Context(), open(t).Path()); err == nil {
		t.Error("our own database was read as theirs")
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	a, _ := json.MarshalIndent(got, "", " ")
	b, _ := json.MarshalIndent(want, "", " ")
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || x[i] != y[i] {
			t.Errorf("%s differ at line %d:\n got %s\nwant %s", what, i, strings.Join(x[max(0, i-4):min(len(x), i+4)], "\n"), strings.Join(y[max(0, min(i, len(y))-4):min(len(y), i+4)], "\n"))
			return
		}
	}
}

func proDatabase(t *testing.T, version, files string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/proworkflow/" + version + ".sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "theirs.db")
	db, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	_, err = db.ExecContext(t.Context(), strings.ReplaceAll(string(b), "@FILES@", files))
	must(t, err)
	must(t, db.Close())
	return path
}
