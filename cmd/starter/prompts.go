package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"whetstone/model"
	"whetstone/run"
	"whetstone/service"
	"whetstone/source"
)

// showPrompts prints what an optimization would send, and sends nothing. The prompts of the baseline and of the first reflections
// are exactly those of the real run; what comes after them depends on the answers.
func (a *app) showPrompts(ctx context.Context, real *service.Service, o optimizeFlags) error {
	return a.showing(ctx, real, func(s *service.Service) error {
		p, _, err := a.params(ctx, s, o)
		if err != nil {
			return err
		}
		if p.Provider == model.Offline {
			return usage(nothingToShow)
		}
		p.Deliver, p.Record, p.Replay = "dry-run", "", ""
		if o.importFile != "" {
			if err := a.importFor(ctx, s, o.importFile, p.SkillKey, false); err != nil {
				return err
			}
		}
		return a.hosting(ctx, s, func(c *service.Connection) error {
			st, err := c.StartOptimize(ctx, p)
			if err != nil {
				return err
			}
			_, err = st.Wait(ctx)
			return err
		})
	})
}

const nothingToShow = "--show-prompts shows what a provider would be sent: name one with --provider"

// showResearchPrompts prints what a research run would send to its model and ask of its sources.
func (a *app) showResearchPrompts(ctx context.Context, real *service.Service, w openWiki, p run.ResearchParams) error {
	if chosen(real, w, p.Provider) == model.Offline {
		return usage(nothingToShow)
	}
	p.Provider = chosen(real, w, p.Provider)
	return a.showingWiki(ctx, real, w, func(c *service.Connection) error {
		r, err := c.StartResearch(ctx, p)
		if err == nil {
			_, err = r.WaitResearch(ctx)
		}
		return err
	})
}

// showCouncilPrompts prints what a council's members would be sent.
func (a *app) showCouncilPrompts(ctx context.Context, real *service.Service, w openWiki, p run.CouncilParams, question string) error {
	if !slices.ContainsFunc(append(slices.Clone(p.Members), p.Chair), func(m string) bool { return m != model.Offline }) {
		return usage("--show-prompts shows what providers would be sent: name one with --models")
	}
	return a.showingWiki(ctx, real, w, func(c *service.Connection) error {
		r, err := c.StartCouncil(ctx, p, question)
		if err == nil {
			_, err = r.WaitCouncil(ctx)
		}
		return err
	})
}

// showSurveyPrompts prints what a survey would send.
func (a *app) showSurveyPrompts(ctx context.Context, real *service.Service, w openWiki, p run.SurveyParams, topic string) error {
	if p.Provider == model.Offline {
		return usage(nothingToShow)
	}
	return a.showingWiki(ctx, real, w, func(c *service.Connection) error {
		r, err := c.StartSurvey(ctx, p, topic)
		if err == nil {
			_, err = r.WaitSurvey(ctx)
		}
		return err
	})
}

// chosen is the model that a wiki's run uses: the person's, the configuration's, or the one whose key is there.
func chosen(s *service.Service, w openWiki, name string) string {
	switch {
	case name != "":
		return name
	case w.cfg.Model != "":
		return w.cfg.Model
	case w.Private:
		return model.Offline
	}
	return s.Models.Default().String()
}

// showing runs something on a copy of the home that is thrown away, where what would be sent to a provider or asked of a source
// elsewhere is printed and not sent.
func (a *app) showing(ctx context.Context, real *service.Service, do func(*service.Service) error) (err error) {
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
	n, asked := 0, map[string]bool{}
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
	ask := func(name string, q source.Query) {
		mu.Lock()
		defer mu.Unlock()
		asked[name] = true
		_ = a.print("=== question to %s: %s\n\n", name, strings.Join(append([]string{q.Text}, q.URLs...), " "))
	}
	keys, err := real.Home.Keys()
	if err != nil {
		return err
	}
	// The copy hosts a server of its own, and nothing is asked for on a cluster.
	getenv := func(k string) string {
		if strings.HasPrefix(k, "TEMPORAL_") {
			return ""
		}
		if v := a.getenv(k); v != "" {
			return v
		}
		return keys[k] // whose key is set decides which model is the default
	}
	s, err := service.Open(ctx, service.Options{Home: dir, Getenv: getenv, Log: slog.New(slog.DiscardHandler), Show: show, ShowSource: ask})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := do(s); err != nil {
		return err
	}
	a.note("%d call(s); nothing was sent, and nothing was kept", n)
	if len(asked) > 0 {
		a.note("not asked, since they are elsewhere: %s; prompts made of what they would say are missing", strings.Join(slices.Sorted(maps.Keys(asked)), ", "))
	}
	return nil
}

// showingWiki is showing with a copy of a wiki's folder.
func (a *app) showingWiki(ctx context.Context, real *service.Service, w openWiki, do func(*service.Connection) error) error {
	return a.showing(ctx, real, func(s *service.Service) error {
		if err := os.CopyFS(s.Home.Fetchers(), os.DirFS(real.Home.Fetchers())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("copy your own sources: %w", err)
		}
		root := filepath.Join(s.Home.Wikis(), w.Slug)
		if err := os.CopyFS(root, os.DirFS(w.Root)); err != nil {
			return fmt.Errorf("copy the wiki: %w", err)
		}
		if err := s.Store.MoveWiki(ctx, w.Slug, root); err != nil {
			return err
		}
		for _, p := range w.cfg.Research.Paths {
			if !filepath.IsAbs(p) && !filepath.IsLocal(p) && !strings.HasPrefix(p, "~/") {
				a.note("%s lies outside the wiki's folder, of which a copy is used: it is not read here", p)
			}
		}
		return a.hosting(ctx, s, do)
	})
}

// hosting connects, with a worker.
func (a *app) hosting(ctx context.Context, s *service.Service, do func(*service.Connection) error) (err error) {
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
	return do(c)
}
