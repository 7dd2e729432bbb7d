package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// event appends to the journal inside the transaction of what it tells of. Details hold ids and counters, never texts.
func (s *Store) event(ctx context.Context, tx *sql.Tx, kind, subject string, detail any) error {
	b, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	return s.chain(ctx, tx, entryOf{At: stamp(s.now()), Kind: kind, Subject: subject, Detail: string(b)})
}

// Event is one entry of the journal.
type Event struct {
	At      time.Time       `json:"at"`
	Kind    string          `json:"kind"`
	Subject string          `json:"subject"`
	Detail  json.RawMessage `json:"detail"`
}

// Events lists the journal of one subject, oldest first.
func (s *Store) Events(ctx context.Context, subject string) ([]Event, error) {
	return collect(ctx, s.read, "list events", func(r scanner) (Event, error) {
		var e Event
		var at, detail string
		if err := r.Scan(&at, &e.Kind, &e.Subject, &detail); err != nil {
			return e, err
		}
		e.Detail = json.RawMessage(detail)
		var err error
		e.At, err = parseTime(at)
		return e, err
	}, `SELECT at, kind, subject, detail FROM events WHERE subject = ? ORDER BY n`, subject)
}
