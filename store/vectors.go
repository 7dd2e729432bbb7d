package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"math"
	"strings"
)

// SetChunks says which chunks, by the hash of their content, a page consists of.
func (s *Store) SetChunks(ctx context.Context, wiki, pageID string, hashes []string) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM chunks WHERE page_id = ?`, pageID); err != nil {
			return err
		}
		for i, h := range hashes {
			if _, err := tx.ExecContext(ctx, `INSERT INTO chunks (page_id, ord, wiki, hash) VALUES (?, ?, ?, ?)`, pageID, i, wiki, h); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "note the chunks of page %s", pageID)
}

// MissingVectors returns those of the hashes that have no vector of a model yet.
func (s *Store) MissingVectors(ctx context.Context, model string, hashes []string) ([]string, error) {
	var out []string
	for _, h := range hashes {
		var n int
		if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM vectors WHERE hash = ? AND model = ?`, h, model).Scan(&n); err != nil {
			return nil, wrap(err, "look for vectors")
		}
		if n == 0 {
			out = append(out, h)
		}
	}
	return out, nil
}

// PutVectors keeps vectors by content and model, scaled to length one.
func (s *Store) PutVectors(ctx context.Context, model string, hashes []string, vecs [][]float32) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for i, h := range hashes {
			if _, err := tx.ExecContext(ctx, `INSERT INTO vectors (hash, model, vec) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, h, model, encodeVector(Unit(vecs[i]))); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "keep %d vector(s)", len(hashes))
}

// Vector returns one vector. ErrNotFound if there is none.
func (s *Store) Vector(ctx context.Context, model, hash string) ([]float32, error) {
	var raw []byte
	if err := s.read.QueryRowContext(ctx, `SELECT vec FROM vectors WHERE hash = ? AND model = ?`, hash, model).Scan(&raw); err != nil {
		return nil, wrap(err, "read a vector")
	}
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, nil
}

// VectorCounts tells, for a wiki and a model, how many chunks there are and how many of them have a vector.
func (s *Store) VectorCounts(ctx context.Context, wiki, model string) (chunks, embedded int, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT count(*), count(v.hash) FROM chunks c LEFT JOIN vectors v ON v.hash = c.hash AND v.model = ? WHERE c.wiki = ?`, model, wiki).Scan(&chunks, &embedded)
	return chunks, embedded, wrap(err, "count vectors")
}

// Unit scales a vector to length one; a zero vector stays.
func Unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return v
	}
	k := 1 / math.Sqrt(sum)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) * k)
	}
	return out
}

func encodeVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// HasText reports whether a text is kept: whether it was ours.
func (s *Store) HasText(ctx context.Context, hash string) (bool, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM texts WHERE hash = ?`, strings.ToLower(hash)).Scan(&n)
	return n > 0, wrap(err, "look a text up")
}
