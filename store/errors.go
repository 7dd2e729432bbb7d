package store

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What can be wrong with the database, for callers that branch on it. Every error of this package that stems from one of
// these causes wraps the sentinel.
var (
	ErrNotFound  = errors.New("not found")
	ErrAmbiguous = errors.New("more than one begins like that")
	ErrBusy      = errors.New("the database is busy")
	ErrFull      = errors.New("the disk is full")
	ErrCorrupt   = errors.New("the file is not a usable database")
	ErrForeign   = errors.New("the file is another program's database")
	ErrNewer     = errors.New("the database was made by a newer whetstone")
	ErrReadOnly  = errors.New("the database cannot be written")
	ErrExists    = errors.New("it is there already")
	ErrState     = errors.New("the change is not possible from the present state")
)

// wrap names the attempted action and turns SQLite's codes into the package's sentinels. It is the only place that looks
// at them.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	var se *sqlite.Error
	if errors.As(err, &se) {
		// The shared index of the log has no room to be made: SQLite says so only by its extended code.
		if se.Code() == sqlite3.SQLITE_IOERR_SHMSIZE {
			return fmt.Errorf("%s: %w: %w", what, ErrFull, err)
		}
		switch se.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%s: %w: %w", what, ErrBusy, err)
		case sqlite3.SQLITE_FULL:
			return fmt.Errorf("%s: %w: %w", what, ErrFull, err)
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%s: %w: %w: move it away and start again; nothing in it was changed", what, ErrCorrupt, err)
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
			return fmt.Errorf("%s: %w: %w", what, ErrReadOnly, err)
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
