package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"whetstone/learning"
)

// resolve finds the project that one of the keys belongs to, the first one deciding, and makes the other keys its aliases,
// so that adding a remote or moving a folder later orphans nothing. A key never moves to another project. A project that
// nobody knows takes its first key as id.
func resolve(ctx context.Context, tx *sql.Tx, keys []string, name string, now time.Time) (string, error) {
	id, err := lookup(ctx, tx, keys)
	if err != nil {
		return "", err
	}
	if id == "" {
		id = keys[0]
		if _, err := tx.ExecContext(ctx, `INSERT INTO projects (id, name, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, id, name, stamp(now)); err != nil {
			return "", err
		}
	}
	for _, k := range keys {
		if _, err := tx.ExecContext(ctx, `INSERT INTO project_keys (key, project) VALUES (?, ?) ON CONFLICT DO NOTHING`, k, id); err != nil {
			return "", err
		}
	}
	return id, nil
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func lookup(ctx context.Context, q querier, keys []string) (string, error) {
	for _, k := range keys {
		var id string
		err := q.QueryRowContext(ctx, `SELECT project FROM project_keys WHERE key = ?`, k).Scan(&id)
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return "", err
		}
	}
	return "", nil
}

// Project is the project that keys belong to; one that is not known yet has its first key as id. It writes nothing.
func (s *Store) Project(ctx context.Context, keys []string) (string, error) {
	if len(keys) == 0 {
		return "", nil
	}
	id, err := lookup(ctx, s.read, keys)
	if id == "" {
		id = keys[0]
	}
	return id, wrap(err, "find the project")
}

// AddProject makes keys known as one project and returns its id.
func (s *Store) AddProject(ctx context.Context, keys []string, name string) (id string, err error) {
	if len(keys) == 0 {
		return "", nil
	}
	err = s.tx(ctx, func(tx *sql.Tx) error {
		id, err = resolve(ctx, tx, keys, name, s.now())
		return err
	})
	return id, wrap(err, "add the project")
}

// MoveLearnings gives the learnings of one project to another, as when a project that was known by name only is found. One that
// the other project has already stays where it is. It returns how many moved.
func (s *Store) MoveLearnings(ctx context.Context, from, to string) (moved int, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		moved = 0
		ls, err := collect(ctx, tx, "list learnings", func(r scanner) (learning.Learning, error) { return scanLearning(r) }, `SELECT `+learningColumns+` FROM learnings l WHERE l.project = ? AND l.status <> 'forgotten' ORDER BY l.n`, from)
		if err != nil {
			return err
		}
		for _, l := range ls {
			res, err := tx.ExecContext(ctx, `INSERT INTO learning_identities (identity, learning_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, learning.Identity(to, l.Rule), l.ID)
			if err != nil {
				return err
			}
			if n, _ := res.RowsAffected(); n == 0 {
				continue
			}
			if _, err := tx.ExecContext(ctx, `UPDATE learnings SET project = ? WHERE id = ?`, to, l.ID); err != nil {
				return err
			}
			if err := s.changed(ctx, tx, "learning.moved", l.ID, map[string]any{"to": to}); err != nil {
				return err
			}
			moved++
		}
		return nil
	})
	return moved, wrap(err, "move learnings of a project")
}
