package llm

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

	"whetstone/model"
)

// recorded is one call on disk. The prompt is there for people to read; the name of the file is made of it.
type recorded struct {
	Model    string          `json:"model"`
	Stage    string          `json:"stage"`
	Messages []model.Message `json:"messages"`
	Reply    *model.Reply    `json:"reply,omitempty"`
	Error    *recordedError  `json:"error,omitempty"`
}

type recordedError struct {
	Kind    model.Kind `json:"kind"`
	Status  int        `json:"status,omitempty"`
	NotSent bool       `json:"not_sent,omitempty"`
	Text    string     `json:"text"`
}

// callName is a request's name: what decides the answer, and nothing of the run.
func callName(req model.Request) string {
	b, err := json.Marshal([]any{req.Ref.String(), req.Stage, req.Messages, req.MaxTokens, req.Temperature, req.Seed})
	if err != nil {
		panic(err) // texts and numbers
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Recorder writes down what a client is asked and what it answers, one file for each call, numbered where one call was made again.
type Recorder struct {
	Next model.Client
	Dir  string
}

// Complete calls and writes down. An answer that can not be written down is kept all the same: it has been paid for.
func (r Recorder) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	reply, err := r.Next.Complete(ctx, req)
	x := recorded{Model: req.Ref.String(), Stage: req.Stage, Messages: req.Messages}
	if err != nil {
		e, ok := model.AsError(err)
		if !ok {
			return reply, err
		}
		x.Error = &recordedError{e.Kind, e.Status, e.NotSent, short(e.Err.Error())}
	} else {
		x.Reply = &reply
	}
	if b, merr := json.MarshalIndent(x, "", "  "); merr == nil {
		_ = r.write(callName(req), append(b, '\n'))
	}
	return reply, err
}

func (r Recorder) write(name string, b []byte) error {
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	for n := range 1000 {
		f, err := os.OpenFile(filepath.Join(r.Dir, fmt.Sprintf("%s.%03d.json", name, n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write(b)
		return errors.Join(err, f.Close())
	}
	return nil
}

// Replayer answers from what a Recorder wrote down: each call as often as it was made, and with its last answer from then on.
type Replayer struct {
	Dir string

	mu   sync.Mutex
	seen map[string]int
}

// Complete reads. A call that was not recorded is NotFound.
func (r *Replayer) Complete(_ context.Context, req model.Request) (model.Reply, error) {
	name := callName(req)
	r.mu.Lock()
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	n := r.seen[name]
	r.seen[name]++
	r.mu.Unlock()
	for ; n >= 0; n-- {
		b, err := os.ReadFile(filepath.Join(r.Dir, fmt.Sprintf("%s.%03d.json", name, n)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var x recorded
		if err == nil {
			err = json.Unmarshal(b, &x)
		}
		switch {
		case err != nil || x.Reply == nil && x.Error == nil:
			return model.Reply{}, &model.Error{Kind: model.BadRequest, Provider: req.Ref.Provider, NotSent: true, Err: fmt.Errorf("%w that can be read: %s.%03d.json is damaged", model.ErrNotRecorded, name, n)}
		case x.Error != nil:
			return model.Reply{}, &model.Error{Kind: x.Error.Kind, Provider: req.Ref.Provider, Status: x.Error.Status, NotSent: x.Error.NotSent, Err: errors.New(x.Error.Text)}
		}
		return *x.Reply, nil
	}
	return model.Reply{}, &model.Error{Kind: model.NotFound, Provider: req.Ref.Provider, NotSent: true, Err: fmt.Errorf("%w to this %s call: it was made of other texts or with other parameters", model.ErrNotRecorded, req.Stage)}
}
