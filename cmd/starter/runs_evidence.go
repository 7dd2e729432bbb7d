package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"whetstone/evidence"
	"whetstone/report"
	"whetstone/service"
)

func (a *app) runsEvidenceCmd() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use: "evidence ID", Short: "Show what decided each step, and decide it again with --check", Args: cobra.ExactArgs(1),
		Long: "Prints, with --json, everything that decided the run's steps: items, verdicts, looks and what alpha they spent, patches and texts. --check makes every\n" +
			"candidate again from its parent and patches, decides every step again from the verdicts, without a model, and exits 1 where anything differs.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(s *service.Service) error {
				r, err := finishedRun(ctx, s, args[0])
				if err != nil {
					return err
				}
				rec, err := s.Evidence(ctx, r)
				if errors.Is(err, service.ErrBadInput) {
					return usage("%v", err)
				}
				if err != nil {
					return err
				}
				if !check {
					return a.showEvidence(rec)
				}
				found := evidence.Check(rec)
				if a.json {
					err = a.printJSON(map[string]any{"run_id": rec.RunID, "check": found})
				} else {
					err = a.print("run %s: %d step(s) decided again, %d candidate(s) made again, %d step(s) with nothing to decide, %d with texts withheld: %s\n",
						rec.RunID, found.Decided, found.Rebuilt, found.Unmeasured, found.Withheld, differences(found))
				}
				if err == nil && len(found.Differences) > 0 {
					return &exitError{code: exitFailed}
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "decide every step again and exit 1 on any difference")
	return cmd
}

func differences(c evidence.Checked) string {
	if len(c.Differences) == 0 {
		return "all as recorded"
	}
	return fmt.Sprintf("%d difference(s)\n  %s", len(c.Differences), strings.Join(c.Differences, "\n  "))
}

func (a *app) showEvidence(r evidence.Record) error {
	if a.json {
		return a.printJSON(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run %s of %s: judge %s, %d trial(s), alpha %.3f for the life of manifest %s\n", r.RunID, r.Skill, r.Judge, r.Gate.Trials, r.Gate.Alpha, r.Gate.Manifest)
	for _, st := range r.Steps {
		fmt.Fprintf(&b, "  step %d.%d (%s) %.12s -> %.12s: %s: %s", st.Step, st.Try, st.Kind, st.Parent, orDash(st.Candidate), st.Outcome, st.Reason)
		if st.ParentScore != nil {
			fmt.Fprintf(&b, " [%s -> %s]", report.Score(st.ParentScore), report.Score(st.Score))
		}
		if st.Look != nil {
			fmt.Fprintf(&b, " look %d", *st.Look+1)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%d verdicts on %d items; --json prints everything, --check decides again\n", len(r.Verdicts), len(r.Items))
	return a.print("%s", b.String())
}
