package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whetstone/llm"
	"whetstone/model"
	"whetstone/report"
	"whetstone/research"
	"whetstone/run"
	"whetstone/service"
	"whetstone/workflows"
)

func (a *app) wikiResearchCmd() *cobra.Command {
	var p run.ResearchParams
	var pages, depth, parallel int
	var budget float64
	var provider, modelName, price string
	var timeout time.Duration
	var watch, detach bool
	var t tapes
	cmd := &cobra.Command{
		Use: "research WIKI", Short: "Grow a wiki: look into its seeds, breadth first, until something halts it", Args: cobra.ExactArgs(1),
		Long: "Takes the shallowest oldest seeds, asks the sources, writes claims with the words they rest on, and queues what they raise. What is not given here comes from wiki.config.md.\n" +
			"It halts when the budget, the pages, the depth or the queue is used up, when three pages in a row bring nothing new, when the kill file exists, or when you stop it; the result names which.\n" +
			"Starting it again attaches to the run that is open, so after a crash the same command goes on.",
		Example: "  starter wiki research raft --max-pages 5\n  starter wiki research raft --fetchers local,arxiv --budget-usd 0",
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Wiki = args[0]
			set := cmd.Flags().Changed
			for _, x := range []struct {
				flag string
				n    int
				to   **int
				min  int
				max  int
			}{{"max-pages", pages, &p.MaxPages, 0, 1 << 30}, {"max-depth", depth, &p.MaxDepth, 0, 1 << 30}, {"parallel", parallel, &p.Parallel, 1, 16}} {
				if !set(x.flag) {
					continue
				}
				if x.n < x.min || x.n > x.max {
					return usage("--%s %d: want at least %d and at most %d", x.flag, x.n, x.min, x.max)
				}
				*x.to = &x.n
			}
			if set("budget-usd") {
				if budget < 0 || budget != budget || budget > 1e6 {
					return usage("--budget-usd %v: want dollars, at least 0", budget)
				}
				p.BudgetUSD = &budget
			}
			if timeout < 0 {
				return usage("--timeout %v: want a positive duration", timeout)
			}
			p.Timeout = int(timeout / time.Second)
			if timeout > 0 && p.Timeout == 0 {
				p.Timeout = 1
			}
			if price != "" {
				in, out, err := parsePrice(price)
				if err != nil {
					return err
				}
				p.Price, p.PriceOut = &in, &out
			}
			if set("fetchers") && len(p.Fetchers) == 0 {
				return usage("--fetchers names no source: leave it out to use those of wiki.config.md")
			}
			for i, f := range p.Fetchers {
				if p.Fetchers[i] = strings.TrimSpace(f); p.Fetchers[i] == "" {
					return usage("--fetchers holds an empty name")
				}
			}
			var err error
			if p.Record, p.Replay, err = t.folders(); err != nil {
				return err
			}
			return a.research(cmd.Context(), p, provider, modelName, t.show, watch, detach)
		},
	}
	f := cmd.Flags()
	f.IntVar(&pages, "max-pages", 10, "pages this run may make or amend")
	f.IntVar(&depth, "max-depth", 2, "how far from the first seeds")
	f.IntVar(&parallel, "parallel", 2, "seeds of one depth looked into side by side, 1 to 16; the outcome does not depend on it")
	f.Float64Var(&budget, "budget-usd", 0.50, "dollars the run may spend; it never spends more")
	f.StringSliceVar(&p.Fetchers, "fetchers", nil, "sources to ask: local, arxiv, wikipedia, github, semanticscholar, openalex, searxng, brave, tavily, web, or an executable of yours")
	f.BoolVar(&p.Force, "force", false, "run a wiki whose auto_research.enabled is false; it never lifts the private rule")
	f.StringVar(&provider, "provider", "", "the model's provider: "+strings.Join(llm.Providers(), ", ")+" (default wiki.config.md, then openai where OPENAI_API_KEY is set, else offline)")
	f.StringVar(&modelName, "model", "", "the model (default the provider's)")
	f.StringVar(&price, "price", "", "IN,OUT: dollars for a million tokens, for a model that is not in the price table")
	f.IntVar(&p.MaxCalls, "max-calls", 0, "paid calls the run may make (0: no limit)")
	f.DurationVar(&timeout, "timeout", 0, "wall clock after which the run ends with what it has (0: none)")
	t.flags(f)
	f.BoolVar(&watch, "watch", false, "show progress also where standard error is no terminal")
	f.BoolVar(&detach, "detach", false, "start the run and return; needs a running worker")
	return cmd
}

// modelRef joins --provider and --model; "" leaves the choice to the configuration.
func modelRef(m *service.Models, provider, name string) (string, error) {
	if provider == "" && name == "" {
		return "", nil
	}
	ref, err := chooseModel(m, provider, name)
	if err != nil {
		return "", err
	}
	return ref.String(), nil
}

func (a *app) research(ctx context.Context, p run.ResearchParams, provider, modelName string, show, watch, detach bool) error {
	return a.onWiki(ctx, p.Wiki, func(s *service.Service, w openWiki) error {
		var err error
		if p.Provider, err = modelRef(s.Models, provider, modelName); err != nil {
			return err
		}
		if show {
			return a.showResearchPrompts(ctx, s, w, p)
		}
		if err := s.KeepHome(w.Private); err != nil {
			return err
		}
		c, err := s.Connect(ctx)
		if err != nil {
			return err
		}
		return errors.Join(a.researchOn(ctx, s, c, p, watch, detach), c.Close())
	})
}

func (a *app) researchOn(ctx context.Context, s *service.Service, c *service.Connection, p run.ResearchParams, watch, detach bool) error {
	if detach {
		if err := a.needWorker(ctx, c, "--detach"); err != nil {
			return err
		}
		r, err := c.StartResearch(ctx, p)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]any{"run_id": r.RunID, "workflow_id": r.WorkflowID, "attached": r.Attached})
		}
		return a.print("started run %s; stop it with `starter wiki stop %s`\n", r.RunID, p.Wiki)
	}
	stop, err := c.StartWorker()
	if err != nil {
		return err
	}
	defer stop()
	r, err := c.StartResearch(ctx, p)
	if err != nil {
		return err
	}
	url := c.RunURL(r.WorkflowID, r.RunID)
	a.noteRun(r, url, "a research run of "+p.Wiki+" with the same choices is open: going on with it")
	done := a.watchResearch(ctx, r, watch)
	waitCtx, cancel := c.WithDisk(ctx)
	out, err := r.WaitResearch(waitCtx)
	cancel()
	done()
	if err != nil {
		err = a.waitError(ctx, c, err)
		if a.json && ctx.Err() == nil {
			return errors.Join(a.printJSON(run.ResearchResult{RunID: r.RunID, Wiki: p.Wiki, Halted: "failed", Why: err.Error(), WorkflowID: r.WorkflowID, Errors: []run.FetchError{}, Fetchers: []string{}}), err)
		}
		return err
	}
	res := out.Result
	if url != "" && !c.Hosting() {
		res.UIURL = &url
	}
	if a.json {
		err = a.printJSON(res)
	} else {
		err = a.showResearch(ctx, s, res, url)
	}
	return errors.Join(err, haltExit(res.Halted))
}

func (a *app) noteRun(r *service.Run, url, attached string) {
	if r.Attached {
		a.note("%s", attached)
	}
	if url != "" {
		a.note("run %s, watch it at %s", r.RunID, url)
	} else {
		a.note("run %s", r.RunID)
	}
}

// waitError explains why nobody waited to the end of a run.
func (a *app) waitError(ctx context.Context, c *service.Connection, err error) error {
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: the run stays open, the same command goes on with it")}
	}
	if full := c.DiskFull(); full != nil {
		return full
	}
	return err
}

// needWorker refuses what needs a worker that stays.
func (a *app) needWorker(ctx context.Context, c *service.Connection, what string) error {
	ok := !c.Hosting()
	if ok {
		var err error
		if ok, err = c.HasWorker(ctx); err != nil {
			return err
		}
	}
	if !ok {
		return usage("%s needs a worker that stays: start one with `worker` in another terminal", what)
	}
	return nil
}

// haltExit turns a halt into the exit code of cli.md: a run that came to an end of its own exits 0, one that a person or
// the kill file ended 4, one that its configuration does not allow 2.
func haltExit(halted string) error {
	switch research.Halt(halted) {
	case research.KillFile, research.Stopped:
		return &exitError{code: exitStopped}
	case research.Disabled, research.Private:
		return &exitError{code: exitUsage}
	}
	return nil
}

func (a *app) showResearch(ctx context.Context, s *service.Service, r run.ResearchResult, url string) error {
	w, err := s.Store.Wiki(ctx, r.Wiki)
	if err != nil {
		return err
	}
	var b strings.Builder
	colour := "32"
	if haltExit(r.Halted) != nil {
		colour = "33"
	}
	fmt.Fprintf(&b, "%s: %s: %s\n", r.Wiki, a.colour(colour+";1", r.Halted), report.Halted(r.Halted))
	if r.Why != "" {
		fmt.Fprintf(&b, "  %s\n", r.Why)
	}
	fmt.Fprintf(&b, "  %d page(s) made or amended, %d new claim(s), %d found in a further source, %d contradiction(s)\n", r.Pages, r.Claims, r.Supports, r.Conflicts)
	fmt.Fprintf(&b, "  seeds: %d done, %d pending, %d failed\n  spent $%.4f of $%.2f in %d paid call(s), %s\n", r.Seeds.Done, r.Seeds.Pending, r.Seeds.Failed, r.SpentUSD, r.BudgetUSD, r.Calls, orNone(r.Provider))
	kinds := map[string]int{}
	for _, e := range r.Errors {
		kinds[e.Fetcher+": "+e.Kind]++
	}
	names := make([]string, 0, len(kinds))
	for k := range kinds {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		fmt.Fprintf(&b, "  failed: %s, %d time(s)\n", k, kinds[k])
	}
	fmt.Fprintf(&b, "read it in %s, or make one HTML file of it with `starter wiki view %s`\n", w.Root, r.Wiki)
	if r.Halted == string(research.KillFile) {
		fmt.Fprintf(&b, "the kill file %s exists: remove it to run again\n", s.Home.KillFile())
	}
	switch {
	case r.UIURL != nil:
		fmt.Fprintf(&b, "Web UI: %s\n", *r.UIURL)
	case url != "":
		fmt.Fprintf(&b, "Web UI: start `worker`, then %s\n", url)
	}
	return a.print("%s", b.String())
}

func orNone(provider string) string {
	if provider == "" || provider == model.Offline {
		return "no model (by extraction)"
	}
	return provider
}

// watchResearch shows how far a run is until the returned function is called.
func (a *app) watchResearch(ctx context.Context, r *service.Run, always bool) (stop func()) {
	return a.watchLine(ctx, always, func(ctx context.Context) (string, error) {
		p, err := r.Progress(ctx)
		return fmt.Sprintf("%s: %d of at most %d page(s), %d new claim(s), %d seed(s) settled, %d fetch(es) failed, $%.4f", p.Phase, p.Pages, p.MaxPages, p.Claims, p.Seeds, p.Failures, p.SpentUSD), err
	})
}

func (a *app) wikiStopCmd() *cobra.Command {
	return a.tellCmd("stop", workflows.StopUpdate, "Stop a wiki's research; what was settled stays, the rest goes back into the queue", "stops after the seeds that are under way")
}

func (a *app) wikiPauseCmd() *cobra.Command {
	return a.tellCmd("pause", workflows.PauseUpdate, "Let a wiki's research take no more seeds until it is resumed", "is paused")
}

func (a *app) wikiResumeCmd() *cobra.Command {
	return a.tellCmd("resume", workflows.ResumeUpdate, "Go on with a paused research", "goes on")
}

func (a *app) tellCmd(name, update, short, done string) *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: name + " WIKI", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				c, err := s.Connect(ctx)
				if err != nil {
					return err
				}
				defer func() { _ = c.Close() }()
				if ok, err := c.HasWorker(ctx); err == nil && !ok {
					stop, err := c.StartWorker()
					if err != nil {
						return err
					}
					defer stop()
				}
				ok, err := c.Tell(ctx, service.ResearchID(w.Slug), update, why)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"wiki": w.Slug, "open": ok})
				}
				if !ok {
					return a.print("no research of %s is open\n", w.Slug)
				}
				return a.print("the research of %s %s\n", w.Slug, done)
			})
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "the reason, kept with the run")
	return cmd
}
