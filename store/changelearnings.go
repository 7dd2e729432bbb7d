package store

import (
	"context"
	"database/sql"
	"fmt"

	"whetstone/learning"
)

// current reads a learning inside a transaction.
func current(ctx context.Context, tx *sql.Tx, id string) (learning.Learning, error) {
	l, err := scanLearning(tx.QueryRowContext(ctx, `SELECT `+learningColumns+` FROM learnings l WHERE l.id = ?`, id))
	return l, wrap(err, "find learning %s", id)
}

// SetStatus moves learnings to approved or rejected. All ids must exist, and none may be forgotten or superseded; if one
// is, nothing changes.
func (s *Store) SetStatus(ctx context.Context, ids []string, to learning.Status) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			l, err := current(ctx, tx, id)
			if err != nil {
				return err
			}
			if l.Status == to {
				continue
			}
			if l.Status == learning.Forgotten || l.Status == learning.Superseded {
				return fmt.Errorf("learning %s is %s: %w", id, l.Status, ErrState)
			}
			if _, err := tx.ExecContext(ctx, `UPDATE learnings SET status = ? WHERE id = ?`, to, id); err != nil {
				return err
			}
			if err := s.changed(ctx, tx, "learning."+string(to), id, map[string]any{"from": l.Status}); err != nil {
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
			l, err := current(ctx, tx, id)
			if err != nil {
				return err
			}
			if l.Status == learning.Forgotten {
				return fmt.Errorf("learning %s is %s: %w", id, l.Status, ErrState)
			}
			linked, err := link(ctx, tx, id, skillKey)
			if err != nil {
				return err
			}
			if linked {
				if err := s.changed(ctx, tx, "learning.linked", id, map[string]any{"skill": skillKey}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return wrap(err, "link learnings to %s", skillKey)
}

// EditLearning replaces the fields of a learning that a person may change: category, rule, mistake, correction, wiki,
// detector and the valid time. It stays known under its older wording, so that this is not captured as a new rule.
// ErrExists where another learning has the new rule already.
func (s *Store) EditLearning(ctx context.Context, l learning.Learning) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		old, err := current(ctx, tx, l.ID)
		if err != nil {
			return err
		}
		if old.Status == learning.Forgotten {
			return fmt.Errorf("learning %s is %s: %w", l.ID, old.Status, ErrState)
		}
		identity := learning.Identity(old.Project, l.Rule)
		if _, err := tx.ExecContext(ctx, `INSERT INTO learning_identities (identity, learning_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, identity, l.ID); err != nil {
			return err
		}
		var owner string
		if err := tx.QueryRowContext(ctx, `SELECT learning_id FROM learning_identities WHERE identity = ?`, identity).Scan(&owner); err != nil {
			return err
		}
		if owner != l.ID {
			return fmt.Errorf("learning %s has that rule already: %w", owner, ErrExists)
		}
		var to any
		if l.ValidTo != nil {
			to = stamp(*l.ValidTo)
		}
		parts, cjk := indexed(&l)
		if _, err := tx.ExecContext(ctx, `UPDATE learnings SET category = ?, rule = ?, mistake = ?, correction = ?, wiki = ?, detector = ?, valid_from = ?, valid_to = ?, parts = ?, cjk = ? WHERE id = ?`,
			l.Category, l.Rule, l.Mistake, l.Correction, l.Wiki, l.Detector, stamp(l.ValidFrom), to, parts, cjk, l.ID); err != nil {
			return err
		}
		return s.changed(ctx, tx, "learning.edited", l.ID, map[string]any{})
	})
	return wrap(err, "edit learning %s", l.ID)
}

// Supersede ends the valid time of a learning and names the one that takes its place. Both must be there; a learning can
// not be superseded by itself, by a forgotten one, or by one that it supersedes.
func (s *Store) Supersede(ctx context.Context, id, by string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		old, err := current(ctx, tx, id)
		if err != nil {
			return err
		}
		l, err := current(ctx, tx, by)
		if err != nil {
			return err
		}
		if old.Status == learning.Forgotten || l.Status == learning.Forgotten || l.Status == learning.Rejected {
			return fmt.Errorf("learning %s is %s and %s is %s: %w", id, old.Status, by, l.Status, ErrState)
		}
		for at := by; at != ""; {
			if at == id {
				return fmt.Errorf("learning %s would supersede itself: %w", id, ErrState)
			}
			next, err := current(ctx, tx, at)
			if err != nil {
				return err
			}
			at = next.SupersededBy
		}
		now := s.now()
		to := stamp(now)
		if old.ValidTo != nil && old.ValidTo.Before(now) {
			to = stamp(*old.ValidTo)
		}
		if old.ValidFrom.After(now) {
			to = stamp(old.ValidFrom) // it never became valid
		}
		if _, err := tx.ExecContext(ctx, `UPDATE learnings SET status = 'superseded', superseded_by = ?, valid_to = ? WHERE id = ?`, by, to, id); err != nil {
			return err
		}
		return s.changed(ctx, tx, "learning.superseded", id, map[string]any{"by": by, "from": old.Status})
	})
	return wrap(err, "supersede learning %s", id)
}

// RestoreLearnings brings rejected and superseded learnings back to the state they had before: approved if they ever were,
// pending otherwise. What is forgotten stays so.
func (s *Store) RestoreLearnings(ctx context.Context, ids []string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			l, err := current(ctx, tx, id)
			if err != nil {
				return err
			}
			if l.Status != learning.Rejected && l.Status != learning.Superseded {
				return fmt.Errorf("learning %s is %s, and only rejected and superseded ones can be restored: %w", id, l.Status, ErrState)
			}
			var to learning.Status
			var until sql.NullString
			err = tx.QueryRowContext(ctx, `SELECT status, valid_to FROM learning_versions WHERE learning_id = ? AND status IN ('pending', 'approved') ORDER BY v DESC LIMIT 1`, id).Scan(&to, &until)
			if err != nil {
				to, until = learning.Pending, sql.NullString{}
			}
			if _, err := tx.ExecContext(ctx, `UPDATE learnings SET status = ?, superseded_by = '', valid_to = ? WHERE id = ?`, to, until, id); err != nil {
				return err
			}
			if err := s.changed(ctx, tx, "learning.restored", id, map[string]any{"from": l.Status, "to": to}); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "restore learnings")
}

// UnlinkSkill takes LinkSkill back for one learning.
func (s *Store) UnlinkSkill(ctx context.Context, id, skillKey string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM learning_skills WHERE learning_id = ? AND skill_key = ?`, id, skillKey); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE learnings SET skill = coalesce((SELECT min(skill_key) FROM learning_skills WHERE learning_id = ?1), '') WHERE id = ?1 AND skill = ?2`, id, skillKey); err != nil {
			return err
		}
		return s.changed(ctx, tx, "learning.unlinked", id, map[string]any{"skill": skillKey})
	})
	return wrap(err, "unlink learning %s from %s", id, skillKey)
}
