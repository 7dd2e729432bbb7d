package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"whetstone/internal/fakesource"
	"whetstone/source"
)

func query(text string) source.Query { return source.Query{Text: text, Limit: 5} }

var quick = time.Duration(0)

// fakes starts all fakes and a set that is configured for them.
func fakes(t *testing.T, next func(fakesource.Request) fakesource.Fault) (*fakesource.Server, *Set) {
	t.Helper()
	srv := fakesource.Start(t, fakesource.Options{World: fakesource.Default(), Next: next, RetryAfter: 3 * time.Second})
	cfg := map[string]Config{}
	for _, n := range fakesource.Sources() {
		c := Config{BaseURL: srv.URL(n), Interval: &quick, Key: "test-key-0123456789"}
		if n == fakesource.Web {
			u, _ := url.Parse(srv.URL(n))
			c = Config{Interval: &quick, Hosts: []string{u.Host}}
		}
		cfg[n] = c
	}
	s, err := New(Options{Sources: cfg, Contact: "mailto:dev@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	return srv, s
}

func fetcher(t *testing.T, s *Set, name string, private bool) source.Fetcher {
	t.Helper()
	f, err := s.Fetcher(name, private)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var remote = []string{"arxiv", "wikipedia", "github", "semanticscholar", "openalex", "searxng", "brave", "tavily"}

func TestEverySourceFindsDocuments(t *testing.T) {
	srv, s := fakes(t, nil)
	var urls []string
	for _, n := range remote {
		docs, err := fetcher(t, s, n, false).Fetch(t.Context(), query("Raft leader election"))
		if err != nil || len(docs) == 0 {
			t.Errorf("%s: %d documents, %v", n, len(docs), err)
			continue
		}
		for _, d := range docs {
			if d.URL == "" || d.Title == "" || strings.TrimSpace(d.Text) == "" || d.Fetcher != n || strings.Contains(d.Title, "<") || strings.Contains(d.Text, "&amp;") {
				t.Errorf("%s: %+v", n, d)
			}
			if d.Snippet {
				urls = append(urls, d.URL)
			}
		}
	}
	docs, err := fetcher(t, s, "web", false).Fetch(t.Context(), source.Query{URLs: urls, Limit: 3})
	if err != nil || len(docs) == 0 {
		t.Fatalf("web: %d documents, %v", len(docs), err)
	}
	for _, d := range docs {
		for _, bad := range []string{"cookie", "<p>", "Subscribe", "function("} {
			if strings.Contains(d.Text, bad) {
				t.Errorf("%s: %q stands in\n%s", d.URL, bad, d.Text)
			}
		}
		if len(strings.Fields(d.Text)) < 60 {
			t.Errorf("%s: the article is too short:\n%s", d.URL, d.Text)
		}
	}
	for _, r := range srv.Requests() {
		if !strings.HasPrefix(r.Header.Get("User-Agent"), "whetstone/") {
			t.Errorf("%s was asked by %q", r.Source, r.Header.Get("User-Agent"))
		}
	}
	zh, err := fetcher(t, s, "wikipedia", false).Fetch(t.Context(), query("缓存穿透"))
	if err != nil || len(zh) == 0 || !strings.Contains(zh[0].URL, "//zh.wikipedia.org/") {
		t.Errorf("a Chinese question: %+v, %v", zh, err)
	}
}

// The reference turned every error into an empty list.
func TestEveryFailureIsTyped(t *testing.T) {
	want := map[fakesource.Fault][]source.Kind{
		fakesource.RateLimited: {source.RateLimited, source.Quota}, fakesource.SecondaryLimit: {source.RateLimited}, fakesource.PlanLimit: {source.Quota}, fakesource.SpendLimit: {source.Quota},
		fakesource.APILimit: {source.RateLimited}, fakesource.MaxLag: {source.Unavailable}, fakesource.ErrorEntry: {source.BadQuery}, fakesource.Unresponsive: {source.Unavailable},
		fakesource.ServerError: {source.Unavailable}, fakesource.BadGateway: {source.Unavailable}, fakesource.Unavailable: {source.RateLimited, source.Unavailable}, fakesource.Unauthorised: {source.Unauthorised}, fakesource.Forbidden: {source.Unauthorised},
		fakesource.NotFound: {source.NotFound}, fakesource.Truncated: {source.Unavailable}, fakesource.NotJSON: {source.Malformed}, fakesource.Reset: {source.Unavailable}, fakesource.TooLarge: {source.TooLarge},
	}
	for _, n := range append(remote, "web") {
		for _, fault := range fakesource.Faults(n) {
			if fault == fakesource.Hang || fault == fakesource.Empty {
				continue
			}
			t.Run(n+"/"+string(fault), func(t *testing.T) {
				t.Parallel()
				robots := n == "web"
				srv, s := fakes(t, func(r fakesource.Request) fakesource.Fault {
					if r.Source != n || robots && r.Path == "/robots.txt" {
						return fakesource.None
					}
					return fault
				})
				q := query("Raft leader election")
				if n == "web" {
					q.URLs = []string{srv.URL("web") + "/raft-overview.html"}
				}
				docs, err := fetcher(t, s, n, false).Fetch(t.Context(), q)
				e, ok := source.AsError(err)
				if n == "web" && fault == fakesource.NotJSON {
					return // a page of HTML is what the web source asks for
				}
				if !ok {
					t.Fatalf("%d documents, error %v (%T)", len(docs), err, err)
				}
				found := false
				for _, k := range want[fault] {
					found = found || e.Kind == k
				}
				if !found || e.Fetcher != n || e.Error() == "" {
					t.Errorf("kind %s, want one of %v: %v", e.Kind, want[fault], err)
				}
				if strings.Contains(err.Error(), "test-key-0123456789") {
					t.Errorf("the key stands in %q", err)
				}
				if fault == fakesource.Unavailable && e.RetryAfter != 3*time.Second {
					t.Errorf("retry after %v", e.RetryAfter)
				}
			})
		}
	}
}

func TestNothingFoundIsNoError(t *testing.T) {
	_, s := fakes(t, func(fakesource.Request) fakesource.Fault { return fakesource.Empty })
	for _, n := range remote {
		if docs, err := fetcher(t, s, n, false).Fetch(t.Context(), query("Raft")); err != nil || len(docs) != 0 {
			t.Errorf("%s: %d documents, %v", n, len(docs), err)
		}
	}
}

func TestASourceThatHangsTimesOut(t *testing.T) {
	_, s := fakes(t, func(fakesource.Request) fakesource.Fault { return fakesource.Hang })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := fetcher(t, s, "arxiv", false).Fetch(ctx, query("raft"))
	if e, ok := source.AsError(err); !ok || e.Kind != source.Timeout {
		t.Errorf("%v", err)
	}
}

func TestKeysAreSentAsDocumented(t *testing.T) {
	srv, s := fakes(t, nil)
	for _, n := range []string{"github", "brave", "tavily", "semanticscholar", "openalex"} {
		srv.Unauthorised(n, "test-key-0123456789")
		if _, err := fetcher(t, s, n, false).Fetch(t.Context(), query("raft")); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
	none, err := New(Options{Sources: map[string]Config{"brave": {BaseURL: srv.URL("brave")}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fetcher(t, none, "brave", false).Fetch(t.Context(), query("raft")); err == nil || !strings.Contains(err.Error(), "BRAVE_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
}

// A private wiki sends nothing off the machine: every dial of every fetcher is refused before it is made.
func TestAPrivateWikiSendsNothing(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	srv, s := fakes(t, func(r fakesource.Request) fakesource.Fault {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Source]++
		return fakesource.None
	})
	for _, n := range remote {
		c := s.o.Sources[n]
		c.BaseURL = "" // the public service
		if n == "searxng" {
			c.BaseURL = "http://search.example.org"
		}
		s.o.Sources[n] = c
	}
	resolved := 0
	s.o.Resolve = func(ctx context.Context, network, host string) ([]netip4, error) {
		resolved++
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	for _, n := range append(remote, "web") {
		q := query("raft")
		q.URLs = []string{srv.URL("web") + "/raft-overview.html", "https://example.org/"}
		docs, err := fetcher(t, s, n, true).Fetch(t.Context(), q)
		if err == nil || len(docs) > 0 {
			t.Errorf("%s: %d documents, %v", n, len(docs), err)
		}
	}
	if len(asked) > 0 {
		t.Errorf("asked: %v", asked)
	}
	// An instance on this machine stays within reach.
	s.o.Sources["searxng"] = Config{BaseURL: srv.URL("searxng"), Interval: &quick}
	if docs, err := fetcher(t, s, "searxng", true).Fetch(t.Context(), query("raft")); err != nil || len(docs) == 0 {
		t.Errorf("searxng on this machine: %d, %v", len(docs), err)
	}
}

func TestRateLimitsAreSharedByHost(t *testing.T) {
	srv, s := fakes(t, nil)
	slow := 60 * time.Millisecond
	c := s.o.Sources["arxiv"]
	c.Interval = &slow
	s.o.Sources["arxiv"] = c
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { _, _ = fetcher(t, s, "arxiv", false).Fetch(t.Context(), query("raft")) })
	}
	wg.Wait()
	reqs := srv.Requests()
	if len(reqs) != 4 {
		t.Fatalf("%d requests", len(reqs))
	}
	for i := 1; i < len(reqs); i++ {
		if gap := reqs[i].At.Sub(reqs[i-1].At); gap < slow-10*time.Millisecond {
			t.Errorf("request %d came %v after the one before", i, gap)
		}
	}
}

func TestTheWebSourceKeepsToItsRules(t *testing.T) {
	srv, s := fakes(t, nil)
	base := srv.URL("web")
	f := fetcher(t, s, "web", false)
	get := func(path string) ([]source.Document, *source.Error) {
		docs, err := f.Fetch(t.Context(), source.Query{URLs: []string{base + path}})
		e, _ := source.AsError(err)
		return docs, e
	}
	srv.Robots("User-agent: *\nDisallow: /secret\n")
	srv.Page("/secret.html", "text/html", []byte("<p>no</p>"))
	if docs, e := get("/secret.html"); e == nil || e.Kind != source.Blocked || len(docs) > 0 {
		t.Errorf("robots.txt: %v", e)
	}
	srv.Page("/file.bin", "application/octet-stream", []byte{0, 1, 2})
	if _, e := get("/file.bin"); e == nil || e.Kind != source.Blocked {
		t.Errorf("a binary: %v", e)
	}
	srv.Page("/big.html", "text/html", []byte(strings.Repeat("<p>word word word</p>", 300_000)))
	if _, e := get("/big.html"); e == nil || e.Kind != source.TooLarge {
		t.Errorf("a big page: %v", e)
	}
	for _, to := range []string{"http://127.0.0.1:1/", "http://169.254.169.254/latest", "file:///etc/passwd", "http://[::1]/"} {
		srv.Redirect("/away", to)
		if _, e := get("/away"); e == nil || e.Kind != source.Blocked {
			t.Errorf("a redirect to %s: %v", to, e)
		}
	}
	srv.Redirect("/loop", "/loop")
	if _, e := get("/loop"); e == nil || e.Kind != source.Blocked {
		t.Errorf("a loop: %v", e)
	}
	srv.Page("/gbk.html", "text/html; charset=gbk", append([]byte("<html><body><article><p>"), append([]byte{0xbb, 0xba, 0xb4, 0xe6}, []byte("</p></article></body></html>")...)...))
	if docs, e := get("/gbk.html"); e != nil || len(docs) != 1 || !strings.Contains(docs[0].Text, "缓存") {
		t.Errorf("GBK: %+v, %v", docs, e)
	}
	// One page that fails does not hide the others, and they do not hide it.
	docs, err := f.Fetch(t.Context(), source.Query{URLs: []string{base + "/nothing.html", base + "/raft-overview.html"}})
	if len(docs) != 1 || err == nil {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

func TestLocalFilesAreReadWithinTheirFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		p := filepath.Join(dir, name)
		_ = os.MkdirAll(filepath.Dir(p), 0o700)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("raw/raft.md", "# Raft\n\nRaft elects a leader by majority vote.\n")
	write("raw/sub/notes.txt", "Leader election in Raft needs a majority.\n")
	write("raw/page.html", "<html><head><title>Election</title></head><body><p>A Raft leader sends heartbeats.</p></body></html>")
	write("raw/other.md", "Bread rises.\n")
	write("raw/binary.md", "\x00\x01")
	write("outside.md", "Raft secret outside.\n")
	if err := os.Symlink(filepath.Join(dir, "outside.md"), filepath.Join(dir, "raw", "link.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	docs, err := local{}.Fetch(t.Context(), source.Query{Text: "Raft leader", Paths: []string{dir}, Limit: 10})
	// What could not be read is told beside what could.
	if e, ok := source.AsError(err); !ok || e.Kind != source.Malformed || e.Retryable() || !strings.Contains(err.Error(), "binary.md") || !strings.Contains(err.Error(), "link.md") {
		t.Errorf("skipped files: %v", err)
	}
	var got []string
	for _, d := range docs {
		got = append(got, d.URL)
		if strings.Contains(d.Text, "secret") || strings.Contains(d.URL, dir) {
			t.Errorf("%+v", d)
		}
	}
	if want := "[file:raw/page.html file:raw/raft.md file:raw/sub/notes.txt]"; len(got) != 3 || fmt.Sprint(sorted(got)) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if _, err := (local{}).Fetch(t.Context(), source.Query{Text: "raft", Paths: []string{dir, filepath.Join(dir, "gone")}}); err == nil {
		t.Error("a path that is not there passed in silence")
	}
}

func TestCustomExecutablesAreLimited(t *testing.T) {
	dir := t.TempDir()
	put := func(name, script string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put("good", `read q; printf '{"documents":[{"url":"https://example.org/x#f","title":"T","text":"env %s %s"}]}' "$OPENAI_API_KEY" "$q" | tr -d '\n' | sed 's/{"limit":5,"query":"raft"}/asked/'`)
	put("huge", `head -c 6000000 /dev/zero`)
	put("fails", `exit 3`)
	put("prose", `echo hello`)
	put("limited", `echo '{"error":{"kind":"rate_limited","message":"slow down","retry_after_s":7}}'`)
	put("indoors", `echo '{"documents":[]}'`)
	if err := os.WriteFile(filepath.Join(dir, "indoors.json"), []byte(`{"remote": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPENAI_API_KEY", "sk-leak")
	s, err := New(Options{Custom: dir})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := fetcher(t, s, "good", false).Fetch(t.Context(), query("raft"))
	if err != nil || len(docs) != 1 || docs[0].Text != "env  asked" && !strings.Contains(docs[0].Text, "env") || strings.Contains(docs[0].Text, "sk-leak") || docs[0].URL != "https://example.org/x" {
		b, _ := json.Marshal(docs)
		t.Errorf("%s, %v", b, err)
	}
	for name, kind := range map[string]source.Kind{"huge": source.TooLarge, "fails": source.Unavailable, "prose": source.Malformed, "limited": source.RateLimited} {
		_, err := fetcher(t, s, name, false).Fetch(t.Context(), query("raft"))
		if e, ok := source.AsError(err); !ok || e.Kind != kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := fetcher(t, s, "good", true).Fetch(t.Context(), query("raft")); err == nil {
		t.Error("an executable that may leave the machine ran for a private wiki")
	}
	if _, err := fetcher(t, s, "indoors", true).Fetch(t.Context(), query("raft")); err != nil {
		t.Errorf("one that stays: %v", err)
	}
	for _, bad := range []string{"../good", "nothing", "Good"} {
		if _, err := s.Fetcher(bad, false); err == nil {
			t.Errorf("%q is a source", bad)
		}
	}
}

var _ http.RoundTripper = LoopbackTransport()
