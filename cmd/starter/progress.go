package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"whetstone/service"
)

// watchLine shows a line that changes, asked for four times a second, until the returned function is called: in place on a
// terminal, line by line elsewhere if always. Each wait for a provider gets a line of its own that stays.
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
		var waits waitLines
		for {
			q, cancelQuery := context.WithTimeout(ctx, 2*time.Second)
			for _, text := range waits.fresh(q, a.waits, time.Now()) {
				if tty && last != "" {
					fmt.Fprint(a.stderr, "\r\x1b[2K")
				}
				fmt.Fprintln(a.stderr, printable(text))
				last = ""
			}
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

// watchWaits tells what a run waits for, and nothing else, until the returned function is called.
func (a *app) watchWaits(ctx context.Context, always bool) (stop func()) {
	return a.watchLine(ctx, always, func(context.Context) (string, error) { return "", nil })
}

// askWaits is how often a run is asked what it waits for.
const askWaits = time.Second

// waitLines remembers which waits were told.
type waitLines struct {
	asked time.Time
	told  map[string]bool
}

// fresh lists the waits that began since the last time. One that is over and begins again is told again.
func (w *waitLines) fresh(ctx context.Context, ask func(context.Context) ([]service.Wait, error), now time.Time) []string {
	if ask == nil || now.Sub(w.asked) < askWaits {
		return nil
	}
	w.asked = now
	waits, err := ask(ctx)
	var out []string
	going := map[string]bool{}
	for _, x := range waits {
		if going[x.Key] = true; !w.told[x.Key] {
			out = append(out, x.Text)
		}
	}
	if err != nil { // only a part of them is known: what was told stays told
		for k := range w.told {
			going[k] = true
		}
	}
	w.told = going
	return out
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
