package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// The audit chain. Each event carries an HMAC over itself and the HMAC of the one before it, so that an edited or removed
// row breaks the chain; the number and code of the last row are kept in a file beside the database, so that a cut-off end
// shows, too. Rows that tell of a learning carry an HMAC over its contents (never the contents), so that a learning that
// was changed behind the program's back shows. The key lies in a file of mode 0600. Who can read the key can forge the
// chain: it is a seal against accidents and casual edits, and not against the person who owns the home.

const (
	keyFile  = "audit.key"
	headFile = "audit.head"
)

// entryOf is a row of the chain before it is sealed.
type entryOf struct {
	At, Kind, Subject, Detail, Content string
}

func (e entryOf) seal(key []byte, n int64, previous string) string {
	m := hmac.New(sha256.New, key)
	for _, p := range []string{strconv.FormatInt(n, 10), e.At, e.Kind, e.Subject, e.Detail, e.Content, previous} {
		_, _ = fmt.Fprintf(m, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(m.Sum(nil))
}

// chain appends a row to the chain.
func (s *Store) chain(ctx context.Context, tx *sql.Tx, e entryOf) error {
	key, err := s.auditKey()
	if err != nil {
		return err
	}
	var n int64
	var previous string
	err = tx.QueryRowContext(ctx, `SELECT n, mac FROM events ORDER BY n DESC LIMIT 1`).Scan(&n, &previous)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	n++
	mac := e.seal(key, n, previous)
	if _, err := tx.ExecContext(ctx, `INSERT INTO events (n, at, kind, subject, detail, content, mac) VALUES (?, ?, ?, ?, ?, ?, ?)`, n, e.At, e.Kind, e.Subject, e.Detail, e.Content, mac); err != nil {
		return err
	}
	s.mu.Lock()
	s.tip = head{n, mac}
	s.mu.Unlock()
	return nil
}

// auditKey reads the home's key, making it where there is none.
func (s *Store) auditKey() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	key, err := readOrMakeKey(filepath.Join(filepath.Dir(s.path), keyFile))
	if err != nil {
		return nil, fmt.Errorf("read the audit key: %w", err)
	}
	s.key = key
	return key, nil
}

func readOrMakeKey(path string) ([]byte, error) {
	for {
		b, err := os.ReadFile(path)
		if err == nil {
			key, err := hex.DecodeString(strings.TrimSpace(string(b)))
			if err != nil || len(key) != 32 {
				return nil, fmt.Errorf("%s holds no key of 32 bytes in hexadecimal: put the old one back from a backup", path)
			}
			return key, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		raw := make([]byte, 32)
		_, _ = rand.Read(raw)
		tmp, err := os.CreateTemp(filepath.Dir(path), keyFile+".*")
		if err != nil {
			return nil, err
		}
		_, err = tmp.WriteString(hex.EncodeToString(raw) + "\n")
		if cerr := tmp.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			// A link fails where another process was first; its key counts then.
			if err = os.Link(tmp.Name(), path); errors.Is(err, fs.ErrExist) {
				err = nil
			} else if err != nil {
				err = os.Rename(tmp.Name(), path) // a file system without links
			}
		}
		_ = os.Remove(tmp.Name())
		if err != nil {
			return nil, err
		}
	}
}

// SessionMark derives a word that is random between sessions and homes, and stable within a session.
func (s *Store) SessionMark(session string) (string, error) {
	key, err := s.auditKey()
	if err != nil {
		return "", err
	}
	m := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(m, "mark:%s", session)
	return hex.EncodeToString(m.Sum(nil))[:10], nil
}

// head is the last row of the chain.
type head struct {
	n   int64
	mac string
}

func (s *Store) takeTip() head {
	s.mu.Lock()
	defer s.mu.Unlock()
	tip := s.tip
	s.tip = head{}
	return tip
}

// keepHead notes the chain's end outside the database, after the commit. A process that dies in between leaves an older
// head, which is no lie: only a head that the chain does not hold is.
func (s *Store) keepHead(tip head) {
	if tip.n == 0 {
		return
	}
	path := filepath.Join(filepath.Dir(s.path), headFile)
	lock := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return
	}
	defer func() { _ = lock.Close() }()
	if old, err := readHead(path); err == nil && old.n >= tip.n {
		return
	}
	// One write of fixed length in place: a reader sees the old or the new one.
	f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_, _ = f.WriteAt([]byte(fmt.Sprintf("%020d %s\n", tip.n, tip.mac)), 0)
}

func readHead(path string) (head, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return head{}, err
	}
	n, mac, ok := strings.Cut(strings.TrimSpace(string(b)), " ")
	v, err := strconv.ParseInt(strings.TrimLeft(n, "0"), 10, 64)
	if !ok || err != nil {
		return head{}, errors.New("no number and code in it")
	}
	return head{v, mac}, nil
}

// Damage is one thing that the audit found wrong.
type Damage struct {
	Event int64  // number of the row, 0 where there is none
	What  string // what is wrong, in words
}

// Audit follows the chain from its beginning and compares each learning with the last row that tells of it. It returns at
// most limit findings.
func (s *Store) Audit(ctx context.Context, limit int) (rows int64, damage []Damage, err error) {
	key, err := s.auditKey()
	if err != nil {
		return 0, nil, err
	}
	add := func(n int64, format string, args ...any) {
		if len(damage) < limit {
			damage = append(damage, Damage{n, fmt.Sprintf(format, args...)})
		}
	}
	// The end is read before the rows: rows that come while we look are no damage.
	end, headErr := readHead(filepath.Join(filepath.Dir(s.path), headFile))
	type row struct {
		n   int64
		e   entryOf
		mac string
	}
	contents := map[string]string{}
	var last row
	found := false
	q, err := s.read.QueryContext(ctx, `SELECT n, at, kind, subject, detail, content, mac FROM events ORDER BY n`)
	if err != nil {
		return 0, nil, wrap(err, "read the audit chain")
	}
	defer func() { _ = q.Close() }()
	for q.Next() {
		var r row
		if err := q.Scan(&r.n, &r.e.At, &r.e.Kind, &r.e.Subject, &r.e.Detail, &r.e.Content, &r.mac); err != nil {
			return rows, damage, wrap(err, "read the audit chain")
		}
		rows++
		if r.n != last.n+1 {
			add(r.n, "row(s) %d to %d were removed", last.n+1, r.n-1)
		} else if r.e.seal(key, r.n, last.mac) != r.mac {
			add(r.n, "row %d (%s of %s) was edited, or sealed with another key", r.n, r.e.Kind, r.e.Subject)
		}
		if r.e.Content != "" {
			contents[r.e.Subject] = r.e.Content
		}
		if r.n == end.n && r.mac != end.mac {
			add(r.n, "row %d is not the one that %s knows", r.n, headFile)
		}
		found = found || r.n == end.n
		last = r
	}
	if err := q.Err(); err != nil {
		return rows, damage, wrap(err, "read the audit chain")
	}
	switch {
	case errors.Is(headErr, fs.ErrNotExist) && rows > 0:
		add(0, "%s is gone, so a cut-off end would not show", headFile)
	case headErr != nil && rows > 0:
		add(0, "%s can not be read: %v", headFile, headErr)
	case headErr == nil && !found:
		add(0, "the end was cut off: row %d is known to have been written, the last one there is %d (after a power loss the last moments can be missing without anybody's doing)", end.n, last.n)
	}
	damage, err = s.auditLearnings(ctx, key, contents, damage, limit)
	return rows, damage, err
}
