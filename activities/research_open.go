package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"whetstone/claim"
	"whetstone/model"
	"whetstone/research"
	"whetstone/run"
	"whetstone/wiki"
	"whetstone/wiki/folder"
)

// Defaults of a research run where neither the person nor the configuration says anything.
const (
	defaultPages      = 10
	defaultDepth      = 2
	defaultParallel   = 2
	defaultBudget     = 0.50
	defaultStaleAfter = 720 * time.Hour
)

// OpenResearch reads the wiki's configuration, settles the run's choices, takes note of what people did to the pages, and
// returns the leases of runs that died. A wiki that may not be researched comes back as halted, with the reason.
func (a *Activities) OpenResearch(ctx context.Context, in OpenResearchIn) (OpenResearchOut, error) {
	defer beat(ctx)()
	w, d, cfg, err := a.openWiki(ctx, in.Params.Wiki)
	if err != nil {
		return OpenResearchOut{}, err
	}
	defer func() { _ = d.Close() }()
	out := OpenResearchOut{}
	out.Settings, out.Halted, out.Why, err = a.settings(in.Params, cfg)
	if err != nil {
		return OpenResearchOut{}, err
	}
	if err := a.o.Store.BeginResearch(ctx, in.RunID, w.Slug, in.WorkflowID, "research", in.Params, in.StartedAt); err != nil {
		return OpenResearchOut{}, err
	}
	if out.Halted != "" {
		return out, nil
	}
	if _, err := a.o.Store.ReleaseSeeds(ctx, w.Slug, in.RunID); err != nil {
		return OpenResearchOut{}, err
	}
	if err := a.shelf.SyncPages(ctx, d, w.Slug); err != nil {
		return OpenResearchOut{}, err
	}
	return out, a.startingSeeds(ctx, w, cfg)
}

// openWiki finds a wiki, its folder and its configuration; the record follows the configuration.
func (a *Activities) openWiki(ctx context.Context, slug string) (claim.Wiki, *folder.Dir, wiki.Config, error) {
	w, err := a.o.Store.Wiki(ctx, slug)
	if err != nil {
		return w, nil, wiki.Config{}, InputError("%w: see `starter wiki list`", err)
	}
	d, err := folder.Open(w.Root)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return w, nil, wiki.Config{}, InputError("the folder of wiki %s is gone: %s: put it back, or forget the wiki with `starter wiki delete %s --yes`", slug, w.Root, slug)
		}
		return w, nil, wiki.Config{}, err
	}
	cfg, err := d.Config()
	if err != nil {
		_ = d.Close()
		return w, nil, cfg, InputError("%w", err)
	}
	flavor := cfg.Flavor
	if flavor == "" {
		flavor = w.Flavor
	}
	if cfg.Title != w.Title || cfg.Private != w.Private || flavor != w.Flavor {
		w.Title, w.Private, w.Flavor = cfg.Title, cfg.Private, flavor
		if err := a.o.Store.UpdateWiki(ctx, w); err != nil {
			_ = d.Close()
			return w, nil, cfg, err
		}
	}
	return w, d, cfg, nil
}

func or[T any](p, q *T, def T) T {
	switch {
	case p != nil:
		return *p
	case q != nil:
		return *q
	}
	return def
}

// settings fills in what the person left open. A zero that somebody wrote stays a zero.
func (a *Activities) settings(p run.ResearchParams, cfg wiki.Config) (s run.ResearchSettings, halted, why string, err error) {
	c := cfg.Research
	s = run.ResearchSettings{
		Private: cfg.Private, MaxPages: or(p.MaxPages, c.MaxPages, defaultPages), MaxDepth: or(p.MaxDepth, c.MaxDepth, defaultDepth), Parallel: or(p.Parallel, c.Parallel, defaultParallel),
		BudgetUSD: or(p.BudgetUSD, c.BudgetUSD, defaultBudget), MaxCalls: p.MaxCalls, Timeout: p.Timeout, Price: p.Price, PriceOut: p.PriceOut, Embedding: cfg.Embedding, Record: p.Record, Replay: p.Replay,
	}
	if s.Replay != "" {
		s.Embedding = "" // vectors are not recorded, and a replay asks nobody; `wiki embed` makes them up
	}
	stale := c.StaleAfter
	if stale <= 0 {
		stale = defaultStaleAfter
	}
	s.StaleAfter = int(stale / time.Second)
	if c.Enabled != nil && !*c.Enabled && !p.Force {
		return s, string(research.Disabled), "auto_research.enabled is false in " + wiki.ConfigFile + ": set it to true, or run once with --force", nil
	}
	names := p.Fetchers
	if len(names) == 0 {
		names = c.Fetchers
	}
	if len(names) == 0 {
		names = []string{"local"}
		if !cfg.Private {
			names = wiki.FlavorOf(cfg.Flavor).Fetchers
		}
	}
	var away []string
	for _, n := range names {
		f, err := a.o.Sources.Fetcher(n, cfg.Private)
		if err != nil {
			return s, "", "", InputError("%w", err)
		}
		if slices.Contains(s.Fetchers, n) {
			continue
		}
		s.Fetchers = append(s.Fetchers, n)
		if f.Declare().Remote {
			away = append(away, n)
		}
	}
	if cfg.Private && len(away) > 0 {
		return s, string(research.Private), fmt.Sprintf("the wiki is private and %s would leave this machine: choose others with --fetchers or in %s; --force does not lift this", strings.Join(away, ", "), wiki.ConfigFile), nil
	}
	// One order, whatever order the person wrote: what is found first must not depend on it.
	order := a.o.Sources.Names()
	rank := func(n string) int {
		if i := slices.Index(order, n); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(s.Fetchers, func(x, y string) int {
		if rx, ry := rank(x), rank(y); rx != ry {
			return rx - ry
		}
		return strings.Compare(x, y)
	})
	if i := slices.Index(s.Fetchers, "web"); i >= 0 {
		s.Readers = []string{"web"}
		s.Fetchers = append(slices.Delete(s.Fetchers, i, i+1), "web")
	}
	s.Provider, err = a.provider(p, cfg)
	return s, "", "", err
}

// provider chooses the model and checks that it can be asked.
func (a *Activities) provider(p run.ResearchParams, cfg wiki.Config) (string, error) {
	name, err := a.choose(p, cfg)
	if err != nil || name == model.Offline || p.Replay != "" {
		return name, err // nobody is asked in a replay: no key is needed
	}
	ref, err := model.ParseRef(name)
	if err == nil {
		_, err = a.models(cfg.Private).Client(ref)
	}
	if err != nil {
		return "", InputError("%w", err)
	}
	return name, nil
}

// choose names the model: the person's, the configuration's, or the one whose key is there. A private wiki falls back
// to none where nobody chose, and refuses one that leaves the machine where somebody did.
func (a *Activities) choose(p run.ResearchParams, cfg wiki.Config) (string, error) {
	name, chosen := p.Provider, true
	if name == "" {
		name = cfg.Model
	}
	if name == "" {
		name, chosen = model.Offline, false
		if a.o.Locals != nil {
			name = a.o.Locals.Default().String()
		}
	}
	ref, err := model.ParseRef(name)
	if err != nil {
		return "", InputError("%w", err)
	}
	if cfg.Private && (a.o.Locals == nil || !a.o.Locals.Local(ref)) && ref.Provider != model.Offline {
		if !chosen {
			return model.Offline, nil
		}
		return "", InputError("the wiki is private and %s leaves this machine: use a model that runs here, or offline", name)
	}
	if ref.Provider == model.Offline {
		return model.Offline, nil
	}
	if p.Price == nil && p.Replay == "" {
		if _, err := a.o.Models.Price(ref); err != nil {
			return "", InputError("%w", err)
		}
	}
	return name, nil
}

// models are the clients a wiki may use: those of a private one reach this machine only.
func (a *Activities) models(private bool) Models {
	if private && a.o.PrivateModels != nil {
		return a.o.PrivateModels
	}
	return a.o.Models
}

// startingSeeds gives a wiki that has none at all its flavour's first seeds.
func (a *Activities) startingSeeds(ctx context.Context, w claim.Wiki, cfg wiki.Config) error {
	have, err := a.o.Store.Seeds(ctx, w.Slug, "", 1)
	if err != nil || len(have) > 0 {
		return err
	}
	var seeds []claim.Seed
	for _, s := range wiki.FlavorOf(w.Flavor).Seeds {
		seeds = append(seeds, claim.Seed{Wiki: w.Slug, Text: strings.ReplaceAll(s, "%s", cfg.Title), Kind: claim.Topic, Origin: "starter"})
	}
	_, err = a.o.Store.AddSeeds(ctx, seeds)
	return err
}
