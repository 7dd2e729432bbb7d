package workflows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/claim"
	"whetstone/fetch"
	"whetstone/internal/fakesource"
	"whetstone/internal/linediff"
	"whetstone/model"
	"whetstone/run"
	"whetstone/source"
	"whetstone/store"
	"whetstone/wiki/folder"
)

// wikiWorld is a wiki over a real store, with the faithful fakes of all sources behind real HTTP.
type wikiWorld struct {
	t     *testing.T
	dir   string
	store *store.Store
	fakes *fakesource.Server
	acts  *activities.Activities
	model *client
	wiki  claim.Wiki
	runs  int
}

type sourceSet struct{ set *fetch.Set }

func (s sourceSet) Fetcher(n string, private bool) (source.Fetcher, error) {
	return s.set.Fetcher(n, private)
}
func (s sourceSet) Names() []string { return fetch.Names() }

type locals struct{}

func (locals) Local(r model.Ref) bool { return r.Provider == model.Offline || r.Provider == "ollama" }
func (locals) Default() model.Ref     { return model.Ref{Provider: model.Offline} }

// sharedFakes lets several worlds ask the same servers, so that their addresses are the same.
func startFakes(t *testing.T, next func(fakesource.Request) fakesource.Fault) *fakesource.Server {
	t.Helper()
	return fakesource.Start(t, fakesource.Options{World: fakesource.Default(), Next: next})
}

func newWikiWorld(t *testing.T, fakes *fakesource.Server, config string) *wikiWorld {
	t.Helper()
	w := &wikiWorld{t: t, dir: t.TempDir(), fakes: fakes, model: &client{}}
	st, err := store.Open(t.Context(), store.Options{Path: filepath.Join(w.dir, "data.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w.store = st
	zero := time.Duration(0)
	cfg := map[string]fetch.Config{}
	if fakes != nil {
		for _, n := range fakesource.Sources() {
			c := fetch.Config{BaseURL: fakes.URL(n), Interval: &zero, Key: "key-0123456789"}
			if n == fakesource.Web {
				u, _ := url.Parse(fakes.URL(n))
				c = fetch.Config{Interval: &zero, Hosts: []string{u.Host}}
			}
			cfg[n] = c
		}
	}
	set, err := fetch.New(fetch.Options{Sources: cfg, Contact: "mailto:dev@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	if w.acts, err = activities.New(activities.Options{Store: st, Models: w.model, PrivateModels: w.model, Locals: locals{}, Sources: sourceSet{set}, KillFile: filepath.Join(w.dir, "STOP")}); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(w.dir, "wikis", "raft")
	d, err := folder.Create(root, "raft", "Raft consensus", "research", false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if config != "" {
		if err := d.Write("wiki.config.md", config); err != nil {
			t.Fatal(err)
		}
	}
	w.wiki = claim.Wiki{Slug: "raft", Title: "Raft consensus", Flavor: "research", Root: root, CreatedAt: time.Now()}
	if err := st.AddWiki(t.Context(), w.wiki); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *wikiWorld) seed(texts ...string) {
	w.t.Helper()
	for _, s := range texts {
		if _, err := w.store.AddSeeds(w.t.Context(), []claim.Seed{{Wiki: "raft", Text: s, Kind: claim.Topic, Origin: "person"}}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// raw puts a file where the local source finds it.
func (w *wikiWorld) raw(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.wiki.Root, "raw", name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// world puts the documents of the fakes' world into raw/.
func (w *wikiWorld) rawWorld() {
	for _, d := range fakesource.Default().Documents {
		w.raw(d.ID+".md", "# "+d.Title+"\n\n"+d.Abstract+"\n\n"+d.Body+"\n")
	}
}

func ptr[T any](v T) *T { return &v }

func (w *wikiWorld) env() *testsuite.TestWorkflowEnvironment {
	var s testsuite.WorkflowTestSuite
	s.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	e := s.NewTestWorkflowEnvironment()
	e.SetTestTimeout(2 * time.Minute)
	e.RegisterWorkflowWithOptions(ResearchWiki, workflow.RegisterOptions{Name: ResearchName})
	e.RegisterWorkflowWithOptions(ResearchTick, workflow.RegisterOptions{Name: TickName})
	e.RegisterWorkflowWithOptions(Council, workflow.RegisterOptions{Name: CouncilName})
	e.RegisterWorkflowWithOptions(Survey, workflow.RegisterOptions{Name: SurveyName})
	e.RegisterActivity(w.acts)
	return e
}

// research runs to the end, over continue-as-new where it comes to that.
func (w *wikiWorld) research(e *testsuite.TestWorkflowEnvironment, p run.ResearchParams) (ResearchOutput, error) {
	w.t.Helper()
	p.Wiki = "raft"
	w.runs++
	in := ResearchInput{Params: p, RunID: fmt.Sprintf("run-%d", w.runs)}
	for {
		e.ExecuteWorkflow(ResearchName, in)
		if !e.IsWorkflowCompleted() {
			w.t.Fatal("the workflow did not end")
		}
		err := e.GetWorkflowError()
		var again *workflow.ContinueAsNewError
		if errors.As(err, &again) {
			var next ResearchInput
			if derr := decode(again, &next); derr != nil {
				w.t.Fatal(derr)
			}
			in, e = next, w.env()
			continue
		}
		var out ResearchOutput
		if err != nil {
			return out, err
		}
		if err := e.GetWorkflowResult(&out); err != nil {
			w.t.Fatal(err)
		}
		w.sound()
		return out, nil
	}
}

// sound checks what must hold after every run: no seed is stuck, every span is in its snapshot, every footnote resolves.
func (w *wikiWorld) sound() {
	w.t.Helper()
	seeds, err := w.store.Seeds(w.t.Context(), "raft", "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, s := range seeds {
		if s.Status == claim.Active {
			w.t.Errorf("seed %q is stuck in active", s.Text)
		}
		k := string(s.Kind) + claim.Key(s.Text)
		if s.Kind == claim.Topic && keys[k] {
			w.t.Errorf("seed %q is there twice", s.Text)
		}
		keys[k] = true
	}
	claims, err := w.store.Claims(w.t.Context(), claim.Filter{Wiki: "raft"})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range claims {
		for _, s := range append([]claim.Span{c.Span}, c.Supports...) {
			text, err := w.store.Text(w.t.Context(), s.Snapshot)
			if err != nil || !s.In(text) {
				w.t.Errorf("claim %q: its span is not in its snapshot (%v)", c.Text, err)
			}
		}
	}
	for name, text := range w.files() {
		for _, m := range noteRef.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(text, "\n[^"+m[1]+"]: ") {
				w.t.Errorf("%s: [^%s] is not defined", name, m[1])
			}
		}
	}
}

// files are the wiki's pages and lists by name.
func (w *wikiWorld) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.wiki.Root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(p, string(filepath.Separator)+"raw"+string(filepath.Separator)) {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(w.wiki.Root, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func sameFiles(t *testing.T, a, b map[string]string, what string) {
	t.Helper()
	for _, n := range slices.Sorted(func(yield func(string) bool) {
		for n := range a {
			if !yield(n) {
				return
			}
		}
	}) {
		if b[n] != a[n] {
			t.Errorf("%s: %s differs:\n%s", what, n, linediff.Unified("before", "after", a[n], b[n]))
			return
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d files, then %d", what, len(a), len(b))
	}
}

func (w *wikiWorld) counts() claim.Counts {
	w.t.Helper()
	c, err := w.store.WikiCounts(context.Background(), "raft", time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}
