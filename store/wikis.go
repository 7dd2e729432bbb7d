package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"whetstone/claim"
)

const wikiColumns = `slug, title, flavor, root, project, private, created_at, last_tick, tick_failures, tick_not_before, tick_error`

func scanWiki(r scanner) (claim.Wiki, error) {
	var w claim.Wiki
	var created string
	var tick, before sql.NullString
	if err := r.Scan(&w.Slug, &w.Title, &w.Flavor, &w.Root, &w.Project, &w.Private, &created, &tick, &w.TickFailures, &before, &w.TickError); err != nil {
		return w, err
	}
	var err error
	if w.CreatedAt, err = parseTime(created); err != nil {
		return w, err
	}
	if w.LastTick, err = nullTime(tick); err != nil {
		return w, err
	}
	w.TickBefore, err = nullTime(before)
	return w, err
}

func nullTime(s sql.NullString) (*time.Time, error) {
	if !s.Valid || s.String == "" {
		return nil, nil
	}
	t, err := parseTime(s.String)
	return &t, err
}

func stampOrNull(t *time.Time) any {
	if t == nil {
		return nil
	}
	return stamp(*t)
}

// AddWiki registers a wiki. ErrState if the slug or the folder is taken.
func (s *Store) AddWiki(ctx context.Context, w claim.Wiki) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO wikis (slug, title, flavor, root, project, private, created_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			w.Slug, w.Title, w.Flavor, w.Root, w.Project, w.Private, stamp(w.CreatedAt))
		if err != nil {
			return err
		}
		if n, _ := res.RowsAffected(); n == 0 {
			return fmt.Errorf("a wiki of this name or in this folder exists already: %w", ErrState)
		}
		return s.event(ctx, tx, "wiki.added", w.Slug, map[string]any{"flavor": w.Flavor, "private": w.Private})
	})
	return wrap(err, "add wiki %s", w.Slug)
}

// UpdateWiki brings title, flavour and privacy up to date with the configuration file.
func (s *Store) UpdateWiki(ctx context.Context, w claim.Wiki) error {
	_, err := s.write.ExecContext(ctx, `UPDATE wikis SET title = ?, flavor = ?, private = ? WHERE slug = ?`, w.Title, w.Flavor, w.Private, w.Slug)
	return wrap(err, "update wiki %s", w.Slug)
}

// MoveWiki tells that a wiki's folder lies elsewhere now.
func (s *Store) MoveWiki(ctx context.Context, slug, root string) error {
	_, err := s.write.ExecContext(ctx, `UPDATE wikis SET root = ? WHERE slug = ?`, root, slug)
	return wrap(err, "move wiki %s", slug)
}

// Wiki returns a wiki by its slug. ErrNotFound if there is none.
func (s *Store) Wiki(ctx context.Context, slug string) (claim.Wiki, error) {
	w, err := scanWiki(s.read.QueryRowContext(ctx, `SELECT `+wikiColumns+` FROM wikis WHERE slug = ?`, slug))
	return w, wrap(err, "find wiki %s", slug)
}

// Wikis lists all wikis by slug.
func (s *Store) Wikis(ctx context.Context) ([]claim.Wiki, error) {
	return collect(ctx, s.read, "list wikis", scanWiki, `SELECT `+wikiColumns+` FROM wikis ORDER BY slug`)
}

// DeleteWiki forgets a wiki and all that belongs to it. Snapshots that nothing else refers to go, too.
func (s *Store) DeleteWiki(ctx context.Context, slug string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		hashes, err := wikiTexts(ctx, tx, slug)
		if err != nil {
			return err
		}
		for _, q := range []string{
			`DELETE FROM entries WHERE wiki = ?`, `DELETE FROM claim_terms WHERE wiki = ?`, `DELETE FROM claims WHERE wiki = ?`, `DELETE FROM chunks WHERE wiki = ?`,
			`DELETE FROM seeds WHERE wiki = ?`, `DELETE FROM fetches WHERE wiki = ?`, `DELETE FROM sources WHERE wiki = ?`, `DELETE FROM pages WHERE wiki = ?`,
			`DELETE FROM council_answers WHERE run_id IN (SELECT id FROM research_runs WHERE wiki = ?)`, `DELETE FROM research_runs WHERE wiki = ?`,
		} {
			if _, err := tx.ExecContext(ctx, q, slug); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, `DELETE FROM wikis WHERE slug = ?`, slug)
		if err != nil {
			return err
		}
		if n, _ := res.RowsAffected(); n == 0 {
			return sql.ErrNoRows
		}
		for _, h := range hashes {
			if _, err := tx.ExecContext(ctx, `DELETE FROM texts WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM sources WHERE snapshot = ?1) AND NOT EXISTS (SELECT 1 FROM claims WHERE snapshot = ?1)
				AND NOT EXISTS (SELECT 1 FROM pages WHERE want = ?1 OR generated = ?1) AND NOT EXISTS (SELECT 1 FROM skill_versions WHERE hash = ?1)`, h); err != nil {
				return err
			}
		}
		return s.event(ctx, tx, "wiki.deleted", slug, map[string]any{})
	})
	return wrap(err, "delete wiki %s", slug)
}

// wikiTexts lists the texts that a wiki refers to.
func wikiTexts(ctx context.Context, tx *sql.Tx, slug string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT snapshot FROM sources WHERE wiki = ?1 UNION SELECT snapshot FROM claims WHERE wiki = ?1 UNION SELECT want FROM pages WHERE wiki = ?1 UNION SELECT generated FROM pages WHERE wiki = ?1 UNION SELECT disk FROM pages WHERE wiki = ?1`, slug)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var h string
		if err := rows.Scan(&h); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

// WikiCounts counts what a wiki holds. Claims last verified before staleBefore are stale.
func (s *Store) WikiCounts(ctx context.Context, slug string, staleBefore time.Time) (claim.Counts, error) {
	var c claim.Counts
	err := s.read.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM pages WHERE wiki = ?1 AND state <> 'removed'), (SELECT count(*) FROM claims WHERE wiki = ?1), (SELECT count(*) FROM sources WHERE wiki = ?1 AND n IS NOT NULL),
		(SELECT count(*) FROM contradictions x JOIN claims c ON c.id = x.a WHERE c.wiki = ?1),
		(SELECT count(*) FROM seeds WHERE wiki = ?1 AND status = 'pending'), (SELECT count(*) FROM seeds WHERE wiki = ?1 AND status = 'active'),
		(SELECT count(*) FROM seeds WHERE wiki = ?1 AND status = 'done'), (SELECT count(*) FROM seeds WHERE wiki = ?1 AND status = 'failed'),
		(SELECT count(*) FROM claims WHERE wiki = ?1 AND unsupported = 0 AND coalesce(verified_at, created_at) < ?2),
		(SELECT count(*) FROM claims WHERE wiki = ?1 AND unsupported = 1), (SELECT count(*) FROM pages WHERE wiki = ?1 AND state = 'proposed')`, slug, stamp(staleBefore)).
		Scan(&c.Pages, &c.Claims, &c.Sources, &c.Contradictions, &c.Pending, &c.Active, &c.Done, &c.Failed, &c.Stale, &c.Unsupported, &c.Proposed)
	return c, wrap(err, "count wiki %s", slug)
}

// MarkTick notes how a tick of a wiki went. A failed one backs off: notBefore is when it is worth another try.
func (s *Store) MarkTick(ctx context.Context, slug string, at time.Time, failed string, notBefore *time.Time) error {
	_, err := s.write.ExecContext(ctx, `UPDATE wikis SET last_tick = ?, tick_failures = CASE WHEN ? = '' THEN 0 ELSE tick_failures + 1 END, tick_error = ?, tick_not_before = ? WHERE slug = ?`,
		stamp(at), failed, failed, stampOrNull(notBefore), slug)
	return wrap(err, "note a tick of %s", slug)
}

// WikiCount counts the wikis: most people have none, and need not wait for a search.
func (s *Store) WikiCount(ctx context.Context) (int, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM wikis`).Scan(&n)
	return n, wrap(err, "count wikis")
}
