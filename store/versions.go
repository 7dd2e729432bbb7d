package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"whetstone/learning"
)

// changed records that a learning changed: a version where its contents differ from the last one, and a row of the audit
// chain with a code over the contents. Every change of a learning's own fields ends here; counters are not among them.
func (s *Store) changed(ctx context.Context, tx *sql.Tx, kind, id string, detail any) error {
	l, err := scanLearning(tx.QueryRowContext(ctx, `SELECT `+learningColumns+` FROM learnings l WHERE l.id = ?`, id))
	if err != nil {
		return err
	}
	now := stamp(s.now())
	if _, err := tx.ExecContext(ctx, `INSERT INTO learning_versions (learning_id, v, status, category, rule, mistake, correction, skill, wiki, detector, superseded_by, valid_from, valid_to, recorded_at)
		SELECT l.id, coalesce(p.v, 0) + 1, l.status, l.category, l.rule, l.mistake, l.correction, l.skill, l.wiki, l.detector, l.superseded_by, l.valid_from, l.valid_to, ?2
		FROM learnings l LEFT JOIN learning_versions p ON p.learning_id = l.id AND p.v = (SELECT max(v) FROM learning_versions WHERE learning_id = l.id)
		WHERE l.id = ?1 AND (p.v IS NULL OR (p.status, p.category, p.rule, p.mistake, p.correction, p.skill, p.wiki, p.detector, p.superseded_by, p.valid_from)
			<> (l.status, l.category, l.rule, l.mistake, l.correction, l.skill, l.wiki, l.detector, l.superseded_by, l.valid_from) OR p.valid_to IS NOT l.valid_to)`, id, now); err != nil {
		return err
	}
	b, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	key, err := s.auditKey()
	if err != nil {
		return err
	}
	vs, err := versionRows(ctx, tx, id)
	if err != nil {
		return err
	}
	return s.chain(ctx, tx, entryOf{At: now, Kind: kind, Subject: id, Detail: string(b), Content: contentCode(key, &l, vs[id])})
}

// versionRows writes out the versions of a learning, or of all with id "", as one text for each learning.
func versionRows(ctx context.Context, q rowQuerier, id string) (map[string]string, error) {
	out := map[string]string{}
	rows, err := collect(ctx, q, "read versions", func(r scanner) ([2]string, error) {
		var x [2]string
		return x, r.Scan(&x[0], &x[1])
	}, `SELECT learning_id, json_array(v, status, category, rule, mistake, correction, skill, wiki, detector, superseded_by, valid_from, valid_to, recorded_at)
		FROM learning_versions WHERE ?1 IN ('', learning_id) ORDER BY learning_id, v`, id)
	for _, x := range rows {
		out[x[0]] += x[1] + "\n"
	}
	return out, err
}

// contentCode is an HMAC over what a person can change of a learning, and over its versions.
func contentCode(key []byte, l *learning.Learning, versions string) string {
	m := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(m, "%d:%s", len(versions), versions)
	to := ""
	if l.ValidTo != nil {
		to = stamp(*l.ValidTo)
	}
	for _, p := range append([]string{string(l.Status), l.Project, l.Category, l.Rule, l.Mistake, l.Correction, l.Skill, l.Wiki, l.Detector, l.SupersededBy, stamp(l.ValidFrom), to}, l.Skills...) {
		_, _ = fmt.Fprintf(m, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(m.Sum(nil))
}

// auditLearnings compares each learning with the last row of the chain that tells of it.
func (s *Store) auditLearnings(ctx context.Context, key []byte, contents map[string]string, damage []Damage, limit int) ([]Damage, error) {
	all, err := s.Learnings(ctx, learning.Filter{})
	if err != nil {
		return damage, err
	}
	versions, err := versionRows(ctx, s.read, "")
	if err != nil {
		return damage, err
	}
	add := func(format string, args ...any) {
		if len(damage) < limit {
			damage = append(damage, Damage{0, fmt.Sprintf(format, args...)})
		}
	}
	for i := range all {
		l := &all[i]
		want, known := contents[l.ID]
		delete(contents, l.ID)
		switch {
		case !known:
			add("learning %s came in without a row in the chain", l.ID)
		case want != contentCode(key, l, versions[l.ID]):
			// Another process may have changed it since the chain was read.
			if now, err := s.lastContent(ctx, l.ID); err != nil || now == want {
				add("learning %s, or one of its versions, was edited behind the program's back", l.ID)
			}
		}
	}
	for id := range contents {
		add("learning %s was removed behind the program's back", id)
	}
	return damage, nil
}

func (s *Store) lastContent(ctx context.Context, id string) (string, error) {
	var code string
	err := s.read.QueryRowContext(ctx, `SELECT content FROM events WHERE subject = ? AND content <> '' ORDER BY n DESC LIMIT 1`, id).Scan(&code)
	return code, wrap(err, "read the chain of %s", id)
}

// adoptLearnings takes what older versions wrote into the chain, the index and the versions.
func adoptLearnings(ctx context.Context, s *Store, tx *sql.Tx) error {
	key, err := s.auditKey()
	if err != nil {
		return err
	}
	type old struct {
		n int64
		e entryOf
	}
	events, err := collect(ctx, tx, "read events", func(r scanner) (old, error) {
		var o old
		return o, r.Scan(&o.n, &o.e.At, &o.e.Kind, &o.e.Subject, &o.e.Detail)
	}, `SELECT n, at, kind, subject, detail FROM events ORDER BY n`)
	if err != nil {
		return err
	}
	previous := ""
	// Numbers may have gaps where a transaction was rolled back; from here on they have none.
	for i, o := range events {
		n := int64(i + 1)
		previous = o.e.seal(key, n, previous)
		if _, err := tx.ExecContext(ctx, `UPDATE events SET n = ?, mac = ? WHERE n = ?`, n, previous, o.n); err != nil {
			return err
		}
	}
	ls, err := collect(ctx, tx, "read learnings", func(r scanner) (learning.Learning, error) { return scanLearning(r) }, `SELECT `+learningColumns+` FROM learnings l ORDER BY l.n`)
	if err != nil {
		return err
	}
	for i := range ls {
		parts, cjk := indexed(&ls[i])
		if _, err := tx.ExecContext(ctx, `UPDATE learnings SET parts = ?, cjk = ? WHERE id = ?`, parts, cjk, ls[i].ID); err != nil {
			return err
		}
		if err := s.changed(ctx, tx, "learning.adopted", ls[i].ID, map[string]any{"status": ls[i].Status}); err != nil {
			return err
		}
	}
	return nil
}

// Version is a learning as it was from one recording to the next.
type Version struct {
	V          int       `json:"v"`
	RecordedAt time.Time `json:"recorded_at"`
	learning.Learning
}

// LearningVersions lists the versions of a learning, oldest first. Those of a forgotten one have no text.
func (s *Store) LearningVersions(ctx context.Context, id string) ([]Version, error) {
	return collect(ctx, s.read, "list versions", func(r scanner) (Version, error) {
		var v Version
		var recorded string
		var err error
		if v.Learning, err = scanLearning(r, &v.V, &recorded); err != nil {
			return v, err
		}
		v.RecordedAt, err = parseTime(recorded)
		return v, err
	}, `SELECT `+learningColumns+`, l.v, l.recorded_at FROM (SELECT v.v, v.recorded_at, o.id, v.status, o.project, v.category, v.rule, v.mistake, v.correction, v.skill, v.wiki, o.host, o.session, o.observations,
		o.times_injected, o.times_applied, o.times_recurred, v.superseded_by, v.detector, o.created_at, v.valid_from, v.valid_to
		FROM learning_versions v JOIN learnings o ON o.id = v.learning_id WHERE o.id = ?) l ORDER BY l.v`, id)
}
