package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"whetstone/learning"
)

const learningColumns = `l.id, l.status, l.project, l.category, l.rule, l.mistake, l.correction, l.skill, l.wiki, l.host, l.session,
	l.observations, l.times_injected, l.times_applied, l.times_recurred, l.superseded_by, l.detector, l.created_at, l.valid_from, l.valid_to,
	(SELECT coalesce(group_concat(skill_key, char(10)), '') FROM (SELECT skill_key FROM learning_skills WHERE learning_id = l.id ORDER BY skill_key))`

type scanner interface{ Scan(...any) error }

func scanLearning(row scanner, more ...any) (learning.Learning, error) {
	var l learning.Learning
	var created, from, skills string
	var to sql.NullString
	dest := []any{
		&l.ID, &l.Status, &l.Project, &l.Category, &l.Rule, &l.Mistake, &l.Correction, &l.Skill, &l.Wiki, &l.Host, &l.Session,
		&l.Observations, &l.TimesInjected, &l.TimesApplied, &l.TimesRecurred, &l.SupersededBy, &l.Detector, &created, &from, &to, &skills,
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
	l.SetFlag()
	return l, nil
}

// Learnings lists learnings, oldest first. With KnownAt, each is as it was recorded at that time, and those that were not
// known then are left out.
func (s *Store) Learnings(ctx context.Context, f learning.Filter) ([]learning.Learning, error) {
	from := `learnings l`
	var args []any
	if f.KnownAt != nil {
		from = `(SELECT l.n, l.id, v.status, l.project, v.category, v.rule, v.mistake, v.correction, v.skill, v.wiki, l.host, l.session, l.observations, l.times_injected,
			l.times_applied, l.times_recurred, v.superseded_by, v.detector, l.created_at, v.valid_from, v.valid_to
			FROM learnings l JOIN learning_versions v ON v.learning_id = l.id
			AND v.v = (SELECT max(x.v) FROM learning_versions x WHERE x.learning_id = l.id AND x.recorded_at <= ?)) l`
		args = append(args, stamp(*f.KnownAt))
	}
	q := `SELECT ` + learningColumns + ` FROM ` + from + ` WHERE (? = '' OR l.status = ?) AND (? = '' OR EXISTS (SELECT 1 FROM learning_skills k WHERE k.learning_id = l.id AND k.skill_key = ?)) AND (? = '' OR l.project = ?)`
	args = append(args, f.Status, f.Status, f.Skill, f.Skill, f.Project, f.Project)
	if f.AsOf != nil {
		q += ` AND l.valid_from <= ? AND (l.valid_to IS NULL OR l.valid_to > ?)`
		args = append(args, stamp(*f.AsOf), stamp(*f.AsOf))
	}
	if len(f.Categories) > 0 {
		q += ` AND lower(l.category) IN (?` + strings.Repeat(`, ?`, len(f.Categories)-1) + `)`
		for _, c := range f.Categories {
			args = append(args, strings.ToLower(c))
		}
	}
	q += ` ORDER BY l.created_at, l.id LIMIT ?`
	limit := f.Limit
	if limit <= 0 || f.Flagged {
		limit = -1
	}
	out, err := collect(ctx, s.read, "list learnings", func(r scanner) (learning.Learning, error) { return scanLearning(r) }, q, append(args, limit)...)
	if f.Flagged {
		out = slices.DeleteFunc(out, func(l learning.Learning) bool { return l.Flag == "" })
		if f.Limit > 0 && len(out) > f.Limit {
			out = out[:f.Limit]
		}
	}
	return out, err
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

type rowQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// collect runs a query and scans all of its rows.
func collect[T any](ctx context.Context, db rowQuerier, what string, scan func(scanner) (T, error), q string, args ...any) ([]T, error) {
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
