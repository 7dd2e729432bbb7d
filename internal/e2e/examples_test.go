package e2e

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"whetstone/run"
)

// Every example, under both goals: what the README promises holds for more than the one it shows.
func TestExamples(t *testing.T) {
	for _, example := range []string{"go-testing", "commit-hygiene", "sql-migrations-zh"} {
		for _, goal := range []string{"improve", "adopt"} {
			t.Run(example+" "+goal, func(t *testing.T) {
				t.Parallel()
				p := NewPlace(t, example)
				before, err := os.ReadFile(p.Skill)
				if err != nil {
					t.Fatal(err)
				}
				learnings, err := os.ReadFile(p.Learn)
				if err != nil {
					t.Fatal(err)
				}
				if n := bytes.Count(before, []byte("\n")); n < 60 {
					t.Errorf("the skill has %d lines", n)
				}
				if n := bytes.Count(learnings, []byte("\n")); n < 40 {
					t.Errorf("there are %d learnings", n)
				}
				r, out := p.Optimize("--goal", goal)
				switch {
				case out.Code == 0 && r.Outcome == run.Accepted:
					if *r.Final.Selection < *r.Baseline.Selection || *r.Final.Test < *r.Baseline.Test {
						t.Errorf("selection %v -> %v, test %v -> %v", *r.Baseline.Selection, *r.Final.Selection, *r.Baseline.Test, *r.Final.Test)
					}
					if goal == "improve" && *r.Final.Selection == *r.Baseline.Selection {
						t.Error("accepted without improving")
					}
				case goal == "improve" && out.Code == 3 && r.Outcome == run.NoImprovement && r.Why != "":
				default:
					t.Fatalf("exit %d, %+v\n%s", out.Code, r, out.Stderr)
				}
				if r.ProposalPath != nil {
					after, err := os.ReadFile(*r.ProposalPath)
					if err != nil {
						t.Fatal(err)
					}
					if frontmatter(string(before)) != frontmatter(string(after)) {
						t.Error("a byte of the frontmatter changed")
					}
				}
				if now, _ := os.ReadFile(p.Skill); !bytes.Equal(now, before) {
					t.Error("the skill itself changed although it was to be staged")
				}
				again, _ := p.Optimize("--goal", goal)
				if again.HashAfter != r.HashAfter || again.Outcome != r.Outcome {
					t.Errorf("the same command again: %s by %s, first %s by %s", again.HashAfter, again.Outcome, r.HashAfter, r.Outcome)
				}
			})
		}
	}
}

func frontmatter(s string) string {
	i := strings.Index(s[3:], "\n---")
	return s[:i+3]
}
