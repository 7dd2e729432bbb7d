package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"whetstone/learning"
)

// AddRecord stores what a hook noted, in one transaction. Adding it again changes nothing. It returns how many learnings
// are new.
func (s *Store) AddRecord(ctx context.Context, r learning.Record) (added int, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		added, err = s.record(ctx, tx, r)
		return err
	})
	return added, wrap(err, "store %d captures, %d notes and %d applications", len(r.Captures), len(r.Notes), len(r.Applications))
}

func (s *Store) record(ctx context.Context, tx *sql.Tx, r learning.Record) (added int, err error) {
	project := ""
	if len(r.Keys) > 0 && len(r.Captures)+len(r.Notes) > 0 {
		if project, err = resolve(ctx, tx, r.Keys, "", s.now()); err != nil {
			return 0, err
		}
	}
	for _, c := range r.Captures {
		isNew, err := s.capture(ctx, tx, c, project)
		if err != nil {
			return 0, err
		}
		if isNew {
			added++
		}
	}
	for _, n := range r.Notes {
		if _, err := s.note(ctx, tx, n, project); err != nil {
			return 0, err
		}
	}
	for _, a := range r.Applications {
		// A cited id that is nobody's is no evidence of anything.
		res, err := tx.ExecContext(ctx, `INSERT INTO applications (id, learning_id, session, evidence, at) SELECT ?, id, ?, ?, ? FROM learnings WHERE id = ? AND status <> 'forgotten' ON CONFLICT DO NOTHING`,
			a.ID, a.Session, a.Evidence, stamp(a.At), a.Learning)
		if err != nil {
			return 0, err
		}
		if n, _ := res.RowsAffected(); n == 0 {
			continue
		}
		if _, err := tx.ExecContext(ctx, `UPDATE learnings SET times_applied = times_applied + 1 WHERE id = ?`, a.Learning); err != nil {
			return 0, err
		}
	}
	return added, nil
}

// Effect is what one event of a host does.
type Effect struct {
	Event   string        // identity of the event
	Window  time.Duration // how long a second delivery counts as the same event; 0 is for ever
	Session string
	Round   int      // how often the session was compacted
	Tell    []string // ids of learnings and refs of wiki entries that are about to be told
	Again   bool     // what was told in this round may be told again
	Record  learning.Record
}

// Take carries an effect out, once for each event: told are the ones of Tell that were not told in this session's round
// before, and first is false where the same event was taken already. All or nothing.
func (s *Store) Take(ctx context.Context, e Effect) (told []string, first bool, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		told, first = nil, false
		now := s.now()
		var at string
		switch err := tx.QueryRowContext(ctx, `SELECT at FROM hook_events WHERE id = ?`, e.Event).Scan(&at); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		default:
			before, err := parseTime(at)
			if err != nil {
				return err
			}
			if e.Window == 0 || now.Sub(before) < e.Window {
				return nil
			}
		}
		first = true
		if _, err := tx.ExecContext(ctx, `INSERT INTO hook_events (id, at) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at`, e.Event, stamp(now)); err != nil {
			return err
		}
		for _, what := range e.Tell {
			res, err := tx.ExecContext(ctx, `INSERT INTO injections (session, round, what, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, e.Session, e.Round, what, stamp(now))
			if err != nil {
				return err
			}
			if n, _ := res.RowsAffected(); n == 0 && !e.Again {
				continue
			}
			told = append(told, what)
			if _, err := tx.ExecContext(ctx, `UPDATE learnings SET times_injected = times_injected + 1, last_injected_at = ? WHERE id = ?`, stamp(now), what); err != nil {
				return err
			}
		}
		_, err := s.record(ctx, tx, e.Record)
		return err
	})
	return told, first, wrap(err, "take a hook's event")
}

// Told lists what a session was told in a round, in the order of telling; a negative round is all of them.
func (s *Store) Told(ctx context.Context, session string, round int) ([]string, error) {
	return collect(ctx, s.read, "list injections", func(r scanner) (string, error) {
		var what, at string
		return what, r.Scan(&what, &at)
	}, `SELECT what, min(at) AS first FROM injections WHERE session = ?1 AND (?2 < 0 OR round = ?2) GROUP BY what ORDER BY first, what`, session, round)
}

// ForgetOldEvents removes what only served to tell a second delivery from a first one.
func (s *Store) ForgetOldEvents(ctx context.Context, before time.Time) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM hook_events WHERE at < ?`, stamp(before))
	return wrap(err, "forget old events")
}

// Owed is what waits for a person.
type Owed struct {
	Pending int `json:"pending"` // learnings to review
	Notes   int `json:"notes"`   // corrections to review
	Staged  int `json:"staged"`  // proposals that lie beside their skills
}

// OwedNow counts what waits for a person.
func (s *Store) OwedNow(ctx context.Context) (Owed, error) {
	var o Owed
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM learnings WHERE status = 'pending'), (SELECT count(*) FROM correction_notes WHERE status = 'open'),
		(SELECT count(*) FROM skill_versions v WHERE v.how = 'staged' AND v.n = (SELECT max(n) FROM skill_versions w WHERE w.skill_key = v.skill_key))`).Scan(&o.Pending, &o.Notes, &o.Staged)
	return o, wrap(err, "count what is owed")
}

// SkillsInTraining lists the paths of skills that a run is optimizing just now.
func (s *Store) SkillsInTraining(ctx context.Context) ([]string, error) {
	return collect(ctx, s.read, "list open runs", func(r scanner) (string, error) {
		var p string
		return p, r.Scan(&p)
	}, `SELECT DISTINCT skill_path FROM runs WHERE ended_at IS NULL AND skill_path <> ''`)
}
