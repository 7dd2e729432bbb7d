// Command retrieval measures how long the lexical search takes over many claims: it fills a fresh database with N claims on
// N/10 pages (default 50,000) made of the words of the labelled pages, so that questions meet as much as they would in a
// real wiki, and asks the labelled questions, five times each. It prints the median and the 95th percentile.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"whetstone/claim"
	"whetstone/store"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func lines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the labelled set (run from the repository): %w", err)
	}
	defer func() { _ = f.Close() }()
	var out []T
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var v T
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, sc.Err()
}

func run(ctx context.Context) error {
	n := 50_000
	if len(os.Args) > 1 {
		var err error
		if n, err = strconv.Atoi(os.Args[1]); err != nil {
			return err
		}
	}
	type page struct{ Title, Body string }
	type question struct{ Text string }
	pages, err := lines[page]("wiki/testdata/retrieval/pages.jsonl")
	if err != nil {
		return err
	}
	questions, err := lines[question]("wiki/testdata/retrieval/queries.jsonl")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "whetstone-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	st, err := store.Open(ctx, store.Options{Path: filepath.Join(dir, "data.db")})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	if err := fill(ctx, st, n, func(r *rand.Rand) string {
		// Half of one page's words and half of another's: natural frequencies, no text twice.
		a, b := strings.Fields(pages[r.IntN(len(pages))].Body), strings.Fields(pages[r.IntN(len(pages))].Body)
		i, j := r.IntN(max(1, len(a)-8)), r.IntN(max(1, len(b)-8))
		return strings.Join(append(slices.Clone(a[i:min(len(a), i+8)]), b[j:min(len(b), j+8)]...), " ") + " " + strconv.Itoa(r.IntN(1e9))
	}); err != nil {
		return err
	}
	var took []time.Duration
	for range 5 {
		for _, q := range questions {
			began := time.Now()
			if _, err := st.SearchWikis(ctx, store.WikiQuery{Text: q.Text, Limit: 8}); err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	fmt.Printf("%d claims, %d questions: median %v, 95th percentile %v, slowest %v\n", n, len(took), took[len(took)/2].Round(100*time.Microsecond), took[len(took)*95/100].Round(100*time.Microsecond), took[len(took)-1].Round(100*time.Microsecond))
	return nil
}

// fill settles seeds of ten claims each.
func fill(ctx context.Context, st *store.Store, n int, text func(*rand.Rand) string) error {
	if err := st.AddWiki(ctx, claim.Wiki{Slug: "bench", Title: "bench", Flavor: "research", Root: "/bench", CreatedAt: time.Now()}); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n / 10 {
		seed := claim.Seed{Wiki: "bench", Text: "topic " + strconv.Itoa(i), Kind: claim.Topic, Origin: "person"}
		if _, err := st.AddSeeds(ctx, []claim.Seed{seed}); err != nil {
			return err
		}
		b, err := st.ClaimSeeds(ctx, "bench", "run", i+1, 1, 0)
		if err != nil {
			return err
		}
		id := claim.ID("bench", strconv.Itoa(i))
		x := claim.Settlement{RunID: "run", Seed: b.Seeds[0], Page: &claim.Page{ID: id, Wiki: "bench", Path: "wiki/concept/" + id + ".md", Kind: "concept", Title: "Topic " + strconv.Itoa(i), Key: seed.Text, Origin: claim.ByResearch, State: claim.Live}}
		x.Seed.Status, x.Seed.PageID = claim.Done, id
		for range 10 {
			t := text(r)
			x.Claims = append(x.Claims, claim.Claim{ID: claim.ID(t), Wiki: "bench", PageID: id, Text: t, Span: claim.Span{SourceID: "s", Snapshot: "h", End: 1, Quote: "q"}})
		}
		if err := st.SettleSeed(ctx, x, func(claim.Claim) float64 { return 0.5 }); err != nil {
			return err
		}
	}
	return nil
}
