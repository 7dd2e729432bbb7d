package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"whetstone/home"
	"whetstone/hook"
	"whetstone/hook/guard"
	"whetstone/hook/host"
	"whetstone/store"
)

// guarded judges a tool call. Only events before a tool are judged; whatever else reaches a guard's registration passes.
func guarded(e env, f flags, dir home.Dir, event hook.Event, l *journal) ([]byte, int, string) {
	if len(f.unknown) > 0 {
		l.note("the guard does not know %d of its flags", len(f.unknown))
		return refuse(f, "whetstone's guard does not know some of its own flags, so the call is denied: run `starter hook install --guards` again")
	}
	if event.Name == "" {
		l.note("an event without a name reached the guard")
		return refuse(f, "whetstone's guard can not tell which event this is, so the call is denied")
	}
	if event.Kind != hook.BeforeTool {
		return host.Render(event, hook.Decision{}), 0, ""
	}
	deny := func(reason string) ([]byte, int, string) {
		return host.Render(event, hook.Decision{Permission: "deny", Reason: "whetstone guard: " + reason}), 0, ""
	}
	cfg, err := dir.ReadConfig()
	if err != nil {
		l.note("%v", err)
		return deny("its configuration can not be read, so the call is denied: " + err.Error())
	}
	g, err := guard.New(guard.Options{
		Dir: event.CWD, User: e.getenv("HOME"), Store: string(dir), Deny: cfg.Guards.Deny, Ask: cfg.Guards.Ask, NoAsk: !host.CanAsk(event),
		Training: func() ([]string, error) { return training(e, dir) }, Resolve: resolve,
	})
	if err != nil {
		l.note("%v", err)
		return deny("its configuration can not be used, so the call is denied: " + err.Error())
	}
	v, ok := inTime(func() guard.Verdict { return g.Check(event.Tool, event.Input) })
	if !ok {
		l.note("a call could not be judged within %v", guardTime)
		return deny("the call is too large to be judged in time, so it is denied")
	}
	if v.Answer == guard.Allow {
		return host.Render(event, hook.Decision{}), 0, ""
	}
	return host.Render(event, hook.Decision{Permission: v.Answer.String(), Reason: "whetstone guard (" + v.Rule + "): " + v.Reason}), 0, ""
}

// guardTime is how long a call may take to be judged. A host that waits in vain lets the call pass.
const guardTime = 3 * time.Second

// inTime gives up after guardTime. What was begun ends with the process.
func inTime(check func() guard.Verdict) (guard.Verdict, bool) {
	type result struct {
		v guard.Verdict
		p any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.p = recover()
			done <- r
		}()
		r.v = check()
	}()
	select {
	case r := <-done:
		if r.p != nil {
			panic(r.p)
		}
		return r.v, true
	case <-time.After(guardTime):
		return guard.Verdict{}, false
	}
}

// training lists the skills that runs are optimizing; where there is no database, none is.
func training(e env, dir home.Dir) ([]string, error) {
	if _, err := os.Stat(dir.Database()); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s, err := store.Open(ctx, store.Options{Path: dir.Database(), BusyTimeout: busyTimeout, Now: e.now})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return s.SkillsInTraining(ctx)
}

// resolve follows symbolic links of a path, of which the last parts need not exist.
func resolve(path string) string {
	path = filepath.FromSlash(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return filepath.ToSlash(real)
	}
	parent, base := filepath.Dir(path), filepath.Base(path)
	if parent == path {
		return ""
	}
	if real, err := filepath.EvalSymlinks(parent); err == nil {
		return filepath.ToSlash(filepath.Join(real, base))
	}
	return ""
}
