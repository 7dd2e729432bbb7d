package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"whetstone/claim"
	"whetstone/source"
)

const sourceColumns = `id, coalesce(n, 0), wiki, url, title, fetcher, authors, published, snapshot, retracted, fetched_at`

func scanSource(r scanner) (claim.Source, error) {
	var x claim.Source
	var authors, at string
	if err := r.Scan(&x.ID, &x.N, &x.Wiki, &x.URL, &x.Title, &x.Fetcher, &authors, &x.Published, &x.Snapshot, &x.Retracted, &at); err != nil {
		return x, err
	}
	if err := json.Unmarshal([]byte(authors), &x.Authors); err != nil {
		return x, err
	}
	var err error
	x.FetchedAt, err = parseTime(at)
	return x, err
}

// PutDocuments keeps documents as snapshots and sources of a wiki, and returns what to refer to them by. A source whose
// text changed gets its new snapshot; the old one stays for the claims that rest on it. An excerpt never replaces the
// thing itself.
func (s *Store) PutDocuments(ctx context.Context, wiki string, docs []source.Document) ([]claim.Fetched, error) {
	out := []claim.Fetched{}
	err := s.tx(ctx, func(tx *sql.Tx) error {
		out = out[:0]
		now := stamp(s.now())
		for _, d := range docs {
			id, hash := claim.ID(wiki, d.URL), claim.Hash(d.Text)
			if _, err := tx.ExecContext(ctx, `INSERT INTO texts (hash, text, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, hash, d.Text, now); err != nil {
				return err
			}
			authors, err := json.Marshal(append([]string{}, d.Authors...))
			if err != nil {
				return err
			}
			// Several fetchers may know one source. Which of them describes it must not depend on who was faster: the thing
			// itself before an excerpt, then the fetcher that comes first by name.
			res, err := tx.ExecContext(ctx, `INSERT INTO sources (id, wiki, url, title, fetcher, authors, published, snapshot, snippet, retracted, fetched_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (wiki, url) DO UPDATE SET title = excluded.title, fetcher = excluded.fetcher, authors = excluded.authors, published = excluded.published,
				snapshot = excluded.snapshot, snippet = excluded.snippet, retracted = excluded.retracted, fetched_at = excluded.fetched_at
				WHERE excluded.snippet < sources.snippet OR (excluded.snippet = sources.snippet AND excluded.fetcher <= sources.fetcher)`,
				id, wiki, d.URL, d.Title, d.Fetcher, string(authors), d.Published, hash, d.Snippet, d.Retracted, now)
			if err != nil {
				return err
			}
			if n, _ := res.RowsAffected(); n > 0 {
				// Pages that cite it show how it is described.
				if _, err := tx.ExecContext(ctx, `UPDATE pages SET dirty = 1 WHERE wiki = ?1 AND id IN (SELECT page_id FROM claims WHERE source_id = ?2 UNION SELECT c.page_id FROM claim_supports s JOIN claims c ON c.id = s.claim_id WHERE s.source_id = ?2)`, wiki, id); err != nil {
					return err
				}
			}
			out = append(out, claim.Fetched{SourceID: id, Snapshot: hash, Snippet: d.Snippet, Title: d.Title, Retracted: d.Retracted})
		}
		return nil
	})
	return out, wrap(err, "keep %d document(s)", len(docs))
}

// Fetch returns what a question brought last time, if that is not older than since.
func (s *Store) Fetch(ctx context.Context, key string, since time.Time) ([]claim.Fetched, bool, error) {
	var docs string
	err := s.read.QueryRowContext(ctx, `SELECT docs FROM fetches WHERE key = ? AND at >= ?`, key, stamp(since)).Scan(&docs)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, wrap(err, "look a fetch up")
	}
	var out []claim.Fetched
	if err := json.Unmarshal([]byte(docs), &out); err != nil {
		return nil, false, wrap(err, "look a fetch up")
	}
	return out, true, nil
}

// PutFetch keeps what a question brought.
func (s *Store) PutFetch(ctx context.Context, key, wiki string, docs []claim.Fetched) error {
	b, err := json.Marshal(docs)
	if err == nil {
		_, err = s.write.ExecContext(ctx, `INSERT INTO fetches (key, wiki, docs, at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET docs = excluded.docs, at = excluded.at`, key, wiki, string(b), stamp(s.now()))
	}
	return wrap(err, "keep a fetch")
}

// PutAnswer keeps what a fetcher said to a seed in a run.
func (s *Store) PutAnswer(ctx context.Context, runID, seedID string, a claim.Answer) error {
	b, err := json.Marshal(append([]claim.Fetched{}, a.Docs...))
	if err == nil {
		_, err = s.write.ExecContext(ctx, `INSERT INTO seed_fetches (run_id, seed_id, fetcher, docs, kind, error) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, seed_id, fetcher) DO UPDATE SET docs = excluded.docs, kind = excluded.kind, error = excluded.error`,
			runID, seedID, a.Fetcher, string(b), a.Kind, a.Error)
	}
	return wrap(err, "keep what %s said", a.Fetcher)
}

// Answer returns what a fetcher said to a seed in a run, if it has been asked.
func (s *Store) Answer(ctx context.Context, runID, seedID, fetcher string) (claim.Answer, bool, error) {
	as, err := s.answers(ctx, `WHERE run_id = ? AND seed_id = ? AND fetcher = ?`, runID, seedID, fetcher)
	if err != nil || len(as) == 0 {
		return claim.Answer{}, false, err
	}
	return as[0], true, nil
}

// Answers returns what all fetchers said to a seed in a run.
func (s *Store) Answers(ctx context.Context, runID, seedID string) ([]claim.Answer, error) {
	return s.answers(ctx, `WHERE run_id = ? AND seed_id = ? ORDER BY fetcher`, runID, seedID)
}

func (s *Store) answers(ctx context.Context, where string, args ...any) ([]claim.Answer, error) {
	return collect(ctx, s.read, "list answers", func(r scanner) (claim.Answer, error) {
		var a claim.Answer
		var docs string
		if err := r.Scan(&a.Fetcher, &docs, &a.Kind, &a.Error); err != nil {
			return a, err
		}
		return a, json.Unmarshal([]byte(docs), &a.Docs)
	}, `SELECT fetcher, docs, kind, error FROM seed_fetches `+where, args...)
}

// FetchErrors lists the failed fetches of a run: seed's text, fetcher, kind and message.
func (s *Store) FetchErrors(ctx context.Context, runID string) ([][4]string, error) {
	return collect(ctx, s.read, "list fetch errors", func(r scanner) ([4]string, error) {
		var e [4]string
		return e, r.Scan(&e[0], &e[1], &e[2], &e[3])
	}, `SELECT d.text, f.fetcher, f.kind, f.error FROM seed_fetches f JOIN seeds d ON d.id = f.seed_id WHERE f.run_id = ? AND f.kind <> '' ORDER BY d.depth, d.n, f.fetcher`, runID)
}

// Source returns one source. ErrNotFound if there is none.
func (s *Store) Source(ctx context.Context, id string) (claim.Source, error) {
	x, err := scanSource(s.read.QueryRowContext(ctx, `SELECT `+sourceColumns+` FROM sources WHERE id = ?`, id))
	return x, wrap(err, "find source %s", id)
}

// Sources lists the numbered sources of a wiki: those that something cites.
func (s *Store) Sources(ctx context.Context, wiki string) ([]claim.Source, error) {
	return collect(ctx, s.read, "list sources", scanSource, `SELECT `+sourceColumns+` FROM sources WHERE wiki = ? AND n IS NOT NULL ORDER BY n`, wiki)
}

// PutFound keeps what a seed brought, before it is compared with what is known.
func (s *Store) PutFound(ctx context.Context, runID, seedID string, found []claim.Found, questions []string) error {
	f, err := json.Marshal(append([]claim.Found{}, found...))
	if err != nil {
		return wrap(err, "keep what was found")
	}
	q, err := json.Marshal(append([]string{}, questions...))
	if err != nil {
		return wrap(err, "keep what was found")
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO seed_found (run_id, seed_id, found, questions) VALUES (?, ?, ?, ?) ON CONFLICT (run_id, seed_id) DO UPDATE SET found = excluded.found, questions = excluded.questions`, runID, seedID, string(f), string(q))
	return wrap(err, "keep what was found")
}

// Found returns what a seed brought in a run; ok is false if it has not been looked at.
func (s *Store) Found(ctx context.Context, runID, seedID string) (found []claim.Found, questions []string, ok bool, err error) {
	var f, q string
	err = s.read.QueryRowContext(ctx, `SELECT found, questions FROM seed_found WHERE run_id = ? AND seed_id = ?`, runID, seedID).Scan(&f, &q)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, false, nil
	}
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(f), &found), json.Unmarshal([]byte(q), &questions))
	}
	return found, questions, err == nil, wrap(err, "read what was found")
}

// PreviousFound returns what the last limit seeds of a run that found anything brought, latest first, those of pageID
// left out: a page is not compared with its own older version.
func (s *Store) PreviousFound(ctx context.Context, runID, pageID string, limit int) ([][]string, error) {
	return collect(ctx, s.read, "read what was found before", func(r scanner) ([]string, error) {
		var f string
		if err := r.Scan(&f); err != nil {
			return nil, err
		}
		var found []claim.Found
		if err := json.Unmarshal([]byte(f), &found); err != nil {
			return nil, err
		}
		texts := make([]string, len(found))
		for i := range found {
			texts[i] = found[i].Text
		}
		return texts, nil
	}, `SELECT f.found FROM seeds d JOIN seed_found f ON f.seed_id = d.id AND f.run_id = d.settled_run WHERE d.settled_run = ? AND d.found > 0 AND (d.page_id = '' OR d.page_id <> ?) ORDER BY d.settled_n DESC LIMIT ?`, runID, pageID, limit)
}
