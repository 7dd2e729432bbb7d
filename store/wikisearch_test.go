package store

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"whetstone/claim"
	"whetstone/internal/testcorpus"
)

type labelledPage struct{ ID, Wiki, Kind, Title, Summary, Body, Lang string }

type labelledQuery struct {
	ID, Text, Lang string
	Relevant       map[string]int
	Aside          bool
}

func retrievalStore(t testing.TB) *Store {
	t.Helper()
	st, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "data.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	wikis := map[string]bool{}
	for _, p := range testcorpus.Read[labelledPage](t, "../wiki/testdata/retrieval/pages.jsonl") {
		if !wikis[p.Wiki] {
			wikis[p.Wiki] = true
			if err := st.AddWiki(t.Context(), claim.Wiki{Slug: p.Wiki, Title: p.Wiki, Flavor: "research", Root: "/" + p.Wiki, CreatedAt: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		page := claim.Page{ID: p.ID, Wiki: p.Wiki, Path: "wiki/" + p.Kind + "/" + p.ID + ".md", Kind: p.Kind, Title: p.Title, Key: p.ID, Summary: p.Summary, Origin: claim.ByPerson, State: claim.Live, UpdatedAt: time.Now()}
		if err := st.PutPage(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		if err := st.PlacedPage(t.Context(), page, p.Body); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

// figures of one engine over the labelled queries.
func measure(t testing.TB, st *Store, queries []labelledQuery, engines []string, verbose bool) (recall, ndcg float64) {
	t.Helper()
	for _, q := range queries {
		hits, err := st.SearchWikis(t.Context(), WikiQuery{Text: q.Text, Limit: 10, Engines: engines})
		if err != nil {
			t.Fatalf("%s: %v", q.ID, err)
		}
		found, dcg, ideal := 0, 0.0, 0.0
		var got []string
		for i, h := range hits {
			got = append(got, h.PageID)
			grade := q.Relevant[h.PageID]
			if grade > 0 && i < 5 {
				found++
			}
			dcg += (math.Pow(2, float64(grade)) - 1) / math.Log2(float64(i+2))
		}
		var grades []int
		for _, g := range q.Relevant {
			grades = append(grades, g)
		}
		slices.Sort(grades)
		slices.Reverse(grades)
		for i, g := range grades {
			ideal += (math.Pow(2, float64(g)) - 1) / math.Log2(float64(i+2))
		}
		recall += float64(found) / float64(min(len(q.Relevant), 5))
		ndcg += dcg / ideal
		if verbose && found < len(q.Relevant) {
			t.Logf("%s %q: got %v, want %v", q.ID, q.Text, got, q.Relevant)
		}
	}
	n := float64(len(queries))
	return recall / n, ndcg / n
}

// The figures are in docs/benchmarks.md; the bounds keep them from falling unseen.
func TestTheLabelledQuestionsFindTheirPages(t *testing.T) {
	st := retrievalStore(t)
	all := testcorpus.Read[labelledQuery](t, "../wiki/testdata/retrieval/queries.jsonl")
	part := func(aside bool, lang string) []labelledQuery {
		return slices.DeleteFunc(slices.Clone(all), func(q labelledQuery) bool { return q.Aside != aside || lang != "" && q.Lang != lang })
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-10s %-8s %-6s %8s %8s\n", "engine", "queries", "n", "recall@5", "nDCG@10")
	for _, e := range []struct {
		name    string
		engines []string
	}{{"BM25", []string{"words"}}, {"trigram", []string{"trigrams"}}, {"CJK", []string{"cjk"}}, {"fusion", nil}} {
		for _, p := range []struct {
			name    string
			queries []labelledQuery
		}{{"tuned", part(false, "")}, {"en", part(false, "en")}, {"code", part(false, "code")}, {"zh", part(false, "zh")}, {"aside", part(true, "")}, {"all", all}} {
			r, n := measure(t, st, p.queries, e.engines, e.name == "fusion" && p.name == "tuned" && os.Getenv("VERBOSE") != "")
			fmt.Fprintf(&table, "%-10s %-8s %-6d %8.3f %8.3f\n", e.name, p.name, len(p.queries), r, n)
			if e.name == "fusion" && (r < 0.85 || n < 0.8) {
				t.Errorf("fusion on %s: recall@5 %.3f, nDCG@10 %.3f", p.name, r, n)
			}
		}
	}
	t.Log(table.String())
}

// No question a person can type raises a syntax error.
func FuzzWikiSearch(f *testing.F) {
	for _, q := range []string{`"`, `a"b`, "NEAR(", "a AND", "-x", "*", "col:x", "(", "foo->bar", "索引", "姜", "\x00", "a' OR 1", "C++", "#", "…"} {
		f.Add(q)
	}
	st := retrievalStore(f)
	f.Fuzz(func(t *testing.T, q string) {
		if _, err := st.SearchWikis(t.Context(), WikiQuery{Text: q}); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	})
}
