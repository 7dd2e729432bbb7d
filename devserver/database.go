package devserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	temporalsql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
	_ "modernc.org/sqlite" // the driver that reads our stamp without going through the server's pool
)

// ErrSchemaMismatch is returned when the database was made by a server whose schema this one does not have. The
// server's SQLite store knows no migrations, so there is nothing to do but to move the file away.
var ErrSchemaMismatch = errors.New("the embedded server's database has another schema version")

// schemaVersion names the schema that this build's server creates and expects.
func schemaVersion() string { return sqliteschema.Version + "/" + sqliteschema.VisibilityVersion }

// escapePath makes a file path safe inside a SQLite URI, where '?' starts the parameters, '#' the fragment and '%' an
// escape.
func escapePath(p string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(p)
}

func sqlConfig(c *Config, file string) *config.SQL {
	return &config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: escapePath(file),
		// One connection: with more, the server's services flood each other with "database is locked".
		MaxConns: 1, MaxIdleConns: 1,
		ConnectAttributes: map[string]string{
			"mode":         "rwc",
			"journal_mode": "WAL",
			"synchronous":  strings.ToUpper(c.Database.Synchronous),
			"busy_timeout": fmt.Sprint(time.Duration(c.Database.BusyTimeout).Milliseconds()),
		},
	}
}

// prepareDatabase creates the file with mode 0600, sets the schema up in one transaction together with the stamp that
// tells its version, refuses a file with another stamp, and sees that the namespace exists.
func prepareDatabase(ctx context.Context, c *Config, file, cluster string, attrs map[string]enumspb.IndexedValueType) (*config.SQL, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the embedded server's database: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("create the embedded server's database: %w", err)
	}
	stamp, err := readStamp(ctx, file)
	if err != nil {
		return nil, err
	}
	cfg := sqlConfig(c, file)
	switch stamp {
	case "":
		if err := setUpSchema(cfg); err != nil {
			return nil, fmt.Errorf("create %s: %w: is the disk full?", file, err)
		}
	case schemaVersion():
	default:
		return nil, fmt.Errorf("open %s: %w (file %s, program %s): finish open runs with the version that made it, then move the file away; data.db and everything learnt stays", file, ErrSchemaMismatch, stamp, schemaVersion())
	}
	ns, err := sqliteschema.NewNamespaceConfig(cluster, c.Namespace.Name, false, attrs)
	if err != nil {
		return nil, fmt.Errorf("configure namespace %s: %w", c.Namespace.Name, err)
	}
	ns.Detail.Config.Retention = durationpb.New(time.Duration(c.Namespace.Retention))
	if err := sqliteschema.CreateNamespaces(cfg, ns); err != nil {
		return nil, fmt.Errorf("create namespace %s: %w", c.Namespace.Name, err)
	}
	return cfg, nil
}

// readStamp returns the stored schema version, "" for an empty file, and an error for a file that is not ours.
func readStamp(ctx context.Context, file string) (string, error) {
	db, err := sql.Open("sqlite", "file:"+escapePath(file)+"?mode=rw&_pragma=busy_timeout(10000)")
	if err != nil {
		return "", fmt.Errorf("open %s: %w", file, err)
	}
	defer func() { _ = db.Close() }()
	var tables, ours int
	err = db.QueryRowContext(ctx, `SELECT count(*), count(CASE WHEN name = 'whetstone_schema' THEN 1 END) FROM sqlite_master WHERE type = 'table'`).Scan(&tables, &ours)
	if err != nil {
		return "", fmt.Errorf("open %s: it is not a usable SQLite database (%w): move it away and start again; data.db stays", file, err)
	}
	if tables == 0 {
		return "", nil
	}
	if ours == 0 {
		return "unknown", nil
	}
	var v string
	if err := db.QueryRowContext(ctx, `SELECT version FROM whetstone_schema`).Scan(&v); err != nil {
		return "", fmt.Errorf("read the schema version of %s: %w", file, err)
	}
	return v, nil
}

// setUpSchema runs the server's statements in one transaction. Plain SetupSchema commits each by itself, so a kill in
// the middle would leave half a schema behind for ever. One connection carries the whole of it.
func setUpSchema(cfg *config.SQL) error {
	db, err := temporalsql.NewSQLAdminDB(sqlplugin.DbKindUnknown, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("open the embedded server's database: %w", err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("set up the embedded server's schema: %w", err)
	}
	err = sqliteschema.SetupSchemaOnDB(db)
	if err == nil {
		err = db.Exec("CREATE TABLE whetstone_schema (version TEXT NOT NULL) STRICT")
	}
	if err == nil {
		err = db.Exec("INSERT INTO whetstone_schema (version) VALUES (?)", schemaVersion())
	}
	if err == nil {
		err = db.Exec("COMMIT")
	}
	if err != nil {
		_ = db.Exec("ROLLBACK")
		return fmt.Errorf("set up the embedded server's schema: %w", err)
	}
	return nil
}

// checkpoint folds the write-ahead log into the database file, so that a copy of the one file is a whole backup.
func checkpoint(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", "file:"+escapePath(file)+"?mode=rw&_pragma=busy_timeout(2000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
