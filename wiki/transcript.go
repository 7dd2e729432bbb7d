package wiki

import (
	"fmt"
	"regexp"
	"strings"

	"whetstone/run"
)

// Safe makes a model's Markdown harmless and keeps its shape: paragraphs, lists and headings stay, everything within a line
// is escaped, so that it holds no link, image, HTML or footnote of the model's making. Headings are put below level, so
// that they can not pass for the page's own.
func Safe(text string, level int) string {
	var b strings.Builder
	blank := true
	for _, l := range strings.Split(text, "\n") {
		indent := l[:len(l)-len(strings.TrimLeft(l, " "))]
		t := strings.TrimSpace(l)
		switch {
		case t == "":
			if !blank {
				b.WriteByte('\n')
			}
			blank = true
			continue
		case strings.HasPrefix(t, "#"):
			t = strings.Repeat("#", level+1) + " " + Escape(strings.Trim(t, "# "))
		case listMark.MatchString(t):
			m := listMark.FindString(t)
			t = strings.Repeat(" ", min(len(indent), 8)) + m + Escape(emphasised.ReplaceAllString(t[len(m):], "$1"))
		case strings.HasPrefix(t, "```"):
			continue
		default:
			t = Escape(emphasised.ReplaceAllString(t, "$1"))
		}
		blank = false
		b.WriteString(t + "\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}

var (
	listMark   = regexp.MustCompile(`^([-*+]|\d{1,2}[.)]) `)
	emphasised = regexp.MustCompile(`\*\*([^*]+)\*\*`)
)

// Transcript is a council's session.
type Transcript struct {
	Title     string
	Question  string
	Result    run.CouncilResult
	Answers   map[string]string // by member; those that failed have none
	Synthesis string
}

// RenderCouncil writes a council's page: the synthesis, the count, every answer, and who failed. A failed member is told,
// and its error is nobody's answer.
func RenderCouncil(t Transcript) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: %s\nkind: council\norigin: council\n---\n\n# %s\n\nA council of %d model(s) was asked: %s\n", quoteYAML(t.Title), Escape(t.Title), len(t.Result.Members), Escape(t.Question))
	if t.Synthesis != "" {
		by := t.Result.Chair
		if by == "" {
			by = "nobody: this is the answer that was ranked first"
		}
		fmt.Fprintf(&b, "\n## Synthesis\n\n%s\n*Written by %s.*\n", Safe(t.Synthesis, 2), Escape(by))
	}
	b.WriteString("\n## Ranking\n\nAnswers were ranked without names and counted by Borda: of n answers the first of a ranking gets n-1 points.\n\n| place | member | points | ranked the others |\n|---|---|---|---|\n")
	for place := 1; place <= len(t.Result.Members); place++ {
		for _, m := range t.Result.Members {
			if m.Place == place {
				fmt.Fprintf(&b, "| %d | %s | %d | %s |\n", place, Escape(m.Name), m.Points, map[bool]string{true: "yes", false: "no"}[m.Ranked])
			}
		}
	}
	for _, m := range t.Result.Members {
		if m.Failed != "" {
			fmt.Fprintf(&b, "| - | %s | - | failed: %s |\n", Escape(m.Name), Escape(clip(m.Failed, 160)))
		}
	}
	b.WriteString("\n## Answers\n")
	for _, m := range t.Result.Members {
		if a := t.Answers[m.Name]; a != "" && m.Failed == "" {
			fmt.Fprintf(&b, "\n### %s\n\n%s", Escape(m.Name), Safe(a, 3))
		}
	}
	fmt.Fprintf(&b, "\nSpent: $%.4f of $%.2f.\n", t.Result.SpentUSD, t.Result.BudgetUSD)
	return b.String()
}
