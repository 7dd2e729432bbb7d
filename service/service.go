// Package service assembles Whetstone once, for starter and worker alike: home, store, models, activities, the Temporal
// connection (embedded or given), and the worker. It holds no logic of its own; a part that fails to come up fails the
// whole, and what was up by then is taken down again.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"whetstone"
	"whetstone/activities"
	"whetstone/devserver"
	"whetstone/fetch"
	"whetstone/home"
	"whetstone/internal/gitstate"
	"whetstone/learning"
	"whetstone/llm"
	"whetstone/model"
	"whetstone/run"
	"whetstone/source"
	"whetstone/spool"
	"whetstone/store"
)

// Options says what to assemble.
type Options struct {
	Home       string // the --home flag; "" is WHETSTONE_HOME or ~/.whetstone
	Getenv     func(string) string
	Log        *slog.Logger
	ConfigFile string // another temporal-dev.yaml; "" is WHETSTONE_TEMPORAL_CONFIG or the compiled-in one
	UIPort     int    // the Web UI's port; 0 is the configuration's
	Now        func() time.Time
	// Show has what would be sent to a provider shown and not sent; the offline model answers.
	Show func(model.Request)
	// ShowSource has what a source elsewhere would be asked shown, and not asked.
	ShowSource func(name string, q source.Query)
}

// Service is an open home.
type Service struct {
	Home   home.Dir
	Store  *store.Store
	Models *Models
	Log    *slog.Logger
	// Sources are what research asks. Their rate limits are shared by everything in this process.
	Sources *fetch.Set

	o      Options
	homeID string
	// private are the models of private wikis: they reach this machine only.
	private *Models

	mu       sync.Mutex
	followed followed
}

// Open opens the home and the store, and brings in what hooks have spooled. It does not touch Temporal.
func Open(ctx context.Context, o Options) (*Service, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := home.Find(o.Home, o.Getenv)
	if err != nil {
		return nil, err
	}
	if err := dir.Create(); err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, store.Options{Path: dir.Database(), Now: o.Now})
	if err != nil {
		return nil, err
	}
	s := &Service{Home: dir, Store: st, Log: o.Log, o: o}
	cfg, err := readConfig(dir)
	if err != nil {
		_ = st.Close()
		return nil, err
	}
	caps, err := capsOf(dir, cfg.Caps)
	if err != nil {
		_ = st.Close()
		return nil, err
	}
	st.SetCaps(caps)
	if s.homeID, err = st.HomeID(ctx); err == nil {
		s.Models, err = NewModels(dir, o.Getenv, &http.Client{})
	}
	if err == nil {
		s.Models.show = o.Show
	}
	if err == nil {
		s.private, err = NewModels(dir, o.Getenv, &http.Client{Transport: fetch.LoopbackTransport()})
	}
	if err == nil {
		s.private.show = o.Show
		s.Sources, err = newSources(dir, o.Getenv, o.Now)
	}
	if err != nil {
		_ = st.Close()
		return nil, err
	}
	if _, err := s.DrainSpool(ctx); err != nil {
		s.Log.Warn("captures stay in the spool for now", "error", err)
	}
	return s, nil
}

// Close closes the store.
func (s *Service) Close() error { return s.Store.Close() }

// HomeID names this home on a cluster.
func (s *Service) HomeID() string { return s.homeID }

// TaskQueue is the home's own: all its workers share one disk.
func (s *Service) TaskQueue() string { return "whetstone-" + s.homeID }

// DrainSpool brings spooled captures into the database.
func (s *Service) DrainSpool(ctx context.Context) (int, error) {
	return spool.Drain(s.Home.Spool(), 10_000, func(r learning.Record) error {
		_, err := s.Store.AddRecord(ctx, r)
		return err
	})
}

// ErrConfig is returned for a configuration of the embedded server that a person has to mend.
var ErrConfig = errors.New("the embedded server's configuration")

// temporalConfig reads the configuration of the embedded server.
func (s *Service) temporalConfig() (devserver.Config, error) {
	path := s.o.ConfigFile
	if path == "" {
		path = s.o.Getenv("WHETSTONE_TEMPORAL_CONFIG")
	}
	var override []byte
	if path != "" {
		var err error
		if override, err = os.ReadFile(path); err != nil {
			return devserver.Config{}, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	c, err := devserver.ParseConfig(whetstone.TemporalDevYAML, override)
	if err != nil {
		return c, fmt.Errorf("%w (%s): %w", ErrConfig, cmp.Or(path, "the compiled-in temporal-dev.yaml"), err)
	}
	if s.o.UIPort < 0 || s.o.UIPort > 65535 {
		return c, fmt.Errorf("%w: --ui-port %d is not a port (1 to 65535)", ErrConfig, s.o.UIPort)
	}
	if s.o.UIPort != 0 {
		c.UI.Port, c.UI.Strict = s.o.UIPort, true
	}
	return c, nil
}

// newActivities joins the ports.
func (s *Service) newActivities() (*activities.Activities, error) {
	timeout := time.Duration(0)
	if v := s.o.Getenv("WHETSTONE_CALL_TIMEOUT"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			return nil, fmt.Errorf("read WHETSTONE_CALL_TIMEOUT: %w", err)
		}
		timeout = d
	}
	return activities.New(activities.Options{
		Store: s.Store, Models: s.Models, KillFile: s.Home.KillFile(), CallTimeout: timeout, Now: s.o.Now,
		Sources: sources{s.Sources, &fetch.Replayers{}, s.o.ShowSource}, Embedders: s.Models, PrivateModels: s.private, Locals: s.Models, Commands: commands{}, Git: gitstate.Of,
	})
}

// Embed brings a wiki's vectors up to date, in this process: it is repeatable and needs no Temporal. budget is in dollars.
func (s *Service) Embed(ctx context.Context, slug, embedding string, budget float64, price *float64) (activities.EmbedPagesOut, error) {
	w, d, cfg, err := s.OpenWiki(ctx, slug)
	if err != nil {
		return activities.EmbedPagesOut{}, err
	}
	_ = d.Close()
	if embedding == "" {
		embedding = cfg.Embedding
	}
	if embedding == "" {
		return activities.EmbedPagesOut{}, inputError(fmt.Sprintf("no embedding model: set embedding_model in wiki.config.md, such as openai:text-embedding-3-small, or give --embedding-model; without one, %s is searched by words alone", slug))
	}
	acts, err := s.newActivities()
	if err != nil {
		return activities.EmbedPagesOut{}, err
	}
	settings := run.ResearchSettings{Private: w.Private, BudgetUSD: budget, Embedding: embedding}
	if price != nil {
		zero := 0.0
		settings.Price, settings.PriceOut = price, &zero
	}
	out, err := acts.EmbedPages(ctx, activities.EmbedPagesIn{Job: activities.ResearchJob{RunID: "embed/" + slug + "/" + s.o.Now().UTC().Format("20060102T150405.000"), Wiki: slug, Settings: settings}})
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		if app.Type() == activities.TypeInput {
			return out, inputError(app.Message())
		}
		return out, errors.New(app.Message())
	}
	return out, err
}

// Models satisfies the activities' port: clients by name, and their prices.
type Models struct {
	registry *llm.Registry
	prices   *llm.Prices

	show    func(model.Request)
	mu      sync.Mutex
	replays map[string]*llm.Replayer
}

// NewModels reads the price table and joins it with what config.yaml says of providers and prices; keys are looked up in the
// environment, then in the file of keys, when a client is made.
func NewModels(dir home.Dir, getenv func(string) string, h *http.Client) (*Models, error) {
	prices, err := llm.LoadPrices()
	if err != nil {
		return nil, err
	}
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	keys, err := dir.Keys()
	if errors.Is(err, home.ErrConfig) {
		return nil, inputError(err.Error())
	}
	if err != nil {
		return nil, err
	}
	r := &llm.Registry{HTTP: h, Custom: map[string]llm.Provider{}, Limits: map[string]llm.Limits{}, Getenv: func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return keys[name]
	}}
	bad := func(format string, args ...any) (*Models, error) {
		return nil, inputError(dir.Config() + ": " + fmt.Sprintf(format, args...))
	}
	for name, p := range c.Providers {
		if p.AtOnce < 0 || p.PerMinute < 0 {
			return bad("providers.%s: at_once and per_minute can not be negative", name)
		}
		switch {
		case slices.Contains(llm.Names(), name):
			r.Limits[name] = llm.Limits{AtOnce: p.AtOnce, Minute: p.PerMinute}
			if p.KeyEnv != "" || p.Model != "" || p.Local || p.Schema || p.BaseURL != "" {
				if err := r.Change(name, p.BaseURL, p.KeyEnv, p.Model); err != nil {
					return bad("providers.%s: %v", name, err)
				}
			}
		case !strings.HasPrefix(p.BaseURL, "http://") && !strings.HasPrefix(p.BaseURL, "https://"):
			return bad("providers.%s: base_url must begin with http:// or https://", name)
		case strings.ContainsAny(name, ": /"):
			return bad("providers.%s: a name has no colon, space or slash", name)
		default:
			r.Custom[name] = llm.Custom(name, p.BaseURL, p.KeyEnv, p.Model, p.Local, p.Schema, p.AtOnce, p.PerMinute)
			if p.Local {
				prices.FreeProvider(name)
			}
		}
	}
	for name, p := range c.Prices {
		if ref, err := model.ParseRef(name); err != nil || ref.Model == "" {
			return bad("prices: %q: want provider:model", name)
		}
		if p.Input == nil || p.Output == nil {
			return bad("prices.%s: want input and output, in dollars for a million tokens", name)
		}
		price := model.Price{Input: *p.Input, Cached: *p.Input, Output: *p.Output}
		if p.Cached != nil {
			price.Cached = *p.Cached
		}
		if p.Write != nil {
			price.Write = *p.Write
		}
		for _, v := range []float64{price.Input, price.Cached, price.Write, price.Output} {
			if !sane(v) {
				return bad("prices.%s: a price is a number of dollars, at least 0", name)
			}
		}
		prices.Override(name, price)
	}
	return &Models{registry: r, prices: prices}, nil
}

// Recording writes down what a client is asked and answers.
func (m *Models) Recording(next model.Client, dir string) model.Client {
	return llm.Recorder{Next: next, Dir: dir}
}

// Replaying answers from what was written down. One folder has one reader in a process, since it counts.
func (m *Models) Replaying(dir string) model.Client {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.replays == nil {
		m.replays = map[string]*llm.Replayer{}
	}
	if m.replays[dir] == nil {
		m.replays[dir] = &llm.Replayer{Dir: dir}
	}
	return m.replays[dir]
}

// Names lists the providers, those of config.yaml last.
func (m *Models) Names() []string { return m.registry.Names() }

// DefaultModel is the model a provider is used with when none is named.
func (m *Models) DefaultModel(provider string) string { return m.registry.DefaultModel(provider) }

// Completes reports whether a provider completes prompts, and is known at all.
func (m *Models) Completes(provider string) bool { return m.registry.Completes(provider) }

// Answers reports whether somebody listens where a local provider is to be; others are not asked.
func (m *Models) Answers(ctx context.Context, provider string) (address string, ok bool) {
	address = m.registry.Address(provider)
	if address == "" {
		return "", true
	}
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return address, false
	}
	_ = c.Close()
	return address, true
}

// Free reports whether a provider costs nothing by the token.
func (m *Models) Free(provider string) bool { return m.registry.Free(provider) }

// Client makes the client for a model.
func (m *Models) Client(ref model.Ref) (model.Client, error) {
	if m.show != nil && ref.Provider != model.Offline && m.registry.Completes(ref.Provider) {
		return llm.Shower{Show: m.show}, nil
	}
	return m.registry.Client(ref)
}

// Embedder makes the client for an embedding model.
func (m *Models) Embedder(ref model.Ref) (model.Embedder, error) {
	if m.show != nil {
		return nil, errors.New("no vectors are made where prompts are only shown")
	}
	return m.registry.Embedder(ref)
}

// Local reports whether a model runs on this machine.
func (m *Models) Local(ref model.Ref) bool { return m.registry.Local(ref) }

// Price looks a model's price up.
func (m *Models) Price(ref model.Ref) (model.Price, error) { return m.prices.Of(ref) }

// Default is the model used when none is named.
func (m *Models) Default() model.Ref { return m.registry.Default() }
