package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"whetstone/model"
	"whetstone/run"
)

// Reserve asks for leave to make a call, in one transaction: a call that was settled before returns its answer and costs
// nothing; otherwise the most it can cost is reserved, unless spent and reserved together would pass the budget
// (model.ErrBudget) or the number of calls (model.ErrCalls), or a cap beyond the run (model.CapError). A reservation of the same key that is still open belongs to
// a process that died: it becomes unknown, which counts as spent.
func (s *Store) Reserve(ctx context.Context, b model.Booking) (model.Booked, error) {
	var out model.Booked
	err := s.tx(ctx, func(tx *sql.Tx) error {
		out = model.Booked{}
		var r model.Reply
		var reply sql.NullString
		err := tx.QueryRowContext(ctx, `SELECT attempt, reply, finish, input, cached, written, output, reported, estimated FROM calls WHERE key = ? AND state = 'settled'`, b.Key).
			Scan(&out.Attempt, &reply, &r.Finish, &r.Usage.Input, &r.Usage.Cached, &r.Usage.Written, &r.Usage.Output, &r.Reported, &r.Usage.Estimated)
		switch {
		case err == nil:
			r.Text = reply.String
			out.Reply = &r
			return nil
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE calls SET state = 'unknown', spent = reserved, settled_at = ?, error = 'the process that made the call went away' WHERE key = ? AND state = 'reserved'`, stamp(s.now()), b.Key); err != nil {
			return err
		}
		var committed int64
		var calls, attempts int
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(sum(CASE state WHEN 'reserved' THEN reserved ELSE spent END), 0), count(CASE WHEN state <> 'released' THEN 1 END) FROM calls WHERE run_id = ?`, b.RunID).Scan(&committed, &calls); err != nil {
			return err
		}
		if b.Reserve > 0 && (b.Reserve > b.Budget || model.NanoUSD(committed) > b.Budget-b.Reserve) {
			return model.ErrBudget
		}
		if b.Calls > 0 && calls >= b.Calls {
			return model.ErrCalls
		}
		if err := s.withinCaps(ctx, tx, b); err != nil {
			return err
		}
		if b.Night {
			if err := s.night(ctx, tx, b); err != nil {
				return err
			}
		}
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(attempt), 0) FROM calls WHERE key = ?`, b.Key).Scan(&attempts); err != nil {
			return err
		}
		out.Attempt = attempts + 1
		_, err = tx.ExecContext(ctx, `INSERT INTO calls (key, attempt, run_id, stage, step, provider, model, state, reserved, reserved_tokens, spent, input, cached, output, estimated, finish, error, at)
			VALUES (?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?, 0, 0, 0, 0, 0, '', '', ?)`,
			b.Key, out.Attempt, b.RunID, b.Stage, b.Step, b.Ref.Provider, b.Ref.Model, int64(b.Reserve), b.Tokens, stamp(s.now()))
		return err
	})
	return out, wrap(err, "reserve %.6f dollars for a %s call", b.Reserve.USD(), b.Stage)
}

// SetCaps gives the bounds that hold beyond a run's own budget; they are asked for with each booking, since days pass.
func (s *Store) SetCaps(caps func(now time.Time) []model.Cap) { s.caps = caps }

// withinCaps refuses a call that would pass a cap. What is reserved, or was lost track of, counts in full.
func (s *Store) withinCaps(ctx context.Context, tx *sql.Tx, b model.Booking) error {
	if s.caps == nil {
		return nil
	}
	for _, c := range s.caps(s.now()) {
		if c.USD < 0 && c.Calls < 0 && c.Tokens < 0 {
			continue
		}
		runID := ""
		if c.Run {
			runID = b.RunID
		}
		var spent, calls, tokens int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(sum(CASE state WHEN 'reserved' THEN reserved ELSE spent END), 0), count(CASE WHEN state <> 'released' AND provider <> 'offline' THEN 1 END),
			coalesce(sum(CASE WHEN provider = 'offline' THEN 0 WHEN state IN ('reserved', 'unknown') THEN max(reserved_tokens, input + output) ELSE input + output END), 0)
			FROM calls WHERE (?1 = '' OR run_id = ?1) AND at >= ?2`, runID, stamp(c.Since)).Scan(&spent, &calls, &tokens); err != nil {
			return err
		}
		switch {
		case c.USD >= 0 && b.Reserve > 0 && (b.Reserve > c.USD || model.NanoUSD(spent) > c.USD-b.Reserve):
			return &model.CapError{Cap: c.Name, What: "dollars"}
		case b.Ref.Provider == model.Offline: // it takes neither tokens nor anybody's patience
		case c.Calls >= 0 && calls >= int64(c.Calls):
			return &model.CapError{Cap: c.Name, What: "calls"}
		case c.Tokens >= 0 && tokens+int64(b.Tokens) > int64(c.Tokens):
			return &model.CapError{Cap: c.Name, What: "tokens"}
		}
	}
	return nil
}

// Settle books what a call took and keeps its answer. Where another attempt of the same call was settled meanwhile (this
// one was given up for dead and came back), the cost is booked and the other answer stays.
func (s *Store) Settle(ctx context.Context, key string, attempt int, cost model.NanoUSD, r model.Reply) error {
	res, err := s.write.ExecContext(ctx, `UPDATE calls SET state = CASE WHEN EXISTS (SELECT 1 FROM calls o WHERE o.key = calls.key AND o.state = 'settled') THEN 'unknown' ELSE 'settled' END, spent = ?, input = ?, cached = ?, written = ?, output = ?, reported = ?, estimated = ?, reply = ?, finish = ?, error = '', settled_at = ?
		WHERE key = ? AND attempt = ? AND state IN ('reserved', 'unknown')`,
		int64(cost), r.Usage.Input, r.Usage.Cached, r.Usage.Written, r.Usage.Output, int64(r.Reported), r.Usage.Estimated, r.Text, r.Finish, stamp(s.now()), key, attempt)
	if err != nil {
		return wrap(err, "settle a call")
	}
	if n, _ := res.RowsAffected(); n == 0 {
		return fmt.Errorf("settle a call: attempt %d is not open: %w", attempt, ErrState)
	}
	return nil
}

// Release gives a reservation back, for a call that certainly was not billed, and notes why it failed. spent says
// otherwise: the outcome is unknown and counts as spent in full.
func (s *Store) Release(ctx context.Context, key string, attempt int, spent bool, why string) error {
	state := "released"
	if spent {
		state = "unknown"
	}
	_, err := s.write.ExecContext(ctx, `UPDATE calls SET state = ?1, spent = CASE WHEN ?2 THEN reserved ELSE 0 END, error = ?3, settled_at = ?4 WHERE key = ?5 AND attempt = ?6 AND state = 'reserved'`,
		state, spent, why, stamp(s.now()), key, attempt)
	return wrap(err, "release a reservation")
}

// Spent sums what a run has spent, reservations included, and counts its calls.
func (s *Store) Spent(ctx context.Context, runID string) (spent model.NanoUSD, calls int, err error) {
	var n int64
	err = s.read.QueryRowContext(ctx, `SELECT coalesce(sum(CASE state WHEN 'reserved' THEN reserved ELSE spent END), 0), count(CASE WHEN state <> 'released' THEN 1 END) FROM calls WHERE run_id = ?`, runID).Scan(&n, &calls)
	return model.NanoUSD(n), calls, wrap(err, "sum the spend of run %s", runID)
}

// SpendByStage sums the ledger of a run by stage.
func (s *Store) SpendByStage(ctx context.Context, runID string) ([]run.Spend, error) {
	return collect(ctx, s.read, "sum spend", func(r scanner) (run.Spend, error) {
		var x run.Spend
		return x, r.Scan(&x.Stage, &x.Calls, &x.NanoUSD, &x.Input, &x.Output, &x.Unknown, &x.Reserved, &x.Cached, &x.Reported, &x.Estimated)
	}, `SELECT stage, count(CASE WHEN state <> 'released' THEN 1 END), sum(CASE state WHEN 'reserved' THEN reserved ELSE spent END), sum(input), sum(output),
		count(CASE WHEN state = 'unknown' THEN 1 END), count(CASE WHEN state = 'reserved' THEN 1 END), sum(cached), sum(reported), count(CASE WHEN estimated THEN 1 END)
		FROM calls WHERE run_id = ? GROUP BY stage ORDER BY stage`, runID)
}

// DoublePaid lists keys of a run that were settled more than once: there must never be one.
func (s *Store) DoublePaid(ctx context.Context, runID string) ([]string, error) {
	return collect(ctx, s.read, "check the ledger", func(r scanner) (string, error) {
		var k string
		return k, r.Scan(&k)
	}, `SELECT key FROM calls WHERE run_id = ? AND state = 'settled' GROUP BY key HAVING count(*) > 1`, runID)
}
