package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whetstone/report"
	"whetstone/service"
)

func (a *app) scheduleOptimizeCmd() *cobra.Command {
	var o optimizeFlags
	var every time.Duration
	var at string
	var perDay float64
	cmd := &cobra.Command{
		Use: "optimize --skill PATH", Short: "Train a skill every night", Args: cobra.NoArgs,
		Long: "Each night trains the skill as `starter optimize` would, and stages the result unless --write is given. A night in which neither the skill file nor what it is\n" +
			"trained with has changed since the last decision is skipped and costs nothing; so is one that finds the skill's training open already. A night that fails says so,\n" +
			"and the next one takes place. With --review a result waits for `starter runs decide`, and no further night begins until somebody has decided.\n" +
			"The same command with other flags changes the schedule.",
		Example: "  starter schedule optimize --skill SKILL.md --at 03:00\n  starter schedule optimize --skill SKILL.md --every 24h --provider openai --model gpt-4o-mini --budget-usd-per-day 0.50",
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cmd.Flags().Changed
			n := service.Night{Every: every}
			if given("every") && given("at") {
				return usage("--every and --at exclude each other: give one of them")
			}
			if every < time.Minute {
				return usage("--every %v: want at least 1m", every)
			}
			if given("at") {
				k, err := a.clock(at)
				if err != nil {
					return err
				}
				n.At = &k
			}
			if given("budget-usd-per-day") {
				if perDay < 0 || math.IsNaN(perDay) || perDay > 1e6 {
					return usage("--budget-usd-per-day %v: want dollars, at least 0", perDay)
				}
				n.PerDay = &perDay
			}
			if o.skill == "" {
				return usage("schedule optimize needs --skill PATH")
			}
			if err := o.check(); err != nil {
				return err
			}
			return a.scheduleNights(cmd.Context(), o, n)
		},
	}
	f := cmd.Flags()
	o.bind(cmd)
	f.DurationVar(&every, "every", 24*time.Hour, "time between two nights, at least 1m; counted from midnight UTC")
	f.StringVar(&at, "at", "", "HH:MM: each day at this time in this machine's time zone, instead of --every")
	f.Float64Var(&perDay, "budget-usd-per-day", 0, "dollars that all nights of a day (UTC), of all skills, may spend together (default --budget-usd for each night)")
	cmd.MarkFlagsMutuallyExclusive("write", "stage")
	return cmd
}

// clock reads HH:MM as a time of day of this machine.
func (a *app) clock(at string) (service.Clock, error) {
	t, err := time.Parse("15:04", at)
	if err != nil || len(at) != len("15:04") {
		return service.Clock{}, usage("--at %q: want HH:MM, such as 03:30", at)
	}
	k, named := service.LocalClock(t.Hour(), t.Minute(), a.getenv, time.Now())
	if !named {
		a.note("the name of this machine's time zone is not known: %s is taken as %s UTC and will not follow daylight saving time; TZ=Area/City names it", at, k)
	}
	return k, nil
}

func (a *app) scheduleNights(ctx context.Context, o optimizeFlags, n service.Night) error {
	o.stage = !o.write // nobody is there to be asked
	return a.onTemporal(ctx, func(s *service.Service, c *service.Connection) error {
		if err := a.needWorker(ctx, c, "a schedule"); err != nil {
			return err
		}
		var err error
		if n.Params, _, err = a.params(ctx, s, o); err != nil {
			return err
		}
		created, err := c.ScheduleNights(ctx, n)
		if err != nil {
			return err
		}
		id, every, at, zone := service.NightScheduleID(n.Params.SkillKey), n.Every.String(), "", ""
		if n.At != nil {
			every, at, zone = "", n.At.String(), n.At.Zone
			if zone == "" {
				zone = "UTC"
			}
		}
		if a.json {
			return a.printJSON(map[string]any{
				"id": id, "kind": service.KindOptimize, "skill": n.Params.SkillKey, "every": every, "at": at, "time_zone": zone, "budget_usd_per_day": n.PerDay,
				"deliver": n.Params.Deliver, "created": created,
			})
		}
		what := "changed"
		if created {
			what = "made"
		}
		return a.print("%s the schedule %s: %s; see it with `starter schedule list`, have a night now with `starter schedule trigger %s`\n", what, id, rhythm(every, at, zone), id)
	})
}

// triggerNight has a night now and prints what came of it.
func (a *app) triggerNight(ctx context.Context, c *service.Connection, id string) error {
	x, err := c.DescribeSchedule(ctx, id)
	if err != nil {
		return err
	}
	if x.Review {
		a.note("what this night finds waits for a person: see `starter runs list`, and decide with `starter runs decide ID accept|reject`")
	}
	out, err := c.TriggerNight(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		var proposal *string
		if out.Proposal != "" {
			proposal = &out.Proposal
		}
		err = a.printJSON(map[string]any{
			"id": id, "skill": out.Skill, "run_id": out.RunID, "outcome": out.Outcome, "skipped": out.Skipped, "why": out.Why, "failed": out.Failed,
			"score_before": out.Before, "score_after": out.After, "spent_usd": out.Spent, "delivered": out.Delivered, "proposal_path": proposal,
		})
	case out.Failed != "": // told as the error
	case out.Skipped:
		err = a.print("%s: skipped, %s\n", out.Skill, out.Why)
	default:
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s, held out %s -> %s, $%.4f, delivered: %s %s", out.Skill, out.Outcome, report.Score(out.Before), report.Score(out.After), out.Spent, out.Delivered, out.Proposal)
		err = a.print("%s\n%s\nsee it with `starter runs show %s`\n", strings.TrimSpace(b.String()), out.Why, out.RunID)
	}
	if err != nil {
		return err
	}
	if out.Failed != "" {
		return fmt.Errorf("the night of %s failed: %s", out.Skill, out.Failed)
	}
	return nil
}
