package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"whetstone/model"
	"whetstone/run"
)

// eventNight marks in the journal a run that a schedule's night made, from its first call on.
const eventNight = "run.night"

// nightSpend sums what nights have spent since a time, reservations included.
const nightSpend = `SELECT coalesce(sum(CASE c.state WHEN 'reserved' THEN c.reserved ELSE c.spent END), 0) FROM calls c
	WHERE c.at >= ? AND EXISTS (SELECT 1 FROM events e WHERE e.subject = c.run_id AND e.kind = '` + eventNight + `')`

// night refuses a night's call that would pass what the nights of this day may spend together, and marks its run as one:
// two nights at the same hour, which ask for leave one after the other, can not pass the cap between them.
func (s *Store) night(ctx context.Context, tx *sql.Tx, b model.Booking) error {
	var marked bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM events WHERE subject = ? AND kind = ?)`, b.RunID, eventNight).Scan(&marked); err != nil {
		return err
	}
	if b.NightCap != nil && b.Reserve > 0 {
		var spent int64
		if err := tx.QueryRowContext(ctx, nightSpend, stamp(dayOf(s.now()))).Scan(&spent); err != nil {
			return err
		}
		if b.Reserve > *b.NightCap || model.NanoUSD(spent) > *b.NightCap-b.Reserve {
			return &model.CapError{Cap: model.CapNight, What: "dollars"}
		}
	}
	if marked {
		return nil
	}
	return s.event(ctx, tx, eventNight, b.RunID, struct{}{})
}

// NightSpend sums what the nights of this day (UTC) have spent so far, of all skills together, reservations included.
func (s *Store) NightSpend(ctx context.Context) (model.NanoUSD, error) {
	var n int64
	err := s.read.QueryRowContext(ctx, nightSpend, stamp(dayOf(s.now()))).Scan(&n)
	return model.NanoUSD(n), wrap(err, "sum what nights spent")
}

// LastNight returns the last night of a skill file that came to a decision, for or against a change.
func (s *Store) LastNight(ctx context.Context, skillKey, path string) (r run.Run, found bool, err error) {
	r, err = scanRun(s.read.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE skill_key = ? AND skill_path = ? AND outcome IN (?, ?) AND result ->> '$.params.night' = 1
		ORDER BY started_at DESC, id LIMIT 1`, skillKey, path, run.Accepted, run.NoImprovement))
	if errors.Is(err, sql.ErrNoRows) {
		return run.Run{}, false, nil
	}
	return r, err == nil, wrap(err, "find the last night of %s", skillKey)
}

func dayOf(now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
