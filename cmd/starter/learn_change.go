package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whetstone/learning"
	"whetstone/service"
	"whetstone/store"
)

func (a *app) learnEditCmd() *cobra.Command {
	var l learning.Learning
	var from, to string
	cmd := &cobra.Command{
		Use: "edit ID [--rule R] ...", Short: "Change a learning; its older wording stays known", Args: cobra.ExactArgs(1),
		Long: "Change a learning. A detector is evidence that the rule was applied: reply:REGEXP (the agent's reply), edit:REGEXP (a text it writes), run:REGEXP (a\ncommand it runs), or command:PROGRAM ARG (run at the end of a turn, without a shell; it exits with 0).",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				got, err := findLearning(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				if got.Status == learning.Forgotten {
					return usage("learning %s is forgotten: there is nothing to edit", got.ID)
				}
				changed := false
				for _, f := range []struct {
					name       string
					from, into *string
				}{{"category", &l.Category, &got.Category}, {"rule", &l.Rule, &got.Rule}, {"mistake", &l.Mistake, &got.Mistake}, {"correction", &l.Correction, &got.Correction}, {"wiki", &l.Wiki, &got.Wiki}, {"detector", &l.Detector, &got.Detector}} {
					if cmd.Flags().Changed(f.name) {
						*f.into = strings.TrimSpace(*f.from)
						changed = true
					}
				}
				if cmd.Flags().Changed("valid-from") {
					if got.ValidFrom, err = parseMoment(from); err != nil {
						return usage("--valid-from: %w", err)
					}
					changed = true
				}
				if cmd.Flags().Changed("valid-to") {
					got.ValidTo = nil
					if to != "" {
						t, err := parseMoment(to)
						if err != nil {
							return usage("--valid-to: %w", err)
						}
						got.ValidTo = &t
					}
					changed = true
				}
				if !changed {
					return usage("nothing to change: give --category, --rule, --mistake, --correction, --wiki, --detector, --valid-from or --valid-to")
				}
				if got.ValidTo != nil && got.ValidTo.Before(got.ValidFrom) {
					return usage("valid-to lies before valid-from")
				}
				if err := got.Validate(); err != nil {
					return usage("edit %s: %w", got.ID, err)
				}
				if n := redact(&got); n > 0 {
					a.note("%d secret(s) in it were replaced by [redacted:...]", n)
				}
				if err := s.Store.EditLearning(cmd.Context(), got); err != nil {
					return stateError(err)
				}
				return a.changed(cmd.Context(), s, []string{got.ID}, "changed")
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.Category, "category", "", "what it is about")
	f.StringVar(&l.Rule, "rule", "", "the rule in one line")
	f.StringVar(&l.Mistake, "mistake", "", "what went wrong")
	f.StringVar(&l.Correction, "correction", "", "what to do instead")
	f.StringVar(&l.Wiki, "wiki", "", "the wiki it belongs to; \"\" for none")
	f.StringVar(&l.Detector, "detector", "", "what shows that it was applied; \"\" for none")
	f.StringVar(&from, "valid-from", "", "from when it holds, as 2026-01-31 or 2026-01-31T12:00:00Z")
	f.StringVar(&to, "valid-to", "", "until when it holds; \"\" for no end")
	return cmd
}

// parseMoment reads a day or a moment; a day is its beginning in this place.
func parseMoment(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC(), nil
	}
	for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, s, time.Local); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write it as 2026-01-31 or 2026-01-31T12:00:00Z", s)
}

// stateError makes a change that is not possible the person's to mend.
func stateError(err error) error {
	if err == nil {
		return nil
	}
	if service.IsState(err) {
		return usage("%w", err)
	}
	return err
}

func (a *app) learnSupersedeCmd() *cobra.Command {
	var by string
	cmd := &cobra.Command{
		Use: "supersede ID --by ID", Short: "Let a newer learning take the place of an older one", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if by == "" {
				return usage("which learning takes its place? --by ID")
			}
			return a.with(cmd.Context(), func(s *service.Service) error {
				ids, err := resolveIDs(cmd.Context(), s, []string{args[0], by})
				if err != nil {
					return err
				}
				if err := s.Store.Supersede(cmd.Context(), ids[0], ids[1]); err != nil {
					return stateError(err)
				}
				return a.changed(cmd.Context(), s, ids[:1], "superseded by "+ids[1])
			})
		},
	}
	cmd.Flags().StringVar(&by, "by", "", "the learning that takes its place")
	return cmd
}

func (a *app) learnRestoreCmd() *cobra.Command {
	return &cobra.Command{
		Use: "restore ID...", Short: "Bring rejected and superseded learnings back to what they were", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				ids, err := resolveIDs(cmd.Context(), s, args)
				if err != nil {
					return err
				}
				if err := s.Store.RestoreLearnings(cmd.Context(), ids); err != nil {
					return stateError(err)
				}
				return a.changed(cmd.Context(), s, ids, "restored")
			})
		},
	}
}

func (a *app) learnForgetCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "forget ID...", Short: "Erase the text of learnings wherever it is kept; this can not be undone", Args: cobra.MinimumNArgs(1),
		Long: "Erase the text of learnings: the rows and their versions, the indexes, notes, test items, candidates, patches and answers that quote them, and the\nwrite-ahead log. What stays is a mark that the rule is not to be captured again. Runs that used it then say \"withheld\". It can not be undone.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				ids, err := resolveIDs(cmd.Context(), s, args)
				if err != nil {
					return err
				}
				if !yes && !a.confirm(fmt.Sprintf("Erase %d learning(s) for good?", len(ids))) {
					if a.isTerminal(a.stdin) {
						return a.print("nothing was erased\n")
					}
					return usage("nothing was erased: add --yes")
				}
				var skills []string
				inLog := false
				for _, id := range ids {
					got, err := s.Forget(cmd.Context(), id)
					if err != nil {
						return stateError(err)
					}
					skills = append(skills, got.Skills...)
					inLog = inLog || got.InLog
				}
				if inLog {
					a.note("another program reads the database just now, so traces stay in its write-ahead log until it ends; `starter learn forget` again clears it")
				}
				if len(skills) > 0 {
					a.note("these skills still say it, on your disk, too; change them by hand: %s", strings.Join(skills, ", "))
				}
				return a.changed(cmd.Context(), s, ids, "forgotten")
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirm asks on a terminal; without one the answer is no.
func (a *app) confirm(question string) bool {
	if !a.isTerminal(a.stdin) || !a.isTerminal(a.stderr) {
		return false
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	var answer string
	if _, err := fmt.Fscanln(a.stdin, &answer); err != nil {
		return false // an empty answer is no
	}
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}

func (a *app) learnHistoryCmd() *cobra.Command {
	return &cobra.Command{
		Use: "history ID", Short: "What became of a learning, from the audit chain", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				l, err := findLearning(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				events, err := s.Store.Events(cmd.Context(), l.ID)
				if err != nil {
					return err
				}
				versions, err := s.Store.LearningVersions(cmd.Context(), l.ID)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"id": l.ID, "events": events, "versions": versions})
				}
				for _, e := range events {
					if err := a.print("%s  %-12s %s\n", e.At.Local().Format("2006-01-02 15:04:05"), strings.TrimPrefix(e.Kind, "learning."), detailLine(e)); err != nil {
						return err
					}
				}
				for _, v := range versions {
					text := oneLine(v.Category, 20) + ": " + oneLine(v.Rule, 100)
					if v.Rule == "" {
						text = "(erased)"
					}
					until := ""
					if v.ValidTo != nil {
						until = ", valid until " + v.ValidTo.Local().Format("2006-01-02 15:04")
					}
					if err := a.print("version %d, recorded %s, %s%s: %s\n", v.V, v.RecordedAt.Local().Format("2006-01-02 15:04:05"), v.Status, until, text); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func detailLine(e store.Event) string {
	var m map[string]any
	if json.Unmarshal(e.Detail, &m) != nil {
		return ""
	}
	var parts []string
	for _, k := range []string{"from", "to", "by", "skill", "host", "status"} {
		if v, ok := m[k]; ok {
			parts = append(parts, fmt.Sprintf("%s %v", k, v))
		}
	}
	return strings.Join(parts, ", ")
}

func (a *app) learnExportCmd() *cobra.Command {
	var status, skillName, path string
	cmd := &cobra.Command{
		Use: "export [--output FILE]", Short: "Write learnings as JSON Lines, as `learn import` takes them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := learning.Filter{Skill: skillKey(skillName)}
			if status != "all" {
				st, err := learning.ParseStatus(status)
				if err != nil {
					return usage("--status: %w, or all", err)
				}
				f.Status = st
			}
			return a.with(cmd.Context(), func(s *service.Service) error {
				ls, err := s.Store.Learnings(cmd.Context(), f)
				if err != nil {
					return err
				}
				var b strings.Builder
				n := 0
				for _, l := range ls {
					if l.Status == learning.Forgotten {
						continue // there is nothing left of it
					}
					j, err := json.Marshal(l)
					if err != nil {
						return fmt.Errorf("export learnings: %w", err)
					}
					b.Write(j)
					b.WriteByte('\n')
					n++
				}
				if path == "" || path == "-" {
					return a.print("%s", b.String())
				}
				if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
					return fmt.Errorf("export learnings: %w", err)
				}
				a.note("%d learning(s) written to %s", n, path)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", "approved", "pending, approved, rejected, superseded or all")
	cmd.Flags().StringVar(&skillName, "skill", "", "only those linked to this skill")
	cmd.Flags().StringVarP(&path, "output", "o", "", "the file (default: standard output)")
	return cmd
}
