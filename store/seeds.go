package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"whetstone/claim"
)

const seedColumns = `id, n, wiki, text, kind, page_kind, depth, parent, origin, status, attempts, not_before, page_id, why, found, fresh, novelty, claims, supports, conflicts`

func scanSeed(r scanner) (claim.Seed, error) {
	var x claim.Seed
	var before sql.NullString
	var novelty sql.NullFloat64
	var claims string
	if err := r.Scan(&x.ID, &x.N, &x.Wiki, &x.Text, &x.Kind, &x.PageKind, &x.Depth, &x.Parent, &x.Origin, &x.Status, &x.Attempts, &before, &x.PageID, &x.Why, &x.Found, &x.New, &novelty, &claims, &x.Supports, &x.Conflicts); err != nil {
		return x, err
	}
	if novelty.Valid {
		x.Novelty = &novelty.Float64
	}
	if err := json.Unmarshal([]byte(claims), &x.Claims); err != nil {
		return x, err
	}
	var err error
	x.NotBefore, err = nullTime(before)
	return x, err
}

// AddSeeds puts seeds into the queue and returns how many are new. A topic is in a wiki's queue once, whatever became of
// it; a verify seed that is done is asked again where something changed, since its key holds what.
func (s *Store) AddSeeds(ctx context.Context, seeds []claim.Seed) (int, error) {
	added := 0
	err := s.tx(ctx, func(tx *sql.Tx) error {
		added = 0
		for _, x := range seeds {
			ok, err := s.addSeed(ctx, tx, x)
			if err != nil {
				return err
			}
			if ok {
				added++
			}
		}
		return nil
	})
	return added, wrap(err, "add %d seed(s)", len(seeds))
}

func (s *Store) addSeed(ctx context.Context, tx *sql.Tx, x claim.Seed) (bool, error) {
	key := claim.Key(x.Text)
	if x.Kind == claim.Verify {
		key = x.ID
	}
	if x.ID == "" {
		x.ID = claim.ID(x.Wiki, string(x.Kind), key)
	}
	claims, err := json.Marshal(append([]claim.Target{}, x.Claims...))
	if err != nil {
		return false, err
	}
	now := stamp(s.now())
	res, err := tx.ExecContext(ctx, `INSERT INTO seeds (id, wiki, text, key, kind, page_kind, depth, parent, origin, status, claims, page_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		x.ID, x.Wiki, x.Text, key, x.Kind, x.PageKind, x.Depth, x.Parent, x.Origin, string(claims), x.PageID, now, now)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// RetrySeed puts a seed that failed or is done back into the queue, for a person who asks for it.
func (s *Store) RetrySeed(ctx context.Context, id string) error {
	res, err := s.write.ExecContext(ctx, `UPDATE seeds SET status = 'pending', attempts = 0, not_before = NULL, why = '', updated_at = ? WHERE id = ? AND status IN ('failed', 'done')`, stamp(s.now()), id)
	if err == nil {
		if n, _ := res.RowsAffected(); n == 0 {
			err = sql.ErrNoRows
		}
	}
	return wrap(err, "retry seed %s", id)
}

// DropSeeds removes seeds that nobody has begun.
func (s *Store) DropSeeds(ctx context.Context, wiki string, ids []string) (int, error) {
	dropped := 0
	err := s.tx(ctx, func(tx *sql.Tx) error {
		dropped = 0
		for _, id := range ids {
			res, err := tx.ExecContext(ctx, `DELETE FROM seeds WHERE wiki = ? AND id = ? AND status IN ('pending', 'failed')`, wiki, id)
			if err != nil {
				return err
			}
			n, _ := res.RowsAffected()
			dropped += int(n)
		}
		return nil
	})
	return dropped, wrap(err, "drop seeds of %s", wiki)
}

// Seed returns one seed. ErrNotFound if there is none.
func (s *Store) Seed(ctx context.Context, id string) (claim.Seed, error) {
	x, err := scanSeed(s.read.QueryRowContext(ctx, `SELECT `+seedColumns+` FROM seeds WHERE id = ?`, id))
	return x, wrap(err, "find seed %s", id)
}

// Seeds lists a wiki's seeds in the order in which they will be, or were, taken. status "" is all; limit <= 0 is all.
func (s *Store) Seeds(ctx context.Context, wiki string, status claim.SeedStatus, limit int) ([]claim.Seed, error) {
	if limit <= 0 {
		limit = -1
	}
	return collect(ctx, s.read, "list seeds", scanSeed, `SELECT `+seedColumns+` FROM seeds WHERE wiki = ?1 AND (?2 = '' OR status = ?2) ORDER BY depth, n LIMIT ?3`, wiki, status, limit)
}

// SettledSeeds lists the seeds that a wiki has settled, in the order in which it did.
func (s *Store) SettledSeeds(ctx context.Context, wiki string) ([]claim.Seed, error) {
	return collect(ctx, s.read, "list settled seeds", scanSeed, `SELECT `+seedColumns+` FROM seeds WHERE wiki = ? AND settled_n IS NOT NULL ORDER BY settled_n`, wiki)
}

// ReleaseSeeds returns the leases of other runs of a wiki: only one run is open at a time, so their holders are dead. No
// seed stays active after a kill.
func (s *Store) ReleaseSeeds(ctx context.Context, wiki, runID string) (int, error) {
	res, err := s.write.ExecContext(ctx, `UPDATE seeds SET status = 'pending', lease_run = '', updated_at = ? WHERE wiki = ? AND status = 'active' AND lease_run <> ?`, stamp(s.now()), wiki, runID)
	if err != nil {
		return 0, wrap(err, "release the seeds of %s", wiki)
	}
	n, _ := res.RowsAffected()
	return int(n), nil
}

// Claimed is a batch of seeds, or why there is none.
type Claimed = claim.Batch

// ClaimSeeds leases up to limit seeds of the shallowest depth that has any, oldest first, none deeper than maxDepth. The
// same run and batch get the same seeds again, however often they ask.
func (s *Store) ClaimSeeds(ctx context.Context, wiki, runID string, batch, limit, maxDepth int) (Claimed, error) {
	var out Claimed
	err := s.tx(ctx, func(tx *sql.Tx) error {
		out = Claimed{}
		now := stamp(s.now())
		mine, err := txSeeds(ctx, tx, `SELECT `+seedColumns+` FROM seeds WHERE lease_run = ? AND lease_batch = ? AND (status = 'active' OR settled_run = lease_run) ORDER BY depth, n`, runID, batch)
		if err != nil {
			return err
		}
		if len(mine) > 0 {
			out.Seeds = mine
			return nil
		}
		var depth sql.NullInt64
		if err := tx.QueryRowContext(ctx, `SELECT min(depth) FROM seeds WHERE wiki = ? AND status = 'pending' AND depth <= ? AND (not_before IS NULL OR not_before <= ?)`, wiki, maxDepth, now).Scan(&depth); err != nil {
			return err
		}
		if !depth.Valid {
			var next sql.NullString
			if err := tx.QueryRowContext(ctx, `SELECT min(not_before), (SELECT count(*) FROM seeds WHERE wiki = ?1 AND status = 'pending' AND depth > ?2) FROM seeds WHERE wiki = ?1 AND status = 'pending' AND depth <= ?2`, wiki, maxDepth).Scan(&next, &out.Deeper); err != nil {
				return err
			}
			out.Next, err = nullTime(next)
			return err
		}
		seeds, err := txSeeds(ctx, tx, `SELECT `+seedColumns+` FROM seeds WHERE wiki = ? AND status = 'pending' AND depth = ? AND (not_before IS NULL OR not_before <= ?) ORDER BY n LIMIT ?`, wiki, depth.Int64, now, limit)
		if err != nil {
			return err
		}
		for i := range seeds {
			seeds[i].Status = claim.Active
			seeds[i].Attempts++
			if _, err := tx.ExecContext(ctx, `UPDATE seeds SET status = 'active', attempts = attempts + 1, lease_run = ?, lease_batch = ?, updated_at = ? WHERE id = ?`, runID, batch, now, seeds[i].ID); err != nil {
				return err
			}
		}
		out.Seeds = seeds
		return nil
	})
	return out, wrap(err, "claim seeds of %s", wiki)
}

func txSeeds(ctx context.Context, tx *sql.Tx, q string, args ...any) ([]claim.Seed, error) {
	rows, err := tx.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []claim.Seed
	for rows.Next() {
		x, err := scanSeed(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// ReturnSeeds puts leased seeds of a run back into the queue. uncounted takes the attempt back: the run was halted, the
// seed did not fail. notBefore delays them.
func (s *Store) ReturnSeeds(ctx context.Context, runID string, ids []string, why string, notBefore *time.Time, uncounted bool) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, `UPDATE seeds SET status = 'pending', why = ?, not_before = ?, attempts = attempts - CASE WHEN ? THEN 1 ELSE 0 END, lease_run = '', updated_at = ? WHERE id = ? AND status = 'active' AND lease_run = ?`,
				why, stampOrNull(notBefore), uncounted, stamp(s.now()), id, runID); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "return %d seed(s)", len(ids))
}
