package workflows

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/run"
	"whetstone/store"
)

// meaning is an embedding model that knows a few synonyms.
type meaning struct{ texts, calls int }

func (m *meaning) Embedder(model.Ref) (model.Embedder, error) { return m, nil }

func (m *meaning) Embed(_ context.Context, r model.EmbedRequest) (model.EmbedReply, error) {
	m.calls++
	m.texts += len(r.Texts)
	var out model.EmbedReply
	for _, t := range r.Texts {
		out.Vectors = append(out.Vectors, vectorOf(t))
		out.Usage.Input += len(t) / 4
	}
	return out, nil
}

func vectorOf(t string) []float32 {
	v := make([]float32, 64)
	for _, w := range strings.Fields(strings.ToLower(strings.NewReplacer("automobile", "car", "motorcar", "car").Replace(t))) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(strings.Trim(w, ".,")))
		v[h.Sum32()%64]++
	}
	return v
}

// The reference embedded 200 pages and no more, and never again what had changed.
func TestEveryPageIsEmbeddedOnceAndAgainWhenItChanges(t *testing.T) {
	w := newWikiWorld(t, nil, "")
	emb := &meaning{}
	w.model.price = model.Price{Input: 0.02}
	acts, err := activities.New(activities.Options{Store: w.store, Models: w.model, Embedders: emb, Locals: locals{}, KillFile: filepath.Join(w.dir, "STOP")})
	if err != nil {
		t.Fatal(err)
	}
	const pages = 230
	for i := range pages {
		text := fmt.Sprintf("# Page %d\n\nThe number of this page is %d.\n", i, i)
		if i == 7 {
			text = "# Wheels\n\nA car has four wheels and one engine.\n"
		}
		if err := os.WriteFile(filepath.Join(w.wiki.Root, "wiki", "concept", fmt.Sprintf("p%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.research(w.env(), run.ResearchParams{Fetchers: []string{"local"}, MaxPages: ptr(0)}); err != nil {
		t.Fatal(err) // takes note of the pages
	}
	embed := func(runID string, budget float64) activities.EmbedPagesOut {
		t.Helper()
		out, err := acts.EmbedPages(t.Context(), activities.EmbedPagesIn{Job: activities.ResearchJob{RunID: runID, Wiki: "raft", Settings: run.ResearchSettings{Embedding: "paid:vectors", BudgetUSD: budget}}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := embed("broke", 0); out.Stopped != "budget" || emb.calls != 0 {
		t.Errorf("with a budget of zero: %+v, %d calls", out, emb.calls)
	}
	if out := embed("one", 1); out.Pages != pages || out.Embedded != pages || out.Stopped != "" || out.Calls < 2 || out.Calls > 8 {
		t.Errorf("first: %+v", out)
	}
	if spent, calls, err := w.store.Spent(t.Context(), "one"); err != nil || spent == 0 || calls != emb.calls {
		t.Errorf("the ledger: %v in %d calls, %v", spent, calls, err)
	}
	before := emb.texts
	if out := embed("two", 1); out.Embedded != 0 || emb.texts != before {
		t.Errorf("unchanged pages were sent again: %+v", out)
	}
	page := filepath.Join(w.wiki.Root, "wiki", "concept", "p3.md")
	if err := os.WriteFile(page, []byte("# Page 3\n\nThis one is new.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := embed("three", 1); out.Embedded != 1 {
		t.Errorf("a changed page: %+v", out)
	}
	// A question without a word in common finds its page by meaning, and only with the vector.
	q := store.WikiQuery{Text: "automobile", Limit: 3, What: "page"}
	if hits, err := w.store.SearchWikis(t.Context(), q); err != nil || len(hits) != 0 {
		t.Errorf("by words: %+v, %v", hits, err)
	}
	q.Vector, q.Model = store.Unit(vectorOf("automobile engine wheels")), "paid:vectors"
	hits, err := w.store.SearchWikis(t.Context(), q)
	if err != nil || len(hits) == 0 || hits[0].Title != "Wheels" {
		t.Errorf("by meaning: %+v, %v", hits, err)
	}
	if n, embedded, err := w.store.VectorCounts(t.Context(), "raft", "paid:vectors"); err != nil || n != embedded || n < pages {
		t.Errorf("%d chunks, %d embedded, %v", n, embedded, err)
	}
}
