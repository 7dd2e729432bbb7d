package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"whetstone/claim"
	"whetstone/learning"
	"whetstone/project"
	"whetstone/wiki"
)

// The negative evaluation: what must not happen, counted, and each count is zero. Prompts and replies were written apart from the
// code.
func TestNegativeEvaluation(t *testing.T) {
	var set struct {
		Prompts   []struct{ ID, Prompt string }
		Replies   []struct{ ID, Reply, Why string }
		Learnings []struct{ Category, Rule string }
	}
	b, err := os.ReadFile("../../hook/testdata/negatives.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &set); err != nil {
		t.Fatal(err)
	}
	if len(set.Prompts) < 60 || len(set.Replies) < 60 || len(set.Learnings) < 40 {
		t.Fatalf("%d prompts, %d replies, %d learnings", len(set.Prompts), len(set.Replies), len(set.Learnings))
	}

	t.Run("prompts for which nothing may be told", func(t *testing.T) {
		m := newMachine(t)
		var rules []string
		for _, l := range set.Learnings {
			rules = append(rules, l.Rule)
		}
		m.approved(rules...)
		told := 0
		for _, p := range set.Prompts {
			if out, _, _ := m.run(payload("UserPromptSubmit", "session_id", p.ID, "prompt_id", p.ID, "prompt", p.Prompt)); out != "" {
				told++
				t.Errorf("%s %q: %s", p.ID, p.Prompt, out)
			}
		}
		t.Logf("%d of %d prompts were told something", told, len(set.Prompts))
	})

	t.Run("replies that must not be captured", func(t *testing.T) {
		m := newMachine(t)
		s := m.store()
		for _, r := range set.Replies {
			m.run(payload("Stop", "session_id", r.ID, "prompt_id", r.ID, "last_assistant_message", r.Reply))
		}
		ls, err := s.Learnings(t.Context(), learning.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range ls {
			t.Errorf("captured from %s: %s: %s", l.Session, l.Category, l.Rule)
		}
		t.Logf("%d of %d replies were captured", len(ls), len(set.Replies))
	})

	t.Run("learnings that must not come back", func(t *testing.T) {
		m := newMachine(t)
		s := m.approved("give the importer a retry with backoff")
		ctx := t.Context()
		here, err := s.AddProject(ctx, project.Find("/tmp").Keys, "here")
		if err != nil {
			t.Fatal(err)
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		past, soon := m.now().Add(-time.Hour), m.now().Add(time.Hour)
		n := 0
		bad := map[string]string{} // a word of the rule that occurs in no other, to what it is
		one := func(kind string, change func(*learning.Learning)) string {
			n++
			word := fmt.Sprintf("importer%02dx", n)
			bad[word] = kind
			l := learning.Learning{Category: "retry", Rule: "the importer gives its " + word + " a retry with backoff", Status: learning.Approved, CreatedAt: m.now().Add(-2 * time.Hour), ValidFrom: m.now().Add(-2 * time.Hour)}
			if change != nil {
				change(&l)
			}
			a, err := s.AddLearnings(ctx, []learning.Learning{l})
			must(err)
			return a.IDs[0]
		}
		one("pending", func(l *learning.Learning) { l.Status = learning.Pending })
		must(s.SetStatus(ctx, []string{one("rejected", nil)}, learning.Rejected))
		if _, err := s.Forget(ctx, one("forgotten", nil)); err != nil {
			t.Fatal(err)
		}
		newer := one("pending, and newer than another", func(l *learning.Learning) { l.Status = learning.Pending })
		must(s.Supersede(ctx, one("superseded", nil), newer))
		one("no longer valid", func(l *learning.Learning) { l.ValidTo = &past })
		one("not yet valid", func(l *learning.Learning) { l.ValidFrom = soon })
		one("of another project", func(l *learning.Learning) { l.Project = "origin:elsewhere" })
		one("of another project, pending", func(l *learning.Learning) { l.Project, l.Status = "origin:elsewhere", learning.Pending })
		one("of a wiki that is not relevant", func(l *learning.Learning) { l.Wiki = "gardening" })
		one("of a wiki that nobody knows", func(l *learning.Learning) { l.Wiki = "nowhere" })
		one("of a private wiki", func(l *learning.Learning) { l.Wiki = "diary" })
		one("of this project, rejected", func(l *learning.Learning) { l.Project, l.Status = here, learning.Rejected })
		must(s.AddWiki(ctx, claim.Wiki{Slug: "diary", Title: "Importer and retry with backoff", Private: true, Root: t.TempDir(), Flavor: wiki.Flavors()[0], CreatedAt: m.now()}))
		told := 0
		for session := range 4 {
			var out strings.Builder
			id := fmt.Sprint("s", session)
			for _, send := range []func() (string, int, string){
				func() (string, int, string) {
					return m.run(payload("SessionStart", "session_id", id, "source", "startup"))
				},
				func() (string, int, string) {
					return m.run(payload("UserPromptSubmit", "session_id", id, "prompt_id", "a", "prompt", "Give the importer a retry with backoff: importer01x importer02x importer03x importer04x importer05x importer06x importer07x importer08x importer09x importer10x importer11x importer12x importer13x"))
				},
				func() (string, int, string) {
					return m.run(payload("UserPromptSubmit", "session_id", id, "prompt_id", "b", "prompt", "Why does the retry of the importer not use the backoff?"))
				},
				func() (string, int, string) { return m.run(payload("PreCompact", "session_id", id)) },
				func() (string, int, string) {
					return m.run(payload("SessionStart", "session_id", id, "source", "compact"))
				},
				func() (string, int, string) {
					return m.run(payload("UserPromptSubmit", "session_id", id, "prompt_id", "c", "prompt", "The importer again: its retry has no backoff."))
				},
			} {
				text, code, reason := send()
				if code != 0 {
					t.Fatalf("%d %s", code, reason)
				}
				out.WriteString(text)
			}
			if !strings.Contains(out.String(), "give the importer a retry with backoff") {
				t.Errorf("the approved rule was not told: the test shows nothing")
			}
			for word, kind := range bad {
				if strings.Contains(out.String(), word) {
					told++
					t.Errorf("told, although it is %s", kind)
				}
			}
		}
		t.Logf("%d of %d came back", told, len(bad))
	})
}
