package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"whetstone/model"
	"whetstone/run"
)

// Reserve asks for leave to make a call, in one transaction: a call that was settled before returns its answer and costs
// nothing; otherwise the most it can cost is reserved, unless spent and reserved together would pass the budget
// (model.ErrBudget) or the number of calls (model.ErrCalls). A reservation of the same key that is still open belongs to
// a process that died: it becomes unknown, which counts as spent.
func (s *Store) Reserve(ctx context.Context, b model.Booking) (model.Booked, error) {
	var out model.Booked
	err := s.tx(ctx, func(tx *sql.Tx) error {
		out = model.Booked{}
		var r model.Reply
		var reply sql.NullString
		err := tx.QueryRowContext(ctx, `SELECT attempt, reply, finish, input, cached, output, estimated FROM calls WHERE key = ? AND state = 'settled'`, b.Key).
			Scan(&out.Attempt, &reply, &r.Finish, &r.Usage.Input, &r.Usage.Cached, &r.Usage.Output, &r.Usage.Estimated)
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
		if b.Reserve > 0 && model.NanoUSD(committed)+b.Reserve > b.Budget {
			return model.ErrBudget
		}
		if b.Calls > 0 && calls >= b.Calls {
			return model.ErrCalls
		}
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(attempt), 0) FROM calls WHERE key = ?`, b.Key).Scan(&attempts); err != nil {
			return err
		}
		out.Attempt = attempts + 1
		_, err = tx.ExecContext(ctx, `INSERT INTO calls (key, attempt, run_id, stage, step, provider, model, state, reserved, spent, input, cached, output, estimated, finish, error, at)
			VALUES (?, ?, ?, ?, ?, ?, ?, 'reserved', ?, 0, 0, 0, 0, 0, '', '', ?)`,
			b.Key, out.Attempt, b.RunID, b.Stage, b.Step, b.Ref.Provider, b.Ref.Model, int64(b.Reserve), stamp(s.now()))
		return err
	})
	return out, wrap(err, "reserve %.6f dollars for a %s call", b.Reserve.USD(), b.Stage)
}

// Settle books what a call took and keeps its answer. Where another attempt of the same call was settled meanwhile (this
// one was given up for dead and came back), the cost is booked and the other answer stays.
func (s *Store) Settle(ctx context.Context, key string, attempt int, cost model.NanoUSD, r model.Reply) error {
	res, err := s.write.ExecContext(ctx, `UPDATE calls SET state = CASE WHEN EXISTS (SELECT 1 FROM calls o WHERE o.key = calls.key AND o.state = 'settled') THEN 'unknown' ELSE 'settled' END, spent = ?, input = ?, cached = ?, output = ?, estimated = ?, reply = ?, finish = ?, error = '', settled_at = ?
		WHERE key = ? AND attempt = ? AND state IN ('reserved', 'unknown')`,
		int64(cost), r.Usage.Input, r.Usage.Cached, r.Usage.Output, r.Usage.Estimated, r.Text, r.Finish, stamp(s.now()), key, attempt)
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
		return x, r.Scan(&x.Stage, &x.Calls, &x.NanoUSD, &x.Input, &x.Output, &x.Unknown, &x.Reserved)
	}, `SELECT stage, count(CASE WHEN state <> 'released' THEN 1 END), sum(CASE state WHEN 'reserved' THEN reserved ELSE spent END), sum(input), sum(output),
		count(CASE WHEN state = 'unknown' THEN 1 END), count(CASE WHEN state = 'reserved' THEN 1 END)
		FROM calls WHERE run_id = ? GROUP BY stage ORDER BY stage`, runID)
}

// DoublePaid lists keys of a run that were settled more than once: there must never be one.
func (s *Store) DoublePaid(ctx context.Context, runID string) ([]string, error) {
	return collect(ctx, s.read, "check the ledger", func(r scanner) (string, error) {
		var k string
		return k, r.Scan(&k)
	}, `SELECT key FROM calls WHERE run_id = ? AND state = 'settled' GROUP BY key HAVING count(*) > 1`, runID)
}
