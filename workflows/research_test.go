package workflows

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"whetstone/claim"
	"whetstone/internal/fakesource"
	"whetstone/model"
	"whetstone/run"
	"whetstone/source"
)

var noteRef = regexp.MustCompile(`[^\\]\[\^(\d+)\]`)

var everySource = []string{"local", "arxiv", "wikipedia", "github", "semanticscholar", "openalex", "searxng", "web"}

func decode(again *workflow.ContinueAsNewError, into any) error {
	return converter.GetDefaultDataConverter().FromPayloads(again.Input, into)
}

func TestAWikiGrowsFromEmptyToConvergedTheSameEveryTime(t *testing.T) {
	fakes := startFakes(t, nil)
	var first map[string]string
	// The number of seeds side by side must not matter either.
	parallels, depth := []int{1, 1, 4}, 2
	if racing {
		parallels, depth = []int{1, 4}, 1
	}
	for _, parallel := range parallels {
		w := newWikiWorld(t, fakes, "")
		w.seed("Raft leader election", "分布式缓存")
		out, err := w.research(w.env(), run.ResearchParams{Fetchers: everySource, MaxPages: ptr(200), MaxDepth: ptr(depth), Parallel: ptr(parallel)})
		if err != nil {
			t.Fatal(err)
		}
		r := out.Result
		if (r.Halted != "converged" && r.Halted != "max_depth" && r.Halted != "queue_empty") || r.Pages < 5 || r.Claims < 30 || len(r.Errors) > 0 || r.SpentUSD != 0 {
			t.Fatalf("%+v", r)
		}
		if r.Supports == 0 || r.Conflicts == 0 {
			t.Errorf("no support in further sources (%d) or no contradiction (%d) was found in a world that has both", r.Supports, r.Conflicts)
		}
		t.Logf("parallel %d: %s, %d pages, %d claims, %d supports, %d contradictions, seeds %+v", parallel, r.Halted, r.Pages, r.Claims, r.Supports, r.Conflicts, r.Seeds)
		files := w.files()
		if first == nil {
			first = files
			continue
		}
		sameFiles(t, first, files, "another run")
	}
}

// Temporal executes activities at least once. With each of them executed twice, as after a kill between an activity's work
// and its report, the wiki is the same, byte for byte.
func TestEveryActivityOfResearchMayRunTwice(t *testing.T) {
	fakes := startFakes(t, nil)
	pages := 6
	if racing {
		pages = 3
	}
	grow := func(double bool) map[string]string {
		w := newWikiWorld(t, fakes, "")
		w.seed("Raft leader election", "snapshots in Raft")
		e := w.env()
		if double {
			twice(e, "OpenResearch", w.acts.OpenResearch)
			twice(e, "ClaimSeeds", w.acts.ClaimSeeds)
			twice(e, "FetchSeed", w.acts.FetchSeed)
			twice(e, "ExtractClaims", w.acts.ExtractClaims)
			twice(e, "SettleSeed", w.acts.SettleSeed)
			twice(e, "ReturnSeeds", w.acts.ReturnSeeds)
			twice(e, "FinishResearch", w.acts.FinishResearch)
		}
		out, err := w.research(e, run.ResearchParams{Fetchers: everySource, MaxPages: ptr(pages), MaxDepth: ptr(2)})
		if err != nil || out.Result.Pages != pages {
			t.Fatalf("%+v, %v", out.Result, err)
		}
		return w.files()
	}
	sameFiles(t, grow(false), grow(true), "with every activity twice")
}

// With a third of all answers replaced by faults the run completes, every error is typed, and no seed is lost.
func TestAThirdOfAllFetchesFail(t *testing.T) {
	trials := 3
	if racing {
		trials = 1
	}
	for trial := range trials {
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(7, uint64(trial)))
		fakes := startFakes(t, func(r fakesource.Request) fakesource.Fault {
			mu.Lock()
			defer mu.Unlock()
			if rng.Float64() > 0.3 {
				return fakesource.None
			}
			all := fakesource.Faults(r.Source)
			for {
				f := all[rng.IntN(len(all))]
				if f != fakesource.Hang && f != fakesource.Empty && f != fakesource.TooLarge {
					return f
				}
			}
		})
		w := newWikiWorld(t, fakes, "")
		w.seed("Raft leader election", "log replication", "分布式缓存")
		out, err := w.research(w.env(), run.ResearchParams{Fetchers: everySource, MaxPages: ptr(8), MaxDepth: ptr(1)})
		if err != nil {
			t.Fatal(err)
		}
		r := out.Result
		if r.Pages == 0 || r.Halted == "" || len(r.Errors) == 0 {
			t.Errorf("%+v", r)
		}
		kinds := map[string]bool{string(source.RateLimited): true, string(source.Quota): true, string(source.Unavailable): true, string(source.Timeout): true, string(source.Unauthorised): true, string(source.NotFound): true, string(source.Malformed): true, string(source.BadQuery): true, string(source.Blocked): true, string(source.TooLarge): true}
		for _, e := range r.Errors {
			if !kinds[e.Kind] || e.Fetcher == "" || e.Seed == "" {
				t.Errorf("an error without a type: %+v", e)
			}
		}
		c := w.counts()
		seeds, _ := w.store.Seeds(t.Context(), "raft", "", 0)
		if c.Active != 0 || c.Pending+c.Done+c.Failed != len(seeds) {
			t.Errorf("%+v of %d seeds", c, len(seeds))
		}
		t.Logf("trial %d: %s, %d pages, %d errors", trial, r.Halted, r.Pages, len(r.Errors))
	}
}

func TestEveryHaltNamesItself(t *testing.T) {
	local := func(change func(*run.ResearchParams)) run.ResearchParams {
		p := run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(100), MaxDepth: ptr(1)}
		change(&p)
		return p
	}
	for _, c := range []struct {
		name, want string
		config     string
		prepare    func(*wikiWorld)
		params     run.ResearchParams
		pages      int // -1: any
	}{
		{"pages", "max_pages", "", nil, local(func(p *run.ResearchParams) { p.MaxPages = ptr(2) }), 2},
		{"zero pages", "max_pages", "", nil, local(func(p *run.ResearchParams) { p.MaxPages = ptr(0) }), 0},
		{"zero depth", "max_depth", "", nil, local(func(p *run.ResearchParams) { p.MaxDepth = ptr(0) }), 2},
		{"an empty queue", "queue_empty", "", func(w *wikiWorld) { w.noRaw() }, local(func(*run.ResearchParams) {}), 0},
		{"the kill file", "kill_file", "", func(w *wikiWorld) { w.kill() }, local(func(*run.ResearchParams) {}), 0},
		{"switched off", "disabled", "---\ntitle: T\nauto_research:\n  enabled: false # note\n---\n", nil, local(func(*run.ResearchParams) {}), 0},
		{"forced", "max_pages", "---\ntitle: T\nauto_research:\n  enabled: false\n---\n", nil, local(func(p *run.ResearchParams) { p.Force, p.MaxPages = true, ptr(1) }), 1},
		{"private with a remote source", "private", "---\ntitle: T\nprivate: true\n---\n", nil, run.ResearchParams{Fetchers: []string{"local", "arxiv"}, Force: true}, 0},
		{"private with local sources", "max_pages", "---\ntitle: T\nprivate: true\n---\n", nil, run.ResearchParams{MaxPages: ptr(1)}, 1},
		{"the configuration's zero depth", "max_depth", "---\ntitle: T\nauto_research:\n  max_depth: 0\n---\n", nil, run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(9)}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWikiWorld(t, nil, c.config)
			w.rawWorld()
			w.seed("Raft leader election", "分布式缓存")
			if c.prepare != nil {
				c.prepare(w)
			}
			out, err := w.research(w.env(), c.params)
			if err != nil {
				t.Fatal(err)
			}
			if out.Result.Halted != c.want || c.pages >= 0 && out.Result.Pages != c.pages {
				t.Errorf("halted %s with %d pages, want %s with %d", out.Result.Halted, out.Result.Pages, c.want, c.pages)
			}
			if c := w.counts(); c.Active > 0 {
				t.Errorf("%d seeds are active", c.Active)
			}
		})
	}
}

func (w *wikiWorld) noRaw() {
	if err := os.RemoveAll(filepath.Join(w.wiki.Root, "raw")); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wikiWorld) kill() {
	if err := os.WriteFile(filepath.Join(w.dir, "STOP"), nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func TestAPersonStopsPausesAndResumesARun(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.rawWorld()
	w.seed("Raft leader election")
	e := w.env()
	settled := 0
	e.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
		if info.ActivityType.Name != "SettleSeed" {
			return
		}
		switch settled++; settled {
		case 2:
			e.UpdateWorkflow(PauseUpdate, "p", update(t), StopRequest{})
			e.RegisterDelayedCallback(func() {
				v, err := e.QueryWorkflow(ProgressQuery)
				var p ResearchProgress
				if err != nil || v.Get(&p) != nil || !p.Paused {
					t.Errorf("not paused: %+v, %v", p, err)
				}
				e.UpdateWorkflow(ResumeUpdate, "r", update(t), StopRequest{})
			}, 3600e9)
		case 4:
			e.UpdateWorkflow(StopUpdate, "s", update(t), StopRequest{Why: "enough"})
		}
	})
	out, err := w.research(e, run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(50), MaxDepth: ptr(3), Parallel: ptr(1)})
	if err != nil || out.Result.Halted != "stopped" || out.Result.Pages == 0 || out.Result.Pages > 5 {
		t.Errorf("%+v, %v", out.Result, err)
	}
}

func update(t *testing.T) *testsuite.TestUpdateCallback {
	return &testsuite.TestUpdateCallback{OnAccept: func() {}, OnReject: func(err error) { t.Errorf("rejected: %v", err) }, OnComplete: func(any, error) {}}
}

// A run that is killed leaves leased seeds behind; the next one takes them back.
func TestSeedsOfADeadRunAreLeasedAgain(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.rawWorld()
	w.seed("Raft leader election", "分布式缓存")
	if _, err := w.store.ClaimSeeds(t.Context(), "raft", "a run that died", 1, 2, 0); err != nil {
		t.Fatal(err)
	}
	if c := w.counts(); c.Active != 2 {
		t.Fatalf("%+v", c)
	}
	out, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(2), MaxDepth: ptr(0)})
	if err != nil || out.Result.Pages != 2 || w.counts().Active != 0 {
		t.Errorf("%+v, %v, %+v", out.Result, err, w.counts())
	}
}

// The reference halted on its budget by putting the seed back and taking it again, for ever, and said that all was free.
func TestABudgetHaltEndsTheRunAndKeepsTheSeed(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.rawWorld()
	w.seed("Raft leader election", "log replication", "snapshots")
	w.model.price = model.Price{Input: 1, Output: 10}
	w.model.fail = func(_ int, r model.Request) (model.Reply, error) {
		return model.Reply{Text: pick(r), Finish: "stop", Usage: model.Usage{Input: 4000, Output: 300}}, nil
	}
	out, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"local"}, Provider: "paid:model", BudgetUSD: ptr(0.06), MaxPages: ptr(50), Parallel: ptr(1)})
	if err != nil {
		t.Fatal(err)
	}
	r := out.Result
	if r.Halted != "budget" || r.SpentUSD == 0 || r.SpentUSD > 0.06 || r.Calls == 0 || r.Pages == 0 || r.Seeds.Pending == 0 || r.Seeds.Done != r.Pages {
		t.Errorf("%+v", r)
	}
	zero, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"local"}, Provider: "paid:model", BudgetUSD: ptr(0.0), MaxPages: ptr(50)})
	if err != nil || zero.Result.Halted != "budget" || zero.Result.SpentUSD != 0 || zero.Result.BudgetUSD != 0 || zero.Result.Pages != 0 {
		t.Errorf("a budget of zero: %+v, %v", zero.Result, err)
	}
}

// pick answers as a model does: it quotes the first sentence of each source.
func pick(r model.Request) string {
	text := r.Messages[len(r.Messages)-1].Content
	var claims []string
	for _, m := range regexp.MustCompile(`(?s)<source id="(S\d+)"[^>]*>\n(.*?)\n</source>`).FindAllStringSubmatch(text, -1) {
		for _, s := range strings.Split(m[2], ". ") {
			s = strings.TrimSpace(s[strings.LastIndex(s, "\n")+1:])
			if len(s) > 40 && !strings.ContainsAny(s, `"\`) {
				claims = append(claims, `{"source": "`+m[1]+`", "quote": "`+s+`", "claim": "`+s+`."}`)
				break
			}
		}
	}
	return "Here you are:\n```json\n{\"claims\": [" + strings.Join(claims, ",") + "], \"questions\": [\"quorum reads\"]}\n```"
}

// A model picks sources by number and quotes them; what it makes up does not get in.
func TestAModelCannotInventASource(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.raw("a.md", "# Raft\n\nRaft elects one leader for each term by a majority of votes.\n")
	w.seed("Raft leader votes")
	w.model.fail = func(int, model.Request) (model.Reply, error) {
		return model.Reply{Finish: "stop", Usage: model.Usage{Input: 10, Output: 10}, Text: `{"claims": [
			{"source": "S1", "quote": "Raft elects one leader for each term by a majority of votes.", "claim": "Raft elects a leader by majority [here](https://evil.example/)."},
			{"source": "S9", "quote": "Raft elects one leader", "claim": "from a source that is not there"},
			{"source": "S1", "quote": "Raft never needs a leader", "claim": "a quotation that is not there"},
			{"source": "S1", "quote": "Raft elects one leader for each term by a majority of votes.", "claim": "Raft elects 17 leaders."}
		], "questions": ["quorum reads"]}`}, nil
	}
	out, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"local"}, Provider: "paid:model", BudgetUSD: ptr(1.0), MaxPages: ptr(1)})
	if err != nil || out.Result.Claims != 1 {
		t.Fatalf("%+v, %v", out.Result, err)
	}
	for n, text := range w.files() {
		for _, bad := range []string{"evil.example", "not there", "17 leaders"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q:\n%s", n, bad, text)
			}
		}
	}
	seeds, _ := w.store.Seeds(t.Context(), "raft", claim.Pending, 0)
	if len(seeds) == 0 || seeds[0].Text != "quorum reads" {
		t.Errorf("the model's question is not the first follow-up: %+v", seeds)
	}
}

func TestAUselessModelIsReplacedByExtraction(t *testing.T) {
	for name, fail := range map[string]func(int, model.Request) (model.Reply, error){
		"prose": func(int, model.Request) (model.Reply, error) {
			return model.Reply{Text: "I would rather not.", Finish: "stop"}, nil
		},
		"outage": func(int, model.Request) (model.Reply, error) {
			return model.Reply{}, &model.Error{Kind: model.Unavailable, Provider: "paid", Err: errors.New("down")}
		},
		"no key": func(int, model.Request) (model.Reply, error) {
			return model.Reply{}, &model.Error{Kind: model.Unauthorised, Provider: "paid", Status: 401, Err: errors.New("no")}
		},
		"refusal": func(int, model.Request) (model.Reply, error) { return model.Reply{Text: "no", Finish: "refusal"}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWikiWorld(t, nil, "")
			w.rawWorld()
			w.seed("Raft leader election")
			w.model.fail = fail
			out, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"local"}, Provider: "paid:model", BudgetUSD: ptr(1.0), MaxPages: ptr(1)})
			if err != nil || out.Result.Claims == 0 || len(out.Result.Errors) == 0 || out.Result.Errors[0].Fetcher != "model" {
				t.Errorf("%+v, %v", out.Result, err)
			}
		})
	}
}

// Nothing of a private wiki leaves the machine: no source and no model is asked, not even with force.
func TestAPrivateWikiSendsNothing(t *testing.T) {
	asked := 0
	fakes := startFakes(t, func(fakesource.Request) fakesource.Fault { asked++; return fakesource.None })
	w := newWikiWorld(t, fakes, "---\ntitle: T\nprivate: true\nauto_research:\n  enabled: true\n---\n")
	w.rawWorld()
	w.seed("Raft leader election https://example.org/page")
	w.model.fail = func(int, model.Request) (model.Reply, error) {
		t.Error("a model was asked")
		return model.Reply{}, errors.New("no")
	}
	out, err := w.research(w.env(), run.ResearchParams{MaxPages: ptr(3), Force: true})
	if err != nil || out.Result.Pages == 0 {
		t.Errorf("a private wiki can not grow from its own files: %+v, %v", out.Result, err)
	}
	if _, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"web"}, Force: true}); err != nil {
		t.Error(err)
	}
	if _, err := w.research(w.env(), run.ResearchParams{Provider: "paid:model"}); err == nil {
		t.Error("a model that leaves the machine was taken")
	}
	if asked > 0 {
		t.Errorf("%d requests left", asked)
	}
}

// The reference researched the same page again and again, since it compared it with its own older version, or halted at
// once, since it compared with all pages.
func TestNoveltyIsMeasuredAgainstThePreviousPages(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	same := "Raft elects one leader for each term by a majority of votes. A Raft leader sends heartbeats to its followers in every period.\n"
	w.raw("a.md", "# Raft\n\n"+same)
	w.seed("Raft leader", "Raft heartbeats", "Raft followers", "Raft majority", "Raft term", "Raft votes")
	out, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(100), MaxDepth: ptr(0), Parallel: ptr(1)})
	if err != nil || out.Result.Halted != "converged" || out.Result.Seeds.Pending == 0 {
		t.Errorf("%+v, %v", out.Result, err)
	}
	// Amending one page again is no convergence by itself.
	v := newWikiWorld(t, nil, "")
	v.rawWorld()
	v.seed("Raft leader election")
	for range 2 {
		if _, err := v.research(v.env(), run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(1), MaxDepth: ptr(0)}); err != nil {
			t.Fatal(err)
		}
		seeds, _ := v.store.Seeds(t.Context(), "raft", claim.Done, 1)
		if len(seeds) != 1 || seeds[0].Novelty == nil || *seeds[0].Novelty != 1 {
			t.Fatalf("novelty of the first page of a run: %+v", seeds)
		}
		if err := v.store.RetrySeed(t.Context(), seeds[0].ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPersonsPageSurvivesResearch(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.rawWorld()
	w.seed("Raft leader election")
	p := run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(3), MaxDepth: ptr(2)}
	if _, err := w.research(w.env(), p); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(w.wiki.Root, "wiki", "concept", "raft-leader-election.md")
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	mine := strings.Replace(string(b), "\n## ", "\nA line of mine.\n\n## ", 1)
	if err := os.WriteFile(page, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(w.wiki.Root, "wiki", "concept", "my-own.md")
	if err := os.WriteFile(own, []byte("# My own\n\nRaft notes of mine.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.raw("new.md", "# Raft leader election\n\nRaft leader election needs synchronised configuration files on every server of the cluster.\n")
	if _, err := w.store.AddSeeds(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	seeds, _ := w.store.Seeds(t.Context(), "raft", claim.Done, 1)
	if err := w.store.RetrySeed(t.Context(), seeds[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.research(w.env(), p); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(page)
	if !strings.Contains(string(got), "A line of mine.") {
		t.Errorf("the line is gone:\n%s", got)
	}
	if b, _ := os.ReadFile(own); string(b) != "# My own\n\nRaft notes of mine.\n" {
		t.Errorf("the page is %q", b)
	}
	hits, err := w.store.SearchPages(t.Context(), "raft", "notes of mine", 3)
	if err != nil || len(hits) == 0 || hits[0].Title != "My own" {
		t.Errorf("a person's page is not found: %+v, %v", hits, err)
	}
}

// A page that a person edits has its changed claims checked, once; what no source says any more loses its support.
func TestChangedClaimsAreCheckedOnce(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.raw("a.md", "# Raft\n\nRaft elects one leader for each term by a majority of votes.\n")
	w.seed("Raft leader votes")
	p := run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(3), MaxDepth: ptr(0)}
	if _, err := w.research(w.env(), p); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(w.wiki.Root, "wiki", "concept", "raft-leader-votes.md")
	b, _ := os.ReadFile(page)
	if err := os.WriteFile(page, []byte(strings.Replace(string(b), "- Raft elects one leader", "- Raft elects three leaders", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	checks := func() (n int) {
		seeds, _ := w.store.Seeds(t.Context(), "raft", "", 0)
		for _, s := range seeds {
			if s.Kind == claim.Verify {
				n++
			}
		}
		return n
	}
	for range 2 {
		if _, err := w.research(w.env(), p); err != nil {
			t.Fatal(err)
		}
		if checks() != 1 {
			t.Errorf("%d checks", checks())
		}
	}
	// The file changes: its claim is not there any more.
	w.raw("a.md", "# Raft\n\nRaft leader votes are described elsewhere in this documentation of ours.\n")
	cs, _ := w.store.Claims(t.Context(), claim.Filter{Wiki: "raft"})
	if _, err := w.store.AddSeeds(t.Context(), []claim.Seed{{ID: "check", Wiki: "raft", Text: "Raft leader votes", Kind: claim.Verify, PageID: cs[0].PageID, Claims: []claim.Target{{ID: cs[0].ID}}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.research(w.env(), p); err != nil {
		t.Fatal(err)
	}
	if cs, _ = w.store.Claims(t.Context(), claim.Filter{Wiki: "raft"}); !cs[0].Unsupported {
		t.Errorf("%+v", cs)
	}
}

func TestAnEmptyEvidenceSetNeverMakesAPage(t *testing.T) {
	fakes := startFakes(t, func(fakesource.Request) fakesource.Fault { return fakesource.Empty })
	w := newWikiWorld(t, fakes, "")
	w.seed("something nobody knows")
	out, err := w.research(w.env(), run.ResearchParams{Fetchers: everySource, MaxPages: ptr(3)})
	if err != nil || out.Result.Pages != 0 || out.Result.Seeds.Failed != 1 || out.Result.Halted != "queue_empty" {
		t.Errorf("%+v, %v", out.Result, err)
	}
}

// A source that asks for patience delays the seed; it does not fail it.
func TestARateLimitDelaysTheSeed(t *testing.T) {
	n := 0
	var mu sync.Mutex
	fakes := startFakes(t, func(r fakesource.Request) fakesource.Fault {
		mu.Lock()
		defer mu.Unlock()
		if n++; n <= 6 {
			return fakesource.RateLimited
		}
		return fakesource.None
	})
	w := newWikiWorld(t, fakes, "")
	w.seed("Raft leader election")
	out, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"arxiv"}, MaxPages: ptr(1)})
	if err != nil || out.Result.Pages != 1 && out.Result.Seeds.Pending != 1 || out.Result.Seeds.Failed != 0 {
		t.Errorf("%+v, %v", out.Result, err)
	}
}

func TestContinueAsNewCarriesResearchOn(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.rawWorld()
	w.seed("Raft leader election", "分布式缓存")
	whole := newWikiWorld(t, nil, "")
	whole.rawWorld()
	whole.seed("Raft leader election", "分布式缓存")
	p := run.ResearchParams{Wiki: "raft", Fetchers: []string{"local"}, MaxPages: ptr(8), MaxDepth: ptr(2), Parallel: ptr(1)}
	if racing {
		p.MaxPages = ptr(5)
	}
	if _, err := whole.research(whole.env(), p); err != nil {
		t.Fatal(err)
	}
	in := ResearchInput{Params: p}
	hops := 0
	for {
		e := w.env()
		settled := 0
		e.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
			if info.ActivityType.Name == "SettleSeed" {
				if settled++; settled == 2 {
					e.SetContinueAsNewSuggested(true)
				}
			}
		})
		e.ExecuteWorkflow(ResearchName, in)
		err := e.GetWorkflowError()
		var again *workflow.ContinueAsNewError
		if !errors.As(err, &again) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if hops++; hops > 20 {
			t.Fatal("it hops for ever")
		}
		var next ResearchInput
		if err := decode(again, &next); err != nil {
			t.Fatal(err)
		}
		in = next
	}
	if hops < 2 {
		t.Errorf("only %d hops", hops)
	}
	sameFiles(t, whole.files(), w.files(), "over continue-as-new")
}

// The reference's ticks took the newest wiki again and again.
func TestTicksAreFair(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	var turns []string
	for range 6 {
		e := w.env()
		e.OnWorkflow(ResearchName, mock.Anything, mock.Anything).Return(func(_ workflow.Context, in ResearchInput) (ResearchOutput, error) {
			if in.Params.MaxPages == nil || *in.Params.MaxPages != 1 || !in.Params.Tick || in.Params.BudgetUSD == nil || *in.Params.BudgetUSD > 1 {
				t.Errorf("%+v", in.Params)
			}
			if in.Params.Wiki == "broken" {
				return ResearchOutput{}, temporal.NewApplicationError("its sources are gone", "X")
			}
			return ResearchOutput{Result: run.ResearchResult{Halted: "max_pages", Pages: 1}}, nil
		})
		if turns == nil {
			for _, slug := range []string{"broken", "early", "late"} {
				w.another(slug, "auto_research:\n  enabled: true\n")
			}
			w.another("off", "auto_research:\n  enabled: false # for now\n")
			w.another("silent", "")
		}
		e.ExecuteWorkflow(TickName, TickInput{PerDay: ptr(1.0)})
		var out TickOutput
		if err := e.GetWorkflowError(); err != nil {
			t.Fatal(err)
		}
		if err := e.GetWorkflowResult(&out); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, out.Wiki)
	}
	// Four take turns; the broken one backs off after its turn; those that are not opted in never have one.
	if got := strings.Join(turns[:4], " "); got != "broken early late raft" {
		t.Errorf("turns %v", turns)
	}
	for _, x := range turns[4:] {
		if x == "broken" || x == "off" || x == "silent" {
			t.Errorf("turns %v", turns)
		}
	}
	b, err := w.store.Wiki(t.Context(), "broken")
	if err != nil || b.TickFailures != 1 || !strings.Contains(b.TickError, "its sources are gone") || b.TickBefore == nil {
		t.Errorf("%+v, %v", b, err)
	}
}

func (w *wikiWorld) another(slug, research string) {
	w.t.Helper()
	root := filepath.Join(w.dir, "wikis", slug)
	if err := os.MkdirAll(root, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "wiki.config.md"), []byte("---\ntitle: "+slug+"\n"+research+"---\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.AddWiki(w.t.Context(), claim.Wiki{Slug: slug, Title: slug, Flavor: "research", Root: root, CreatedAt: w.wiki.CreatedAt}); err != nil {
		w.t.Fatal(err)
	}
	// raft itself has the scaffold's six hours between ticks; here it may have one at once.
}

// One model that fails does not end a council, and its error is nobody's answer.
func TestACouncilCountsAnswersAndNeverErrors(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.rawWorld()
	question, err := w.store.PutText(t.Context(), "Is pre-vote enough?")
	if err != nil {
		t.Fatal(err)
	}
	w.model.fail = func(_ int, r model.Request) (model.Reply, error) {
		text := r.Messages[len(r.Messages)-1].Content
		system := r.Messages[0].Content
		switch {
		case r.Ref.Model == "broken":
			return model.Reply{}, &model.Error{Kind: model.BadRequest, Provider: "paid", Status: 400, Err: errors.New("the broken model's error text")}
		case strings.Contains(system, "rank answers"):
			if strings.Contains(text, "error text") {
				t.Error("an error was put up for ranking")
			}
			for _, l := range []string{"A", "B"} {
				if strings.Contains(text, "<answer label=\""+l+"\">\nGOOD") {
					other := map[string]string{"A": "B", "B": "A"}[l]
					return model.Reply{Text: `{"ranking": ["` + l + `", "` + other + `"]}`, Finish: "stop"}, nil
				}
			}
			return model.Reply{Text: "no idea", Finish: "stop"}, nil
		case strings.Contains(system, "answers support together"):
			return model.Reply{Text: "The SYNTHESIS of it. [x](https://evil.example)", Finish: "stop"}, nil
		case r.Ref.Model == "good":
			return model.Reply{Text: "GOOD answer\n\n<script>x</script>", Finish: "stop"}, nil
		}
		return model.Reply{Text: "weak answer", Finish: "stop"}, nil
	}
	e := w.env()
	e.ExecuteWorkflow(CouncilName, CouncilInput{Params: run.CouncilParams{Wiki: "raft", Question: question, Members: []string{"paid:weak", "paid:broken", "paid:good"}, Chair: "paid:broken", BudgetUSD: 1}})
	var out CouncilOutput
	if err := e.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if err := e.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	byName := map[string]run.Member{}
	for _, m := range out.Result.Members {
		byName[m.Name] = m
	}
	if byName["paid:good"].Place != 1 || byName["paid:weak"].Place != 2 || byName["paid:broken"].Place != 0 || byName["paid:broken"].Failed == "" || byName["paid:good"].Points != 2 {
		t.Errorf("%+v", out.Result.Members)
	}
	text := w.files()[out.Result.Page]
	for _, want := range []string{"SYNTHESIS", "GOOD answer", "weak answer", "failed: paid: bad\\_request", "paid:good"} {
		if !strings.Contains(text, strings.ReplaceAll(want, `\_`, "_")) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, bad := range []string{"](https://evil", "\n<script"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands in\n%s", bad, text)
		}
	}
	if out.Result.Chair == "paid:broken" || out.Result.Chair == "" {
		t.Errorf("chair %q", out.Result.Chair)
	}
}

func TestASurveyCitesOnlyWhatTheWikiHas(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	w.rawWorld()
	w.seed("Raft leader election", "log replication")
	if _, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(2), MaxDepth: ptr(0)}); err != nil {
		t.Fatal(err)
	}
	w.model.fail = func(_ int, r model.Request) (model.Reply, error) {
		return model.Reply{Text: "It is known. [S1]\n\nIt is invented. [S99]\n\nIt is said without a source.\n\nBoth agree [S1, S2]. See [x](https://evil.example).", Finish: "stop"}, nil
	}
	for _, provider := range []string{"offline", "paid:model"} {
		e := w.env()
		e.ExecuteWorkflow(SurveyName, SurveyInput{Params: run.SurveyParams{Wiki: "raft", Provider: provider, BudgetUSD: 1}})
		var out SurveyOutput
		if err := e.GetWorkflowError(); err != nil {
			t.Fatal(err)
		}
		if err := e.GetWorkflowResult(&out); err != nil {
			t.Fatal(err)
		}
		files := w.files()
		text := files[out.Result.Page]
		refs := regexp.MustCompile(`\[\^s(\d+)\]`).FindAllStringSubmatch(text, -1)
		if out.Result.Citations == 0 || len(refs) == 0 {
			t.Errorf("%s: %+v\n%s", provider, out.Result, text)
		}
		for _, m := range refs {
			if !strings.Contains(files["sources.md"], "- **"+m[1]+"** ") {
				t.Errorf("%s: source %s is not in sources.md", provider, m[1])
			}
		}
		for _, bad := range []string{"invented", "without a source", "](https://evil"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q stands in\n%s", provider, bad, text)
			}
		}
	}
}
