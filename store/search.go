package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"whetstone/learning"
)

// Hit is a learning that a search found.
type Hit struct {
	learning.Learning
	Rank    float64 `json:"rank"` // higher is better
	Snippet string  `json:"snippet"`
}

// LearningQuery is a search in learnings.
type LearningQuery struct {
	Text  string
	Limit int // <= 0 is all
	// Engines limits the search to some of words, trigrams, cjk; nil is all. For measuring.
	Engines []string
}

// SearchLearnings finds learnings by category, rule, mistake and correction, best first: BM25 over words and the parts of
// identifiers, trigrams for substrings, bigrams for Chinese, Japanese and Korean, fused by reciprocal rank. No query is a
// syntax error: every term is quoted. Forgotten ones are never found.
func (s *Store) SearchLearnings(ctx context.Context, q LearningQuery) ([]Hit, error) {
	t := wikiTerms(q.Text)
	depth := max(depthOfList, q.Limit)
	if q.Limit <= 0 {
		depth = -1
	}
	score := map[int64]float64{}
	for _, e := range []struct {
		name, match, rank string
		weight            float64
	}{
		{"words", t.words, `bm25(learnings_words, 1, 2, 1, 1, 0.8)`, 1},
		{"trigrams", t.trigrams, `bm25(learnings_trigrams, 2, 1, 1, 1)`, t.trigramWeight},
		{"cjk", t.cjk, `bm25(learnings_cjk)`, 1},
	} {
		if e.match == "" || q.Engines != nil && !slices.Contains(q.Engines, e.name) {
			continue
		}
		table := "learnings_" + e.name // a constant of this file
		ns, err := collect(ctx, s.read, "search learnings", func(r scanner) (int64, error) {
			var n int64
			return n, r.Scan(&n)
		}, `SELECT l.n FROM `+table+` f JOIN learnings l ON l.n = f.rowid WHERE `+table+` MATCH ?1 AND l.status <> 'forgotten'
			ORDER BY `+e.rank+`, l.created_at, l.n LIMIT ?2`, e.match, depth)
		if err != nil {
			return nil, err
		}
		for i, n := range ns {
			score[n] += e.weight / float64(rrfK+i+1)
		}
	}
	order := make([]int64, 0, len(score))
	for n := range score {
		order = append(order, n)
	}
	slices.SortFunc(order, func(a, b int64) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b)) })
	if q.Limit > 0 && len(order) > q.Limit {
		order = order[:q.Limit]
	}
	byN, err := s.learningsByN(ctx, order)
	if err != nil {
		return nil, err
	}
	out := make([]Hit, 0, len(order))
	for _, n := range order {
		if l, ok := byN[n]; ok {
			out = append(out, Hit{l, math.Round(score[n]*1e6) / 1e6, mark(excerpt(strings.Join([]string{l.Rule, l.Mistake, l.Correction}, " "), t.plain), t.plain)})
		}
	}
	return out, nil
}

func (s *Store) learningsByN(ctx context.Context, ns []int64) (map[int64]learning.Learning, error) {
	out := make(map[int64]learning.Learning, len(ns))
	for part := range slices.Chunk(ns, 500) {
		args := make([]any, len(part))
		for i, n := range part {
			args[i] = n
		}
		type row struct {
			n int64
			l learning.Learning
		}
		rows, err := collect(ctx, s.read, "read learnings", func(r scanner) (row, error) {
			var x row
			var err error
			x.l, err = scanLearning(r, &x.n)
			return x, err
		}, `SELECT `+learningColumns+`, l.n FROM learnings l WHERE l.n IN (?`+strings.Repeat(`, ?`, len(part)-1)+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out[r.n] = r.l
		}
	}
	return out, nil
}

// LearningsByID reads learnings in the order of the ids; those that may not reach an agent now are left out.
func (s *Store) LearningsByID(ctx context.Context, ids []string, project string) ([]learning.Learning, error) {
	var out []learning.Learning
	now := s.Now()
	for _, id := range ids {
		l, err := scanLearning(s.read.QueryRowContext(ctx, `SELECT `+learningColumns+` FROM learnings l WHERE l.id = ?`, id))
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, wrap(err, "read learning %s", id)
		}
		if usable(&l, project, now) {
			out = append(out, l)
		}
	}
	return out, nil
}

func usable(l *learning.Learning, project string, now time.Time) bool {
	return l.Status == learning.Approved && (l.Project == "" || l.Project == project) && l.ValidAt(now)
}

// SearchIDs is SearchLearnings for callers that want ids only.
func (s *Store) SearchIDs(ctx context.Context, query string, limit int) ([]string, error) {
	hits, err := s.SearchLearnings(ctx, LearningQuery{Text: query, Limit: limit})
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, err
}

// mark puts what was looked for into brackets.
func mark(text string, terms []string) string {
	for _, t := range terms {
		low := strings.ToLower(text)
		if i := strings.Index(low, t); i >= 0 && len(low) == len(text) && !strings.Contains(text[:i], "[") && !strings.HasPrefix(text[i:], "[") {
			return text[:i] + "[" + text[i:i+len(t)] + "]" + text[i+len(t):]
		}
	}
	return text
}
