package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"whetstone/learning"
)

// recall@5 over a labelled set that was written apart from the code: 300 rules, 100 queries, half of them identifiers of code or
// Chinese, Japanese and Korean. A third of the queries was kept aside from tuning.
func TestLearnSearchFindsWhatPeopleLookFor(t *testing.T) {
	var set struct {
		Learnings []struct{ ID, Category, Rule, Mistake, Correction string }
		Queries   []struct {
			ID, Text, Kind string
			Relevant       []string
			Aside          bool
		}
	}
	b, err := os.ReadFile("testdata/learnsearch.json")
	must(t, err)
	must(t, json.Unmarshal(b, &set))
	if len(set.Learnings) < 300 || len(set.Queries) < 100 {
		t.Fatalf("%d learnings, %d queries", len(set.Learnings), len(set.Queries))
	}
	s := open(t)
	name := map[string]string{}
	for _, x := range set.Learnings {
		l := one(x.Rule)
		l.Category, l.Mistake, l.Correction = x.Category, x.Mistake, x.Correction
		added, err := s.AddLearnings(t.Context(), []learning.Learning{l})
		must(t, err)
		name[added.IDs[0]] = x.ID
	}
	engines := map[string][]string{"words": {"words"}, "trigrams": {"trigrams"}, "cjk": {"cjk"}, "fusion": nil}
	for _, e := range []string{"words", "trigrams", "cjk", "fusion"} {
		for _, aside := range []bool{false, true} {
			sum, n := 0.0, 0
			for _, q := range set.Queries {
				if q.Aside != aside {
					continue
				}
				hits, err := s.SearchLearnings(t.Context(), LearningQuery{Text: q.Text, Limit: 5, Engines: engines[e]})
				must(t, err)
				found := 0
				for _, h := range hits {
					for _, r := range q.Relevant {
						if name[h.ID] == r {
							found++
						}
					}
				}
				r := float64(found) / float64(min(5, len(q.Relevant)))
				sum += r
				n++
				if e == "fusion" && r < 1 && !aside && os.Getenv("SHOW") != "" {
					t.Logf("%s %q: %.2f", q.Kind, q.Text, r)
				}
			}
			t.Logf("%s, aside %v: recall@5 %.3f of %d queries", e, aside, sum/float64(n), n)
			if e == "fusion" && sum/float64(n) < 0.95 {
				t.Errorf("recall@5 is %.3f (aside %v)", sum/float64(n), aside)
			}
		}
	}
}

// No query is a syntax error. A million of them were run once (QUERIES=1000000); a few thousand are run always.
func TestNoQueryIsAnError(t *testing.T) {
	n := 4000
	if v := os.Getenv("QUERIES"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t)
	_, err := s.AddLearnings(t.Context(), []learning.Learning{one("use t.Cleanup and don't AND NOT \"defer\" /etc/hosts"), one("迁移脚本不要使用 ORM")})
	must(t, err)
	parts := []string{"AND", "OR", "NOT", "NEAR", "NEAR(", "(", ")", "\"", "'", "*", "^", ":", "-", "+", "{", "}", "[", "]", "\\", "/", "%", "_", ";", "--", "\x00", "\n", "\t", "a", "rule:", "迁移", "迁", "がぎ", "한국", "é", "\u202e", "😀", "\xff", "t.Cleanup", "don't", "${x}", "<b>", "0", "\u200d", "ﬁ"}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for range n {
		var b strings.Builder
		for range rng.IntN(9) {
			b.WriteString(parts[rng.IntN(len(parts))])
			if rng.IntN(3) == 0 {
				b.WriteByte(' ')
			}
			if rng.IntN(12) == 0 {
				b.WriteRune(rune(rng.IntN(0x10ffff)))
			}
		}
		if _, err := s.SearchLearnings(t.Context(), LearningQuery{Text: b.String(), Limit: 5}); err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
	}
}
