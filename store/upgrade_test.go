package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
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
			if _, err := st.Wikis(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
