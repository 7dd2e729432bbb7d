package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"whetstone/claim"
)

const pageColumns = `id, wiki, path, kind, title, key, summary, origin, state, want, generated, disk, created_at, updated_at`

func scanPage(r scanner) (claim.Page, error) {
	var p claim.Page
	var created, updated string
	if err := r.Scan(&p.ID, &p.Wiki, &p.Path, &p.Kind, &p.Title, &p.Key, &p.Summary, &p.Origin, &p.State, &p.Want, &p.Generated, &p.Disk, &created, &updated); err != nil {
		return p, err
	}
	var err error
	if p.CreatedAt, err = parseTime(created); err != nil {
		return p, err
	}
	p.UpdatedAt, err = parseTime(updated)
	return p, err
}

// Pages lists a wiki's pages in order of creation.
func (s *Store) Pages(ctx context.Context, wiki string) ([]claim.Page, error) {
	return collect(ctx, s.read, "list pages", scanPage, `SELECT `+pageColumns+` FROM pages WHERE wiki = ? ORDER BY n`, wiki)
}

// Page returns one page by its id. ErrNotFound if there is none.
func (s *Store) Page(ctx context.Context, id string) (claim.Page, error) {
	p, err := scanPage(s.read.QueryRowContext(ctx, `SELECT `+pageColumns+` FROM pages WHERE id = ?`, id))
	return p, wrap(err, "find page %s", id)
}

// PageByKey returns the page of a topic, if there is one.
func (s *Store) PageByKey(ctx context.Context, wiki, key string) (p claim.Page, found bool, err error) {
	p, err = scanPage(s.read.QueryRowContext(ctx, `SELECT `+pageColumns+` FROM pages WHERE wiki = ? AND key = ?`, wiki, key))
	if errors.Is(err, sql.ErrNoRows) {
		return claim.Page{}, false, nil
	}
	return p, err == nil, wrap(err, "find a page of %s", wiki)
}

// PathTaken reports whether a wiki has a page with this path.
func (s *Store) PathTaken(ctx context.Context, wiki, path string) (bool, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM pages WHERE wiki = ? AND path = ?`, wiki, path).Scan(&n)
	return n > 0, wrap(err, "find a page of %s", wiki)
}

// KnownTopic reports whether a topic is a page or a seed of a wiki already.
func (s *Store) KnownTopic(ctx context.Context, wiki, key string) (bool, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM pages WHERE wiki = ?1 AND key = ?2) + (SELECT count(*) FROM seeds WHERE wiki = ?1 AND kind = 'topic' AND key = ?2)`, wiki, key).Scan(&n)
	return n > 0, wrap(err, "look a topic up in %s", wiki)
}

// PutPage adds a page that is no seed's: a person's, a council's, a survey's.
func (s *Store) PutPage(ctx context.Context, p claim.Page) error {
	err := s.tx(ctx, func(tx *sql.Tx) error { return upsertPage(ctx, tx, p, s.now()) })
	return wrap(err, "store page %s", p.Path)
}

// WantPage notes the text that a page should have, before it is written, with its summary; text is kept by its hash.
func (s *Store) WantPage(ctx context.Context, id, summary, text string) error {
	hash, err := s.PutText(ctx, text)
	if err == nil {
		_, err = s.write.ExecContext(ctx, `UPDATE pages SET want = ?, summary = ? WHERE id = ?`, hash, summary, id)
	}
	return wrap(err, "note the text of page %s", id)
}

// PlacedPage notes how a page's file stands, and brings the index up to date with what is on disk.
func (s *Store) PlacedPage(ctx context.Context, p claim.Page, text string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE pages SET state = ?, generated = ?, disk = ?, dirty = 0 WHERE id = ?`, p.State, p.Generated, p.Disk, p.ID); err != nil {
			return err
		}
		if p.State == claim.Removed {
			_, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE page_id = ?`, p.ID)
			return err
		}
		var summary string
		if err := tx.QueryRowContext(ctx, `SELECT summary FROM pages WHERE id = ?`, p.ID).Scan(&summary); err != nil {
			return err
		}
		return putEntry(ctx, tx, entry{Ref: "page:" + p.ID, Wiki: p.Wiki, What: "page", Kind: p.Kind, PageID: p.ID, Title: p.Title, Summary: summary, Content: plain(text), At: p.UpdatedAt})
	})
	return wrap(err, "note page %s", p.Path)
}

// plain takes the frontmatter and the footnotes off a page: they are not what people search for.
func plain(text string) string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			text = body
		}
	}
	if i := strings.Index(text, "\n[^1]: "); i >= 0 {
		text = text[:i]
	}
	return text
}

// DirtyPages lists the pages of a wiki whose evidence changed since they were rendered.
func (s *Store) DirtyPages(ctx context.Context, wiki string) ([]claim.Page, error) {
	return collect(ctx, s.read, "list pages", scanPage, `SELECT `+pageColumns+` FROM pages WHERE wiki = ? AND dirty = 1 ORDER BY n`, wiki)
}

// PageByPath returns a page by its file. ErrNotFound if there is none.
func (s *Store) PageByPath(ctx context.Context, wiki, path string) (claim.Page, error) {
	p, err := scanPage(s.read.QueryRowContext(ctx, `SELECT `+pageColumns+` FROM pages WHERE wiki = ? AND path = ?`, wiki, path))
	return p, wrap(err, "find page %s", path)
}

// ListGenerated returns the hash of the generated text that a list's file holds, "" for none.
func (s *Store) ListGenerated(ctx context.Context, wiki, name string) (string, error) {
	var h string
	err := s.read.QueryRowContext(ctx, `SELECT generated FROM wiki_lists WHERE wiki = ? AND name = ?`, wiki, name).Scan(&h)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return h, wrap(err, "look %s of %s up", name, wiki)
}

// SetListGenerated notes it.
func (s *Store) SetListGenerated(ctx context.Context, wiki, name, hash string) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO wiki_lists (wiki, name, generated) VALUES (?, ?, ?) ON CONFLICT (wiki, name) DO UPDATE SET generated = excluded.generated`, wiki, name, hash)
	return wrap(err, "note %s of %s", name, wiki)
}

// RemovePage notes that a person removed a page: it stays removed, and what it stated is stated no more.
func (s *Store) RemovePage(ctx context.Context, id string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{
			`UPDATE pages SET dirty = 1 WHERE id <> ?1 AND id IN (SELECT c.page_id FROM claims m JOIN contradictions x ON m.id IN (x.a, x.b) JOIN claims c ON c.id IN (x.a, x.b) WHERE m.page_id = ?1)`,
			`DELETE FROM entries WHERE page_id = ?`, `DELETE FROM chunks WHERE page_id = ?`, `DELETE FROM claims WHERE page_id = ?`, `UPDATE pages SET state = 'removed', dirty = 0 WHERE id = ?`,
		} {
			if _, err := tx.ExecContext(ctx, q, id); err != nil {
				return err
			}
		}
		return s.event(ctx, tx, "page.removed", id, map[string]any{})
	})
	return wrap(err, "remove page %s", id)
}

// DropPage forgets a page that a person had made and removed.
func (s *Store) DropPage(ctx context.Context, id string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{`DELETE FROM entries WHERE page_id = ?`, `DELETE FROM chunks WHERE page_id = ?`, `DELETE FROM pages WHERE id = ? AND origin = 'person'`} {
			if _, err := tx.ExecContext(ctx, q, id); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "forget page %s", id)
}
