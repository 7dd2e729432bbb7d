package viewer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"whetstone/claim"
	"whetstone/internal/testcorpus"
)

type hostileCase struct {
	MD      string
	MustNot []string `json:"must_not"`
	Must    []string
	Why     string
}

// Nothing that runs, loads or submits survives, whatever a page holds; what can be read stays readable.
func TestHostileMarkdownIsHarmless(t *testing.T) {
	for i, c := range testcorpus.Read[hostileCase](t, "../testdata/hostile.jsonl") {
		html, _, err := toHTML(claim.Page{ID: "x", Path: "wiki/concept/x.md"}, c.MD, nil)
		if err != nil {
			t.Errorf("%d %s: %v", i+1, c.Why, err)
			continue
		}
		low := strings.ToLower(string(html))
		for _, bad := range c.MustNot {
			if strings.Contains(low, bad) {
				t.Errorf("%d %s: %q stands in\n%s", i+1, c.Why, bad, html)
			}
		}
		for _, good := range c.Must {
			if !strings.Contains(low, strings.ToLower(good)) {
				t.Errorf("%d %s: %q is missing in\n%s", i+1, c.Why, good, html)
			}
		}
	}
}

// example is a wiki with everything a viewer shows, hostile content included.
func example(t testing.TB) Input {
	t.Helper()
	span := func(q string) claim.Span {
		return claim.Span{SourceID: "a", Snapshot: strings.Repeat("f", 64), End: len(q), Quote: q}
	}
	in := Input{
		Slug: "raft", Title: `Raft <script>alert(1)</script>`, Flavor: "research", Private: true,
		Sources: []claim.Source{
			{ID: "a", N: 1, URL: "https://example.org/raft", Title: "In search of <b>consensus</b>", Fetcher: "web", Snapshot: strings.Repeat("f", 64)},
			{ID: "b", N: 2, URL: "javascript:alert(document.domain)", Title: "bad address", Fetcher: "custom", Snapshot: strings.Repeat("e", 64)},
			{ID: "c", N: 3, URL: "file:raw/notes.md", Title: "notes.md", Fetcher: "local", Snapshot: strings.Repeat("d", 64)},
		},
		Seeds:          []claim.Seed{{Text: "log compaction", Status: claim.Pending, Depth: 1}, {Text: "leader election", Status: claim.Done, PageID: "1", Found: 2, New: 2}},
		Contradictions: []claim.Contradiction{{A: "c1", B: "c2", Why: "the figures differ"}},
	}
	pages := []struct{ id, title, md string }{
		{"1", "Leader election", "---\ntitle: x\n---\n\n# Leader election\n\nA vote.[^1] See [Log](log.md), [source](<https://example.org/raft>), [raw](../../raw/notes.md), [bad](javascript:alert(1)), [out](../../../../etc/passwd).\n\n<img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>\n\n![picture](http://evil.example/p.png)\n\n[^1]: “A vote.” — [In search](<https://example.org/raft>)\n"},
		{"2", "日志复制", "# 日志复制\n\n领导者复制日志。一致性哈希。[^1]\n\n[^1]: “领导者复制日志。”\n"},
		{"3", "Log", "# Log\n\nAn unusual word: zyzzyva. </script><script>window.pwned=2</script>\n"},
	}
	for i, p := range pages {
		page := Page{Page: claim.Page{ID: p.id, Title: p.title, Kind: "concept", Path: []string{"wiki/concept/leader-election.md", "wiki/concept/日志复制.md", "wiki/concept/log.md"}[i], Origin: claim.ByResearch, State: claim.Live, Summary: "about " + p.title}, Markdown: p.md}
		if i < 2 {
			page.Claims = []claim.Claim{{ID: fmt.Sprintf("c%d", i+1), PageID: p.id, Text: "An election takes 150 milliseconds in case " + p.id + ".", Span: span("the very words of the source"), Confidence: 0.5}}
		}
		in.Pages = append(in.Pages, page)
	}
	return in
}

func render(t testing.TB) string {
	t.Helper()
	b, err := Render(example(t))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheFileIsWholeAndHoldsNoPathOfThisMachine(t *testing.T) {
	html := render(t)
	if again := render(t); again != html {
		t.Error("two renderings differ")
	}
	wd, _ := os.Getwd()
	for _, bad := range []string{wd, "/etc/passwd", "file://", `src="http`, `href="javascript:`, "evil.example/p.png", "@import"} {
		if strings.Contains(html, bad) {
			t.Errorf("%q stands in the file", bad)
		}
	}
	if !strings.Contains(html, "This wiki is private") {
		t.Error("no banner on a private wiki")
	}
	if n := strings.Count(html, "<script"); n != 2 { // the data and the viewer's own
		t.Errorf("%d script elements", n)
	}
	for _, ref := range regexp.MustCompile(`(?:src|href)="([^"#]*)"`).FindAllStringSubmatch(html, -1) {
		if u := ref[1]; u != "" && !strings.HasPrefix(u, "https://example.org/") && !strings.HasPrefix(u, "../raw/") {
			t.Errorf("the file refers to %q", u)
		}
	}
}

func TestEveryLinkInsideTheFileHasItsTarget(t *testing.T) {
	html := render(t)
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] {
			t.Errorf("id %q is there twice", m[1])
		}
		ids[m[1]] = true
	}
	n := 0
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(html, -1) {
		n++
		if !ids[m[1]] {
			t.Errorf("#%s leads nowhere", m[1])
		}
	}
	if n < 10 {
		t.Errorf("only %d links", n)
	}
}

// file writes the example where a browser can open it.
func file(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "viewer.html")
	if err := os.WriteFile(path, []byte(render(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
