package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"whetstone/store"
)

// IsState reports whether a change was refused because of the state that something is in, or because it is there already.
func IsState(err error) bool {
	return errors.Is(err, store.ErrState) || errors.Is(err, store.ErrExists)
}

// Forget erases a learning's text from the store, and from what hooks spooled and could not bring in.
func (s *Service) Forget(ctx context.Context, id string) (store.Forgotten, error) {
	l, err := s.Store.Learning(ctx, id)
	if err != nil {
		return store.Forgotten{}, err
	}
	out, err := s.Store.Forget(ctx, id)
	if err != nil {
		return out, err
	}
	// A record that is set aside as broken can hold the text as well.
	entries, err := os.ReadDir(s.Home.Spool())
	if err != nil {
		return out, nil //nolint:nilerr // no spool, nothing in it
	}
	for _, e := range entries {
		path := filepath.Join(s.Home.Spool(), e.Name())
		b, err := os.ReadFile(path)
		if err != nil || l.Rule == "" || !strings.Contains(string(b), l.Rule) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return out, fmt.Errorf("erase %s: %w", path, err)
		}
	}
	return out, nil
}
