package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"whetstone/learning"
)

// Bounds of the search for candidates: it runs while a person waits for the agent to begin.
const (
	// A term that more learnings hold than saysNothing says nothing about which one is meant.
	saysNothing = 2000
	// maxPostings is how many entries of the index are read for one prompt.
	maxPostings = 6000
	// candidateChunk learnings are read at once, and candidateChunks times at most.
	candidateChunk  = 50
	candidateChunks = 6
)

// Candidates lists learnings that may reach an agent of a project and share words with a text, those that share most and the
// rarest first: approved, valid now, of that project or of none. Unlike SearchLearnings it ranks by which terms a learning
// holds, weighed by how few hold them, and not by BM25, which takes ten times as long over terms that thousands hold; the
// caller judges relevance.
func (s *Store) Candidates(ctx context.Context, text, project string, limit int) ([]learning.Learning, error) {
	t := wikiTerms(text)
	var score scores
	budget := maxPostings
	for _, e := range []struct {
		table string
		terms []string
	}{{"learnings_words", t.wordList}, {"learnings_cjk", t.cjkList}} {
		if len(e.terms) == 0 {
			continue
		}
		// Long words are rare ones, more often than not: where the budget ends, short ones are left out.
		terms := slices.Clone(e.terms)
		slices.SortStableFunc(terms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
		if err := s.postings(ctx, e.table, terms, &budget, &score); err != nil {
			return nil, err
		}
	}
	order := score.best(candidateChunk * candidateChunks)
	var out []learning.Learning
	now := s.now()
	for part := range slices.Chunk(order, max(1, min(limit, candidateChunk))) {
		byN, err := s.learningsByN(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, n := range part {
			if l, ok := byN[n]; ok && usable(&l, project, now) {
				if out = append(out, l); len(out) == limit {
					return out, nil
				}
			}
		}
	}
	return out, nil
}

// postings adds to the score of each learning what the terms that it holds weigh.
func (s *Store) postings(ctx context.Context, table string, terms []string, budget *int, score *scores) error {
	// One row with all of them is read in half the time of a row for each. The table is a constant of this file.
	stmt, err := s.read.PrepareContext(ctx, `SELECT coalesce(group_concat(rowid), '') FROM (SELECT rowid FROM `+table+` WHERE `+table+` MATCH ? LIMIT ?)`)
	if err != nil {
		return wrap(err, "search learnings")
	}
	defer func() { _ = stmt.Close() }()
	for _, term := range terms {
		if *budget <= 0 {
			return nil
		}
		var list string
		if err := stmt.QueryRowContext(ctx, term, saysNothing+1).Scan(&list); err != nil {
			return wrap(err, "search learnings")
		}
		if list == "" {
			continue
		}
		holders := strings.Count(list, ",") + 1
		*budget -= holders
		if holders > saysNothing {
			continue
		}
		weight := math.Log1p(saysNothing * 4 / float64(holders))
		for one := range strings.SplitSeq(list, ",") {
			n, err := strconv.ParseInt(one, 10, 64)
			if err != nil {
				return fmt.Errorf("search learnings: %w", err)
			}
			score.add(n, weight)
		}
	}
	return nil
}

// UsableFor lists learnings that may reach an agent of a project at the start of a session: the newest of the project and of no
// project, and those that were applied or seen more than once, at most limit of each kind.
func (s *Store) UsableFor(ctx context.Context, project string, limit int) ([]learning.Learning, error) {
	now := stamp(s.now())
	const may = `l.status = 'approved' AND l.wiki = '' AND l.valid_from <= ?2 AND (l.valid_to IS NULL OR l.valid_to > ?2)`
	var out []learning.Learning
	seen := map[string]bool{}
	for _, order := range []string{
		`AND l.project = ?1 ORDER BY l.created_at DESC, l.n DESC`,
		`AND l.project = '' AND ?1 <> '' ORDER BY l.created_at DESC, l.n DESC`,
		`AND l.project IN ('', ?1) AND (l.times_applied > 0 OR l.observations > 1) ORDER BY l.times_applied DESC, l.observations DESC, l.n DESC`,
	} {
		ls, err := collect(ctx, s.read, "list usable learnings", func(r scanner) (learning.Learning, error) { return scanLearning(r) },
			`SELECT `+learningColumns+` FROM learnings l WHERE `+may+` `+order+` LIMIT ?3`, project, now, limit)
		if err != nil {
			return nil, err
		}
		for _, l := range ls {
			if !seen[l.ID] {
				seen[l.ID] = true
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// scores are the sums of learnings by their row, which are numbered from 1 with few gaps.
type scores struct {
	byRow []float32
	rest  map[int64]float32 // of rows beyond maxRow
}

const maxRow = 1 << 20

func (s *scores) add(n int64, weight float64) {
	if n < 0 || n >= maxRow {
		if s.rest == nil {
			s.rest = map[int64]float32{}
		}
		s.rest[n] += float32(weight)
		return
	}
	if n >= int64(len(s.byRow)) {
		s.byRow = append(s.byRow, make([]float32, n+1-int64(len(s.byRow))+1024)...)
	}
	s.byRow[n] += float32(weight)
}

// best lists the rows with the highest sums, the highest first, the older of equals first.
func (s *scores) best(limit int) []int64 {
	type row struct {
		n int64
		v float32
	}
	order := func(a, b row) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.n, b.n)) }
	var rows []row
	least := float32(0)
	take := func(n int64, v float32) {
		if v <= least {
			return
		}
		rows = append(rows, row{n, v})
		if len(rows) >= 4*limit { // drop what can not be among the best any more
			slices.SortFunc(rows, order)
			rows = rows[:limit]
			// An equal later one ranks below: rows come in their order.
			least = rows[limit-1].v
		}
	}
	for n, v := range s.byRow {
		take(int64(n), v)
	}
	for _, n := range slices.Sorted(maps.Keys(s.rest)) {
		take(n, s.rest[n])
	}
	slices.SortFunc(rows, order)
	out := make([]int64, min(limit, len(rows)))
	for i := range out {
		out[i] = rows[i].n
	}
	return out
}
