package e2e

import (
	"path/filepath"
	"testing"

	"whetstone/internal/fakesource"
)

// Sources elsewhere are recorded, too: a replay asks none of them and ends with the same files.
func TestRecordedResearchIsReplayedWithoutItsSources(t *testing.T) {
	fakes := fakesource.Start(t, fakesource.Options{World: fakesource.Default()})
	const seed = "Raft leader election"
	p := newWikiPlace(t, fakes, seed)
	rec := filepath.Join(t.TempDir(), "rec")
	want, out := p.research(t, researchArgs("--max-pages", "3", "--record", rec)...)
	if out.Code != 0 || want.Pages != 3 {
		t.Fatalf("%+v\n%s", want, out.Stderr)
	}
	others := fakesource.Start(t, fakesource.Options{}) // they know nothing any more
	q := newWikiPlace(t, others, seed)
	got, out := q.research(t, researchArgs("--max-pages", "3", "--replay", rec)...)
	if out.Code != 0 || got.Pages != want.Pages || got.Claims != want.Claims || got.Halted != want.Halted {
		t.Errorf("exit %d, %+v, want %+v\n%s", out.Code, got, want, out.Stderr)
	}
	compare(t, p.files(t), q.files(t))
	if n := len(others.Requests()); n > 0 {
		t.Errorf("%d question(s) were asked", n)
	}
}
