// Package store keeps everything Whetstone remembers in one SQLite file: learnings, skill texts by hash, runs with their
// steps, patches and verdicts, refused bundles, and the ledger of model calls. All SQL of the project is here. Exported
// methods own their transactions. Writes that an activity may repeat are upserts keyed by run and step. SQLite's error
// codes come out as this package's sentinels.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"whetstone/model"
)

// Options says what to open and how.
type Options struct {
	Path        string           // of data.db
	BusyTimeout time.Duration    // how long a write waits for another process; 10 s by default
	Now         func() time.Time // time.Now by default
	// Durable has each commit survive a loss of power, and not only of the process.
	Durable bool
	// Single has one connection read and write: a second takes a millisecond to make. For a program that does one thing after
	// another.
	Single bool
}

// Store is an open data.db. It is safe for concurrent use by goroutines and by processes.
type Store struct {
	path  string
	write *sql.DB // one connection, immediate transactions
	read  *sql.DB
	now   func() time.Time
	caps  func(now time.Time) []model.Cap

	mu  sync.Mutex // guards what follows
	key []byte     // of the audit chain
	tip head       // of the transaction that is under way
}

// Open opens data.db, creating or upgrading it as needed. It fails with ErrForeign, ErrNewer, ErrCorrupt, ErrReadOnly or
// ErrBusy, and never changes a file it does not know.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Path == "" {
		return nil, errors.New("open store: no path given")
	}
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := checkHeader(o.Path); err != nil {
		return nil, err
	}
	s := &Store{path: o.Path, now: o.Now}
	var err error
	if s.write, err = sql.Open("sqlite", dsn(o, "immediate")); err != nil {
		return nil, wrap(err, "open %s", o.Path)
	}
	if o.Single {
		// Two are allowed, for what reads while a transaction is open; the second is made only then.
		s.write.SetMaxOpenConns(2)
		s.read = s.write
		if err := s.prepare(ctx, o); err != nil {
			_ = s.Close()
			return nil, err
		}
		return s, nil
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = sql.Open("sqlite", dsn(o, "deferred")); err != nil {
		_ = s.write.Close()
		return nil, wrap(err, "open %s", o.Path)
	}
	s.read.SetMaxOpenConns(4)
	if err := s.prepare(ctx, o); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func dsn(o Options, lock string) string {
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(o.Path)
	sync := "NORMAL"
	if o.Durable {
		sync = "FULL"
	}
	return fmt.Sprintf("file:%s?_txlock=%s&_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&_pragma=synchronous(%s)&_pragma=secure_delete(1)",
		escaped, lock, o.BusyTimeout.Milliseconds(), sync)
}

// checkHeader refuses what is not a SQLite file before SQLite is let near it: a directory, or a file with other contents.
func checkHeader(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("open %s: %w: it is not a regular file: move it away and start again", path, ErrCorrupt)
	}
	if info.Size() == 0 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 16)
	if _, err := io.ReadFull(f, head); err != nil || string(head) != "SQLite format 3\x00" {
		return fmt.Errorf("open %s: %w: move it away (nothing in it was changed) and start again", path, ErrCorrupt)
	}
	return nil
}

// prepare brings the file to the present schema. The version is read first without any lock: the usual open costs one
// small read. Creation and upgrades happen under a file lock, since the switch to WAL ignores the busy handler and many
// hooks on a fresh home race for it.
func (s *Store) prepare(ctx context.Context, o Options) error {
	if _, err := os.Stat(o.Path); err == nil {
		v, err := s.version(ctx)
		if err != nil {
			return err
		}
		if v == latest() {
			return nil
		}
	}
	lock := flock.New(o.Path+".lock", flock.SetPermissions(0o600))
	// Whoever makes the file may take a while, with many waiting on a slow disk.
	wait, cancel := context.WithTimeout(ctx, o.BusyTimeout*3/2)
	defer cancel()
	if ok, err := lock.TryLockContext(wait, 5*time.Millisecond); err != nil || !ok {
		if errors.Is(err, context.DeadlineExceeded) || err == nil {
			return fmt.Errorf("create %s: %w: another process holds its lock", o.Path, ErrBusy)
		}
		return fmt.Errorf("create %s: %w", o.Path, err)
	}
	defer func() { _ = lock.Close() }()
	f, err := os.OpenFile(o.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("create %s: %w", o.Path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("create %s: %w", o.Path, err)
	}
	if _, err := s.version(ctx); err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return wrap(err, "switch %s to write-ahead logging", o.Path)
	}
	return s.migrate(ctx)
}

// Snapshot writes a copy of the database as it is just now; the file must not exist yet.
func (s *Store) Snapshot(ctx context.Context, path string) error {
	_, err := s.read.ExecContext(ctx, `VACUUM INTO ?`, path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	return wrap(err, "copy the database to %s", path)
}

// Close closes the file.
func (s *Store) Close() error {
	err := s.read.Close()
	if werr := s.write.Close(); err == nil {
		err = werr
	}
	return err
}

// Path is where the file is.
func (s *Store) Path() string { return s.path }

// HomeID is a random name of this home, made once. Task queues and runs carry it, so that the workers of two homes on
// one cluster never take each other's work.
func (s *Store) HomeID(ctx context.Context) (string, error) {
	var id string
	err := s.read.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'home_id'`).Scan(&id)
	if err == nil {
		return id, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return "", wrap(err, "read the home's id")
	}
	raw := make([]byte, 6)
	_, _ = rand.Read(raw) // never fails since Go 1.24
	err = s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES ('home_id', ?) ON CONFLICT DO NOTHING`, hex.EncodeToString(raw)); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'home_id'`).Scan(&id)
	})
	return id, wrap(err, "make the home's id")
}

// tx runs f in one immediate transaction.
func (s *Store) tx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = f(tx)
	tip := s.takeTip() // while this transaction still holds the only connection that writes
	if err != nil {
		_ = tx.Rollback()
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.keepHead(tip)
	return nil
}

const timeForm = "2006-01-02T15:04:05.000000000Z07:00" // fixed width, so that text order is time order

func stamp(t time.Time) string { return t.UTC().Format(timeForm) }

func parseTime(s string) (time.Time, error) { return time.Parse(time.RFC3339Nano, s) }
