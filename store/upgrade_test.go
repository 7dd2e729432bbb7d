package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"whetstone/validation"
)

// A file of every earlier schema is brought to the present one, and keeps what is in it.
func TestEveryEarlierSchemaIsUpgraded(t *testing.T) {
	for have := 1; have < latest(); have++ {
		t.Run(fmt.Sprintf("from schema %d", have), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data.db")
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range migrationNames()[:have] {
				src, err := migrations.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := db.ExecContext(t.Context(), string(src)+fmt.Sprintf("\n;PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, i+1)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := db.ExecContext(t.Context(), `INSERT INTO learnings (id, status, project, category, rule, mistake, correction, skill, wiki, host, session, created_at, valid_from) VALUES ('l_1', 'approved', '', 'c', 'keep this rule', '', '', '', '', '', '', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')`); err != nil {
				t.Fatal(err)
			}
			// What a run left behind: the columns that came later must not lose it.
			for _, q := range []string{
				`INSERT INTO runs VALUES ('r_1', 'w', 'k', 'n', '/p', 'offline', 'offline', 'write', 'improve', 1, 'h', 'm', 'improved', '2026-01-01T00:00:00Z', NULL, NULL)`,
				`INSERT INTO steps (run_id, step, try, epoch, parent, candidate, outcome, reason, replayed) VALUES ('r_1', 1, 0, 1, 'h', 'c', 'accepted', '', 0)`,
				`INSERT INTO patches (run_id, step, ord, key, op, anchor, payload, support, items, state, reason) VALUES ('r_1', 1, 0, 'p', 'append', '', 'text', 1, '[]', 'kept', '')`,
				`INSERT INTO items (id, kind, category, prompt, expected) VALUES ('i_1', 'rule', 'c', 'asked', 'wanted')`,
				`INSERT INTO run_items (run_id, item_id, side, weight, cluster, learnings) VALUES ('r_1', 'i_1', 'train', 1, 'c', '["l_1"]')`,
				`INSERT INTO verdicts (run_id, stage, hash, item_id, trial, state, why) VALUES ('r_1', 'baseline', 'h', 'i_1', 0, 'pass', 'says so')`,
			} {
				if _, err := db.ExecContext(t.Context(), q); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			st, err := Open(t.Context(), Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			hits, err := st.SearchLearnings(t.Context(), LearningQuery{Text: "rule", Limit: 5})
			if err != nil || len(hits) != 1 || hits[0].ID != "l_1" {
				t.Errorf("%+v, %v", hits, err)
			}
			if v, err := st.version(t.Context()); err != nil || v != latest() {
				t.Errorf("schema %d, %v", v, err)
			}
			vs, err := st.Verdicts(t.Context(), "r_1", "baseline", "h")
			if want := (validation.Verdict{Item: "i_1", State: validation.Pass, Why: "says so"}); err != nil || len(vs) != 1 || vs[0] != want {
				t.Errorf("%+v, %v", vs, err)
			}
			var added string
			if err := st.read.QueryRowContext(t.Context(), `SELECT s.stage || '/' || s.kind || '/' || coalesce(s.look, 'none') || '/' || p.file || '/' || i.spec || '/' || r.fixed
				FROM steps s JOIN patches p USING (run_id, step) JOIN run_items r USING (run_id) JOIN items i ON i.id = r.item_id`).Scan(&added); err != nil || added != "/step/none///0" {
				t.Errorf("%q, %v", added, err)
			}
			for _, table := range []string{"advice", "harmful", "baselines", "attestations"} {
				var n int
				if err := st.read.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil || n != 0 {
					t.Errorf("%s: %d, %v", table, n, err)
				}
			}
			if _, err := st.Wikis(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
