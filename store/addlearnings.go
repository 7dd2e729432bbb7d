package store

import (
	"context"
	"database/sql"
	"errors"

	"whetstone/learning"
)

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
			added, err := s.insert(ctx, tx, &l)
			if err != nil {
				return err
			}
			out.IDs = append(out.IDs, l.ID)
			linked, err := link(ctx, tx, l.ID, append([]string{l.Skill}, l.Skills...)...)
			if err != nil {
				return err
			}
			switch {
			case added:
				out.New++
				err = s.changed(ctx, tx, "learning.added", l.ID, map[string]any{"status": l.Status})
			case linked:
				out.Linked++
				err = s.changed(ctx, tx, "learning.linked", l.ID, map[string]any{})
			}
			if err != nil {
				return err
			}
			if !added {
				out.Existing++
			}
		}
		return nil
	})
	return out, wrap(err, "store %d learnings", len(ls))
}

// link makes a learning train skills; linked tells whether any is new. A forgotten learning trains nothing any more.
func link(ctx context.Context, tx *sql.Tx, id string, skills ...string) (linked bool, err error) {
	for _, k := range skills {
		if k == "" {
			continue
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO learning_skills (learning_id, skill_key) SELECT id, ? FROM learnings WHERE id = ? AND status <> 'forgotten' ON CONFLICT DO NOTHING`, k, id)
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
	}
	return linked, nil
}

// insert adds a learning unless one is known under its identity, and sets l.ID to the id it has here.
func (s *Store) insert(ctx context.Context, tx *sql.Tx, l *learning.Learning) (bool, error) {
	identity := learning.Identity(l.Project, l.Rule)
	// What was forgotten is forgotten in every project.
	err := tx.QueryRowContext(ctx, `SELECT learning_id FROM learning_identities WHERE identity = ?`, forgottenIdentity(l.Rule)).Scan(&l.ID)
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	// A rule that holds for all projects is not this one's, too.
	err = tx.QueryRowContext(ctx, `SELECT i.learning_id FROM learning_identities i JOIN learnings g ON g.id = i.learning_id WHERE i.identity = ? AND (g.project = '' OR ?)`,
		learning.Identity("", l.Rule), l.Project == "").Scan(&l.ID)
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	err = tx.QueryRowContext(ctx, `SELECT learning_id FROM learning_identities WHERE identity = ?`, identity).Scan(&l.ID)
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	l.ID = identity
	var to any
	if l.ValidTo != nil {
		to = stamp(*l.ValidTo)
	}
	parts, cjk := indexed(l)
	if _, err := tx.ExecContext(ctx, `INSERT INTO learnings (id, status, project, category, rule, mistake, correction, skill, wiki, host, session,
		observations, times_injected, times_applied, times_recurred, superseded_by, detector, created_at, valid_from, valid_to, parts, cjk)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		l.ID, l.Status, l.Project, l.Category, l.Rule, l.Mistake, l.Correction, l.Skill, l.Wiki, l.Host, l.Session,
		max(l.Observations, 1), l.TimesInjected, l.TimesApplied, l.TimesRecurred, l.SupersededBy, l.Detector, stamp(l.CreatedAt), stamp(l.ValidFrom), to, parts, cjk); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO learning_identities (identity, learning_id) VALUES (?, ?)`, identity, l.ID)
	return true, err
}

// forgottenIdentity is a rule's identity whatever the project.
func forgottenIdentity(rule string) string { return learning.Identity("\x00forgotten", rule) }

func indexed(l *learning.Learning) (parts, cjk string) {
	all := l.Category + "\n" + l.Rule + "\n" + l.Mistake + "\n" + l.Correction
	return identifierParts(all), cjkTerms(all)
}

// AddCaptures stores captured blocks as pending learnings. An event that is known already changes nothing; a known rule
// from another event adds an observation, and a recurrence where the rule had been injected before. A forgotten rule is
// not captured again. It returns how many learnings are new.
func (s *Store) AddCaptures(ctx context.Context, cs []learning.Capture) (int, error) {
	added := 0
	err := s.tx(ctx, func(tx *sql.Tx) error {
		added = 0
		for _, c := range cs {
			isNew, err := s.capture(ctx, tx, c, "")
			if err != nil {
				return err
			}
			if isNew {
				added++
			}
		}
		return nil
	})
	return added, wrap(err, "store %d captures", len(cs))
}

func (s *Store) capture(ctx context.Context, tx *sql.Tx, c learning.Capture, project string) (bool, error) {
	l := c.Learning
	l.Status = learning.Pending
	if project != "" {
		l.Project = project
	}
	// The same event in another form, which may not name the folder, is the same event.
	var seen string
	switch err := tx.QueryRowContext(ctx, `SELECT learning_id FROM captures WHERE id = ?`, c.Event).Scan(&seen); {
	case err == nil:
		return false, nil
	case !errors.Is(err, sql.ErrNoRows):
		return false, err
	}
	isNew, err := s.insert(ctx, tx, &l)
	if err != nil {
		return false, err
	}
	// A skill that a block names is a proposal; it links the learning only if it is new.
	if isNew {
		if _, err := link(ctx, tx, l.ID, l.Skill); err != nil {
			return false, err
		}
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO captures (id, learning_id, session, host, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		c.Event, l.ID, l.Session, l.Host, stamp(l.CreatedAt))
	if err != nil {
		return false, err
	}
	fresh, err := res.RowsAffected()
	switch {
	case err != nil:
		return false, err
	case isNew:
		return true, s.changed(ctx, tx, "learning.captured", l.ID, map[string]any{"host": l.Host})
	case fresh > 0:
		_, err = tx.ExecContext(ctx, `UPDATE learnings SET observations = observations + 1,
			times_recurred = times_recurred + EXISTS (SELECT 1 FROM injections i WHERE i.what = learnings.id)
			WHERE id = ? AND status <> 'forgotten'`, l.ID)
	}
	return false, err
}
