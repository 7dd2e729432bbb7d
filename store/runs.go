package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"whetstone/run"
	"whetstone/validation"
)

// BeginRun records a run. Beginning it again (an activity that is retried) changes nothing.
func (s *Store) BeginRun(ctx context.Context, r run.Run) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO runs (id, workflow_id, skill_key, skill_name, skill_path, provider, judge, mode, goal, seed, hash_before, manifest, outcome, started_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			r.ID, r.WorkflowID, r.SkillKey, r.SkillName, r.SkillPath, r.Provider, r.Judge, r.Mode, r.Goal, r.Seed, r.HashBefore, r.Manifest, run.Running, stamp(r.StartedAt))
		if err != nil {
			return err
		}
		if n, _ := res.RowsAffected(); n == 0 {
			return nil
		}
		return s.event(ctx, tx, "run.began", r.ID, map[string]any{"skill": r.SkillKey, "hash": r.HashBefore})
	})
	return wrap(err, "record run %s", r.ID)
}

// SetRunManifest notes which selection manifest the run froze.
func (s *Store) SetRunManifest(ctx context.Context, runID, manifest string) error {
	_, err := s.write.ExecContext(ctx, `UPDATE runs SET manifest = ? WHERE id = ?`, manifest, runID)
	return wrap(err, "record the manifest of run %s", runID)
}

// EndRun records how a run ended. The first ending stays.
func (s *Store) EndRun(ctx context.Context, runID string, outcome run.Outcome, result *run.Result) error {
	b, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("record the end of run %s: %w", runID, err)
	}
	err = s.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE runs SET outcome = ?, ended_at = ?, result = ? WHERE id = ? AND ended_at IS NULL`, outcome, stamp(s.now()), string(b), runID)
		if err != nil {
			return err
		}
		if n, _ := res.RowsAffected(); n == 0 {
			return nil
		}
		return s.event(ctx, tx, "run.ended", runID, map[string]any{"outcome": outcome})
	})
	return wrap(err, "record the end of run %s", runID)
}

const runColumns = `id, workflow_id, skill_key, skill_name, skill_path, provider, judge, mode, goal, seed, hash_before, manifest, outcome, started_at, ended_at, result`

func scanRun(r scanner) (run.Run, error) {
	var x run.Run
	var started string
	var ended, result sql.NullString
	err := r.Scan(&x.ID, &x.WorkflowID, &x.SkillKey, &x.SkillName, &x.SkillPath, &x.Provider, &x.Judge, &x.Mode, &x.Goal, &x.Seed, &x.HashBefore, &x.Manifest, &x.Outcome, &started, &ended, &result)
	if err != nil {
		return x, err
	}
	if x.StartedAt, err = parseTime(started); err != nil {
		return x, err
	}
	if ended.Valid {
		t, err := parseTime(ended.String)
		if err != nil {
			return x, err
		}
		x.EndedAt = &t
	}
	if result.Valid {
		x.Result = &run.Result{}
		if err := json.Unmarshal([]byte(result.String), x.Result); err != nil {
			return x, err
		}
	}
	return x, nil
}

// Runs lists runs, latest first. limit <= 0 means all.
func (s *Store) Runs(ctx context.Context, limit int) ([]run.Run, error) {
	if limit <= 0 {
		limit = -1
	}
	return collect(ctx, s.read, "list runs", scanRun, `SELECT `+runColumns+` FROM runs ORDER BY started_at DESC, id LIMIT ?`, limit)
}

// LastRun returns the run of a skill file that began last. ErrNotFound if there is none.
func (s *Store) LastRun(ctx context.Context, skillKey, path string) (run.Run, error) {
	found, err := collect(ctx, s.read, "find the last run", scanRun, `SELECT `+runColumns+` FROM runs WHERE skill_key = ? AND skill_path = ? ORDER BY started_at DESC, id LIMIT 1`, skillKey, path)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("find the last run of %s: %w", skillKey, ErrNotFound)
	}
	if err != nil {
		return run.Run{}, err
	}
	return found[0], nil
}

// Run returns one run by id, or by a prefix of it that only one has. ErrNotFound if there is none.
func (s *Store) Run(ctx context.Context, id string) (run.Run, error) {
	found, err := collect(ctx, s.read, "find run", scanRun,
		`SELECT `+runColumns+` FROM runs WHERE id = ? OR (length(?) >= 4 AND substr(id, 1, length(?)) = ?) ORDER BY id = ? DESC LIMIT 2`, id, id, id, id, id)
	switch {
	case err != nil:
		return run.Run{}, err
	case len(found) == 0:
		return run.Run{}, fmt.Errorf("find run %s: %w", id, ErrNotFound)
	case len(found) > 1 && found[0].ID != id:
		return run.Run{}, fmt.Errorf("find run %s: %w", id, ErrAmbiguous)
	}
	return found[0], nil
}

// PutStep records one look at one candidate.
func (s *Store) PutStep(ctx context.Context, st run.Step) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO steps (run_id, step, try, epoch, parent, candidate, outcome, reason, parent_score, candidate_score, p, alpha, replayed, stage, look, kind, parent_stage, judge)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run_id, step, try) DO UPDATE SET candidate = excluded.candidate, outcome = excluded.outcome, reason = excluded.reason,
			parent_score = excluded.parent_score, candidate_score = excluded.candidate_score, p = excluded.p, alpha = excluded.alpha, replayed = excluded.replayed,
			stage = excluded.stage, look = excluded.look, kind = excluded.kind, parent_stage = excluded.parent_stage, judge = excluded.judge`,
		st.RunID, st.Step, st.Try, st.Epoch, st.Parent, st.Candidate, st.Outcome, st.Reason, st.Parent01, st.Cand01, st.P, st.Alpha, st.Replayed, st.Stage, st.Look, cmp.Or(st.Kind, run.KindStep), st.ParentStage, st.Judge)
	return wrap(err, "record step %d of run %s", st.Step, st.RunID)
}

// Steps lists the looks of a run in order.
func (s *Store) Steps(ctx context.Context, runID string) ([]run.Step, error) {
	return collect(ctx, s.read, "list steps", func(r scanner) (run.Step, error) {
		x := run.Step{RunID: runID}
		return x, r.Scan(&x.Step, &x.Try, &x.Epoch, &x.Parent, &x.Candidate, &x.Outcome, &x.Reason, &x.Parent01, &x.Cand01, &x.P, &x.Alpha, &x.Replayed, &x.Stage, &x.Look, &x.Kind, &x.ParentStage, &x.Judge)
	}, `SELECT step, try, epoch, parent, candidate, outcome, reason, parent_score, candidate_score, p, alpha, replayed, stage, look, kind, parent_stage, judge FROM steps WHERE run_id = ? ORDER BY step, try`, runID)
}

// PutCandidate records what a step built.
func (s *Store) PutCandidate(ctx context.Context, runID string, step, try int, hash, parent, bundle string, edits []string) error {
	b, err := json.Marshal(edits)
	if err != nil {
		return fmt.Errorf("record a candidate: %w", err)
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO candidates (run_id, step, try, hash, parent, bundle, edits) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run_id, step, try) DO UPDATE SET hash = excluded.hash, parent = excluded.parent, bundle = excluded.bundle, edits = excluded.edits`,
		runID, step, try, hash, parent, bundle, string(b))
	return wrap(err, "record a candidate of run %s", runID)
}

// RunCandidates lists what a run's steps built.
func (s *Store) RunCandidates(ctx context.Context, runID string) ([]run.Candidate, error) {
	return collect(ctx, s.read, "list candidates", func(r scanner) (run.Candidate, error) {
		var c run.Candidate
		var edits string
		if err := r.Scan(&c.Step, &c.Try, &c.Hash, &c.Parent, &c.Bundle, &edits); err != nil {
			return c, err
		}
		return c, json.Unmarshal([]byte(edits), &c.Edits)
	}, `SELECT step, try, hash, parent, bundle, edits FROM candidates WHERE run_id = ? ORDER BY step, try`, runID)
}

// StagedVerdict is a verdict with the place it was recorded at.
type StagedVerdict struct {
	Stage, Hash string
	validation.Verdict
}

// AllVerdicts lists every verdict of a run.
func (s *Store) AllVerdicts(ctx context.Context, runID string) ([]StagedVerdict, error) {
	return collect(ctx, s.read, "list verdicts", func(r scanner) (StagedVerdict, error) {
		var v StagedVerdict
		return v, r.Scan(&v.Stage, &v.Hash, &v.Item, &v.Trial, &v.State, &v.Why, &v.Judge)
	}, `SELECT stage, hash, item_id, trial, state, why, judge FROM verdicts WHERE run_id = ? ORDER BY stage, hash, item_id, trial`, runID)
}

// PutReflection records a minibatch's proposals as JSON; failed says why there are none for good.
func (s *Store) PutReflection(ctx context.Context, runID string, step, batch int, patchesJSON, failed string) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO reflections (run_id, step, batch, patches, failed) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (run_id, step, batch) DO UPDATE SET patches = excluded.patches, failed = excluded.failed`, runID, step, batch, patchesJSON, failed)
	return wrap(err, "record a reflection of run %s", runID)
}

// Reflections returns the proposals of a step's minibatches, in order, as JSON.
func (s *Store) Reflections(ctx context.Context, runID string, step int) ([]string, error) {
	return collect(ctx, s.read, "read reflections", func(r scanner) (string, error) {
		var p string
		return p, r.Scan(&p)
	}, `SELECT patches FROM reflections WHERE run_id = ? AND step = ? ORDER BY batch`, runID, step)
}

// PutPatches replaces the record of a step's proposals.
func (s *Store) PutPatches(ctx context.Context, runID string, step int, ps []run.PatchRecord) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM patches WHERE run_id = ? AND step = ?`, runID, step); err != nil {
			return err
		}
		for i, p := range ps {
			items, err := json.Marshal(p.Items)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO patches (run_id, step, ord, key, op, anchor, payload, support, items, state, reason, file) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				runID, step, i, p.Key, p.Op, p.Anchor, p.Payload, p.Support, string(items), p.State, p.Reason, p.File); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "record the patches of step %d of run %s", step, runID)
}

// MarkPatches moves a step's patches, by key, to a state with a reason. An accepted patch stays accepted.
func (s *Store) MarkPatches(ctx context.Context, runID string, step int, keys []string, state, reason string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for _, k := range keys {
			if _, err := tx.ExecContext(ctx, `UPDATE patches SET state = ?, reason = ? WHERE run_id = ? AND step = ? AND key = ? AND state <> 'accepted'`, state, reason, runID, step, k); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "mark the patches of step %d of run %s", step, runID)
}

// MarkRejectedByPerson takes the acceptance of a step's patches back. The step itself keeps what the gate said.
func (s *Store) MarkRejectedByPerson(ctx context.Context, runID string, step int, reason string) error {
	_, err := s.write.ExecContext(ctx, `UPDATE patches SET state = 'rejected', reason = ? WHERE run_id = ? AND step = ? AND state = 'accepted'`, reason, runID, step)
	return wrap(err, "take the patches of step %d of run %s back", step, runID)
}

// Patches lists the proposals of a run, or of one step of it (step > 0), in order.
func (s *Store) Patches(ctx context.Context, runID string, step int) ([]run.PatchRecord, error) {
	return collect(ctx, s.read, "list patches", func(r scanner) (run.PatchRecord, error) {
		p := run.PatchRecord{RunID: runID}
		var items string
		if err := r.Scan(&p.Step, &p.Key, &p.Op, &p.Anchor, &p.Payload, &p.Support, &items, &p.State, &p.Reason, &p.File); err != nil {
			return p, err
		}
		return p, json.Unmarshal([]byte(items), &p.Items)
	}, `SELECT step, key, op, anchor, payload, support, items, state, reason, file FROM patches WHERE run_id = ? AND (? = 0 OR step = ?) ORDER BY step, ord`, runID, step, step)
}

// PutVersion keeps a version; its text must be stored already. Keeping it again for the same run changes nothing.
func (s *Store) PutVersion(ctx context.Context, v run.Version) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO skill_versions (skill_key, hash, parent, run_id, path, how, at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			v.Skill, v.Hash, v.Parent, v.RunID, v.Path, v.How, stamp(s.now()))
		if err != nil {
			return err
		}
		if n, _ := res.RowsAffected(); n == 0 {
			return nil
		}
		return s.event(ctx, tx, "skill."+v.How, v.Skill, map[string]any{"hash": v.Hash, "run": v.RunID})
	})
	return wrap(err, "keep a version of %s", v.Skill)
}

func scanVersion(r scanner) (run.Version, error) {
	var v run.Version
	var at string
	if err := r.Scan(&v.N, &v.Skill, &v.Hash, &v.Parent, &v.RunID, &v.Path, &v.How, &at); err != nil {
		return v, err
	}
	var err error
	v.At, err = parseTime(at)
	return v, err
}

// VersionsAt lists the kept versions of the skill file at a path, latest first. Skills of one name in two projects have each their
// own.
func (s *Store) VersionsAt(ctx context.Context, path string) ([]run.Version, error) {
	return collect(ctx, s.read, "list versions", scanVersion, `SELECT n, skill_key, hash, parent, run_id, path, how, at FROM skill_versions WHERE path = ? ORDER BY n DESC`, path)
}

// Versions lists the kept versions of all skills of a name, latest first.
func (s *Store) Versions(ctx context.Context, skillKey string) ([]run.Version, error) {
	return collect(ctx, s.read, "list versions", scanVersion, `SELECT n, skill_key, hash, parent, run_id, path, how, at FROM skill_versions WHERE skill_key = ? ORDER BY n DESC`, skillKey)
}

// Skills lists the skill files of which a version is kept, as pairs of key and path, in order. Files of one name in two projects are
// two.
func (s *Store) Skills(ctx context.Context) ([][2]string, error) {
	return collect(ctx, s.read, "list skills", func(r scanner) ([2]string, error) {
		var x [2]string
		return x, r.Scan(&x[0], &x[1])
	}, `SELECT DISTINCT skill_key, path FROM skill_versions ORDER BY skill_key, path`)
}
