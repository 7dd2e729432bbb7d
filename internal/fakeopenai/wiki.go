package fakeopenai

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	sourceRE   = regexp.MustCompile(`(?s)<source id="(S\d+)" title="[^"]*">\n(.*?)\n</source>`)
	sentenceRE = regexp.MustCompile(`[A-Z][^.\n]{20,}\.`)
	answerRE   = regexp.MustCompile(`(?s)<answer (?:label="([A-Z]+)"|rank="\d+")>\n(.*?)\n</answer>`)
	citedRE    = regexp.MustCompile(`(?m)^- (.* \[S\d+.*\])$`)
)

// wikiAnswer answers the prompts of wikis: claims quoted from the sources, the evidence, a ranking in the order shown, the best answer,
// the statements.
func wikiAnswer(prompt string) (text string, ok bool) {
	switch {
	case strings.Contains(prompt, "You read sources for a wiki"):
		claims := []map[string]any{}
		for _, m := range sourceRE.FindAllStringSubmatch(prompt, -1) {
			if s := sentenceRE.FindString(m[2]); s != "" {
				claims = append(claims, map[string]any{"source": m[1], "quote": s, "claim": s})
			}
		}
		return encode(map[string]any{"claims": claims, "questions": []string{}}), true
	case strings.Contains(prompt, "You rank answers"):
		var labels []string
		for _, m := range answerRE.FindAllStringSubmatch(prompt, -1) {
			labels = append(labels, m[1])
		}
		return encode(map[string]any{"ranking": labels, "why": "as they come"}), true
	case strings.Contains(prompt, "You write the answer that the members' answers support"):
		if m := answerRE.FindStringSubmatch(prompt); m != nil {
			return "Together: " + m[2], true
		}
	case strings.Contains(prompt, "independent members who answer a question"):
		_, evidence, _ := strings.Cut(prompt, "as data:\n")
		return fmt.Sprintf("As far as the wiki states: %s", strings.TrimSpace(evidence)), true
	case strings.Contains(prompt, "You write one section of a literature survey"):
		var b strings.Builder
		for _, m := range citedRE.FindAllStringSubmatch(prompt, -1) {
			b.WriteString("It is reported: " + m[1] + "\n")
		}
		return b.String(), true
	}
	return "", false
}
