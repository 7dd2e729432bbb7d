package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"whetstone/learning"
)

// Withheld stands where a forgotten learning's text was.
const Withheld = "[withheld]"

// noteBefore is how long before a capture a correction of the same session counts as what it was made of.
const noteBefore = 15 * time.Minute

// Forgotten tells what Forget erased, and what it could not.
type Forgotten struct {
	Items    int      // test items made of the learning
	Texts    int      // stored texts that quoted it
	Replies  int      // answers of models that quoted it
	Patches  int      // patches that quoted it
	Verdicts int      // reasons of verdicts that quoted it
	InLog    bool     // another program reads the database, so the write-ahead log could not be cleared
	Skills   []string // skills whose latest version, on disk as well, says it: for a person to change
}

// Forget erases the text of a learning wherever it is kept: the row and its versions, the indexes, notes that it came from,
// items, candidates, patches, answers and reasons that quote it, and the write-ahead log. What stays is the identity, so that
// it is not captured again, and the audit chain, which never held a text. Evidence says withheld from then on. The latest
// version of a skill is left alone, since it is on the person's disk, too; those skills are named.
func (s *Store) Forget(ctx context.Context, id string) (Forgotten, error) {
	var out Forgotten
	err := s.tx(ctx, func(tx *sql.Tx) error {
		out = Forgotten{}
		l, err := current(ctx, tx, id)
		if err != nil {
			return err
		}
		if l.Status == learning.Forgotten {
			return nil // the log is cleared again all the same
		}
		versions, err := collect(ctx, tx, "list wordings", func(r scanner) ([3]string, error) {
			var x [3]string
			return x, r.Scan(&x[0], &x[1], &x[2])
		}, `SELECT rule, mistake, correction FROM learning_versions WHERE learning_id = ?`, id)
		if err != nil {
			return err
		}
		quotes := wordings(append(versions, [3]string{l.Rule, l.Mistake, l.Correction}))
		now := stamp(s.now())
		for _, q := range []string{
			`UPDATE learnings SET status = 'forgotten', category = '', rule = '', mistake = '', correction = '', wiki = '', detector = '', parts = '', cjk = '', skill = '', superseded_by = '', valid_to = coalesce(valid_to, ?2) WHERE id = ?1`,
			`UPDATE learning_versions SET category = '', rule = '', mistake = '', correction = '', wiki = '', detector = '' WHERE learning_id = ?1 AND ?2 <> ''`,
			`DELETE FROM learning_skills WHERE learning_id = ?1 AND ?2 <> ''`,
			`UPDATE correction_notes SET excerpt = '', status = 'dismissed' WHERE learning_id = ?1 AND ?2 <> ''`,
		} {
			if _, err := tx.ExecContext(ctx, q, id, now); err != nil {
				return err
			}
		}
		for _, w := range append(versions, [3]string{l.Rule}) {
			if _, err := tx.ExecContext(ctx, `INSERT INTO learning_identities (identity, learning_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, forgottenIdentity(w[0]), id); err != nil {
				return err
			}
		}
		// What the person said just before the block was written is what it was made of.
		if l.Session != "" {
			if _, err := tx.ExecContext(ctx, `UPDATE correction_notes SET excerpt = '', status = 'dismissed' WHERE session = ? AND status = 'open' AND at BETWEEN ? AND ?`,
				l.Session, stamp(l.CreatedAt.Add(-noteBefore)), stamp(l.CreatedAt.Add(time.Minute))); err != nil {
				return err
			}
		}
		if err := s.withhold(ctx, tx, id, quotes, &out); err != nil {
			return err
		}
		return s.changed(ctx, tx, "learning.forgotten", id, map[string]any{"items": out.Items, "texts": out.Texts})
	})
	if err != nil {
		return out, wrap(err, "forget learning %s", id)
	}
	// What was erased must not live on in the write-ahead log, nor in pages of the file that are free now.
	for _, q := range []string{`INSERT INTO learnings_words (learnings_words) VALUES ('optimize')`, `INSERT INTO learnings_trigrams (learnings_trigrams) VALUES ('optimize')`, `INSERT INTO learnings_cjk (learnings_cjk) VALUES ('optimize')`} {
		if _, err := s.write.ExecContext(ctx, q); err != nil {
			return out, wrap(err, "clear the traces of learning %s", id)
		}
	}
	if out.InLog, err = s.emptyLog(ctx); err != nil {
		return out, wrap(err, "clear the traces of learning %s", id)
	}
	return out, nil
}

// emptyLog takes the write-ahead log into the file and cuts it off. SQLite waits for readers as long as for a lock; busy tells that
// one of another program stood in the way all that time.
func (s *Store) emptyLog(ctx context.Context) (busy bool, err error) {
	var stuck, frames, done int
	err = s.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&stuck, &frames, &done)
	return stuck != 0, err
}

// wordings are the distinct pieces of text that tell the learning; very short ones would match anything.
func wordings(versions [][3]string) []string {
	var out []string
	for _, v := range versions {
		for _, t := range v {
			if t = strings.TrimSpace(t); len([]rune(t)) >= 8 || (t == strings.TrimSpace(v[0]) && t != "") {
				out = append(out, t)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withhold replaces what quotes the learning. SQL compares bytes: a paraphrase that a model wrote is not found.
func (s *Store) withhold(ctx context.Context, tx *sql.Tx, id string, quotes []string, out *Forgotten) error {
	b, _ := json.Marshal(id)
	items, err := collect(ctx, tx, "list items", func(r scanner) (string, error) {
		var x string
		return x, r.Scan(&x)
	}, `SELECT DISTINCT item_id FROM run_items WHERE learnings LIKE ?`, "%"+string(b)+"%")
	if err != nil {
		return err
	}
	for _, it := range items {
		if _, err := tx.ExecContext(ctx, `UPDATE items SET category = ?1, prompt = ?1, expected = ?1, spec = '' WHERE id = ?2`, Withheld, it); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE verdicts SET why = ? WHERE item_id = ? AND why <> ''`, Withheld, it); err != nil {
			return err
		}
	}
	out.Items = len(items)
	for _, q := range quotes {
		// JSON holds a text with its quotation marks escaped.
		j, _ := json.Marshal(q)
		escaped := strings.Trim(string(j), `"`)
		latest, err := collect(ctx, tx, "list skills", func(r scanner) (string, error) {
			var x string
			return x, r.Scan(&x)
		}, `SELECT v.skill_key FROM skill_versions v JOIN texts t ON t.hash = v.hash WHERE v.n = (SELECT max(n) FROM skill_versions w WHERE w.skill_key = v.skill_key) AND (instr(t.text, ?1) > 0 OR instr(t.text, ?2) > 0)`, q, escaped)
		if err != nil {
			return err
		}
		out.Skills = append(out.Skills, latest...)
		for _, c := range []struct {
			n *int
			q string
		}{
			{&out.Texts, `UPDATE texts SET text = ?1 WHERE (instr(text, ?2) > 0 OR instr(text, ?3) > 0) AND hash NOT IN (SELECT v.hash FROM skill_versions v WHERE v.n = (SELECT max(n) FROM skill_versions w WHERE w.skill_key = v.skill_key))
				AND hash NOT IN (SELECT snapshot FROM sources UNION SELECT want FROM pages UNION SELECT disk FROM pages UNION SELECT generated FROM pages)`},
			{&out.Replies, `UPDATE calls SET reply = ?1 WHERE reply IS NOT NULL AND (instr(reply, ?2) > 0 OR instr(reply, ?3) > 0)`},
			{&out.Patches, `UPDATE patches SET payload = ?1, anchor = CASE WHEN instr(anchor, ?2) > 0 THEN ?1 ELSE anchor END WHERE instr(payload, ?2) > 0 OR instr(anchor, ?2) > 0 OR instr(payload, ?3) > 0`},
			{&out.Patches, `UPDATE reflections SET patches = '[]' WHERE ?1 <> '' AND (instr(patches, ?2) > 0 OR instr(patches, ?3) > 0)`},
			{&out.Patches, `UPDATE rejections SET patches = '[]' WHERE ?1 <> '' AND (instr(patches, ?2) > 0 OR instr(patches, ?3) > 0)`},
			{&out.Verdicts, `UPDATE verdicts SET why = ?1 WHERE instr(why, ?2) > 0 OR instr(why, ?3) > 0`},
			{&out.Items, `UPDATE items SET spec = '' WHERE ?1 <> '' AND (instr(spec, ?2) > 0 OR instr(spec, ?3) > 0)`},
			{&out.Verdicts, `UPDATE harmful SET reason = ?1 WHERE instr(reason, ?2) > 0 OR instr(reason, ?3) > 0`},
			{&out.Verdicts, `UPDATE baselines SET note = ?1 WHERE instr(note, ?2) > 0 OR instr(note, ?3) > 0`},
			{&out.Verdicts, `UPDATE runs SET result = replace(replace(result, ?3, ?1), ?2, ?1) WHERE result IS NOT NULL AND (instr(result, ?2) > 0 OR instr(result, ?3) > 0)`},
			{&out.Verdicts, `UPDATE correction_notes SET excerpt = ?1 WHERE instr(excerpt, ?2) > 0 OR instr(excerpt, ?3) > 0`},
		} {
			res, err := tx.ExecContext(ctx, c.q, Withheld, q, escaped)
			if err != nil {
				return fmt.Errorf("withhold: %w", err)
			}
			n, _ := res.RowsAffected()
			*c.n += int(n)
		}
	}
	slices.Sort(out.Skills)
	out.Skills = slices.Compact(out.Skills)
	return nil
}
