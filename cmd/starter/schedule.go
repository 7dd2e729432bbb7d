package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whetstone/service"
)

func (a *app) scheduleCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schedule", Short: "Let wikis grow by themselves, within a budget", Args: cobra.NoArgs,
		Long: "A schedule gives the opted-in wiki (auto_research.enabled: true) that waited longest one page at each tick. A tick is skipped while the one before runs; a machine that slept\nruns one missed tick, not all of them; a wiki whose tick fails backs off and the others go on. Ticks need a worker that stays: `worker`.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.scheduleResearchCmd(), a.scheduleListCmd(), a.scheduleChangeCmd("pause", "Stop ticking until resumed", "paused", false), a.scheduleChangeCmd("resume", "Go on ticking", "goes on", true),
		a.scheduleTriggerCmd(), a.scheduleChangeCmd("delete", "Remove the schedule", "removed", false))
	return cmd
}

func (a *app) onTemporal(ctx context.Context, f func(*service.Service, *service.Connection) error) error {
	return a.with(ctx, func(s *service.Service) error {
		c, err := s.Connect(ctx)
		if err != nil {
			return err
		}
		return errors.Join(f(s, c), c.Close())
	})
}

func (a *app) scheduleResearchCmd() *cobra.Command {
	var every time.Duration
	var perDay float64
	cmd := &cobra.Command{
		Use: "research", Short: "Give a wiki one page every so often", Args: cobra.NoArgs,
		Example: "  starter schedule research --every 1h --budget-usd-per-day 1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if every < time.Minute {
				return usage("--every %v: want at least 1m", every)
			}
			var budget *float64
			if cmd.Flags().Changed("budget-usd-per-day") {
				if perDay < 0 || perDay != perDay {
					return usage("--budget-usd-per-day %v: want dollars, at least 0", perDay)
				}
				budget = &perDay
			}
			return a.onTemporal(ctx, func(_ *service.Service, c *service.Connection) error {
				if err := a.needWorker(ctx, c, "a schedule"); err != nil {
					return err
				}
				created, err := c.ScheduleTicks(ctx, every, budget)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"id": "research", "every": every.String(), "budget_usd_per_day": budget, "created": created})
				}
				what := "changed"
				if created {
					what = "made"
				}
				return a.print("%s the schedule: one page every %s; see it with `starter schedule list`\n", what, every)
			})
		},
	}
	cmd.Flags().DurationVar(&every, "every", time.Hour, "time between two ticks, at least 1m")
	cmd.Flags().Float64Var(&perDay, "budget-usd-per-day", 0, "dollars that all ticks of a day (UTC) may spend together (default each wiki's own budget for each page)")
	return cmd
}

func (a *app) scheduleListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the schedules of this home", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return a.onTemporal(ctx, func(_ *service.Service, c *service.Connection) error {
				list, err := c.Schedules(ctx)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(list)
				}
				if len(list) == 0 {
					return a.print("no schedules: make one with `starter schedule research --every 1h`\n")
				}
				for _, x := range list {
					var b strings.Builder
					fmt.Fprintf(&b, "%s: every %s", x.ID, x.Every)
					if x.PerDay != nil {
						fmt.Fprintf(&b, ", at most $%.2f a day", *x.PerDay)
					}
					if x.Paused {
						fmt.Fprintf(&b, ", paused %s", x.Note)
					}
					fmt.Fprintf(&b, "; %d tick(s) so far, %d skipped, %d missed", x.Runs, x.Skipped, x.Missed)
					if len(x.Next) > 0 && !x.Paused {
						fmt.Fprintf(&b, ", next %s", x.Next[0])
					}
					if err := a.print("%s\n", b.String()); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func scheduleID(args []string) error {
	if len(args) == 1 && args[0] != "research" {
		return usage("no schedule %q: the one there is is called research", args[0])
	}
	return nil
}

func (a *app) scheduleChangeCmd(name, short, done string, worker bool) *cobra.Command {
	return &cobra.Command{
		Use: name + " [ID]", Short: short, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := scheduleID(args); err != nil {
				return err
			}
			ctx := cmd.Context()
			return a.onTemporal(ctx, func(_ *service.Service, c *service.Connection) error {
				if worker {
					if err := a.needWorker(ctx, c, "a schedule"); err != nil {
						return err
					}
				}
				if err := c.Change(ctx, name, ""); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"id": "research", "done": name})
				}
				return a.print("the schedule research is %s\n", strings.TrimPrefix(done, "is "))
			})
		},
	}
}

func (a *app) scheduleTriggerCmd() *cobra.Command {
	return &cobra.Command{
		Use: "trigger [ID]", Short: "Run one tick now and wait for it", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := scheduleID(args); err != nil {
				return err
			}
			ctx := cmd.Context()
			return a.onTemporal(ctx, func(_ *service.Service, c *service.Connection) error {
				if err := a.needWorker(ctx, c, "a schedule"); err != nil {
					return err
				}
				out, err := c.TriggerAndWait(ctx)
				if err != nil {
					return err
				}
				if a.json {
					if err := a.printJSON(map[string]any{"wiki": out.Wiki, "halted": out.Halted, "pages": out.Pages, "claims": out.Claims, "spent_usd": out.Spent, "why": out.Why, "failed": out.Failed}); err != nil {
						return err
					}
				} else if out.Wiki == "" || out.Why != "" {
					if err := a.print("no page: %s%s\n", out.Wiki, map[bool]string{true: out.Why, false: ": " + out.Why}[out.Wiki == ""]); err != nil {
						return err
					}
				} else if out.Failed == "" {
					if err := a.print("%s: %s, %d page(s), %d new claim(s), $%.4f\n", out.Wiki, out.Halted, out.Pages, out.Claims, out.Spent); err != nil {
						return err
					}
				}
				if out.Failed != "" {
					return fmt.Errorf("the tick of %s failed: %s", out.Wiki, out.Failed)
				}
				return nil
			})
		},
	}
}
