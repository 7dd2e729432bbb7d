package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"whetstone/run"
)

// PutRejection keeps a refusal. The first one stays.
func (s *Store) PutRejection(ctx context.Context, r run.Rejection) error {
	b, err := json.Marshal(r.Patches)
	if err != nil {
		return fmt.Errorf("keep a rejection: %w", err)
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO rejections (bundle, skill_key, parent, manifest, judge, reason, patches, divisible, unproven, run_id, parent_score, candidate_score, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		r.Bundle, r.SkillKey, r.Parent, r.Manifest, r.Judge, r.Reason, string(b), r.Divisible, r.Unproven, r.RunID, r.ParentScore, r.CandidateScore, stamp(s.now()))
	return wrap(err, "keep a rejection")
}

const rejectionColumns = `bundle, skill_key, parent, manifest, judge, reason, patches, divisible, unproven, run_id, parent_score, candidate_score`

func scanRejection(r scanner) (run.Rejection, error) {
	var x run.Rejection
	var patches string
	if err := r.Scan(&x.Bundle, &x.SkillKey, &x.Parent, &x.Manifest, &x.Judge, &x.Reason, &patches, &x.Divisible, &x.Unproven, &x.RunID, &x.ParentScore, &x.CandidateScore); err != nil {
		return x, err
	}
	return x, json.Unmarshal([]byte(patches), &x.Patches)
}

// Rejection returns the refusal on file for a bundle; found is false if there is none.
func (s *Store) Rejection(ctx context.Context, bundle string) (r run.Rejection, found bool, err error) {
	r, err = scanRejection(s.read.QueryRowContext(ctx, `SELECT `+rejectionColumns+` FROM rejections WHERE bundle = ?`, bundle))
	if errors.Is(err, sql.ErrNoRows) {
		return run.Rejection{}, false, nil
	}
	return r, err == nil, wrap(err, "look a rejection up")
}

// Established returns what is known against edits of a skill: bundles that were refused for more than want of evidence and have no
// part that may be good, latest first, then edits that did harm alone.
func (s *Store) Established(ctx context.Context, skillKey string, limit int) ([]run.Rejection, error) {
	out, err := collect(ctx, s.read, "list rejections", scanRejection,
		`SELECT `+rejectionColumns+` FROM rejections WHERE skill_key = ? AND NOT unproven AND NOT divisible ORDER BY at DESC, bundle LIMIT ?`, skillKey, limit)
	if err != nil {
		return nil, err
	}
	harmful, err := collect(ctx, s.read, "list harmful edits", func(r scanner) (run.Rejection, error) {
		x, p := run.Rejection{SkillKey: skillKey}, run.PatchRecord{}
		err := r.Scan(&x.Reason, &x.RunID, &p.Key, &p.Op, &p.Anchor, &p.Payload, &p.File)
		x.Patches = []run.PatchRecord{p}
		return x, err
	}, `SELECT h.reason, h.run_id, h.edit, p.op, p.anchor, p.payload, p.file FROM harmful h
		JOIN patches p ON p.run_id = h.run_id AND p.key = h.edit
		WHERE h.skill_key = ? AND p.payload <> ? GROUP BY h.edit ORDER BY max(h.at) DESC, h.edit LIMIT ?`, skillKey, Withheld, max(limit-len(out), 0))
	return append(out, harmful...), err
}

// RefusedHere maps the bundles that one run has seen refused, replayed refusals included, to the reason.
func (s *Store) RefusedHere(ctx context.Context, runID string) (map[string]string, error) {
	rows, err := collect(ctx, s.read, "list refused bundles", func(r scanner) ([2]string, error) {
		var x [2]string
		return x, r.Scan(&x[0], &x[1])
	}, `SELECT c.bundle, s.reason FROM steps s JOIN candidates c ON c.run_id = s.run_id AND c.step = s.step AND c.try = s.try WHERE s.run_id = ? AND s.outcome = 'rejected'`, runID)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r[0]] = r[1]
	}
	return out, err
}
