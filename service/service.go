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
	"net/http"
	"os"
	"time"

	"go.temporal.io/sdk/temporal"

	"whetstone"
	"whetstone/activities"
	"whetstone/devserver"
	"whetstone/fetch"
	"whetstone/home"
	"whetstone/learning"
	"whetstone/llm"
	"whetstone/model"
	"whetstone/run"
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
	if s.homeID, err = st.HomeID(ctx); err == nil {
		s.Models, err = NewModels(o.Getenv, &http.Client{})
	}
	if err == nil {
		s.private, err = NewModels(o.Getenv, &http.Client{Transport: fetch.LoopbackTransport()})
	}
	if err == nil {
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
		Sources: sources{s.Sources}, Embedders: s.Models, PrivateModels: s.private, Locals: s.Models,
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
}

// NewModels reads the price table; keys are looked up in the environment when a client is made.
func NewModels(getenv func(string) string, h *http.Client) (*Models, error) {
	prices, err := llm.LoadPrices()
	if err != nil {
		return nil, err
	}
	return &Models{registry: &llm.Registry{Getenv: getenv, HTTP: h}, prices: prices}, nil
}

// Client makes the client for a model.
func (m *Models) Client(ref model.Ref) (model.Client, error) { return m.registry.Client(ref) }

// Embedder makes the client for an embedding model.
func (m *Models) Embedder(ref model.Ref) (model.Embedder, error) { return m.registry.Embedder(ref) }

// Local reports whether a model runs on this machine.
func (m *Models) Local(ref model.Ref) bool { return m.registry.Local(ref) }

// Price looks a model's price up.
func (m *Models) Price(ref model.Ref) (model.Price, error) { return m.prices.Of(ref) }

// Default is the model used when none is named.
func (m *Models) Default() model.Ref { return m.registry.Default() }
