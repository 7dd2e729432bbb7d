package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// PutText keeps a text and returns its SHA-256.
func (s *Store) PutText(ctx context.Context, text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	_, err := s.write.ExecContext(ctx, `INSERT INTO texts (hash, text, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, hash, text, stamp(s.now()))
	return hash, wrap(err, "store a text")
}

// Text returns a text by its hash. ErrNotFound if it is not kept.
func (s *Store) Text(ctx context.Context, hash string) (string, error) {
	var text string
	err := s.read.QueryRowContext(ctx, `SELECT text FROM texts WHERE hash = ?`, hash).Scan(&text)
	return text, wrap(err, "read text %.12s", hash)
}
