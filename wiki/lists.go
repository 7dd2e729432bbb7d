package wiki

import (
	"fmt"
	"slices"
	"strings"

	"whetstone/claim"
)

// RenderIndex writes index.md: the pages by kind, each with its summary.
func RenderIndex(title string, f Flavor, pages []claim.Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", Escape(title))
	byKind := map[string][]claim.Page{}
	var kinds []string
	for _, k := range f.Kinds {
		kinds = append(kinds, k.Name)
	}
	n := 0
	for _, p := range pages {
		if p.State == claim.Removed {
			continue
		}
		n++
		if !slices.Contains(kinds, p.Kind) {
			kinds = append(kinds, p.Kind)
		}
		byKind[p.Kind] = append(byKind[p.Kind], p)
	}
	if n == 0 {
		b.WriteString("\nNo pages yet.\n")
		return b.String()
	}
	for _, k := range kinds {
		ps := byKind[k]
		if len(ps) == 0 {
			continue
		}
		slices.SortStableFunc(ps, func(a, b claim.Page) int { return strings.Compare(a.Path, b.Path) })
		fmt.Fprintf(&b, "\n## %s\n\n", Escape(k))
		for _, p := range ps {
			fmt.Fprintf(&b, "- %s", pageLink("index.md", Link{p.Title, p.Path}))
			if p.Summary != "" {
				fmt.Fprintf(&b, ": %s", Escape(clip(p.Summary, 160)))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// RenderSources writes sources.md: every source the wiki has read, by its number.
func RenderSources(sources []claim.Source) string {
	var b strings.Builder
	b.WriteString("# Sources\n")
	if len(sources) == 0 {
		b.WriteString("\nNone yet.\n")
		return b.String()
	}
	b.WriteByte('\n')
	for _, s := range sources {
		fmt.Fprintf(&b, "- **%d** %s\n", s.N, SourceLink("sources.md", s))
	}
	return b.String()
}

// RenderLog writes logs/research.md: what became of each seed, in the order in which they were settled.
func RenderLog(seeds []claim.Seed, pagePath map[string]string) string {
	var b strings.Builder
	b.WriteString("# Research log\n")
	if len(seeds) == 0 {
		b.WriteString("\nNothing yet.\n")
		return b.String()
	}
	b.WriteString("\n| depth | seed | outcome | claims | new | page |\n|---|---|---|---|---|---|\n")
	for _, s := range seeds {
		page := pagePath[s.PageID]
		if page != "" {
			page = pageLink("logs/research.md", Link{s.Text, page})
		}
		out := string(s.Status)
		if s.Why != "" {
			out += ": " + s.Why
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %d | %d | %s |\n", s.Depth, Escape(s.Text), Escape(out), s.Found, s.New, page)
	}
	return b.String()
}

// NewConfig writes the wiki.config.md that `wiki init` makes.
func NewConfig(slug, title, flavor string, private bool) string {
	f := FlavorOf(flavor)
	fetchers := f.Fetchers
	if private {
		fetchers = []string{"local"}
	}
	return fmt.Sprintf(`---
slug: %s
title: %s
flavor: %s
private: %v            # true: nothing leaves this machine, whatever else is configured
auto_research:
  enabled: true           # false: neither ticks nor `+"`starter wiki research`"+` (unless forced) touch it
  budget_usd: 0.50        # for one run; zero means that nothing is paid for
  max_pages: 10           # for one run
  max_depth: 2            # how far from the first seeds
  parallel: 2
  fetchers: [%s]
  min_interval: 6h        # between two scheduled ticks
  stale_after: 720h       # when a claim counts as old
---

# %s

%s. Files below raw/ are sources too: put what you have there. Pages are yours: what you change stays changed.
`, slug, quoteYAML(title), f.Name, private, strings.Join(fetchers, ", "), Escape(title), strings.ToUpper(f.About[:1])+f.About[1:])
}
