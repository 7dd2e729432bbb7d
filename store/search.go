package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"whetstone/internal/words"
	"whetstone/learning"
)

// Hit is a learning that a search found.
type Hit struct {
	learning.Learning
	Rank    float64 `json:"rank"` // higher is better
	Snippet string  `json:"snippet"`
}

// SearchLearnings finds learnings by words in category, rule, mistake and correction, best first: BM25 with weights
// 1, 2, 1, 1 for words, plus occurrences for Chinese, Japanese and Korean, which are not written in words. No query is a
// syntax error: every term is quoted. limit <= 0 means all.
func (s *Store) SearchLearnings(ctx context.Context, query string, limit int) ([]Hit, error) {
	latin, cjk := terms(query)
	found := map[string]*Hit{}
	if len(latin) > 0 {
		hits, err := collect(ctx, s.read, "search learnings", func(r scanner) (Hit, error) {
			var h Hit
			var err error
			h.Learning, err = scanLearning(r, &h.Rank, &h.Snippet)
			return h, err
		}, `SELECT `+learningColumns+`, -bm25(learnings_fts, 1, 2, 1, 1), snippet(learnings_fts, -1, '[', ']', '…', 24)
			FROM learnings_fts JOIN learnings l ON l.n = learnings_fts.rowid
			WHERE learnings_fts MATCH ? AND l.status <> 'forgotten'`, strings.Join(latin, " OR "))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			found[h.ID] = &h
		}
	}
	for _, term := range cjk {
		hits, err := collect(ctx, s.read, "search learnings", func(r scanner) (Hit, error) {
			var h Hit
			var err error
			h.Learning, err = scanLearning(r, &h.Rank)
			h.Snippet = h.Rule
			return h, err
		}, `SELECT `+learningColumns+`, (instr(l.category, ?1) > 0) + 2 * (instr(l.rule, ?1) > 0) + (instr(l.mistake, ?1) > 0) + (instr(l.correction, ?1) > 0) AS hits
			FROM learnings l WHERE hits > 0 AND l.status <> 'forgotten'`, term)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if have, ok := found[h.ID]; ok {
				have.Rank += h.Rank
			} else {
				found[h.ID] = &h
			}
		}
	}
	out := make([]Hit, 0, len(found))
	for _, h := range found {
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

// terms splits a query into quoted FTS terms and runs of CJK characters, which longer than two are also cut to bigrams,
// since nobody types a phrase exactly as it was stored.
func terms(query string) (latin, cjk []string) {
	var word, run []rune
	flush := func() {
		if len(word) > 0 {
			latin = append(latin, `"`+string(word)+`"`)
			word = word[:0]
		}
		switch {
		case len(run) > 2:
			for i := 0; i+1 < len(run); i++ {
				cjk = append(cjk, string(run[i:i+2]))
			}
		case len(run) > 0:
			cjk = append(cjk, string(run))
		}
		run = run[:0]
	}
	cjkNow := false
	for _, r := range query {
		is := words.IsCJK(r)
		if is != cjkNow {
			flush()
			cjkNow = is
		}
		switch {
		case is:
			run = append(run, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			word = append(word, r)
		default:
			flush()
		}
	}
	flush()
	slices.Sort(cjk)
	return latin, slices.Compact(cjk)
}

// SearchIDs is SearchLearnings for callers that want ids only.
func (s *Store) SearchIDs(ctx context.Context, query string, limit int) ([]string, error) {
	hits, err := s.SearchLearnings(ctx, query, limit)
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, err
}
