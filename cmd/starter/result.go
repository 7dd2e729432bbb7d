package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"whetstone/activities"
	"whetstone/optimizer"
	"whetstone/report"
	"whetstone/run"
	"whetstone/service"
)

// showResult prints a run's outcome for a person: scores, what was accepted and refused and why, the diff, where to look.
func (a *app) showResult(ctx context.Context, s *service.Service, r run.Result, url string) error {
	var b strings.Builder
	colour := map[run.Outcome]string{run.Accepted: "32", run.NoImprovement: "33", run.Indecisive: "33", run.Stopped: "33", run.Failed: "31"}[r.Outcome]
	if !a.quiet {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s: %s\n%s\n\n", r.Skill, a.colour(colour+";1", report.Title(r.Outcome)), r.Why)
	fmt.Fprintf(&b, "  %-22s %8s %8s\n", "", "before", "after")
	fmt.Fprintf(&b, "  %-22s %8s %8s\n", "selection (held out)", report.Score(r.Baseline.Selection), report.Score(r.Final.Selection))
	fmt.Fprintf(&b, "  %-22s %8s %8s\n", "sealed test", report.Score(r.Baseline.Test), report.Score(r.Final.Test))
	if r.Interval != nil {
		fmt.Fprintf(&b, "  change on selection, 95 %% interval: %+.3f to %+.3f\n", r.Interval[0], r.Interval[1])
	}
	if _, claim := report.Claim(r); r.Outcome == run.Accepted {
		fmt.Fprintf(&b, "  %s\n", claim)
	}
	if r.Measures != "" {
		fmt.Fprintf(&b, "  the scores measure %s\n", r.Measures)
	}
	fmt.Fprintf(&b, "\n  learnings: %d train, %d selection, %d test\n", r.Learnings.Train, r.Learnings.Selection, r.Learnings.Test)
	fmt.Fprintf(&b, "  %d step(s) in %d epoch(s): %d accepted, %d rejected, %d indecisive; stopped by: %s\n", r.Steps, r.Epochs, r.Accepted, r.Rejected, r.Indecisive, r.StoppedReason)
	fmt.Fprintf(&b, "  spent $%.4f of $%.2f in %d model call(s), %s\n", r.SpentUSD, r.BudgetUSD, r.Calls, r.Provider)
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	patches, err := s.Store.Patches(ctx, r.RunID, 0)
	if err != nil {
		return err
	}
	a.writePatches(&b, patches)
	diff, err := runDiff(ctx, s, r.HashBefore, r.HashAfter, r.Path)
	if err != nil {
		return err
	}
	if diff != "" {
		fmt.Fprintf(&b, "\n%s", a.colourDiff(diff))
	}
	b.WriteString("\n")
	switch r.Delivered {
	case "written":
		fmt.Fprintf(&b, "written to %s; undo with `starter skill rollback %s`\n", r.Path, r.Path)
	case "staged":
		fmt.Fprintf(&b, "staged as %s; the skill itself is unchanged\n", *r.ProposalPath)
	}
	if r.StoppedReason == activities.StopKillFile {
		fmt.Fprintf(&b, "the kill file %s exists: remove it to run again\n", s.Home.KillFile())
	}
	fmt.Fprintf(&b, "run %s: `starter runs show %s`\n", r.RunID, r.RunID)
	switch {
	case r.UIURL != nil:
		fmt.Fprintf(&b, "Web UI: %s\n", *r.UIURL)
	case url != "":
		fmt.Fprintf(&b, "Web UI: start `worker`, then %s\n", url)
	}
	return a.print("%s", b.String())
}

// writePatches lists what was accepted in full, and what was refused by reason.
func (a *app) writePatches(b *strings.Builder, ps []run.PatchRecord) {
	var accepted []run.PatchRecord
	reasons := map[string]int{}
	var order []string
	for _, p := range ps {
		switch p.State {
		case "accepted":
			accepted = append(accepted, p)
		case "clipped": // good enough, but not in that step
		default:
			if reasons[p.Reason] == 0 {
				order = append(order, p.Reason)
			}
			reasons[p.Reason]++
		}
	}
	if len(accepted) > 0 {
		fmt.Fprintf(b, "\n  accepted patches:\n")
		for _, p := range accepted {
			fmt.Fprintf(b, "    step %d  %-7s %s\n", p.Step, p.Op, oneLine(p.Payload, 110))
		}
	}
	if len(order) > 0 {
		fmt.Fprintf(b, "\n  refused patches:\n")
		for _, r := range order {
			fmt.Fprintf(b, "    %3d x %s\n", reasons[r], r)
		}
	}
}

func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if rs := []rune(s); len(rs) > n {
		return string(rs[:n-1]) + "…"
	}
	return s
}

// runDiff compares two kept texts.
func runDiff(ctx context.Context, s *service.Service, before, after, path string) (string, error) {
	if before == after || before == "" || after == "" {
		return "", nil
	}
	a, err := s.Store.Text(ctx, before)
	if err != nil {
		return "", err
	}
	b, err := s.Store.Text(ctx, after)
	if err != nil {
		return "", err
	}
	return optimizer.Diff(a, b, func(part string) (string, string) {
		file := activities.PathOf(path, part)
		return file, file + " (optimized)"
	}), nil
}

func (a *app) colourDiff(diff string) string {
	lines := strings.SplitAfter(diff, "\n")
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		case strings.HasPrefix(l, "+"):
			lines[i] = a.colour("32", strings.TrimSuffix(l, "\n")) + "\n"
		case strings.HasPrefix(l, "-"):
			lines[i] = a.colour("31", strings.TrimSuffix(l, "\n")) + "\n"
		case strings.HasPrefix(l, "@@"):
			lines[i] = a.colour("36", strings.TrimSuffix(l, "\n")) + "\n"
		}
	}
	return strings.Join(lines, "")
}

// askToWrite asks on the terminal whether the staged result may replace the file, and adopts it then.
func (a *app) askToWrite(ctx context.Context, s *service.Service, p run.Params, r run.Result) error {
	if err := a.print("replace %s with this? [y/N] ", p.SkillPath); err != nil {
		return err
	}
	answer, _ := bufio.NewReader(&interruptible{ctx: ctx, in: a.stdin}).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
	default:
		return a.print("left as it is; the proposal stays at %s\n", *r.ProposalPath)
	}
	vs, err := s.Store.Versions(ctx, p.SkillKey)
	if err != nil {
		return err
	}
	done, err := adopt(ctx, s, p.SkillPath, vs)
	var refused *exitError
	if errors.As(err, &refused) && refused.code == exitUsage {
		return a.print("not replaced: %v; the proposal stays at %s\n", refused.err, *r.ProposalPath)
	}
	if err != nil {
		return err
	}
	return a.print("%s\n", done.line())
}
