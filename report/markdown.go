// Package report renders what a run did for people: Markdown for the Temporal Web UI and the terminal, and one self-contained
// HTML file. It is pure and writes no file. Markdown shows no text of a learning or a patch, because it travels through
// Temporal; HTML shows them and must not. No score is never a zero, and an improvement is claimed by Claim alone.
package report

import (
	"fmt"
	"math"
	"strings"

	"whetstone/run"
)

// Markdown renders a run's result and its steps.
func Markdown(r run.Result, steps []run.Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", r.Skill, Title(r.Outcome))
	_, verdict := Claim(r)
	fmt.Fprintf(&b, "**%s**\n\n", verdict)
	if r.Why != "" {
		fmt.Fprintf(&b, "%s\n\n", r.Why)
	}
	b.WriteString("| | before | after |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| selection (held out) | %s | %s |\n", Score(r.Baseline.Selection), Score(r.Final.Selection))
	fmt.Fprintf(&b, "| sealed test | %s | %s |\n\n", Score(r.Baseline.Test), Score(r.Final.Test))
	if r.Interval != nil {
		fmt.Fprintf(&b, "Change on the selection items, 95 %% interval: %s.\n\n", Change(r.Interval))
	}
	if r.TestInterval != nil {
		fmt.Fprintf(&b, "Change on the sealed test, 95 %% interval: %s.\n\n", Change(r.TestInterval))
	}
	if r.Measures != "" {
		fmt.Fprintf(&b, "The scores measure %s.\n\n", r.Measures)
	}
	fmt.Fprintf(&b, "- learnings: %d train, %d selection, %d test\n", r.Learnings.Train, r.Learnings.Selection, r.Learnings.Test)
	fmt.Fprintf(&b, "- steps: %d in %d epoch(s); %d accepted, %d rejected, %d indecisive\n", r.Steps, r.Epochs, r.Accepted, r.Rejected, r.Indecisive)
	fmt.Fprintf(&b, "- patches: %d proposed, %d applied, %d refused\n", r.Patches.Proposed, r.Patches.Applied, r.Patches.Refused)
	fmt.Fprintf(&b, "- spent: $%.4f of $%.2f in %d call(s)\n", r.SpentUSD, r.BudgetUSD, r.Calls)
	fmt.Fprintf(&b, "- stopped by: %s\n", r.StoppedReason)
	fmt.Fprintf(&b, "- delivered: %s\n", r.Delivered)
	fmt.Fprintf(&b, "- body: `%.12s` -> `%.12s`\n", r.HashBefore, r.HashAfter)
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- note: %s\n", n)
	}
	if len(steps) > 0 {
		b.WriteString("\n| step | try | parent | candidate | outcome | why |\n|---|---|---|---|---|---|\n")
		for _, s := range steps {
			fmt.Fprintf(&b, "| %d | %d | %s | %s | %s | %s |\n", s.Step, s.Try, Score(s.Parent01), Score(s.Cand01), s.Outcome, strings.ReplaceAll(s.Reason, "|", "/"))
		}
	}
	return b.String()
}

// Score renders a score; no score is not a zero, and what is not a number is no score.
func Score(s *float64) string {
	if s == nil || math.IsNaN(*s) {
		return "-"
	}
	return fmt.Sprintf("%.3f", *s)
}

// Title is the outcome in words.
func Title(o run.Outcome) string {
	switch o {
	case run.Accepted:
		return "accepted"
	case run.NoImprovement:
		return "no improvement"
	case run.Indecisive:
		return "indecisive"
	case run.Stopped:
		return "stopped"
	case run.Failed:
		return "failed"
	}
	return string(o)
}
