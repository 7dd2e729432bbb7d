package research

import (
	"strings"
	"testing"

	"whetstone/claim"
	"whetstone/internal/testcorpus"
)

type extractCase struct {
	ID, Query, Lang, Text string
	Good, Junk            []string
	Aside                 bool
}

// Selection finds what states something and leaves out what does not. A third of the documents is kept aside.
func TestSelectionKeepsStatementsAndLeavesJunk(t *testing.T) {
	for _, aside := range []bool{false, true} {
		good, found, junk, taken := 0, 0, 0, 0
		for _, c := range testcorpus.Read[extractCase](t, "testdata/extract.jsonl") {
			if c.Aside != aside {
				continue
			}
			got := Select(c.Query, []Text{{SourceID: "s", Title: "", Body: c.Text}}, Limits{Total: 8, PerSource: 8})
			has := func(s string) bool {
				s = clean(strings.Join(strings.Fields(s), " "))
				for _, f := range got {
					if strings.Contains(f.Text, s) {
						return true
					}
				}
				return false
			}
			for _, f := range got {
				if !f.Span.In(c.Text) {
					t.Errorf("%s: the span of %q is not in the text", c.ID, f.Text)
				}
			}
			for _, g := range c.Good {
				good++
				if has(g) {
					found++
				} else if !aside {
					t.Logf("%s missed: %s", c.ID, g)
				}
			}
			for _, j := range c.Junk {
				junk++
				if has(j) {
					taken++
					if !aside {
						t.Logf("%s TAKEN: %s", c.ID, j)
					}
				}
			}
		}
		recall, wrong := float64(found)/float64(good), float64(taken)/float64(junk)
		t.Logf("aside %v: %.2f of the good sentences, %.2f of the junk", aside, recall, wrong)
		if recall < 0.75 || wrong > 0.15 {
			t.Errorf("aside %v: recall %.2f (want 0.75), junk %.2f (at most 0.15)", aside, recall, wrong)
		}
	}
}

type duplicateCase struct {
	ID, A, B, Why string
	Duplicate     bool
	Aside         bool
}

func TestDuplicatesAreToldFromClaimsThatDiffer(t *testing.T) {
	for _, aside := range []bool{false, true} {
		tp, fp, fn := 0, 0, 0
		for _, c := range testcorpus.Read[duplicateCase](t, "testdata/duplicates.jsonl") {
			if c.Aside != aside {
				continue
			}
			got := Duplicate(c.A, c.B)
			if got != Duplicate(c.B, c.A) {
				t.Errorf("%s: not symmetrical", c.ID)
			}
			switch {
			case got && c.Duplicate:
				tp++
			case got:
				fp++
			case c.Duplicate:
				fn++
			}
			if got != c.Duplicate && !aside {
				t.Logf("%s: got %v\n  %s\n  %s", c.ID, got, c.A, c.B)
			}
		}
		t.Logf("aside %v: %d found, %d wrongly, %d missed", aside, tp, fp, fn)
		// A wrong duplicate loses a claim; a missed one only repeats it.
		if precision := float64(tp) / float64(tp+fp); precision < 0.8 {
			t.Errorf("aside %v: precision %.2f", aside, precision)
		}
		if recall := float64(tp) / float64(tp+fn); recall < 0.4 {
			t.Errorf("aside %v: recall %.2f", aside, recall)
		}
	}
}

type followCase struct {
	ID, Query     string
	Claims, Pages []string
	Good, Junk    []string
	Aside         bool
}

// Follow-up seeds are things, never the debris of sentences.
func TestFollowUpsAreTopicsAndNeverDebris(t *testing.T) {
	for _, aside := range []bool{false, true} {
		good, found, proposed, junk := 0, 0, 0, 0
		for _, c := range testcorpus.Read[followCase](t, "testdata/followups.jsonl") {
			if c.Aside != aside {
				continue
			}
			pages := map[string]bool{}
			for _, p := range c.Pages {
				pages[claim.Key(p)] = true
			}
			got := FollowUps(c.Query, c.Claims, func(k string) bool { return pages[k] }, 6)
			keys := map[string]bool{}
			for _, g := range got {
				keys[singular(claim.Key(g))] = true
			}
			for _, g := range c.Good {
				good++
				if keys[singular(claim.Key(g))] {
					found++
				}
			}
			proposed += len(got)
			for _, j := range c.Junk {
				if keys[singular(claim.Key(j))] {
					junk++
					if !aside {
						t.Logf("%s JUNK %q", c.ID, j)
					}
				}
			}
			if !aside {
				t.Logf("%s %q: got %q, want %q", c.ID, c.Query, got, c.Good)
			}
		}
		t.Logf("aside %v: %d of %d good ones in %d proposals, %d junk", aside, found, good, proposed, junk)
		if recall := float64(found) / float64(good); recall < 0.5 || float64(junk)/float64(proposed) > 0.05 {
			t.Errorf("aside %v: recall %.2f, junk %d of %d", aside, recall, junk, proposed)
		}
	}
}
