package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"whetstone/claim"
	"whetstone/internal/fakesource"
	"whetstone/run"
	"whetstone/store"
)

// wikiPlace is a home with one wiki, whose sources are the fakes.
type wikiPlace struct {
	*Place
	root string
}

func newWikiPlace(t *testing.T, fakes *fakesource.Server, seeds ...string) *wikiPlace {
	t.Helper()
	p := &wikiPlace{Place: &Place{T: t, Home: filepath.Join(t.TempDir(), "home")}}
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	if fakes != nil {
		var b strings.Builder
		b.WriteString("contact: mailto:dev@example.org\nsources:\n")
		for _, n := range fakesource.Sources() {
			u, err := url.Parse(fakes.URL(n))
			if err != nil {
				t.Fatal(err)
			}
			if n == fakesource.Web {
				fmt.Fprintf(&b, "  web: {hosts: [%q]}\n", u.Host)
				continue
			}
			fmt.Fprintf(&b, "  %s: {base_url: %q, interval: 1ms}\n", n, fakes.URL(n))
		}
		if err := os.WriteFile(filepath.Join(p.Home, "config.yaml"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := p.Run("starter", "wiki", "init", "raft", "--title", "Raft consensus"); out.Code != 0 {
		t.Fatal(out.Stderr)
	}
	for _, s := range seeds {
		if out := p.Run("starter", "wiki", "seed", "raft", s); out.Code != 0 {
			t.Fatal(out.Stderr)
		}
	}
	p.root = filepath.Join(p.Home, "wikis", "raft")
	return p
}

func researchArgs(more ...string) []string {
	return append([]string{"wiki", "research", "raft", "--json", "--fetchers", "arxiv,wikipedia,github,searxng,web", "--max-pages", "6", "--max-depth", "2"}, more...)
}

func (p *wikiPlace) research(t *testing.T, args ...string) (run.ResearchResult, Output) {
	t.Helper()
	out := p.Run("starter", args...)
	var r run.ResearchResult
	if err := json.Unmarshal([]byte(strings.TrimSpace(out.Stdout)), &r); err != nil {
		t.Fatalf("%v\nstdout %q\nstderr %s", err, out.Stdout, out.Stderr)
	}
	return r, out
}

// files are the wiki's files by name.
func (p *wikiPlace) files(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(p.root, path)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	for n, text := range want {
		if got[n] != text {
			t.Errorf("%s differs from the undisturbed run's", n)
		}
	}
	for n := range got {
		if _, ok := want[n]; !ok {
			t.Errorf("%s is not in the undisturbed run", n)
		}
	}
}

// Killed with SIGKILL at each boundary between its activities and started again, a research run ends with the same files,
// byte for byte, with no seed stuck and none lost.
func TestResearchSurvivesKill9AtEveryBoundary(t *testing.T) {
	fakes := fakesource.Start(t, fakesource.Options{World: fakesource.Default()})
	seeds := []string{"Raft leader election", "分布式缓存"}
	calm := newWikiPlace(t, fakes, seeds...)
	want, out := calm.research(t, researchArgs()...)
	if out.Code != 0 || want.Pages != 6 || want.Halted != "max_pages" {
		t.Fatalf("the undisturbed run: %+v\n%s", want, out.Stderr)
	}
	wantFiles := calm.files(t)
	again := newWikiPlace(t, fakes, seeds...)
	if _, out := again.research(t, researchArgs()...); out.Code != 0 {
		t.Fatal(out.Stderr)
	}
	compare(t, wantFiles, again.files(t))

	count := func(st *store.Store, status claim.SeedStatus) int {
		s, err := st.Seeds(context.Background(), "raft", status, 0)
		if err != nil {
			return 0
		}
		return len(s)
	}
	type point struct {
		name   string
		enough func(st *store.Store, id string) bool
	}
	points := []point{
		{"when the run is on record", func(*store.Store, string) bool { return true }},
		{"when seeds are leased", func(st *store.Store, _ string) bool { return count(st, claim.Active) > 0 }},
	}
	for _, n := range []int{1, 4, 7} {
		points = append(points, point{fmt.Sprintf("after %d fetches", n), func(st *store.Store, id string) bool { return answers(st, id) >= n }})
	}
	points = append(points, point{"when claims are found", func(st *store.Store, id string) bool { return found(st, id) > 0 }})
	for _, n := range []int{1, 2, 3, 5} {
		points = append(points, point{fmt.Sprintf("after %d settled seeds", n), func(st *store.Store, _ string) bool { return count(st, claim.Done)+count(st, claim.Failed) >= n }})
	}
	for _, pt := range points {
		t.Run(pt.name, func(t *testing.T) {
			t.Parallel()
			var p *wikiPlace
			open := false
			for range 4 {
				p = newWikiPlace(t, fakes, seeds...)
				if open = p.killResearch(t, pt.enough); open {
					break
				}
			}
			if !open {
				t.Fatal("the run was over before it was killed, four times: the kill proves nothing")
			}
			got, out := p.research(t, researchArgs()...)
			if out.Code != 0 || got.Halted != want.Halted || got.Pages != want.Pages || got.Claims != want.Claims {
				t.Fatalf("exit %d: %+v\nundisturbed %+v\n%s", out.Code, got, want, out.Stderr)
			}
			compare(t, wantFiles, p.files(t))
			st := p.OpenStore()
			if n := count(st, claim.Active); n > 0 {
				t.Errorf("%d seeds are stuck", n)
			}
		})
	}
}

func answers(st *store.Store, id string) int {
	n := 0
	seeds, _ := st.Seeds(context.Background(), "raft", "", 0)
	for _, s := range seeds {
		as, err := st.Answers(context.Background(), id, s.ID)
		if err == nil {
			n += len(as)
		}
	}
	return n
}

func found(st *store.Store, id string) int {
	n := 0
	seeds, _ := st.Seeds(context.Background(), "raft", "", 0)
	for _, s := range seeds {
		if _, _, ok, err := st.Found(context.Background(), id, s.ID); err == nil && ok {
			n++
		}
	}
	return n
}

// killResearch starts a run and kills it as soon as enough holds; it reports whether the run was still open.
func (p *wikiPlace) killResearch(t *testing.T, enough func(*store.Store, string) bool) bool {
	t.Helper()
	cmd := p.Command("starter", researchArgs()...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	st := p.tryOpen()
	if st == nil {
		t.Fatal("no database")
	}
	defer func() { _ = st.Close() }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-tick.C:
			runs, err := st.ResearchRuns(context.Background(), "raft", 1)
			over = err == nil && len(runs) == 1 && enough(st, runs[0].ID)
		}
	}
	kill(cmd)
	<-done
	runs, err := st.ResearchRuns(context.Background(), "raft", 1)
	return err == nil && len(runs) == 1 && runs[0].EndedAt == nil
}
