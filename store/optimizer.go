package store

import (
	"context"
	"database/sql"

	"whetstone/run"
)

// PutAdvice records what a slow or meta update of an epoch wrote; its text must be stored already.
func (s *Store) PutAdvice(ctx context.Context, a run.Advice) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO advice (run_id, epoch, kind, hash) VALUES (?, ?, ?, ?) ON CONFLICT (run_id, epoch, kind) DO UPDATE SET hash = excluded.hash`, a.RunID, a.Epoch, a.Kind, a.Hash)
	return wrap(err, "record the advice of epoch %d of run %s", a.Epoch, a.RunID)
}

// Advice lists a run's advice by epoch.
func (s *Store) Advice(ctx context.Context, runID string) ([]run.Advice, error) {
	return collect(ctx, s.read, "list advice", func(r scanner) (run.Advice, error) {
		a := run.Advice{RunID: runID}
		return a, r.Scan(&a.Epoch, &a.Kind, &a.Hash)
	}, `SELECT epoch, kind, hash FROM advice WHERE run_id = ? ORDER BY epoch, kind`, runID)
}

// PutHarmful keeps an edit that did harm. The first finding stays.
func (s *Store) PutHarmful(ctx context.Context, h run.Harmful) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO harmful (skill_key, edit, parent, manifest, judge, run_id, reason, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		h.SkillKey, h.Edit, h.Parent, h.Manifest, h.Judge, h.RunID, h.Reason, stamp(s.now()))
	return wrap(err, "keep a harmful edit of %s", h.SkillKey)
}

// Harmful maps the edits that did harm to a skill, as this judge saw it on this manifest, to the reason.
func (s *Store) Harmful(ctx context.Context, skillKey, manifest, judge string) (map[string]string, error) {
	rows, err := collect(ctx, s.read, "list harmful edits", func(r scanner) ([2]string, error) {
		var x [2]string
		return x, r.Scan(&x[0], &x[1])
	}, `SELECT edit, reason FROM harmful WHERE skill_key = ? AND manifest = ? AND judge = ?`, skillKey, manifest, judge)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r[0]] = r[1]
	}
	return out, err
}

// PutBaseline records a baseline's text, or why there is none.
func (s *Store) PutBaseline(ctx context.Context, b run.Baseline) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO baselines (run_id, name, hash, note) VALUES (?, ?, ?, ?) ON CONFLICT (run_id, name) DO UPDATE SET hash = excluded.hash, note = excluded.note`, b.RunID, b.Name, b.Hash, b.Note)
	return wrap(err, "record baseline %s of run %s", b.Name, b.RunID)
}

// Baselines lists a run's baselines.
func (s *Store) Baselines(ctx context.Context, runID string) ([]run.Baseline, error) {
	return collect(ctx, s.read, "list baselines", func(r scanner) (run.Baseline, error) {
		b := run.Baseline{RunID: runID}
		return b, r.Scan(&b.Name, &b.Hash, &b.Note)
	}, `SELECT name, hash, note FROM baselines WHERE run_id = ? ORDER BY name`, runID)
}

// Attest records that a run, or a rollback, put a file in its place. Attesting the same delivery again changes nothing; what
// another one puts back is the latest again.
func (s *Store) Attest(ctx context.Context, a run.Attestation) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO attestations (hash, path, skill_key, run_id, at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (hash, path) DO UPDATE SET skill_key = excluded.skill_key, run_id = excluded.run_id, at = excluded.at WHERE run_id <> excluded.run_id`, a.Hash, a.Path, a.SkillKey, a.RunID, stamp(s.now()))
		if err != nil {
			return err
		}
		if n, _ := res.RowsAffected(); n == 0 {
			return nil
		}
		return s.event(ctx, tx, "skill.attested", a.SkillKey, map[string]any{"hash": a.Hash, "run": a.RunID})
	})
	return wrap(err, "attest %s", a.Path)
}

// Attestations lists what was ever delivered at a path, latest first.
func (s *Store) Attestations(ctx context.Context, path string) ([]run.Attestation, error) {
	return collect(ctx, s.read, "list attestations", func(r scanner) (run.Attestation, error) {
		var a run.Attestation
		var at string
		if err := r.Scan(&a.Hash, &a.Path, &a.SkillKey, &a.RunID, &at); err != nil {
			return a, err
		}
		var err error
		a.At, err = parseTime(at)
		return a, err
	}, `SELECT hash, path, skill_key, run_id, at FROM attestations WHERE path = ? ORDER BY at DESC, hash`, path)
}
