package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// watchLine shows a line that changes, asked for four times a second, until the returned function is called: in place on a
// terminal, line by line elsewhere if always.
func (a *app) watchLine(ctx context.Context, always bool, ask func(context.Context) (string, error)) (stop func()) {
	tty := a.isTerminal(a.stderr)
	if a.quiet || (!tty && !always) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		last := ""
		for {
			q, cancelQuery := context.WithTimeout(ctx, 2*time.Second)
			line, err := ask(q)
			cancelQuery()
			if err == nil && line != last {
				last = line
				if tty {
					fmt.Fprintf(a.stderr, "\r\x1b[2K%s", line)
				} else {
					fmt.Fprintln(a.stderr, line)
				}
			}
			select {
			case <-ctx.Done():
				if tty && last != "" {
					fmt.Fprint(a.stderr, "\r\x1b[2K")
				}
				return
			case <-time.After(250 * time.Millisecond):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// parseSince reads a date or an age.
func parseSince(s string, now time.Time) (*time.Time, error) {
	if s = strings.TrimSpace(s); s == "" {
		return nil, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		t := now.Add(-d)
		return &t, nil
	}
	t, err := time.Parse("2006-01-02", s)
	if err != nil {
		return nil, usage("--since %q: want a date such as 2026-01-31 or an age such as 720h", s)
	}
	return &t, nil
}
