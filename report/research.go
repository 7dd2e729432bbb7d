package report

import (
	"fmt"
	"strings"

	"whetstone/claim"
	"whetstone/run"
)

// halts says what each halt means.
var halts = map[string]string{
	"budget": "the budget is used up", "max_pages": "the number of pages is reached", "max_depth": "every branch is followed to the depth limit", "converged": "three pages in a row brought next to nothing new",
	"queue_empty": "no seed is left", "kill_file": "the kill file exists", "disabled": "research is switched off in the wiki's configuration", "private": "the wiki is private", "stopped": "a person stopped it",
	"wall_clock": "its time is over", "delayed": "every seed that is left waits for a source", "max_calls": "the number of calls is used up",
}

// Halted says in words why a research run ended.
func Halted(h string) string {
	if s, ok := halts[h]; ok {
		return s
	}
	return h
}

// Research renders a research run's result as Markdown: what the Web UI and `wiki research` show.
func Research(r run.ResearchResult, c claim.Counts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n%s", r.Wiki, r.Halted, capital(Halted(r.Halted)))
	if r.Why != "" {
		fmt.Fprintf(&b, " (%s)", r.Why)
	}
	fmt.Fprintf(&b, ".\n\n- pages: %d made or amended by this run, %d in the wiki\n- claims: %d new, %d found in a further source, %d contradiction(s) found; %d in the wiki\n", r.Pages, c.Pages, r.Claims, r.Supports, r.Conflicts, c.Claims)
	fmt.Fprintf(&b, "- seeds: %d done, %d pending, %d failed\n- spent: $%.4f of $%.2f in %d paid call(s)\n- asked: %s, model %s\n- run: `%s`\n", r.Seeds.Done, r.Seeds.Pending, r.Seeds.Failed, r.SpentUSD, r.BudgetUSD, r.Calls, strings.Join(r.Fetchers, ", "), r.Provider, r.RunID)
	if len(r.Errors) > 0 {
		fmt.Fprintf(&b, "\n## Fetches that failed\n\n")
		kinds := map[string]int{}
		var order []string
		for _, e := range r.Errors {
			k := e.Fetcher + ": " + e.Kind
			if kinds[k] == 0 {
				order = append(order, k)
			}
			kinds[k]++
		}
		for _, k := range order {
			fmt.Fprintf(&b, "- %s, %d time(s)\n", k, kinds[k])
		}
	}
	return b.String()
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
