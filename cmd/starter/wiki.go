package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"whetstone/claim"
	"whetstone/service"
	"whetstone/store"
	"whetstone/wiki"
)

func (a *app) wikiCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "wiki", Short: "Make, grow and ask wikis whose every claim leads to a source", Args: cobra.NoArgs,
		Long:    "A wiki is a folder of Markdown pages that research fills: it asks sources, keeps what they say, and writes down claims with the very words they rest on.\nPages are yours: what you change stays changed. Without a key it works by extraction; with a model, the model chooses and phrases, and cannot invent a source.",
		Example: "  starter wiki init raft --title \"Raft consensus\" --flavor research\n  starter wiki seed raft \"leader election\"\n  starter wiki research raft --max-pages 5\n  starter wiki ask \"how long is an election timeout\" --wiki raft",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.wikiInitCmd(), a.wikiListCmd(), a.wikiShowCmd(), a.wikiPageCmd(), a.wikiStatusCmd(), a.wikiDeleteCmd(), a.wikiSeedCmd(), a.wikiSeedsCmd(), a.wikiResearchCmd(), a.wikiStopCmd(), a.wikiPauseCmd(), a.wikiResumeCmd(),
		a.wikiAskCmd(), a.wikiRelatedCmd(), a.wikiVerifyCmd(), a.wikiViewCmd(), a.wikiEmbedCmd(), a.wikiCouncilCmd(), a.wikiSurveyCmd())
	return cmd
}

// onWiki opens the home and one wiki of it.
func (a *app) onWiki(ctx context.Context, slug string, f func(*service.Service, openWiki) error) error {
	return a.with(ctx, func(s *service.Service) error {
		w, d, cfg, err := s.OpenWiki(ctx, slug)
		if errors.Is(err, store.ErrNotFound) {
			return usage("no wiki %s: see `starter wiki list`, or make it with `starter wiki init %s`", slug, slug)
		}
		if err != nil {
			return err
		}
		return errors.Join(f(s, openWiki{w, cfg}), d.Close())
	})
}

type openWiki struct {
	claim.Wiki
	cfg wiki.Config
}

func (a *app) wikiInitCmd() *cobra.Command {
	var n service.NewWiki
	cmd := &cobra.Command{
		Use: "init SLUG", Short: "Make a wiki", Args: cobra.ExactArgs(1),
		Long: "Makes a folder with wiki.config.md, raw/ for your own files, and a folder for each kind of page. With --project it lies in the project, below .claude/wikis or .agents/wikis,\nelse in the home. A folder that holds a wiki already is taken as it is.\n\nFlavors:\n" + flavorList(),
		RunE: func(cmd *cobra.Command, args []string) error {
			n.Slug = args[0]
			return a.with(cmd.Context(), func(s *service.Service) error {
				w, adopted, err := s.InitWiki(cmd.Context(), n)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(struct {
						claim.Wiki
						Adopted bool `json:"adopted"`
					}{w, adopted})
				}
				if adopted {
					return a.print("wiki %s is registered; its folder was there already: %s\n", w.Slug, w.Root)
				}
				first := make([]string, 0, 3)
				for _, f := range wiki.FlavorOf(w.Flavor).Seeds {
					first = append(first, strings.ReplaceAll(f, "%s", w.Title))
				}
				return a.print("made wiki %s (%s) in %s\nadd what to look into with `starter wiki seed %s TEXT`; without any, research begins with: %s\n", w.Slug, w.Flavor, w.Root, w.Slug, strings.Join(first, "; "))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.Title, "title", "", "what the wiki is about (default the slug)")
	f.StringVar(&n.Flavor, "flavor", "research", strings.Join(wiki.Flavors(), ", "))
	f.StringVar(&n.Project, "project", "", "put it into this project's folder")
	f.BoolVar(&n.Private, "private", false, "nothing of it ever leaves this machine")
	return cmd
}

func flavorList() string {
	var b strings.Builder
	for _, f := range wiki.Flavors() {
		fmt.Fprintf(&b, "  %-13s %s\n", f, wiki.FlavorOf(f).About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// endRuns ends what is under way for a wiki that is deleted, where there may be something: a run that nobody ended would
// work for the next wiki of that name.
func (a *app) endRuns(ctx context.Context, s *service.Service, slug string) error {
	runs, err := s.Store.ResearchRuns(ctx, slug, 0)
	if err != nil {
		return err
	}
	var open []string
	for _, r := range runs {
		if r.EndedAt == nil {
			open = append(open, r.WorkflowID)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return a.onConnection(ctx, s, func(c *service.Connection) error { return c.EndRuns(ctx, open, "the wiki was deleted") })
}

// onConnection connects an open home to Temporal.
func (a *app) onConnection(ctx context.Context, s *service.Service, f func(*service.Connection) error) error {
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(c), c.Close())
}

// wikiView is a wiki as `wiki list|show|status --json` gives it.
type wikiView struct {
	claim.Wiki
	Counts claim.Counts `json:"counts"`
}

func (a *app) wikiListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the wikis", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(s *service.Service) error {
				ws, err := s.Store.Wikis(ctx)
				if err != nil {
					return err
				}
				out := make([]wikiView, len(ws))
				for i, w := range ws {
					c, err := s.Store.WikiCounts(ctx, w.Slug, time.Time{})
					if err != nil {
						return err
					}
					out[i] = wikiView{w, c}
				}
				if a.json {
					return a.printJSON(out)
				}
				if len(out) == 0 {
					return a.print("no wikis: make one with `starter wiki init SLUG --title T`\n")
				}
				t := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
				_, _ = fmt.Fprintln(t, "WIKI\tFLAVOR\tPAGES\tCLAIMS\tSEEDS\tTITLE")
				for _, w := range out {
					title := printable(oneLine(w.Title, 50))
					if w.Private {
						title += " (private)"
					}
					_, _ = fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%s\n", w.Slug, w.Flavor, w.Counts.Pages, w.Counts.Claims, w.Counts.Pending+w.Counts.Active, title)
				}
				return t.Flush()
			})
		},
	}
}

func (a *app) wikiShowCmd() *cobra.Command {
	return &cobra.Command{
		Use: "show WIKI", Short: "Show a wiki: its pages, sources and contradictions", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				counts, err := s.Store.WikiCounts(ctx, w.Slug, s.Store.Now().Add(-service.StaleAfter(w.cfg)))
				if err != nil {
					return err
				}
				pages, err := s.Store.Pages(ctx, w.Slug)
				if err != nil {
					return err
				}
				sources, err := s.Store.Sources(ctx, w.Slug)
				if err != nil {
					return err
				}
				pairs, err := s.Store.Contradictions(ctx, w.Slug, "")
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{
						"slug": w.Slug, "title": w.Title, "flavor": w.Flavor, "private": w.Private, "project": w.Project, "root_path": w.Root, "created_at": w.CreatedAt,
						"counts": counts, "pages": pages, "sources": sources, "contradictions": pairs,
					})
				}
				var b strings.Builder
				fmt.Fprintf(&b, "%s (%s): %s\n%s\n", w.Slug, w.Flavor, w.Title, w.Root)
				if w.Private {
					b.WriteString("private: nothing leaves this machine\n")
				}
				writeCounts(&b, counts)
				for _, p := range pages {
					fmt.Fprintf(&b, "\n  %s", p.Path)
					if p.State != claim.Live {
						fmt.Fprintf(&b, " [%s]", p.State)
					}
					if p.Summary != "" {
						fmt.Fprintf(&b, "\n    %s", oneLine(p.Summary, 110))
					}
				}
				if len(pairs) > 0 {
					fmt.Fprintf(&b, "\n\n  contradictions:")
					for _, x := range pairs {
						cs, err := s.Store.ClaimsByID(ctx, []string{x.A, x.B})
						if err != nil {
							return err
						}
						if len(cs) == 2 {
							fmt.Fprintf(&b, "\n    %s\n    against: %s (%s)", oneLine(cs[0].Text, 120), oneLine(cs[1].Text, 120), x.Why)
						}
					}
				}
				return a.print("%s\n", strings.TrimRight(b.String(), "\n"))
			})
		},
	}
}

func writeCounts(b *strings.Builder, c claim.Counts) {
	fmt.Fprintf(b, "%d page(s), %d claim(s) from %d source(s), %d contradiction(s)\nseeds: %d pending, %d done, %d failed\n", c.Pages, c.Claims, c.Sources, c.Contradictions, c.Pending+c.Active, c.Done, c.Failed)
	if c.Stale > 0 {
		fmt.Fprintf(b, "%d claim(s) are old\n", c.Stale)
	}
	if c.Unsupported > 0 {
		fmt.Fprintf(b, "%d claim(s) lost their support\n", c.Unsupported)
	}
	if c.Proposed > 0 {
		fmt.Fprintf(b, "%d page(s) have a .proposed beside them: a change conflicts with yours\n", c.Proposed)
	}
}

func (a *app) wikiStatusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status WIKI", Short: "Show a wiki's figures, what is old in it, its last runs and ticks", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				before := s.Store.Now().Add(-service.StaleAfter(w.cfg))
				counts, err := s.Store.WikiCounts(ctx, w.Slug, before)
				if err != nil {
					return err
				}
				stale, err := s.Store.Claims(ctx, claim.Filter{Wiki: w.Slug, StaleBefore: &before, Limit: 200})
				if err != nil {
					return err
				}
				runs, err := s.Store.ResearchRuns(ctx, w.Slug, 5)
				if err != nil {
					return err
				}
				views := make([]researchView, len(runs))
				for i, r := range runs {
					views[i] = viewRun(r)
				}
				enabled := w.cfg.Research.Enabled != nil && *w.cfg.Research.Enabled
				if a.json {
					return a.printJSON(map[string]any{
						"slug": w.Slug, "private": w.Private, "auto_research": enabled, "root_path": w.Root, "counts": counts, "stale": stale, "runs": views,
						"last_tick": w.LastTick, "tick_failures": w.TickFailures, "tick_error": w.TickError, "tick_not_before": w.TickBefore,
					})
				}
				var b strings.Builder
				fmt.Fprintf(&b, "%s: %s\n", w.Slug, w.Title)
				writeCounts(&b, counts)
				fmt.Fprintf(&b, "ticks: %v", map[bool]string{true: "opted in", false: "not opted in (auto_research.enabled)"}[enabled])
				if w.LastTick != nil {
					fmt.Fprintf(&b, ", last %s", w.LastTick.Local().Format("2006-01-02 15:04"))
				}
				if w.TickError != "" {
					fmt.Fprintf(&b, ", failed %d time(s): %s", w.TickFailures, w.TickError)
				}
				b.WriteString("\n")
				for i, c := range stale {
					if i == 10 {
						fmt.Fprintf(&b, "  ... and more; check them with `starter wiki verify %s --stale`\n", w.Slug)
						break
					}
					fmt.Fprintf(&b, "  old: %s\n", oneLine(c.Text, 110))
				}
				for _, r := range views {
					fmt.Fprintf(&b, "  run %s: %s, %s\n", r.RunID, r.Kind, orDash(r.Halted))
				}
				return a.print("%s", b.String())
			})
		},
	}
}

func orDash(s string) string {
	if s == "" {
		return "under way, or ended without a word"
	}
	return s
}

// researchView is a research run as `wiki status --json` gives it.
type researchView struct {
	RunID     string `json:"run_id"`
	Kind      string `json:"kind"`
	Halted    string `json:"halted"`
	StartedAt string `json:"started_at"`
	EndedAt   string `json:"ended_at,omitempty"`
	Result    any    `json:"result"`
}

func viewRun(r store.ResearchRun) researchView {
	v := researchView{RunID: r.ID, Kind: r.Kind, Halted: r.Halted, StartedAt: r.StartedAt.Format(time.RFC3339)}
	if r.EndedAt != nil {
		v.EndedAt = r.EndedAt.Format(time.RFC3339)
	}
	if r.Result != nil {
		v.Result = r.Result
	}
	return v
}

func (a *app) wikiDeleteCmd() *cobra.Command {
	var yes, files bool
	cmd := &cobra.Command{
		Use: "delete WIKI", Short: "Forget a wiki; with --files its folder goes, too", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(s *service.Service) error {
				w, err := s.Store.Wiki(ctx, args[0])
				if err != nil {
					return usage("no wiki %s: see `starter wiki list`", args[0])
				}
				if !yes {
					return usage("this forgets all claims, sources and seeds of %s%s: say so with --yes", w.Slug, map[bool]string{true: " and removes " + w.Root, false: "; its files stay in " + w.Root}[files])
				}
				if err := a.endRuns(ctx, s, w.Slug); err != nil {
					return err
				}
				if err := s.DeleteWiki(ctx, w.Slug, files); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"slug": w.Slug, "root_path": w.Root, "files_removed": files})
				}
				if files {
					return a.print("wiki %s and its folder are gone\n", w.Slug)
				}
				return a.print("wiki %s is forgotten; its files stay in %s\n", w.Slug, w.Root)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	cmd.Flags().BoolVar(&files, "files", false, "remove the folder with its pages, too")
	return cmd
}
