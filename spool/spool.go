// Package spool keeps what a hook noted in files when the database cannot take them, and brings them in later. A file is complete
// or absent: it is written under another name, synced and renamed. Draining twice is harmless, since everything in a
// record carries the identity of its event.
package spool

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"whetstone/learning"
)

// Write keeps a record in one new file and returns when it is on the disk.
func Write(dir string, r learning.Record) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("spool a record: %w", err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("spool a record: %w", err)
	}
	raw := make([]byte, 12)
	_, _ = rand.Read(raw)
	name := filepath.Join(dir, hex.EncodeToString(raw))
	f, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("spool a record: %w", err)
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(name+".tmp", name+".json")
	}
	if err != nil {
		_ = os.Remove(name + ".tmp")
		return fmt.Errorf("spool a record: %w", err)
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("spool a record: %w", err)
	}
	defer func() { _ = d.Close() }()
	// Some file systems refuse to sync a folder; the file itself is synced.
	_ = d.Sync()
	return nil
}

// Drain hands the records of up to limit files to take and removes each file that was taken. It stops at the first
// failure of take. A file that cannot be read is set aside as .bad and does not stop the others.
func Drain(dir string, limit int, take func(learning.Record) error) (int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("drain the spool: %w", err)
	}
	n := 0
	for _, e := range entries {
		if n >= limit {
			break
		}
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		name := filepath.Join(dir, e.Name())
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process was faster
		}
		var r learning.Record
		if err == nil {
			r, err = parse(b)
		}
		if err != nil {
			_ = os.Rename(name, strings.TrimSuffix(name, ".json")+".bad")
			continue
		}
		if err := take(r); err != nil {
			return n, fmt.Errorf("drain the spool: %w", err)
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return n, fmt.Errorf("drain the spool: %w", err)
		}
		n++
	}
	return n, nil
}

// parse reads a file; older versions wrote a bare list of captures.
func parse(b []byte) (learning.Record, error) {
	var r learning.Record
	if strings.HasPrefix(strings.TrimSpace(string(b)), "[") {
		return r, json.Unmarshal(b, &r.Captures)
	}
	return r, json.Unmarshal(b, &r)
}
