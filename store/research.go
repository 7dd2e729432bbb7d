package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"whetstone/claim"
	"whetstone/model"
)

// ResearchRun is a research, council or survey run on record.
type ResearchRun struct {
	ID         string
	Wiki       string
	WorkflowID string
	Kind       string // research, council or survey
	Params     json.RawMessage
	Halted     string
	StartedAt  time.Time
	EndedAt    *time.Time
	Result     json.RawMessage
}

// BeginResearch puts a run on record, once.
func (s *Store) BeginResearch(ctx context.Context, id, wiki, workflowID, kind string, params any, at time.Time) error {
	b, err := json.Marshal(params)
	if err == nil {
		_, err = s.write.ExecContext(ctx, `INSERT INTO research_runs (id, wiki, workflow_id, kind, params, halted, started_at) VALUES (?, ?, ?, ?, ?, '', ?) ON CONFLICT DO NOTHING`, id, wiki, workflowID, kind, string(b), stamp(at))
	}
	return wrap(err, "put run %s on record", id)
}

// EndResearch closes a run's record. The first ending stays.
func (s *Store) EndResearch(ctx context.Context, id, halted string, result any) error {
	b, err := json.Marshal(result)
	if err == nil {
		_, err = s.write.ExecContext(ctx, `UPDATE research_runs SET halted = ?, result = ?, ended_at = ? WHERE id = ? AND ended_at IS NULL`, halted, string(b), stamp(s.now()), id)
	}
	return wrap(err, "close the record of run %s", id)
}

// ResearchRuns lists a wiki's runs, latest first. limit <= 0 is all, wiki "" all wikis.
func (s *Store) ResearchRuns(ctx context.Context, wiki string, limit int) ([]ResearchRun, error) {
	if limit <= 0 {
		limit = -1
	}
	return collect(ctx, s.read, "list research runs", func(r scanner) (ResearchRun, error) {
		var x ResearchRun
		var params, started string
		var ended, result sql.NullString
		if err := r.Scan(&x.ID, &x.Wiki, &x.WorkflowID, &x.Kind, &params, &x.Halted, &started, &ended, &result); err != nil {
			return x, err
		}
		x.Params = json.RawMessage(params)
		if result.Valid {
			x.Result = json.RawMessage(result.String)
		}
		var err error
		if x.StartedAt, err = parseTime(started); err != nil {
			return x, err
		}
		x.EndedAt, err = nullTime(ended)
		return x, err
	}, `SELECT id, wiki, workflow_id, kind, params, halted, started_at, ended_at, result FROM research_runs WHERE ?1 = '' OR wiki = ?1 ORDER BY started_at DESC, id LIMIT ?2`, wiki, limit)
}

// RunFigures counts what a run has done in a wiki so far.
func (s *Store) RunFigures(ctx context.Context, runID string) (claim.Figures, error) {
	var f claim.Figures
	err := s.read.QueryRowContext(ctx, `SELECT count(DISTINCT CASE WHEN kind = 'topic' AND EXISTS (SELECT 1 FROM pages p WHERE p.id = seeds.page_id AND p.state <> 'removed') THEN page_id END), coalesce(sum(fresh), 0), coalesce(sum(supports), 0), coalesce(sum(conflicts), 0) FROM seeds WHERE settled_run = ?`, runID).
		Scan(&f.Pages, &f.Claims, &f.Supports, &f.Conflicts)
	return f, wrap(err, "count what run %s did", runID)
}

// TickSpend sums what runs that ticks started have spent since a time, reservations included.
func (s *Store) TickSpend(ctx context.Context, since time.Time) (model.NanoUSD, error) {
	var n int64
	err := s.read.QueryRowContext(ctx, `SELECT coalesce(sum(CASE c.state WHEN 'reserved' THEN c.reserved ELSE c.spent END), 0) FROM calls c JOIN research_runs r ON r.id = c.run_id WHERE r.params ->> '$.tick' = 1 AND c.at >= ?`, stamp(since)).Scan(&n)
	return model.NanoUSD(n), wrap(err, "sum what ticks spent")
}

// PutCouncil keeps what a member of a council said in a phase, or why it failed.
func (s *Store) PutCouncil(ctx context.Context, runID, member, phase, text, failed string) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO council_answers (run_id, member, phase, text, failed) VALUES (?, ?, ?, ?, ?) ON CONFLICT (run_id, member, phase) DO UPDATE SET text = excluded.text, failed = excluded.failed`, runID, member, phase, text, failed)
	return wrap(err, "keep what %s said", member)
}

// Council returns what the members said in a phase, by member: text and why it failed.
func (s *Store) Council(ctx context.Context, runID, phase string) (map[string][2]string, error) {
	rows, err := collect(ctx, s.read, "read the council", func(r scanner) ([3]string, error) {
		var x [3]string
		return x, r.Scan(&x[0], &x[1], &x[2])
	}, `SELECT member, text, failed FROM council_answers WHERE run_id = ? AND phase = ?`, runID, phase)
	out := map[string][2]string{}
	for _, r := range rows {
		out[r[0]] = [2]string{r[1], r[2]}
	}
	return out, err
}

// SearchPages finds pages of a wiki by words: the lexical part of SearchWikis, for callers that want no more.
func (s *Store) SearchPages(ctx context.Context, wiki, text string, limit int) ([]claim.Hit, error) {
	return s.SearchWikis(ctx, WikiQuery{Text: text, Wiki: wiki, Limit: limit})
}
