package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whetstone/service"
	"whetstone/skill"
)

func (a *app) scheduleCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schedule", Short: "Let wikis grow and skills be trained by themselves, within a budget", Args: cobra.NoArgs,
		Long: "The schedule of research gives the opted-in wiki (auto_research.enabled: true) that waited longest one page at each tick; a skill's schedule trains it every night.\n" +
			"What is due is skipped while the one before runs, and what fails is told and does not stop the schedule. A machine that slept runs one missed tick, not all of them.\n" +
			"Schedules need a worker that stays: `worker`. Where there are several, pause, resume, trigger and delete take the ID that list gives: research, or optimize/SKILL.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.scheduleResearchCmd(), a.scheduleOptimizeCmd(), a.scheduleListCmd(), a.scheduleChangeCmd("pause", "Let a schedule rest until resumed", "is paused", false), a.scheduleChangeCmd("resume", "Let a schedule go on", "goes on", true),
		a.scheduleTriggerCmd(), a.scheduleChangeCmd("delete", "Remove a schedule", "is removed", false))
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
					return a.print("no schedules: make one with `starter schedule research --every 1h` or `starter schedule optimize --skill PATH`\n")
				}
				for _, x := range list {
					if err := a.print("%s\n", scheduleLine(x)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func scheduleLine(x service.Schedule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", x.ID, rhythm(x.Every, x.At, x.TimeZone))
	if x.PerDay != nil {
		fmt.Fprintf(&b, ", at most $%.2f a day", *x.PerDay)
	}
	if x.Paused {
		fmt.Fprintf(&b, ", paused %s", x.Note)
	}
	turn := "tick(s)"
	if x.Kind == service.KindOptimize {
		turn = "night(s)"
	}
	fmt.Fprintf(&b, "; %d %s so far, %d skipped, %d missed", x.Runs, turn, x.Skipped, x.Missed)
	if len(x.Next) > 0 && !x.Paused {
		fmt.Fprintf(&b, ", next %s", x.Next[0])
	}
	return b.String()
}

func rhythm(every, at, zone string) string {
	if at != "" {
		return fmt.Sprintf("each day at %s (%s)", at, zone)
	}
	return "every " + every
}

// checkScheduleID refuses what can be no schedule's id before anything is connected.
func checkScheduleID(args []string) error {
	if len(args) == 0 || args[0] == service.ResearchSchedule {
		return nil
	}
	if key, ok := strings.CutPrefix(args[0], "optimize/"); ok && key != "" && key == skill.Key(key) {
		return nil
	}
	return usage("no schedule %q: want research or optimize/SKILL, see `starter schedule list`", args[0])
}

// scheduleID is the id that was given, or that of the only schedule there is.
func scheduleID(ctx context.Context, c *service.Connection, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	list, err := c.Schedules(ctx)
	if err != nil {
		return "", err
	}
	switch len(list) {
	case 0:
		return service.ResearchSchedule, nil // what it is asked for says that there is none, and how to make one
	case 1:
		return list[0].ID, nil
	}
	ids := make([]string, len(list))
	for i, x := range list {
		ids[i] = x.ID
	}
	return "", usage("there are %d schedules: say which of %s", len(list), strings.Join(ids, ", "))
}

func (a *app) scheduleChangeCmd(name, short, done string, worker bool) *cobra.Command {
	return &cobra.Command{
		Use: name + " [ID]", Short: short, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkScheduleID(args); err != nil {
				return err
			}
			ctx := cmd.Context()
			return a.onTemporal(ctx, func(_ *service.Service, c *service.Connection) error {
				if worker {
					if err := a.needWorker(ctx, c, "a schedule"); err != nil {
						return err
					}
				}
				id, err := scheduleID(ctx, c, args)
				if err != nil {
					return err
				}
				if err := c.Change(ctx, id, name, ""); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"id": id, "done": name})
				}
				return a.print("the schedule %s %s\n", id, done)
			})
		},
	}
}

func (a *app) scheduleTriggerCmd() *cobra.Command {
	return &cobra.Command{
		Use: "trigger [ID]", Short: "Run one tick or night now and wait for it", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkScheduleID(args); err != nil {
				return err
			}
			ctx := cmd.Context()
			return a.onTemporal(ctx, func(_ *service.Service, c *service.Connection) error {
				if err := a.needWorker(ctx, c, "a schedule"); err != nil {
					return err
				}
				id, err := scheduleID(ctx, c, args)
				if err != nil {
					return err
				}
				if id != service.ResearchSchedule {
					return a.triggerNight(ctx, c, id)
				}
				out, err := c.TriggerTick(ctx)
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
