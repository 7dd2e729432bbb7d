package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"whetstone/learning"
)

const learningColumns = `l.id, l.status, l.project, l.category, l.rule, l.mistake, l.correction, l.skill, l.wiki, l.host, l.session,
	l.observations, l.times_injected, l.times_applied, l.created_at, l.valid_from, l.valid_to,
	(SELECT coalesce(group_concat(skill_key, char(10)), '') FROM (SELECT skill_key FROM learning_skills WHERE learning_id = l.id ORDER BY skill_key))`

type scanner interface{ Scan(...any) error }

func scanLearning(row scanner, more ...any) (learning.Learning, error) {
	var l learning.Learning
	var created, from, skills string
	var to sql.NullString
	dest := []any{
		&l.ID, &l.Status, &l.Project, &l.Category, &l.Rule, &l.Mistake, &l.Correction, &l.Skill, &l.Wiki, &l.Host, &l.Session,
		&l.Observations, &l.TimesInjected, &l.TimesApplied, &created, &from, &to, &skills,
	}
	if err := row.Scan(append(dest, more...)...); err != nil {
		return l, err
	}
	l.Skills = strings.FieldsFunc(skills, func(r rune) bool { return r == '\n' })
	var err error
	if l.CreatedAt, err = parseTime(created); err != nil {
		return l, err
	}
	if l.ValidFrom, err = parseTime(from); err != nil {
		return l, err
	}
	if to.Valid {
		t, err := parseTime(to.String)
		if err != nil {
			return l, err
		}
		l.ValidTo = &t
	}
	return l, nil
}

// Added tells what AddLearnings did.
type Added struct {
	New      int // rows that did not exist
	Existing int // learnings that were there already, by identity
	Linked   int // existing ones that now train another skill, too
	IDs      []string
}

// AddLearnings stores learnings in one transaction. Identity decides: one that exists is left as it is, but is linked to
// the skills of its newer copy, too. A rejected or forgotten learning is never revived by an import.
func (s *Store) AddLearnings(ctx context.Context, ls []learning.Learning) (Added, error) {
	var out Added
	err := s.tx(ctx, func(tx *sql.Tx) error {
		out = Added{}
		for _, l := range ls {
			l.ID = learning.Identity(l.Project, l.Rule)
			out.IDs = append(out.IDs, l.ID)
			added, err := insertLearning(ctx, tx, l)
			if err != nil {
				return err
			}
			linked, err := s.link(ctx, tx, l.ID, append([]string{l.Skill}, l.Skills...)...)
			if err != nil {
				return err
			}
			if added {
				out.New++
				if err := s.event(ctx, tx, "learning.added", l.ID, map[string]any{"status": l.Status}); err != nil {
					return err
				}
				continue
			}
			out.Existing++
			if linked {
				out.Linked++
			}
		}
		return nil
	})
	return out, wrap(err, "store %d learnings", len(ls))
}

// link makes a learning train skills; linked tells whether any is new.
func (s *Store) link(ctx context.Context, tx *sql.Tx, id string, skills ...string) (linked bool, err error) {
	for _, k := range skills {
		if k == "" {
			continue
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO learning_skills (learning_id, skill_key) VALUES (?, ?) ON CONFLICT DO NOTHING`, id, k)
		if err != nil {
			return false, err
		}
		if n, _ := res.RowsAffected(); n == 0 {
			continue
		}
		linked = true
		if _, err := tx.ExecContext(ctx, `UPDATE learnings SET skill = ? WHERE id = ? AND skill = ''`, k, id); err != nil {
			return false, err
		}
		if err := s.event(ctx, tx, "learning.linked", id, map[string]any{"skill": k}); err != nil {
			return false, err
		}
	}
	return linked, nil
}

func insertLearning(ctx context.Context, tx *sql.Tx, l learning.Learning) (bool, error) {
	var to any
	if l.ValidTo != nil {
		to = stamp(*l.ValidTo)
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO learnings (id, status, project, category, rule, mistake, correction, skill, wiki, host, session,
		observations, times_injected, times_applied, created_at, valid_from, valid_to)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		l.ID, l.Status, l.Project, l.Category, l.Rule, l.Mistake, l.Correction, l.Skill, l.Wiki, l.Host, l.Session,
		max(l.Observations, 1), l.TimesInjected, l.TimesApplied, stamp(l.CreatedAt), stamp(l.ValidFrom), to)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// AddCaptures stores captured blocks as pending learnings. An event that is known already changes nothing; a known rule
// from another event adds an observation. It returns how many learnings are new.
func (s *Store) AddCaptures(ctx context.Context, cs []learning.Capture) (int, error) {
	added := 0
	err := s.tx(ctx, func(tx *sql.Tx) error {
		added = 0
		for _, c := range cs {
			l := c.Learning
			l.ID = learning.Identity(l.Project, l.Rule)
			l.Status = learning.Pending
			isNew, err := insertLearning(ctx, tx, l)
			if err != nil {
				return err
			}
			// A skill that a block names is a proposal; it links the learning only if it is new.
			if isNew {
				if _, err := s.link(ctx, tx, l.ID, l.Skill); err != nil {
					return err
				}
			}
			res, err := tx.ExecContext(ctx, `INSERT INTO captures (id, learning_id, session, host, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
				c.Event, l.ID, l.Session, l.Host, stamp(l.CreatedAt))
			if err != nil {
				return err
			}
			fresh, err := res.RowsAffected()
			if err != nil {
				return err
			}
			switch {
			case isNew:
				added++
				if err := s.event(ctx, tx, "learning.captured", l.ID, map[string]any{"host": l.Host}); err != nil {
					return err
				}
			case fresh > 0:
				if _, err := tx.ExecContext(ctx, `UPDATE learnings SET observations = observations + 1 WHERE id = ?`, l.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return added, wrap(err, "store %d captures", len(cs))
}

// Learnings lists learnings, oldest first.
func (s *Store) Learnings(ctx context.Context, f learning.Filter) ([]learning.Learning, error) {
	q := `SELECT ` + learningColumns + ` FROM learnings l WHERE (? = '' OR l.status = ?) AND (? = '' OR EXISTS (SELECT 1 FROM learning_skills k WHERE k.learning_id = l.id AND k.skill_key = ?))`
	args := []any{f.Status, f.Status, f.Skill, f.Skill}
	if len(f.Categories) > 0 {
		q += ` AND lower(l.category) IN (?` + strings.Repeat(`, ?`, len(f.Categories)-1) + `)`
		for _, c := range f.Categories {
			args = append(args, strings.ToLower(c))
		}
	}
	q += ` ORDER BY l.created_at, l.id LIMIT ?`
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	return collect(ctx, s.read, "list learnings", func(r scanner) (learning.Learning, error) { return scanLearning(r) }, q, append(args, limit)...)
}

// Learning returns one learning by id, or by a prefix of it that only one has. ErrNotFound if there is none.
func (s *Store) Learning(ctx context.Context, id string) (learning.Learning, error) {
	found, err := collect(ctx, s.read, "find learning", func(r scanner) (learning.Learning, error) { return scanLearning(r) },
		`SELECT `+learningColumns+` FROM learnings l WHERE l.id = ? OR (length(?) >= 4 AND substr(l.id, 1, length(?)) = ?) ORDER BY l.id = ? DESC LIMIT 2`, id, id, id, id, id)
	switch {
	case err != nil:
		return learning.Learning{}, err
	case len(found) == 0:
		return learning.Learning{}, fmt.Errorf("find learning %s: %w", id, ErrNotFound)
	case len(found) > 1 && found[0].ID != id:
		return learning.Learning{}, fmt.Errorf("find learning %s: %w", id, ErrAmbiguous)
	}
	return found[0], nil
}

// SetStatus moves learnings to approved or rejected. All ids must exist, and none may be forgotten or superseded; if one
// is, nothing changes.
func (s *Store) SetStatus(ctx context.Context, ids []string, to learning.Status) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			var from learning.Status
			if err := tx.QueryRowContext(ctx, `SELECT status FROM learnings WHERE id = ?`, id).Scan(&from); err != nil {
				return wrap(err, "find learning %s", id)
			}
			if from == to {
				continue
			}
			if from == learning.Forgotten || from == learning.Superseded {
				return fmt.Errorf("learning %s is %s: %w", id, from, ErrState)
			}
			if _, err := tx.ExecContext(ctx, `UPDATE learnings SET status = ? WHERE id = ?`, to, id); err != nil {
				return err
			}
			if err := s.event(ctx, tx, "learning."+string(to), id, map[string]any{"from": from}); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "set learnings to %s", to)
}

// LinkSkill makes learnings train a skill, beside those they train already. All ids must exist.
func (s *Store) LinkSkill(ctx context.Context, ids []string, skillKey string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			var n int
			if err := tx.QueryRowContext(ctx, `SELECT n FROM learnings WHERE id = ?`, id).Scan(&n); err != nil {
				return wrap(err, "find learning %s", id)
			}
			if _, err := s.link(ctx, tx, id, skillKey); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "link learnings to %s", skillKey)
}

// CountByStatus counts all learnings.
func (s *Store) CountByStatus(ctx context.Context) (map[learning.Status]int, error) {
	type row struct {
		st learning.Status
		n  int
	}
	rows, err := collect(ctx, s.read, "count learnings", func(r scanner) (row, error) {
		var x row
		return x, r.Scan(&x.st, &x.n)
	}, `SELECT status, count(*) FROM learnings GROUP BY status`)
	out := map[learning.Status]int{}
	for _, st := range learning.Statuses() {
		out[st] = 0
	}
	for _, r := range rows {
		out[r.st] = r.n
	}
	return out, err
}

// collect runs a query and scans all of its rows.
func collect[T any](ctx context.Context, db *sql.DB, what string, scan func(scanner) (T, error), q string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, wrap(err, "%s", what)
	}
	defer func() { _ = rows.Close() }()
	out := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, wrap(err, "%s", what)
		}
		out = append(out, v)
	}
	return out, wrap(rows.Err(), "%s", what)
}

// Now is the store's clock.
func (s *Store) Now() time.Time { return s.now().UTC() }
