package hook

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"whetstone/learning"
)

type judged struct {
	Learnings []struct{ ID, Category, Rule string }
	Prompts   []struct {
		ID, Prompt string
		Want       []string
	}
}

func judgements(t *testing.T, path string) judged {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var j judged
	if err := json.Unmarshal(b, &j); err != nil {
		t.Fatal(err)
	}
	return j
}

func (j judged) list() (ls []learning.Learning) {
	for i, l := range j.Learnings {
		id := l.ID
		if id == "" {
			id = "l" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		}
		ls = append(ls, learning.Learning{ID: id, Category: l.Category, Rule: l.Rule})
	}
	return ls
}

// Prompts for which nothing may be told, and prompts that one or a few of sixty rules are about. Both were written apart from
// the code; every second of the relevant ones was kept aside from tuning.
func TestRelevantRulesAreToldAndOthersAreNot(t *testing.T) {
	neg := judgements(t, "testdata/negatives.json")
	for _, p := range neg.Prompts {
		if got := Relevant(p.Prompt, neg.list(), 3); len(got) > 0 {
			t.Errorf("%q was told %q", p.Prompt, got[0].Rule)
		}
	}
	rel := judgements(t, "testdata/relevant.json")
	for _, aside := range []bool{false, true} {
		wanted, found, extra := 0, 0, 0
		for i, p := range rel.Prompts {
			if aside != (i%2 == 1) {
				continue
			}
			got := Relevant(p.Prompt, rel.list(), 3)
			wanted += len(p.Want)
			for _, g := range got {
				if slices.Contains(p.Want, g.ID) {
					found++
				} else {
					extra++
					if os.Getenv("SHOW") != "" && !aside {
						t.Logf("EXTRA %q: %q", p.Prompt, g.Rule)
					}
				}
			}
			if os.Getenv("SHOW") != "" && !aside {
				for _, w := range p.Want {
					if !slices.ContainsFunc(got, func(l learning.Learning) bool { return l.ID == w }) {
						k := slices.IndexFunc(rel.list(), func(l learning.Learning) bool { return l.ID == w })
						l := rel.list()[k]
						t.Logf("MISS %.2f %q: %q", NewTopic(p.Prompt).Relevance(&l), p.Prompt, l.Rule)
					}
				}
			}
		}
		recall, precision := float64(found)/float64(wanted), float64(found)/float64(max(1, found+extra))
		t.Logf("aside %v: %d of %d wanted rules told (%.2f), %d others (precision %.2f)", aside, found, wanted, recall, extra, precision)
		if recall < 0.75 || precision < 0.9 {
			t.Errorf("aside %v: recall %.2f, precision %.2f", aside, recall, precision)
		}
	}
	if len(neg.Prompts) < 60 || len(rel.Prompts) < 60 {
		t.Error("the sets are not whole")
	}
}
