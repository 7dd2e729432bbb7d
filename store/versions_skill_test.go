package store

import (
	"errors"
	"slices"
	"testing"
	"time"

	"whetstone/run"
)

// A rollback puts an older text back: it has to become the latest delivery again, while a retried delivery must not.
func TestWhatIsDeliveredAgainByAnotherIsTheLatest(t *testing.T) {
	s := open(t)
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.now = func() time.Time { clock = clock.Add(time.Second); return clock }
	for _, a := range []struct{ hash, run, latest string }{{"one", "run-1", "one"}, {"two", "run-2", "two"}, {"one", "run-1", "two"}, {"one", "rollback-2", "one"}} {
		if err := s.Attest(t.Context(), run.Attestation{Hash: a.hash, Path: "/p", SkillKey: "k", RunID: a.run}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Attestations(t.Context(), "/p")
		if err != nil || got[0].Hash != a.latest {
			t.Fatalf("after %s by %s the latest is %+v, want %s (%v)", a.hash, a.run, got, a.latest, err)
		}
	}
	if got, err := s.Attestations(t.Context(), "/elsewhere"); err != nil || len(got) > 0 {
		t.Errorf("another path has attestations: %v %v", got, err)
	}
}

func TestSkillsAndTheirLastRuns(t *testing.T) {
	s := open(t)
	hash, err := s.PutText(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []run.Version{{Skill: "b", Path: "/b", RunID: "1", How: "found"}, {Skill: "a", Path: "/a", RunID: "2", How: "found"}, {Skill: "b", Path: "/b", RunID: "3", How: "written"}, {Skill: "a", Path: "/other/a", RunID: "4", How: "found"}} {
		v.Hash = hash
		if err := s.PutVersion(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := s.Skills(t.Context()); err != nil || !slices.Equal(files, [][2]string{{"a", "/a"}, {"a", "/other/a"}, {"b", "/b"}}) {
		t.Errorf("skills %v, want two files of a and one of b (%v)", files, err)
	}
	if vs, err := s.VersionsAt(t.Context(), "/b"); err != nil || len(vs) != 2 || vs[0].How != "written" {
		t.Errorf("versions of /b: %v (%v)", vs, err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, id := range []string{"later", "earlier"} {
		if err := s.BeginRun(t.Context(), run.Run{ID: id, SkillKey: "a", SkillPath: "/a", StartedAt: at.Add(-time.Duration(i) * time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := s.LastRun(t.Context(), "a", "/a"); err != nil || r.ID != "later" {
		t.Errorf("the last run of a is %q (%v)", r.ID, err)
	}
	if _, err := s.LastRun(t.Context(), "a", "/other/a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a skill without a run: %v", err)
	}
}
