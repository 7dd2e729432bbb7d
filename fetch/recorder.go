package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"whetstone/learning"
	"whetstone/source"
)

// recorded is one answer of a source on disk. The name of the file is made of what was asked.
type recorded struct {
	Source    string            `json:"source"`
	Question  string            `json:"question"`
	URLs      []string          `json:"urls,omitempty"`
	Documents []source.Document `json:"documents"`
	Error     *recordedError    `json:"error,omitempty"`
}

type recordedError struct {
	Kind   source.Kind `json:"kind"`
	Status int         `json:"status,omitempty"`
	Final  bool        `json:"final,omitempty"`
	Text   string      `json:"text"`
}

// tapeName is a question's name: what decides the answer, and nothing of the machine that asks.
func tapeName(name string, q source.Query) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", append([]string{name, q.Text, fmt.Sprint(q.Limit)}, q.URLs...)))
	return "source-" + hex.EncodeToString(sum[:16])
}

func tapeFile(dir, name string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%03d.json", name, n))
}

// Record writes down what a source said to a question, one file for each time it was asked.
func Record(dir, name string, q source.Query, docs []source.Document, failed error) error {
	x := recorded{Source: name, Question: q.Text, URLs: q.URLs, Documents: docs}
	if failed != nil {
		e, ok := source.AsError(failed)
		if !ok {
			return nil // not the source's: the next one may hear it
		}
		text, _ := learning.Redact(e.Err.Error())
		x.Error = &recordedError{e.Kind, e.Status, e.Final, text}
	}
	b, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return fmt.Errorf("record what %s says: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("record what %s says: %w", name, err)
	}
	for n := range 1000 {
		f, err := os.OpenFile(tapeFile(dir, tapeName(name, q), n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("record what %s says: %w", name, err)
		}
		_, err = f.Write(append(b, '\n'))
		return errors.Join(err, f.Close())
	}
	return nil
}

// Replayers answer from what Record wrote down: each question as often as it was asked, and with the last answer from then on.
type Replayers struct {
	mu   sync.Mutex
	seen map[string]int
}

// Answer reads. What was not recorded is source.ErrNotRecorded.
func (r *Replayers) Answer(dir, name string, q source.Query) ([]source.Document, error) {
	tape := tapeName(name, q)
	r.mu.Lock()
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	n := r.seen[dir+"\x00"+tape]
	r.seen[dir+"\x00"+tape]++
	r.mu.Unlock()
	for ; n >= 0; n-- {
		b, err := os.ReadFile(tapeFile(dir, tape, n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var x recorded
		if err == nil {
			err = json.Unmarshal(b, &x)
		}
		if err != nil {
			return nil, fmt.Errorf("%w that can be read: %s is damaged", source.ErrNotRecorded, filepath.Base(tapeFile(dir, tape, n)))
		}
		if x.Error != nil {
			return x.Documents, &source.Error{Kind: x.Error.Kind, Fetcher: name, Status: x.Error.Status, Final: x.Error.Final, Err: errors.New(x.Error.Text)}
		}
		return x.Documents, nil
	}
	return nil, fmt.Errorf("%w of %s about %q", source.ErrNotRecorded, name, q.Text)
}

// Shown is a source that is asked only where that neither leaves this machine nor costs anything. Elsewhere what would be asked is
// shown.
type Shown struct {
	source.Fetcher
	Show func(name string, q source.Query)
}

// Fetch asks or shows.
func (s Shown) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	d := s.Declare()
	if !d.Remote && d.CostUSD == 0 {
		return s.Fetcher.Fetch(ctx, q)
	}
	s.Show(d.Name, q)
	return nil, source.Errorf(source.Blocked, d.Name, "not asked: it is only shown")
}
