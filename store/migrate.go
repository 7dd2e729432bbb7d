package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks the file as ours: "WHST".
const applicationID = 0x57485354

func migrationNames() []string {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	slices.Sort(names)
	return names
}

func latest() int { return len(migrationNames()) }

// version returns the file's schema version, 0 for an empty file, and refuses files that are not ours or too new.
func (s *Store) version(ctx context.Context) (int, error) {
	var app, version, tables int
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)`).Scan(&app, &version, &tables)
	if err != nil {
		return 0, wrap(err, "read the schema version of %s", s.path)
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != applicationID:
		return 0, fmt.Errorf("open %s: %w: move it away or choose another home; nothing in it was changed", s.path, ErrForeign)
	case version > latest():
		return 0, fmt.Errorf("open %s: %w (schema %d, this program knows %d): install the newer version; nothing was changed", s.path, ErrNewer, version, latest())
	}
	return version, nil
}

// inGo is what a migration does beyond SQL, by the version it leads to.
var inGo = map[int]func(context.Context, *Store, *sql.Tx) error{3: adoptLearnings}

// migrate applies what is missing, one transaction for each step; a step that fails leaves the file as it was before it.
func (s *Store) migrate(ctx context.Context) error {
	have, err := s.version(ctx)
	if err != nil {
		return err
	}
	for i, name := range migrationNames() {
		if i < have {
			continue
		}
		src, err := migrations.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		err = s.tx(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, string(src)); err != nil {
				return err
			}
			if f := inGo[i+1]; f != nil {
				if err := f(ctx, s, tx); err != nil {
					return err
				}
			}
			// Pragmas take no parameters; both values are integers of ours.
			_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, i+1))
			return err
		})
		if err != nil {
			return wrap(err, "apply %s to %s", name, s.path)
		}
	}
	return nil
}
