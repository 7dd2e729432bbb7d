package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"whetstone/claim"
	"whetstone/internal/words"
)

const claimColumns = `c.n, c.id, c.wiki, c.page_id, c.text, c.source_id, c.snapshot, c.span_start, c.span_end, c.quote, c.confidence, c.verified_at, c.unsupported, c.created_at`

func scanClaim(r scanner) (claim.Claim, error) {
	var c claim.Claim
	var verified sql.NullString
	var created string
	if err := r.Scan(&c.CreatedBySeq, &c.ID, &c.Wiki, &c.PageID, &c.Text, &c.Span.SourceID, &c.Span.Snapshot, &c.Span.Start, &c.Span.End, &c.Span.Quote, &c.Confidence, &verified, &c.Unsupported, &created); err != nil {
		return c, err
	}
	var err error
	if c.VerifiedAt, err = nullTime(verified); err != nil {
		return c, err
	}
	c.CreatedAt, err = parseTime(created)
	return c, err
}

// ClaimFilter narrows a list of claims.
type ClaimFilter = claim.Filter

// Claims lists claims in order of creation, with what supports and what contradicts them.
func (s *Store) Claims(ctx context.Context, f ClaimFilter) ([]claim.Claim, error) {
	// A condition that may be off would keep SQLite from the index, so only those that are on are written.
	q := `SELECT ` + claimColumns + ` FROM claims c WHERE (?1 = '' OR c.wiki = ?1) AND (?2 = '' OR (c.unsupported = 0 AND coalesce(c.verified_at, c.created_at) < ?2))`
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	stale := ""
	if f.StaleBefore != nil {
		stale = stamp(*f.StaleBefore)
	}
	args := []any{f.Wiki, stale, limit}
	if f.PageID != "" {
		q += ` AND c.page_id = ?4`
		args = append(args, f.PageID)
	}
	cs, err := collect(ctx, s.read, "list claims", scanClaim, q+` ORDER BY c.n LIMIT ?3`, args...)
	if err != nil {
		return nil, err
	}
	return cs, s.complete(ctx, cs)
}

// ClaimsByID returns claims by id, in the order asked for; ids that do not exist are left out.
func (s *Store) ClaimsByID(ctx context.Context, ids []string) ([]claim.Claim, error) {
	out := []claim.Claim{}
	for _, id := range ids {
		c, err := scanClaim(s.read.QueryRowContext(ctx, `SELECT `+claimColumns+` FROM claims c WHERE c.id = ?`, id))
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, wrap(err, "find claim %s", id)
		}
		out = append(out, c)
	}
	return out, s.complete(ctx, out)
}

// complete adds supports and contradictions to claims.
func (s *Store) complete(ctx context.Context, cs []claim.Claim) error {
	at := make(map[string]int, len(cs))
	for i, c := range cs {
		at[c.ID] = i
	}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(at)), 400) {
		args := make([]any, len(part))
		for i := range part {
			args[i] = part[i]
		}
		in := `(?` + strings.Repeat(`, ?`, len(part)-1) + `)`
		rows, err := collect(ctx, s.read, "list supports", func(r scanner) (claim.Support, error) {
			var x claim.Support
			return x, r.Scan(&x.ClaimID, &x.Span.SourceID, &x.Span.Snapshot, &x.Span.Start, &x.Span.End, &x.Span.Quote)
		}, `SELECT claim_id, source_id, snapshot, span_start, span_end, quote FROM claim_supports WHERE claim_id IN `+in+` ORDER BY claim_id, rowid`, args...)
		if err != nil {
			return err
		}
		for _, x := range rows {
			cs[at[x.ClaimID]].Supports = append(cs[at[x.ClaimID]].Supports, x.Span)
		}
		pairs, err := collect(ctx, s.read, "list contradictions", scanPair, `SELECT a, b, why FROM contradictions WHERE a IN `+in+` OR b IN `+in+` ORDER BY a, b`, append(slices.Clone(args), args...)...)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if i, ok := at[p.A]; ok && slices.Contains(part, p.A) {
				cs[i].Contradicts = append(cs[i].Contradicts, p.B)
			}
			if i, ok := at[p.B]; ok && slices.Contains(part, p.B) {
				cs[i].Contradicts = append(cs[i].Contradicts, p.A)
			}
		}
	}
	return nil
}

func scanPair(r scanner) (claim.Contradiction, error) {
	var x claim.Contradiction
	return x, r.Scan(&x.A, &x.B, &x.Why)
}

// Contradictions lists the pairs of a wiki, or of one page of it.
func (s *Store) Contradictions(ctx context.Context, wiki, pageID string) ([]claim.Contradiction, error) {
	if pageID == "" {
		return collect(ctx, s.read, "list contradictions", scanPair, `SELECT x.a, x.b, x.why FROM contradictions x JOIN claims p ON p.id = x.a JOIN claims q ON q.id = x.b WHERE p.wiki = ? ORDER BY p.n, q.n`, wiki)
	}
	// From the page's claims, through both indexes: a page costs the same in a large wiki as in a small one.
	return collect(ctx, s.read, "list contradictions", scanPair, `SELECT x.a, x.b, x.why FROM (
			SELECT y.a, y.b, y.why FROM claims c CROSS JOIN contradictions y ON y.a = c.id WHERE c.page_id = ?2
			UNION SELECT y.a, y.b, y.why FROM claims c CROSS JOIN contradictions y ON y.b = c.id WHERE c.page_id = ?2
		) x JOIN claims p ON p.id = x.a JOIN claims q ON q.id = x.b WHERE p.wiki = ?1 ORDER BY p.n, q.n`, wiki, pageID)
}

// commonTerm is the number of claims above which a word says nothing about which claim is meant. It bounds the work of a
// search for candidates, so that a page costs the same in a large wiki as in a small one.
const commonTerm = 1500

// ClaimCandidates finds claims of a wiki that share rare words with a text, most shared first: those that may say the same
// or the opposite.
func (s *Store) ClaimCandidates(ctx context.Context, wiki, text string, limit int) ([]claim.Claim, error) {
	type term struct {
		t string
		n int
	}
	var terms []term
	for _, t := range slices.Sorted(maps.Keys(words.Content(text))) {
		var n int
		if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM claim_terms WHERE wiki = ? AND term = ? LIMIT ?)`, wiki, t, commonTerm+1).Scan(&n); err != nil {
			return nil, wrap(err, "look for candidates")
		}
		if n > 0 {
			terms = append(terms, term{t, n})
		}
	}
	slices.SortStableFunc(terms, func(a, b term) int { return a.n - b.n })
	if len(terms) > 8 {
		terms = terms[:8]
	}
	for len(terms) > 2 && terms[len(terms)-1].n > commonTerm {
		terms = terms[:len(terms)-1]
	}
	if len(terms) == 0 {
		return nil, nil
	}
	args := []any{}
	var q strings.Builder
	for i, t := range terms {
		if i > 0 {
			q.WriteString(` UNION ALL `)
		}
		// The limit binds for words that are everywhere, where the newest claims are as good as any.
		q.WriteString(`SELECT claim FROM (SELECT claim FROM claim_terms WHERE wiki = ? AND term = ? ORDER BY claim DESC LIMIT ?)`)
		args = append(args, wiki, t.t, commonTerm)
	}
	cs, err := collect(ctx, s.read, "look for candidates", scanClaim, `SELECT `+claimColumns+` FROM (SELECT claim, count(*) AS shared FROM (`+q.String()+`) GROUP BY claim ORDER BY shared DESC, claim LIMIT ?) m JOIN claims c ON c.n = m.claim ORDER BY m.shared DESC, c.n`, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	return cs, s.complete(ctx, cs)
}

// SettleSeed stores all that a seed changed, in one transaction. A seed that its run settled before changes nothing more, and
// a lease that was lost is ErrState.
func (s *Store) SettleSeed(ctx context.Context, x claim.Settlement, confidence func(claim.Claim) float64) error {
	err := s.tx(ctx, func(tx *sql.Tx) error { return s.settle(ctx, tx, x, confidence) })
	return wrap(err, "settle seed %s", x.Seed.ID)
}

func (s *Store) settle(ctx context.Context, tx *sql.Tx, x claim.Settlement, confidence func(claim.Claim) float64) error {
	now := s.now()
	var status claim.SeedStatus
	var lease, settled string
	if err := tx.QueryRowContext(ctx, `SELECT status, lease_run, settled_run FROM seeds WHERE id = ?`, x.Seed.ID).Scan(&status, &lease, &settled); err != nil {
		return err
	}
	if settled == x.RunID && status != claim.Active {
		return nil
	}
	if status != claim.Active || lease != x.RunID {
		return fmt.Errorf("its lease was lost: %w", ErrState)
	}
	if x.Page != nil {
		if err := upsertPage(ctx, tx, *x.Page, now); err != nil {
			return err
		}
	}
	touched := map[string]bool{}
	for _, c := range x.Claims {
		if err := insertClaim(ctx, tx, c, now); err != nil {
			return err
		}
		touched[c.ID] = true
	}
	for _, sp := range x.Supports {
		if _, err := tx.ExecContext(ctx, `INSERT INTO claim_supports (claim_id, source_id, snapshot, span_start, span_end, quote) SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM claims WHERE id = ?1 AND source_id = ?2) ON CONFLICT DO NOTHING`,
			sp.ClaimID, sp.Span.SourceID, sp.Span.Snapshot, sp.Span.Start, sp.Span.End, sp.Span.Quote); err != nil {
			return err
		}
		if err := numberSource(ctx, tx, x.Seed.Wiki, sp.Span.SourceID); err != nil {
			return err
		}
		touched[sp.ClaimID] = true
	}
	for _, id := range x.Verified {
		if _, err := tx.ExecContext(ctx, `UPDATE claims SET verified_at = ?, unsupported = 0 WHERE id = ?`, stamp(now), id); err != nil {
			return err
		}
		touched[id] = true
	}
	for _, id := range x.Unsupported {
		if _, err := tx.ExecContext(ctx, `UPDATE claims SET unsupported = 1 WHERE id = ?`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE ref = ?`, "claim:"+id); err != nil {
			return err
		}
		touched[id] = true
	}
	for _, p := range x.Contradictions {
		if _, err := tx.ExecContext(ctx, `INSERT INTO contradictions (a, b, why) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, p.A, p.B, p.Why); err != nil {
			return err
		}
		touched[p.A], touched[p.B] = true, true
	}
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		if err := weigh(ctx, tx, id, confidence); err != nil {
			return err
		}
		// The pages that show the claim, and those that show what contradicts it, have to be rendered again.
		if _, err := tx.ExecContext(ctx, `UPDATE pages SET dirty = 1 WHERE id IN (SELECT page_id FROM claims WHERE id = ?1 UNION SELECT c.page_id FROM contradictions x JOIN claims c ON c.id IN (x.a, x.b) WHERE x.a = ?1 OR x.b = ?1)`, id); err != nil {
			return err
		}
	}
	for _, id := range x.Dirty {
		if _, err := tx.ExecContext(ctx, `UPDATE pages SET dirty = 1 WHERE id = ?`, id); err != nil {
			return err
		}
	}
	for _, f := range x.FollowUps {
		if _, err := s.addSeed(ctx, tx, f); err != nil {
			return err
		}
	}
	d := x.Seed
	_, err := tx.ExecContext(ctx, `UPDATE seeds SET status = ?, page_id = ?, why = ?, found = ?, fresh = ?, novelty = ?, settled_run = ?, lease_run = ?7, not_before = NULL, supports = ?, conflicts = ?,
		settled_n = (SELECT coalesce(max(settled_n), 0) + 1 FROM seeds WHERE wiki = ?), updated_at = ? WHERE id = ?`,
		d.Status, d.PageID, d.Why, d.Found, d.New, d.Novelty, x.RunID, d.Supports, d.Conflicts, d.Wiki, stamp(now), d.ID)
	return err
}

func upsertPage(ctx context.Context, tx *sql.Tx, p claim.Page, now time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO pages (id, wiki, path, kind, title, key, summary, origin, state, want, generated, disk, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET title = excluded.title, summary = excluded.summary, updated_at = excluded.updated_at`,
		p.ID, p.Wiki, p.Path, p.Kind, p.Title, p.Key, p.Summary, p.Origin, p.State, p.Want, p.Generated, p.Disk, stamp(now), stamp(now))
	return err
}

func insertClaim(ctx context.Context, tx *sql.Tx, c claim.Claim, now time.Time) error {
	res, err := tx.ExecContext(ctx, `INSERT INTO claims (id, wiki, page_id, text, source_id, snapshot, span_start, span_end, quote, confidence, verified_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		c.ID, c.Wiki, c.PageID, c.Text, c.Span.SourceID, c.Span.Snapshot, c.Span.Start, c.Span.End, c.Span.Quote, c.Confidence, stamp(now), stamp(now))
	if err != nil {
		return err
	}
	if n, _ := res.RowsAffected(); n == 0 {
		return nil
	}
	row, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for _, t := range slices.Sorted(maps.Keys(words.Content(c.Text))) {
		if _, err := tx.ExecContext(ctx, `INSERT INTO claim_terms (wiki, term, claim) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, c.Wiki, t, row); err != nil {
			return err
		}
	}
	return numberSource(ctx, tx, c.Wiki, c.Span.SourceID)
}

// numberSource gives a source its number when something first cites it.
func numberSource(ctx context.Context, tx *sql.Tx, wiki, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE sources SET n = (SELECT coalesce(max(n), 0) + 1 FROM sources WHERE wiki = ?) WHERE id = ? AND n IS NULL`, wiki, id)
	return err
}

// weigh computes a claim's confidence anew and brings its entry in the index up to date.
func weigh(ctx context.Context, tx *sql.Tx, id string, confidence func(claim.Claim) float64) error {
	c, err := scanClaim(tx.QueryRowContext(ctx, `SELECT `+claimColumns+` FROM claims c WHERE c.id = ?`, id))
	if err != nil {
		return err
	}
	var supports, against int
	if err := tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM claim_supports WHERE claim_id = ?1), (SELECT count(*) FROM contradictions WHERE a = ?1 OR b = ?1)`, id).Scan(&supports, &against); err != nil {
		return err
	}
	for i := range supports {
		c.Supports = append(c.Supports, claim.Span{SourceID: fmt.Sprintf("other %d", i)})
	}
	c.Contradicts = make([]string, against)
	if _, err := tx.ExecContext(ctx, `UPDATE claims SET confidence = ? WHERE id = ?`, confidence(c), id); err != nil {
		return err
	}
	if c.Unsupported {
		return nil
	}
	var kind, title string
	if err := tx.QueryRowContext(ctx, `SELECT kind, title FROM pages WHERE id = ?`, c.PageID).Scan(&kind, &title); err != nil {
		return err
	}
	return putEntry(ctx, tx, entry{Ref: "claim:" + c.ID, Wiki: c.Wiki, What: "claim", Kind: kind, PageID: c.PageID, Title: title, Content: c.Text, At: c.CreatedAt})
}
