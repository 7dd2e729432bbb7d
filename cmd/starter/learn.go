package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"whetstone/learning"
	"whetstone/review"
	"whetstone/service"
	"whetstone/skill"
	"whetstone/store"
)

func (a *app) learnCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "learn", Short: "Add, find and review learnings", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.learnAddCmd(), a.learnListCmd(), a.learnShowCmd(), a.learnSearchCmd(), a.learnImportCmd(), a.learnLinkCmd(), a.learnStatsCmd(), a.learnReviewCmd(), a.learnEditCmd(), a.learnSupersedeCmd(), a.learnForgetCmd(), a.learnRestoreCmd(),
		a.learnHistoryCmd(), a.learnExportCmd(), a.learnNotesCmd(),
		a.learnSetCmd("approve", learning.Approved, "Approve learnings, so that they train skills"),
		a.learnSetCmd("reject", learning.Rejected, "Reject learnings"))
	return cmd
}

func (a *app) learnAddCmd() *cobra.Command {
	l := learning.Learning{Status: learning.Approved, Host: "cli", Observations: 1}
	cmd := &cobra.Command{
		Use:   "add --category C --rule R",
		Short: "Add a learning by hand; it is approved at once",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				l.CreatedAt = s.Store.Now()
				l.ValidFrom = l.CreatedAt
				l.Skill = skillKey(l.Skill)
				if err := l.Validate(); err != nil {
					return usage("add a learning: %w", err)
				}
				if n := redact(&l); n > 0 {
					a.note("%d secret(s) in it were replaced by [redacted:...]", n)
				}
				added, err := s.Store.AddLearnings(cmd.Context(), []learning.Learning{l})
				if err != nil {
					return err
				}
				got, err := s.Store.Learning(cmd.Context(), added.IDs[0])
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(got)
				}
				if added.New == 0 {
					return a.print("%s is there already (%s)\n", got.ID, got.Status)
				}
				if err := a.print("added %s\n", got.ID); err != nil {
					return err
				}
				return a.noteContradictions(cmd.Context(), s, added.IDs)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.Category, "category", "", "what it is about, such as testing")
	f.StringVar(&l.Rule, "rule", "", "the rule in one line")
	f.StringVar(&l.Mistake, "mistake", "", "what went wrong")
	f.StringVar(&l.Correction, "correction", "", "what to do instead")
	f.StringVar(&l.Skill, "skill", "", "the skill it trains")
	f.StringVar(&l.Wiki, "wiki", "", "the wiki it belongs to")
	f.StringVar(&l.Detector, "detector", "", "what shows that it was applied: reply:REGEXP, edit:REGEXP, run:REGEXP or command:PROGRAM ARG")
	f.StringVar(&l.Project, "project", "", "the project it belongs to")
	return cmd
}

func skillKey(name string) string {
	if k := skill.Key(name); k != "" {
		return k
	}
	return strings.TrimSpace(name)
}

func (a *app) learnListCmd() *cobra.Command {
	var status, skillName, asOf, knownAt string
	var limit int
	var flagged bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List learnings of all projects",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := learning.Filter{Limit: limit, Skill: skillKey(skillName), Flagged: flagged}
			if status != "all" {
				st, err := learning.ParseStatus(status)
				if err != nil {
					return usage("--status: %w, or all", err)
				}
				f.Status = st
			}
			for _, m := range []struct {
				name, text string
				into       **time.Time
			}{{"as-of", asOf, &f.AsOf}, {"known-at", knownAt, &f.KnownAt}} {
				if m.text == "" {
					continue
				}
				t, err := parseMoment(m.text)
				if err != nil {
					return usage("--%s: %w", m.name, err)
				}
				*m.into = &t
			}
			return a.with(cmd.Context(), func(s *service.Service) error {
				ls, err := s.Store.Learnings(cmd.Context(), f)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(ls)
				}
				return a.table(ls)
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", "all", "pending, approved, rejected, superseded, forgotten or all")
	cmd.Flags().StringVar(&skillName, "skill", "", "only those linked to this skill")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most so many (0: all)")
	cmd.Flags().BoolVar(&flagged, "flagged", false, "only those that do not earn their place: injected and never applied, or corrected again")
	cmd.Flags().StringVar(&asOf, "as-of", "", "only those that were valid at this time, as 2026-01-31 or 2026-01-31T12:00:00Z")
	cmd.Flags().StringVar(&knownAt, "known-at", "", "as they were recorded at this time")
	return cmd
}

func (a *app) table(ls []learning.Learning) error {
	if len(ls) == 0 {
		return a.print("no learnings\n")
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ID\tSTATUS\tCATEGORY\tSKILL\tSEEN\tRULE")
	for _, l := range ls {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", l.ID, l.Status, printable(oneLine(l.Category, 20)), strings.Join(l.Skills, ","), l.Observations, printable(oneLine(l.Rule, 80)))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	return nil
}

func (a *app) learnShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show one learning",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				l, err := findLearning(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(l)
				}
				if l.Wiki != "" {
					if _, err := s.Store.Wiki(cmd.Context(), l.Wiki); errors.Is(err, store.ErrNotFound) {
						l.Wiki += " (no such wiki yet)"
					}
				}
				var b strings.Builder
				for _, x := range [][2]string{
					{"id", l.ID},
					{"status", string(l.Status)},
					{"category", l.Category},
					{"rule", l.Rule},
					{"mistake", l.Mistake},
					{"correction", l.Correction},
					{"skill", strings.Join(l.Skills, ", ")},
					{"wiki", l.Wiki},
					{"project", l.Project},
					{"host", l.Host},
					{"session", l.Session},
					{"seen", fmt.Sprint(l.Observations)},
					{"injected", fmt.Sprint(l.TimesInjected)},
					{"applied", fmt.Sprint(l.TimesApplied)},
					{"came again", nonZero(l.TimesRecurred)},
					{"detector", l.Detector},
					{"replaced by", l.SupersededBy},
					{"created", l.CreatedAt.Format("2006-01-02 15:04")},
					{"valid until", momentOr(l.ValidTo)},
					{"flag", l.Flag},
				} {
					if x[1] != "" {
						fmt.Fprintf(&b, "%-12s %s\n", x[0], x[1])
					}
				}
				return a.print("%s", b.String())
			})
		},
	}
}

func nonZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func momentOr(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format("2006-01-02 15:04")
}

func (a *app) learnSearchCmd() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "search TEXT",
		Short: "Search category, rule, mistake and correction",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				hits, err := s.Store.SearchLearnings(cmd.Context(), store.LearningQuery{Text: strings.Join(args, " "), Limit: limit})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(hits)
				}
				ls := make([]learning.Learning, len(hits))
				for i, h := range hits {
					ls[i] = h.Learning
				}
				return a.table(ls)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "at most so many (0: all)")
	return cmd
}

func (a *app) learnImportCmd() *cobra.Command {
	var skillName string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Import learnings from a JSON Lines file (- for standard input); they are approved unless they say otherwise",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				return a.importFor(cmd.Context(), s, args[0], skillKey(skillName), true)
			})
		},
	}
	cmd.Flags().StringVar(&skillName, "skill", "", "link those without a skill to this one")
	return cmd
}

// importFor imports a file and links what has no skill to the given one. Bad lines are reported by number, the good ones
// are kept, and the error exits with 2. report prints the counts as JSON where that is asked for.
func (a *app) importFor(ctx context.Context, s *service.Service, path, key string, report bool) error {
	var in io.Reader = &interruptible{ctx: ctx, in: a.stdin}
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return usage("import learnings: %w", err)
		}
		defer func() { _ = f.Close() }()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return usage("import learnings: %s is a folder", path)
		}
		in = f
	}
	ls, bad, err := learning.ReadJSONL(in, s.Store.Now())
	if err != nil {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted: nothing was imported")}
		}
		return usage("import %s: %w", path, err)
	}
	redacted := 0
	for i := range ls {
		redacted += redact(&ls[i])
		for j, k := range ls[i].Skills {
			ls[i].Skills[j] = skillKey(k)
		}
		if ls[i].Skill == "" && len(ls[i].Skills) == 0 {
			ls[i].Skill = key
		} else {
			ls[i].Skill = skillKey(ls[i].Skill)
		}
	}
	var added store.Added
	if len(ls) > 0 {
		if added, err = s.Store.AddLearnings(ctx, ls); err != nil {
			return err
		}
	}
	a.note("imported %s: %d new, %d there already%s", path, added.New, added.Existing, linkedText(added.Linked))
	if a.json && report {
		if err := a.printJSON(map[string]any{"path": path, "new": added.New, "existing": added.Existing, "linked": added.Linked, "redacted": redacted, "bad_lines": len(bad), "ids": added.IDs}); err != nil {
			return err
		}
	}
	if redacted > 0 {
		a.note("%d secret(s) in them were replaced by [redacted:...]", redacted)
	}
	if len(bad) == 0 {
		if len(ls) == 0 {
			return usage("import %s: there is no learning in it", path)
		}
		return nil
	}
	var b strings.Builder
	for i, e := range bad {
		if i == 20 {
			fmt.Fprintf(&b, "\n  and %d more", len(bad)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s:%d: %v", path, e.Line, e.Err)
	}
	return usage("%d of %d lines could not be imported; the good ones were kept:%s", len(bad), len(bad)+len(ls), b.String())
}

func linkedText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of those now train this skill, too", n)
}

// redact takes secrets out of an imported learning.
func redact(l *learning.Learning) int {
	n := 0
	for _, f := range []*string{&l.Category, &l.Rule, &l.Mistake, &l.Correction, &l.Project, &l.Wiki, &l.Host, &l.Session, &l.Detector} {
		clean, counts := learning.Redact(learning.Clean(*f))
		*f = clean
		for _, c := range counts {
			n += c
		}
	}
	return n
}

func (a *app) learnLinkCmd() *cobra.Command {
	var skillName string
	cmd := &cobra.Command{
		Use:   "link ID... --skill NAME",
		Short: "Link learnings to the skill they train",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key := skill.Key(skillName)
			if key == "" {
				return usage("link needs --skill NAME")
			}
			return a.with(cmd.Context(), func(s *service.Service) error {
				ids, err := resolveIDs(cmd.Context(), s, args)
				if err != nil {
					return err
				}
				if err := s.Store.LinkSkill(cmd.Context(), ids, key); err != nil {
					return err
				}
				return a.changed(cmd.Context(), s, ids, "linked to "+key)
			})
		},
	}
	cmd.Flags().StringVar(&skillName, "skill", "", "the skill's name")
	return cmd
}

func (a *app) learnSetCmd(verb string, to learning.Status, short string) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " ID...",
		Short: short,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				ids, err := resolveIDs(cmd.Context(), s, args)
				if err != nil {
					return err
				}
				if err := s.Store.SetStatus(cmd.Context(), ids, to); err != nil {
					return stateError(err)
				}
				if err := a.changed(cmd.Context(), s, ids, string(to)); err != nil || to != learning.Approved {
					return err
				}
				return a.noteContradictions(cmd.Context(), s, ids)
			})
		},
	}
}

// noteContradictions names the older rules that approved ones contradict, with the command that lets the new one replace them.
func (a *app) noteContradictions(ctx context.Context, s *service.Service, ids []string) error {
	for _, id := range ids {
		l, err := s.Store.Learning(ctx, id)
		if err != nil {
			return err
		}
		beside, err := s.Store.Candidates(ctx, l.Rule, l.Project, 40)
		if err != nil {
			return err
		}
		for _, n := range review.Neighbours(l, beside) {
			if n.Relation == review.Contradicts {
				a.note("%s contradicts %s: %s\n  to let the new one take its place: starter learn supersede %s --by %s", l.ID, n.Learning.ID, oneLine(n.Learning.Rule, 100), n.Learning.ID, l.ID)
			}
		}
	}
	return nil
}

// changed prints the learnings after a change.
func (a *app) changed(ctx context.Context, s *service.Service, ids []string, what string) error {
	if !a.json {
		return a.print("%d learning(s) %s\n", len(ids), what)
	}
	ls := make([]learning.Learning, len(ids))
	for i, id := range ids {
		var err error
		if ls[i], err = s.Store.Learning(ctx, id); err != nil {
			return err
		}
	}
	return a.printJSON(ls)
}

func resolveIDs(ctx context.Context, s *service.Service, args []string) ([]string, error) {
	ids := make([]string, len(args))
	for i, arg := range args {
		l, err := findLearning(ctx, s, arg)
		if err != nil {
			return nil, err
		}
		ids[i] = l.ID
	}
	return ids, nil
}

func (a *app) learnStatsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Count learnings by status",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				counts, err := s.Store.CountByStatus(cmd.Context())
				if err != nil {
					return err
				}
				notes, err := s.Store.Notes(cmd.Context(), "open")
				if err != nil {
					return err
				}
				flagged, err := s.Store.Learnings(cmd.Context(), learning.Filter{Flagged: true})
				if err != nil {
					return err
				}
				if a.json {
					out := map[string]any{"correction_notes": len(notes), "flagged": len(flagged)}
					for st, n := range counts {
						out[string(st)] = n
					}
					return a.printJSON(out)
				}
				for _, st := range learning.Statuses() {
					if err := a.print("%-10s %d\n", st, counts[st]); err != nil {
						return err
					}
				}
				if len(flagged) > 0 {
					if err := a.print("%-10s %d (see starter learn list --flagged)\n", "flagged", len(flagged)); err != nil {
						return err
					}
				}
				if len(notes) > 0 {
					return a.print("%-10s %d (see starter learn review)\n", "notes", len(notes))
				}
				return nil
			})
		},
	}
}

// findLearning finds a learning by id or the beginning of one.
func findLearning(ctx context.Context, s *service.Service, id string) (learning.Learning, error) {
	l, err := s.Store.Learning(ctx, id)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
		return l, usage("%w: see `starter learn list`", err)
	}
	return l, err
}
