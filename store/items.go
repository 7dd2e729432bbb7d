package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"

	"whetstone/validation"
)

// Sides returns the sides that were ever assigned to items of a skill.
func (s *Store) Sides(ctx context.Context, skillKey string) (map[string]validation.Side, error) {
	type row struct {
		id   string
		side validation.Side
	}
	rows, err := collect(ctx, s.read, "read splits", func(r scanner) (row, error) {
		var x row
		return x, r.Scan(&x.id, &x.side)
	}, `SELECT item_id, side FROM item_sides WHERE skill_key = ?`, skillKey)
	out := make(map[string]validation.Side, len(rows))
	for _, r := range rows {
		out[r.id] = r.side
	}
	return out, err
}

// Freeze stores a run's items with their sides, and the excluded learnings. A side that was assigned before is never
// changed. Freezing again changes nothing, whatever the items are by then.
func (s *Store) Freeze(ctx context.Context, runID, skillKey string, items []validation.Item, excluded []validation.Excluded) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		var frozen bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM run_items WHERE run_id = ?)`, runID).Scan(&frozen); err != nil || frozen {
			return err
		}
		for _, it := range items {
			spec, err := specOf(it)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO items (id, kind, category, prompt, expected, spec) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, it.ID, it.Kind, it.Category, it.Prompt, it.Expected, spec); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO item_sides (skill_key, item_id, side) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, skillKey, it.ID, it.Side); err != nil {
				return err
			}
			ls, err := json.Marshal(it.Learning)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO run_items (run_id, item_id, side, weight, cluster, learnings) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, runID, it.ID, it.Side, it.Weight, it.Cluster, string(ls)); err != nil {
				return err
			}
		}
		for _, e := range excluded {
			if _, err := tx.ExecContext(ctx, `INSERT INTO run_excluded (run_id, learning_id, reason, other) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, runID, cmp.Or(e.Learning, "item: "+e.Rule), e.Reason, e.With); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "freeze the items of run %s", runID)
}

// itemSpec is what a kind needs besides prompt and expected.
type itemSpec struct {
	Label      string   `json:"label,omitempty"`
	Pattern    string   `json:"pattern,omitempty"`
	Section    string   `json:"section,omitempty"`
	Command    []string `json:"command,omitempty"`
	TimeoutSec int      `json:"timeout_sec,omitempty"`
	FoldCase   bool     `json:"ignore_case,omitempty"`
}

// specOf is an item's spec as it is stored, "" where it has none.
func specOf(it validation.Item) (string, error) {
	x := itemSpec{it.Label, it.Pattern, it.Section, it.Command, it.TimeoutSec, it.FoldCase}
	if it.Kind == validation.KindLLM && it.Label == "" {
		return "", nil
	}
	b, err := json.Marshal(x)
	return string(b), err
}

func setSpec(it *validation.Item, spec string) error {
	if spec == "" {
		return nil
	}
	var x itemSpec
	if err := json.Unmarshal([]byte(spec), &x); err != nil {
		return err
	}
	it.Label, it.Pattern, it.Section, it.Command, it.TimeoutSec, it.FoldCase = x.Label, x.Pattern, x.Section, x.Command, x.TimeoutSec, x.FoldCase
	return nil
}

// RunItems returns the frozen items of a run, of one side or of all ("").
func (s *Store) RunItems(ctx context.Context, runID string, side validation.Side) ([]validation.Item, error) {
	return collect(ctx, s.read, "read items", func(r scanner) (validation.Item, error) {
		var it validation.Item
		var ls, spec string
		if err := r.Scan(&it.ID, &it.Kind, &it.Category, &it.Prompt, &it.Expected, &spec, &it.Side, &it.Weight, &it.Cluster, &ls); err != nil {
			return it, err
		}
		if err := setSpec(&it, spec); err != nil {
			return it, err
		}
		return it, json.Unmarshal([]byte(ls), &it.Learning)
	}, `SELECT i.id, i.kind, i.category, i.prompt, i.expected, i.spec, r.side, r.weight, r.cluster, r.learnings
		FROM run_items r JOIN items i ON i.id = r.item_id WHERE r.run_id = ? AND (? = '' OR r.side = ?) ORDER BY i.id`, runID, side, side)
}

// RunExcluded lists the learnings that made no item of a run.
func (s *Store) RunExcluded(ctx context.Context, runID string) ([]validation.Excluded, error) {
	return collect(ctx, s.read, "read excluded learnings", func(r scanner) (validation.Excluded, error) {
		var e validation.Excluded
		return e, r.Scan(&e.Learning, &e.Rule, &e.Reason, &e.With)
	}, `SELECT x.learning_id, coalesce(l.rule, ''), x.reason, x.other FROM run_excluded x LEFT JOIN learnings l ON l.id = x.learning_id WHERE x.run_id = ? ORDER BY x.reason, l.rule`, runID)
}

// PutVerdicts records verdicts of one skill text at one stage of a run. A missing verdict is replaced by a later one, a
// given one never.
func (s *Store) PutVerdicts(ctx context.Context, runID, stage, hash string, vs []validation.Verdict) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, v := range vs {
			if _, err := tx.ExecContext(ctx, `INSERT INTO verdicts (run_id, stage, hash, item_id, trial, state, why, judge) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (run_id, stage, hash, item_id, trial) DO UPDATE SET state = excluded.state, why = excluded.why, judge = excluded.judge WHERE verdicts.state = 'missing'`,
				runID, stage, hash, v.Item, v.Trial, v.State, v.Why, v.Judge); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "record %d verdicts of run %s", len(vs), runID)
}

// Verdicts returns the verdicts of one skill text at one stage of a run.
func (s *Store) Verdicts(ctx context.Context, runID, stage, hash string) ([]validation.Verdict, error) {
	return collect(ctx, s.read, "read verdicts", func(r scanner) (validation.Verdict, error) {
		var v validation.Verdict
		return v, r.Scan(&v.Item, &v.Trial, &v.State, &v.Why, &v.Judge)
	}, `SELECT item_id, trial, state, why, judge FROM verdicts WHERE run_id = ? AND stage = ? AND hash = ? ORDER BY item_id, trial`, runID, stage, hash)
}

// KnownVerdicts returns what one judge has said of a skill text anywhere in a run, one verdict for each item. For a judge that
// answers the same every time it need not be asked again.
func (s *Store) KnownVerdicts(ctx context.Context, runID, hash, judge string) (map[string]validation.Verdict, error) {
	rows, err := collect(ctx, s.read, "read known verdicts", func(r scanner) (validation.Verdict, error) {
		var v validation.Verdict
		return v, r.Scan(&v.Item, &v.State, &v.Why, &v.Judge)
	}, `SELECT item_id, state, why, judge FROM verdicts WHERE run_id = ? AND hash = ? AND judge = ? AND state <> 'missing'`, runID, hash, judge)
	out := make(map[string]validation.Verdict, len(rows))
	for _, v := range rows {
		out[v.Item] = v
	}
	return out, err
}

// Look numbers this look at a selection manifest over the skill's life, from 0. Asking again for the same step gives the
// same number.
func (s *Store) Look(ctx context.Context, skillKey, manifest, runID string, step, try int) (int, error) {
	var look int
	err := s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO looks (skill_key, manifest, run_id, step, try, look)
			SELECT ?, ?, ?, ?, ?, (SELECT count(*) FROM looks WHERE skill_key = ? AND manifest = ?) WHERE true
			ON CONFLICT (skill_key, manifest, run_id, step, try) DO NOTHING`, skillKey, manifest, runID, step, try, skillKey, manifest); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT look FROM looks WHERE skill_key = ? AND manifest = ? AND run_id = ? AND step = ? AND try = ?`, skillKey, manifest, runID, step, try).Scan(&look)
	})
	return look, wrap(err, "number a look of run %s", runID)
}

// LooksOf lists the looks of a run with their numbers over the life of the manifest, as [step, try, number].
func (s *Store) LooksOf(ctx context.Context, runID string) ([][3]int, error) {
	return collect(ctx, s.read, "list looks", func(r scanner) ([3]int, error) {
		var x [3]int
		return x, r.Scan(&x[0], &x[1], &x[2])
	}, `SELECT step, try, look FROM looks WHERE run_id = ? ORDER BY look`, runID)
}

// Looks counts the looks at a selection manifest so far.
func (s *Store) Looks(ctx context.Context, skillKey, manifest string) (int, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM looks WHERE skill_key = ? AND manifest = ?`, skillKey, manifest).Scan(&n)
	return n, wrap(err, "count looks")
}

// ReadTest notes that a run opened a sealed test side, and returns how many runs have done so, this one included.
func (s *Store) ReadTest(ctx context.Context, skillKey, manifest, runID string) (int, error) {
	var n int
	err := s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO test_reads (skill_key, manifest, run_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, skillKey, manifest, runID); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM test_reads WHERE skill_key = ? AND manifest = ?`, skillKey, manifest).Scan(&n)
	})
	return n, wrap(err, "note a read of the sealed test")
}
