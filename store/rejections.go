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
	_, err = s.write.ExecContext(ctx, `INSERT INTO rejections (bundle, skill_key, parent, manifest, judge, reason, patches, run_id, parent_score, candidate_score, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		r.Bundle, r.SkillKey, r.Parent, r.Manifest, r.Judge, r.Reason, string(b), r.RunID, r.ParentScore, r.CandidateScore, stamp(s.now()))
	return wrap(err, "keep a rejection")
}

const rejectionColumns = `bundle, skill_key, parent, manifest, judge, reason, patches, run_id, parent_score, candidate_score`

func scanRejection(r scanner) (run.Rejection, error) {
	var x run.Rejection
	var patches string
	if err := r.Scan(&x.Bundle, &x.SkillKey, &x.Parent, &x.Manifest, &x.Judge, &x.Reason, &patches, &x.RunID, &x.ParentScore, &x.CandidateScore); err != nil {
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

// LatestRejections returns the most recent refusals for a skill, latest first.
func (s *Store) LatestRejections(ctx context.Context, skillKey string, limit int) ([]run.Rejection, error) {
	return collect(ctx, s.read, "list rejections", scanRejection, `SELECT `+rejectionColumns+` FROM rejections WHERE skill_key = ? ORDER BY at DESC, bundle LIMIT ?`, skillKey, limit)
}
