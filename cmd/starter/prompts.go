package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"whetstone/model"
	"whetstone/service"
)

// showPrompts prints what a run would send, and sends nothing. The run takes place on a copy of the home that is thrown away, with the
// offline model in the provider's place: the prompts of the baseline and of the first reflections are exactly those of the real
// run; what comes after them depends on the answers.
func (a *app) showPrompts(ctx context.Context, real *service.Service, o optimizeFlags) (err error) {
	dir, err := os.MkdirTemp("", "whetstone-prompts-*")
	if err != nil {
		return fmt.Errorf("make a place for the copy: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := real.Store.Snapshot(ctx, filepath.Join(dir, "data.db")); err != nil {
		return err
	}
	for _, name := range []string{"config.yaml", "audit.key", "audit.head"} {
		b, err := os.ReadFile(filepath.Join(string(real.Home), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	var mu sync.Mutex
	n := 0
	show := func(req model.Request) {
		mu.Lock()
		defer mu.Unlock()
		n++
		var b strings.Builder
		fmt.Fprintf(&b, "=== call %d: %s, to %s, an answer of at most %d tokens\n", n, req.Stage, req.Ref, req.MaxTokens)
		for _, m := range req.Messages {
			fmt.Fprintf(&b, "--- %s\n%s\n", m.Role, strings.TrimRight(m.Content, "\n"))
		}
		_ = a.print("%s\n", b.String())
	}
	// The copy hosts a server of its own, and nothing is asked for on a cluster.
	getenv := func(k string) string {
		if strings.HasPrefix(k, "TEMPORAL_") {
			return ""
		}
		return a.getenv(k)
	}
	s, err := service.Open(ctx, service.Options{Home: dir, Getenv: getenv, Log: slog.New(slog.DiscardHandler), Show: show})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	p, _, err := a.params(ctx, s, o)
	if err != nil {
		return err
	}
	if p.Provider == model.Offline {
		return usage("--show-prompts shows what a provider would be sent: name one with --provider")
	}
	p.Deliver, p.Record, p.Replay = "dry-run", "", ""
	if o.importFile != "" {
		if err := a.importFor(ctx, s, o.importFile, p.SkillKey, false); err != nil {
			return err
		}
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	stop, err := c.StartWorker()
	if err != nil {
		return err
	}
	defer stop()
	st, err := c.StartOptimize(ctx, p)
	if err != nil {
		return err
	}
	if _, err := st.Wait(ctx); err != nil {
		return err
	}
	a.note("%d call(s); nothing was sent, and nothing was kept", n)
	return nil
}
