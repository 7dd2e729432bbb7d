package viewer

import (
	"fmt"
	"html"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"
)

// mostNodes bounds the graph: more than that is no picture. The pages with most links stay.
const mostNodes = 120

// graph draws the links between pages: a layout by forces (Fruchterman and Reingold 1991) from places on a circle, with a
// fixed number of rounds, so that the same links make the same picture.
func graph(pages []pageView, edges map[[2]string]bool) template.HTML {
	degree := map[string]int{}
	keys := slices.SortedFunc(maps.Keys(edges), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	for _, e := range keys {
		degree[e[0]]++
		degree[e[1]]++
	}
	nodes := slices.Clone(pages)
	slices.SortStableFunc(nodes, func(a, b pageView) int { return degree[b.ID] - degree[a.ID] })
	nodes = nodes[:min(len(nodes), mostNodes)]
	at := map[string]int{}
	for i, n := range nodes {
		at[n.ID] = i
	}
	n := len(nodes)
	if n == 0 {
		return ""
	}
	const size = 1000.0
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		a := 2 * math.Pi * float64(i) / float64(n)
		x[i], y[i] = size/2+size/3*math.Cos(a), size/2+size/3*math.Sin(a)
	}
	k := size / math.Sqrt(float64(n)) * 0.7
	for round := range 150 {
		dx, dy := make([]float64, n), make([]float64, n)
		for i := range n {
			for j := range n {
				if i == j {
					continue
				}
				ex, ey := x[i]-x[j], y[i]-y[j]
				d := math.Max(math.Hypot(ex, ey), 1)
				f := k * k / d / d
				dx[i] += ex * f
				dy[i] += ey * f
			}
		}
		for _, e := range keys {
			i, oki := at[e[0]]
			j, okj := at[e[1]]
			if !oki || !okj {
				continue
			}
			ex, ey := x[i]-x[j], y[i]-y[j]
			d := math.Max(math.Hypot(ex, ey), 1)
			f := d / k
			dx[i] -= ex / d * f * d / 10
			dy[i] -= ey / d * f * d / 10
			dx[j] += ex / d * f * d / 10
			dy[j] += ey / d * f * d / 10
		}
		for i := range n { // a pull to the middle keeps parts without links in the picture
			dx[i] += (size/2 - x[i]) * 0.06 * float64(min(n, 40)) / 10
			dy[i] += (size/2 - y[i]) * 0.06 * float64(min(n, 40)) / 10
		}
		step := size / 10 * (1 - float64(round)/150)
		for i := range n {
			d := math.Max(math.Hypot(dx[i], dy[i]), 0.01)
			x[i] = math.Min(size-120, math.Max(120, x[i]+dx[i]/d*math.Min(d, step)))
			y[i] = math.Min(size-30, math.Max(30, y[i]+dy[i]/d*math.Min(d, step)))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="links between pages">`, size, size)
	for _, e := range keys {
		i, oki := at[e[0]]
		j, okj := at[e[1]]
		if oki && okj {
			fmt.Fprintf(&b, `<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f"/>`, x[i], y[i], x[j], y[j])
		}
	}
	for i, p := range nodes {
		fmt.Fprintf(&b, `<a href="#%s"><circle cx="%.0f" cy="%.0f" r="%.0f"/><text x="%.0f" y="%.0f">%s</text><title>%s</title></a>`,
			html.EscapeString(p.ID), x[i], y[i], 6+2*math.Sqrt(float64(degree[p.ID])), x[i], y[i]-12, html.EscapeString(clip(p.Title, 28)), html.EscapeString(p.Title))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // escaped above
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
