package store

import (
	"context"
	"database/sql"

	"whetstone/learning"
)

// AddNote keeps a correction note; one with the same id is kept once. fresh tells whether it is new.
func (s *Store) AddNote(ctx context.Context, n learning.Note) (fresh bool, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		fresh, err = s.note(ctx, tx, n, "")
		return err
	})
	return fresh, wrap(err, "keep a correction note")
}

func (s *Store) note(ctx context.Context, tx *sql.Tx, n learning.Note, project string) (bool, error) {
	if project != "" {
		n.Project = project
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO correction_notes (id, project, session, host, excerpt, status, learning_id, at) VALUES (?, ?, ?, ?, ?, 'open', '', ?) ON CONFLICT DO NOTHING`,
		n.ID, n.Project, n.Session, n.Host, n.Excerpt, stamp(n.At))
	if err != nil {
		return false, err
	}
	if k, _ := res.RowsAffected(); k == 0 {
		return false, nil
	}
	return true, s.event(ctx, tx, "note.kept", n.ID, map[string]any{"host": n.Host})
}

// Notes lists correction notes with a status ("" is all), oldest first.
func (s *Store) Notes(ctx context.Context, status string) ([]learning.Note, error) {
	return collect(ctx, s.read, "list correction notes", func(r scanner) (learning.Note, error) {
		var n learning.Note
		var at string
		if err := r.Scan(&n.ID, &n.Project, &n.Session, &n.Host, &n.Excerpt, &n.Status, &n.Learning, &at); err != nil {
			return n, err
		}
		var err error
		n.At, err = parseTime(at)
		return n, err
	}, `SELECT id, project, session, host, excerpt, status, learning_id, at FROM correction_notes WHERE ? IN ('', status) ORDER BY at, id`, status)
}

// CloseNote says what became of a note: turned into a learning, or dismissed (learningID is ""), which erases its text.
func (s *Store) CloseNote(ctx context.Context, id, learningID string) error {
	status := "dismissed"
	if learningID != "" {
		status = "turned"
	}
	return s.setNote(ctx, id, status, learningID)
}

// ReopenNote takes CloseNote back; the excerpt must be given, since a dismissed note has none.
func (s *Store) ReopenNote(ctx context.Context, id, excerpt string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE correction_notes SET status = 'open', learning_id = '', excerpt = ? WHERE id = ?`, excerpt, id); err != nil {
			return err
		}
		return s.event(ctx, tx, "note.reopened", id, map[string]any{})
	})
	return wrap(err, "reopen note %s", id)
}

func (s *Store) setNote(ctx context.Context, id, status, learningID string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		var was string
		if err := tx.QueryRowContext(ctx, `SELECT status FROM correction_notes WHERE id = ?`, id).Scan(&was); err != nil {
			return wrap(err, "find note %s", id)
		}
		if was == status {
			return nil
		}
		if _, err := tx.ExecContext(ctx, `UPDATE correction_notes SET status = ?, learning_id = ?, excerpt = CASE ? WHEN 'dismissed' THEN '' ELSE excerpt END WHERE id = ?`, status, learningID, status, id); err != nil {
			return err
		}
		return s.event(ctx, tx, "note."+status, id, map[string]any{"learning": learningID})
	})
	return wrap(err, "close note %s", id)
}
