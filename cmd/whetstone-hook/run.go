package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"whetstone/home"
	"whetstone/hook"
	"whetstone/learning"
	"whetstone/project"
	"whetstone/spool"
	"whetstone/store"
)

const (
	maxInput    = 16 << 20               // bytes of one event
	busyTimeout = 800 * time.Millisecond // then the capture is spooled: the person waits for the hook
	drainLimit  = 20                     // spooled files brought in on the way
)

// run handles one event. It returns nothing: there is nobody to tell. Flags are accepted and ignored, so that a newer
// registration never breaks an older binary.
func run(e env) {
	dir, err := home.Find("", e.getenv)
	if err != nil {
		return
	}
	l := &journal{path: dir.HookLog(), now: e.now}
	defer func() {
		if p := recover(); p != nil {
			l.note("panic: %v", p)
		}
	}()
	data, err := io.ReadAll(io.LimitReader(e.stdin, maxInput+1))
	if err != nil || len(data) > maxInput {
		l.note("the event could not be read (%d bytes): %v", len(data), err)
		return
	}
	event, err := hook.Parse(data)
	if err != nil {
		l.note("%v", err)
		return
	}
	d := hook.Decide(event, project.Find(event.CWD).Key, e.now())
	for _, why := range d.Dropped {
		l.note("a [LEARN] block was not taken: %s", why)
	}
	if len(d.Captures) == 0 {
		return
	}
	if err := dir.Create(); err != nil {
		l.note("%v", err)
		return
	}
	if err := keep(dir, d.Captures, e.now); err != nil {
		l.note("the database did not take %d capture(s), they are spooled: %v", len(d.Captures), err)
		if err := spool.Write(dir.Spool(), d.Captures); err != nil {
			l.note("%d capture(s) are lost: %v", len(d.Captures), err)
		}
	}
}

// keep stores captures, then brings in what was spooled before.
func keep(dir home.Dir, cs []learning.Capture, now func() time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s, err := store.Open(ctx, store.Options{Path: dir.Database(), BusyTimeout: busyTimeout, Now: now})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if _, err := s.AddCaptures(ctx, cs); err != nil {
		return err
	}
	_, _ = spool.Drain(dir.Spool(), drainLimit, func(cs []learning.Capture) error {
		_, err := s.AddCaptures(ctx, cs)
		return err
	})
	return nil
}

// journal notes troubles for a person to find. It holds no text of the conversation.
type journal struct {
	path string
	now  func() time.Time
}

const maxJournal = 256 << 10

func (j *journal) note(format string, args ...any) {
	if info, err := os.Stat(j.path); err == nil && info.Size() > maxJournal {
		_ = os.Rename(j.path, j.path+".old")
	}
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_, _ = fmt.Fprintf(f, "%s %s\n", j.now().UTC().Format(time.RFC3339), fmt.Sprintf(format, args...))
}
