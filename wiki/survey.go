package wiki

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"whetstone/claim"
)

// SurveySection is one part of a survey.
type SurveySection struct {
	Title string       `json:"title"`
	Page  string       `json:"page"` // path of the page it is about
	Parts []SurveyPart `json:"parts"`
}

// SurveyPart is a statement with the numbers of the sources it rests on.
type SurveyPart struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

// RenderSurvey writes a survey's page. A part without a source that the wiki has is left out, so every citation exists in
// sources.md; citations counts them. left is the number of pages that got no section, which is told.
func RenderSurvey(title, path string, sections []SurveySection, sources []claim.Source, left int) (text string, citations int) {
	byNumber := map[int]claim.Source{}
	for _, s := range sources {
		byNumber[s.N] = s
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: %s\nkind: survey\norigin: survey\n---\n\n# %s\n", quoteYAML(title), Escape(title))
	used := map[int]bool{}
	for _, sec := range sections {
		var lines []string
		for _, p := range sec.Parts {
			notes := ""
			for _, n := range p.Sources {
				if _, ok := byNumber[n]; ok {
					notes += fmt.Sprintf("[^s%d]", n)
					used[n] = true
					citations++
				}
			}
			if notes != "" && strings.TrimSpace(p.Text) != "" {
				lines = append(lines, "- "+Escape(p.Text)+notes)
			}
		}
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", Escape(sec.Title))
		if sec.Page != "" {
			fmt.Fprintf(&b, "See %s.\n\n", pageLink(path, Link{sec.Title, sec.Page}))
		}
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	if len(used) == 0 {
		b.WriteString("\nThe wiki has no claims to survey yet.\n")
		return b.String(), 0
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%d more page(s) of the wiki are not in this survey.\n", left)
	}
	b.WriteString("\n")
	for _, n := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(&b, "[^s%d]: source %d of [sources.md](<%s>): %s\n", n, n, Relative(path, "sources.md"), SourceLink(path, byNumber[n]))
	}
	return b.String(), citations
}

var surveyMark = regexp.MustCompile(`\s*\[S(\d+(?:\s*,\s*S?\d+)*)\]`)

// SplitCitations takes the marks [S3] or [S3, S4] out of a model's paragraph and returns it with the numbers it cites.
func SplitCitations(paragraph string) SurveyPart {
	var p SurveyPart
	for _, m := range surveyMark.FindAllStringSubmatch(paragraph, -1) {
		for _, s := range strings.Split(m[1], ",") {
			if n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(s), "S")); err == nil && !slices.Contains(p.Sources, n) {
				p.Sources = append(p.Sources, n)
			}
		}
	}
	p.Text = strings.TrimSpace(surveyMark.ReplaceAllString(paragraph, ""))
	return p
}
