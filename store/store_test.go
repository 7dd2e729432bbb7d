package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"whetstone/learning"
	"whetstone/run"
	"whetstone/validation"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "data.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func one(rule string) learning.Learning {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return learning.Learning{Status: learning.Approved, Category: "testing", Rule: rule, Observations: 1, CreatedAt: at, ValidFrom: at}
}

func TestOpenRefusesFilesItDoesNotKnowAndLeavesThemAlone(t *testing.T) {
	exec := func(path string, stmts ...string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		for _, q := range stmts {
			if _, err := db.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		make func(path string)
		want error
	}{
		"another program's database": {func(p string) { exec(p, "CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (1)") }, ErrForeign},
		"another application id":     {func(p string) { exec(p, "PRAGMA application_id = 7", "CREATE TABLE theirs (x)") }, ErrForeign},
		"a newer schema": {func(p string) {
			exec(p, fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 999", "CREATE TABLE t (x)")
		}, ErrNewer},
		"no database": {func(p string) { must(t, os.WriteFile(p, []byte("hello, I am a text file of some length"), 0o600)) }, ErrCorrupt},
		"a folder":    {func(p string) { must(t, os.Mkdir(p, 0o700)) }, ErrCorrupt},
		"a damaged database": {func(p string) {
			must(t, os.WriteFile(p, append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte{0x5a}, 8000)...), 0o600))
		}, ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data.db")
			c.make(path)
			before, _ := os.ReadFile(path)
			s, err := Open(t.Context(), Options{Path: path})
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), path) {
				t.Errorf("the message does not name the file: %v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenWorksAtAPathWithSpecialCharacters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%20e")
	must(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, "data.db")
	s, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	must(t, s.Close())
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// Sixty hooks race for a fresh home, as on a machine where an agent starts with many of them.
func TestManyOpenAFreshFileAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.db")
	var wg sync.WaitGroup
	errs := make(chan error, 60)
	for i := range 60 {
		wg.Go(func() {
			s, err := Open(t.Context(), Options{Path: path})
			if err == nil {
				_, err = s.AddLearnings(t.Context(), []learning.Learning{one(fmt.Sprintf("rule number %d", i))})
				err = errors.Join(err, s.Close())
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		must(t, err)
	}
	s, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	defer func() { _ = s.Close() }()
	ls, err := s.Learnings(t.Context(), learning.Filter{})
	must(t, err)
	if len(ls) != 60 {
		t.Errorf("%d learnings of 60", len(ls))
	}
}

func TestLearningsAreOneByIdentity(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	a := one("Never sleep in tests.")
	a.Skill = "go-testing"
	added, err := s.AddLearnings(ctx, []learning.Learning{a, one("never sleep  in tests"), one("close files")})
	must(t, err)
	if added.New != 2 || added.Existing != 1 {
		t.Errorf("%+v", added)
	}
	b := one("Never sleep in tests")
	b.Skill = "other"
	added, err = s.AddLearnings(ctx, []learning.Learning{b})
	must(t, err)
	if added.Linked != 1 {
		t.Errorf("%+v", added)
	}
	got, err := s.Learning(ctx, added.IDs[0][:8])
	must(t, err)
	if got.Skill != "go-testing" || strings.Join(got.Skills, ",") != "go-testing,other" {
		t.Errorf("skill %q, skills %v", got.Skill, got.Skills)
	}
	for _, k := range []string{"go-testing", "other"} {
		ls, err := s.Learnings(ctx, learning.Filter{Skill: k})
		must(t, err)
		if len(ls) != 1 {
			t.Errorf("%s has %d learnings", k, len(ls))
		}
	}
	if _, err := s.Learning(ctx, "l_nothing"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown id: %v", err)
	}
}

func TestCapturesAreOnceByEventAndObservedAgainBySession(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	capture := func(session string) learning.Capture {
		l := one("never sleep in tests")
		l.Session = session
		return learning.Capture{Event: learning.CaptureID(session, "t1", l.Rule), Learning: l}
	}
	for range 100 {
		_, err := s.AddCaptures(ctx, []learning.Capture{capture("s1")})
		must(t, err)
	}
	ls, err := s.Learnings(ctx, learning.Filter{})
	must(t, err)
	if len(ls) != 1 || ls[0].Observations != 1 || ls[0].Status != learning.Pending {
		t.Fatalf("after 100 repeats of one event: %+v", ls)
	}
	_, err = s.AddCaptures(ctx, []learning.Capture{capture("s2")})
	must(t, err)
	ls, err = s.Learnings(ctx, learning.Filter{Status: learning.Pending})
	must(t, err)
	if len(ls) != 1 || ls[0].Observations != 2 {
		t.Errorf("after another session: %+v", ls)
	}
}

func TestARejectedLearningIsNotRevivedByAnImport(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	added, err := s.AddLearnings(ctx, []learning.Learning{one("use tabs everywhere")})
	must(t, err)
	must(t, s.SetStatus(ctx, added.IDs, learning.Rejected))
	_, err = s.AddLearnings(ctx, []learning.Learning{one("use tabs everywhere")})
	must(t, err)
	l, err := s.Learning(ctx, added.IDs[0])
	must(t, err)
	if l.Status != learning.Rejected {
		t.Errorf("status %s", l.Status)
	}
	evs, err := s.Events(ctx, added.IDs[0])
	must(t, err)
	if len(evs) != 2 || evs[1].Kind != "learning.rejected" {
		t.Errorf("journal %+v", evs)
	}
	if err := s.SetStatus(ctx, []string{added.IDs[0], "l_nothing"}, learning.Approved); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown id among known ones: %v", err)
	}
	if l, _ = s.Learning(ctx, added.IDs[0]); l.Status != learning.Rejected {
		t.Error("half a change was made")
	}
}

func TestSearchRanksByField(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	inRule, inMistake, zh := one("golden files are regenerated with a flag"), one("compare the output"), one("迁移脚本里不要使用 ORM 模型")
	inMistake.Mistake = "golden files were edited"
	_, err := s.AddLearnings(ctx, []learning.Learning{inMistake, inRule, zh, one("unrelated advice about names")})
	must(t, err)
	hits, err := s.SearchLearnings(ctx, LearningQuery{Text: "golden files", Limit: 0})
	must(t, err)
	if len(hits) != 2 || hits[0].Rule != inRule.Rule || hits[0].Rank <= hits[1].Rank {
		t.Errorf("hits %+v", hits)
	}
	if !strings.Contains(hits[0].Snippet, "[") {
		t.Errorf("snippet %q", hits[0].Snippet)
	}
	for _, q := range []string{"迁移", "迁移脚本", "ORM", "使用模型"} {
		if hits, err := s.SearchLearnings(ctx, LearningQuery{Text: q, Limit: 5}); err != nil || len(hits) != 1 {
			t.Errorf("%q: %d hits, %v", q, len(hits), err)
		}
	}
	must(t, s.SetStatus(ctx, []string{hits[0].ID}, learning.Rejected))
	if hits, err = s.SearchLearnings(ctx, LearningQuery{Text: "golden", Limit: 1}); err != nil || len(hits) != 1 {
		t.Errorf("limit: %d hits, %v", len(hits), err)
	}
}

// No text that a person can type is a syntax error.
func FuzzSearch(f *testing.F) {
	for _, q := range []string{`"`, `a OR`, `NEAR(a b)`, `*`, `a:b`, `-x`, `it's`, `c++`, `x"y`, `测试 a`, `^a`, "a\x00b", `(`, `{a}`, `AND`, `a/b.c`} {
		f.Add(q)
	}
	s, err := Open(context.Background(), Options{Path: filepath.Join(f.TempDir(), "data.db")})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	if _, err := s.AddLearnings(context.Background(), []learning.Learning{one("never sleep in tests"), one("不要 在测试里 睡眠")}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, q string) {
		if len(q) > 500 {
			return
		}
		if _, err := s.SearchLearnings(t.Context(), LearningQuery{Text: q, Limit: 10}); err != nil {
			t.Fatalf("%q: %v", q, err)
		}
	})
}

func begin(t *testing.T, s *Store, id string) {
	t.Helper()
	must(t, s.BeginRun(t.Context(), run.Run{ID: id, WorkflowID: "optimize/x", SkillKey: "x", StartedAt: s.Now()}))
}

func TestSidesAreAssignedOnce(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	begin(t, s, "r1")
	begin(t, s, "r2")
	it := validation.Item{ID: "i1", Kind: "llm", Side: validation.Train, Weight: 1, Learning: []string{"l1"}}
	must(t, s.Freeze(ctx, "r1", "x", []validation.Item{it}, []validation.Excluded{{Learning: "l9", Reason: "junk"}}))
	it.Side = validation.Selection
	must(t, s.Freeze(ctx, "r2", "x", []validation.Item{it}, nil))
	sides, err := s.Sides(ctx, "x")
	must(t, err)
	if sides["i1"] != validation.Train {
		t.Errorf("the side moved: %v", sides)
	}
	ex, err := s.RunExcluded(ctx, "r1")
	must(t, err)
	if len(ex) != 1 || ex[0].Learning != "l9" {
		t.Errorf("excluded %+v", ex)
	}
}

func TestAGivenVerdictIsNeverReplaced(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	begin(t, s, "r1")
	put := func(st validation.State) {
		must(t, s.PutVerdicts(ctx, "r1", "baseline", "h", []validation.Verdict{{Item: "i", State: st}}))
	}
	state := func() validation.State {
		vs, err := s.Verdicts(ctx, "r1", "baseline", "h")
		must(t, err)
		return vs[0].State
	}
	put(validation.Missing)
	put(validation.Pass)
	if state() != validation.Pass {
		t.Error("a missing verdict was not filled in")
	}
	put(validation.Fail)
	if state() != validation.Pass {
		t.Error("a given verdict was replaced")
	}
}

func TestAVerdictNamesItsJudge(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	begin(t, s, "r1")
	put := func(st validation.State, judge string) {
		must(t, s.PutVerdicts(ctx, "r1", "baseline", "h", []validation.Verdict{{Item: "i", State: st, Judge: judge}}))
	}
	judge := func() string {
		vs, err := s.Verdicts(ctx, "r1", "baseline", "h")
		must(t, err)
		return vs[0].Judge
	}
	put(validation.Missing, "openai:first")
	if judge() != "openai:first" {
		t.Errorf("judge %q", judge())
	}
	put(validation.Pass, "openai:second") // it filled in what the first left open
	put(validation.Fail, "openai:third")  // and a given one stays its judge's
	if judge() != "openai:second" {
		t.Errorf("judge %q", judge())
	}
}

func TestLooksAreNumberedOverTheLifeOfAManifest(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	for _, c := range []struct {
		run       string
		step, try int
		want      int
	}{{"r1", 1, 0, 0}, {"r1", 1, 1, 1}, {"r1", 1, 0, 0}, {"r2", 1, 0, 2}, {"r2", 2, 0, 3}} {
		got, err := s.Look(ctx, "x", "m", c.run, c.step, c.try)
		must(t, err)
		if got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
	if n, err := s.Look(ctx, "x", "other", "r1", 1, 0); err != nil || n != 0 {
		t.Errorf("another manifest begins at %d (%v)", n, err)
	}
}

func TestTheFirstRefusalStays(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	must(t, s.PutRejection(ctx, run.Rejection{Bundle: "b", SkillKey: "x", Reason: "first", Patches: []run.PatchRecord{{Op: "add", Payload: "p"}}, Divisible: true}))
	must(t, s.PutRejection(ctx, run.Rejection{Bundle: "b", SkillKey: "x", Reason: "second"}))
	r, found, err := s.Rejection(ctx, "b")
	must(t, err)
	if !found || r.Reason != "first" || !r.Divisible || r.Patches[0].Payload != "p" {
		t.Errorf("%+v", r)
	}
	if _, found, err = s.Rejection(ctx, "c"); found || err != nil {
		t.Errorf("found %v, err %v", found, err)
	}
}

func TestTheFirstEndingOfARunStays(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	begin(t, s, "run-one")
	must(t, s.EndRun(ctx, "run-one", run.Accepted, &run.Result{RunID: "run-one", Outcome: run.Accepted}))
	must(t, s.EndRun(ctx, "run-one", run.Failed, &run.Result{Outcome: run.Failed}))
	r, err := s.Run(ctx, "run-")
	must(t, err)
	if r.Outcome != run.Accepted || r.Result.Outcome != run.Accepted || r.EndedAt == nil {
		t.Errorf("%+v", r)
	}
}

func TestPatchesThatWereAcceptedStayAccepted(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	begin(t, s, "r")
	must(t, s.PutPatches(ctx, "r", 1, []run.PatchRecord{{Key: "a", Op: "add", State: "selected"}, {Key: "b", Op: "add", State: "selected"}}))
	must(t, s.MarkPatches(ctx, "r", 1, []string{"a", "b"}, "rejected", "the bundle"))
	must(t, s.MarkPatches(ctx, "r", 1, []string{"a"}, "accepted", "its half"))
	must(t, s.MarkPatches(ctx, "r", 1, []string{"a", "b"}, "rejected", "again"))
	ps, err := s.Patches(ctx, "r", 1)
	must(t, err)
	if ps[0].State != "accepted" || ps[1].State != "rejected" {
		t.Errorf("%+v", ps)
	}
}
