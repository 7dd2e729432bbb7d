package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"whetstone/run"
)

// curve is the picture of a run, and the same as figures.
type curve struct {
	SVG    template.HTML
	Points []Point
	Legend []string // the outcomes that occur
	Wide   bool     // it does not shrink to the page: it scrolls
}

// The picture's measures, in its own units.
const (
	plotLeft, plotTop = 46.0, 16.0
	plotHeight        = 250.0
	plotZero          = plotTop + plotHeight
	stripY            = plotZero + 24 // where looks without a score are, so that they are not at zero
	labelY            = plotZero + 50
	pictureHeight     = plotZero + 84
	leastWidth        = 760.0
	leastSlot         = 40.0
)

// outcomes are told apart by their shapes; colour only helps.
var outcomes = []string{"accepted", "rejected", "indecisive", "triaged", "empty"}

// newCurve draws the looks of a run from left to right: a line for the accepted text, a mark for each candidate with the
// 95 % interval of its difference to the text it was measured against.
func newCurve(r run.Result, ps []Point) curve {
	c := curve{Points: ps}
	if len(ps) == 0 {
		return c
	}
	for _, o := range outcomes {
		for _, p := range ps {
			if shape(p.Outcome) == o {
				c.Legend = append(c.Legend, o)
				break
			}
		}
	}
	slots := float64(len(ps) + 2)
	width := math.Max(leastWidth, plotLeft+10+slots*leastSlot)
	c.Wide = width > leastWidth
	slot := (width - plotLeft - 10) / slots
	x := func(i int) float64 { return plotLeft + (float64(i)+0.5)*slot }

	var b strings.Builder
	class := "curve"
	if c.Wide {
		class = "curve wide"
	}
	fmt.Fprintf(&b, `<svg class="%s" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-labelledby="curve-title curve-desc">`, class, width, pictureHeight, width, pictureHeight)
	fmt.Fprintf(&b, `<title id="curve-title">Score on the selection items by look</title><desc id="curve-desc">%s</desc>`, html.EscapeString(describe(r, ps)))
	for i := range 5 {
		s := float64(i) / 4
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="axis" x="%.1f" y="%.1f" text-anchor="end">%.2f</text>`, plotLeft, width-10, height(s), height(s), plotLeft-8, height(s)+4, s)
	}
	line := &polyline{}
	line.to(x(0), r.Baseline.Selection)
	for i, p := range ps {
		line.to(x(i+1), p.Parent)
		if p.Outcome == "accepted" {
			line.to(x(i+1), p.Candidate)
		}
	}
	line.to(x(len(ps)+1), r.Final.Selection)
	b.WriteString(line.svg())
	fmt.Fprintf(&b, `<text class="axis" x="%.1f" y="%.1f" text-anchor="middle">start</text><text class="axis" x="%.1f" y="%.1f" text-anchor="middle">end</text>`, x(0), labelY, x(len(ps)+1), labelY)
	noScore := false
	for i, p := range ps {
		noScore = candidate(&b, x(i+1), p) || noScore
	}
	if noScore {
		fmt.Fprintf(&b, `<text class="axis" x="%.1f" y="%.1f" text-anchor="end">none</text>`, plotLeft-8, stripY+4)
	}
	fmt.Fprintf(&b, `<text class="axis" x="%.1f" y="%.1f" text-anchor="middle">look: step, and which part of it was tried</text></svg>`, width/2, pictureHeight-8)
	c.SVG = template.HTML(b.String()) //nolint:gosec // figures, and texts that are escaped above
	return c
}

// candidate draws one look, and reports whether it has no score.
func candidate(b *strings.Builder, x float64, p Point) (noScore bool) {
	fmt.Fprintf(b, `<g class="look %s"><title>%s</title>`, shape(p.Outcome), html.EscapeString(inWords(p)))
	if p.Parent != nil && p.Candidate != nil && measured(p.Interval) {
		hi, lo := height(*p.Parent+p.Interval[1]), height(*p.Parent+p.Interval[0])
		fmt.Fprintf(b, `<path class="whisker" d="M%.1f %.1fV%.1fM%.1f %.1fh10M%.1f %.1fh10"/>`, x, hi, lo, x-5, hi, x-5, lo)
	}
	y := stripY
	if p.Candidate != nil {
		y = height(*p.Candidate)
	}
	b.WriteString(glyph(shape(p.Outcome), x, y))
	fmt.Fprintf(b, `<text class="axis" x="%.1f" y="%.1f" text-anchor="middle">%s</text></g>`, x, labelY, html.EscapeString(clip(name(p), 7)))
	return p.Candidate == nil
}

// height is where a score lies; beyond the plot (a score and an interval may add up to more than 1) it lies at its edge.
func height(s float64) float64 {
	if math.IsNaN(s) {
		return stripY
	}
	return plotZero - plotHeight*math.Min(1.03, math.Max(-0.03, s))
}

// shape is the outcome a mark is drawn for; what nobody knows is drawn like a look without a candidate.
func shape(outcome string) string {
	for _, o := range outcomes {
		if o == outcome {
			return o
		}
	}
	return "empty"
}

// glyph draws the mark of an outcome.
func glyph(outcome string, x, y float64) string {
	from := map[string]string{
		"accepted":   "m-6.5 0a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0 -13 0z",
		"rejected":   "m-5.5 -5.5l11 11m0 -11l-11 11",
		"indecisive": "m0 -7.5l7.5 7.5l-7.5 7.5l-7.5 -7.5z",
		"triaged":    "m-7 -5.5h14l-7 12z",
		"empty":      "m-6 0h12",
	}[outcome]
	return fmt.Sprintf(`<path class="mark" d="M%.1f %.1f%s"/>`, x, y, from)
}

// mark is the same as a picture of its own, for legends and tables.
func mark(outcome string) template.HTML {
	s := shape(outcome)
	return template.HTML(fmt.Sprintf(`<svg class="key %s" viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">%s</svg>`, s, glyph(s, 10, 10))) //nolint:gosec // constants and figures
}

// polyline goes on over what has no score: it joins what was measured.
type polyline struct{ x, y []float64 }

func (l *polyline) to(x float64, score *float64) {
	if score != nil && !math.IsNaN(*score) {
		l.x, l.y = append(l.x, x), append(l.y, height(*score))
	}
}

func (l *polyline) svg() string {
	var d, dots strings.Builder
	for i := range l.x {
		op := "L"
		if i == 0 {
			op = "M"
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", op, l.x[i], l.y[i])
		fmt.Fprintf(&dots, `<circle class="measured" cx="%.1f" cy="%.1f" r="2.5"/>`, l.x[i], l.y[i])
	}
	return fmt.Sprintf(`<path class="text" d="%s"/>%s`, d.String(), dots.String())
}

// name is what a look is called on the axis.
func name(p Point) string {
	switch {
	case p.Label != "":
		return p.Label
	case p.Try > 0:
		return fmt.Sprintf("%d.%d", p.Step, p.Try)
	}
	return fmt.Sprint(p.Step)
}

func inWords(p Point) string {
	return fmt.Sprintf("Step %d, try %d %s: %s; parent %s, candidate %s, difference %s", p.Step, p.Try, p.Label, p.Outcome, Score(p.Parent), Score(p.Candidate), Change(p.Interval))
}

func describe(r run.Result, ps []Point) string {
	n := map[string]int{}
	for _, p := range ps {
		n[shape(p.Outcome)]++
	}
	s := fmt.Sprintf("%d looks. The accepted text scores %s at the start and %s at the end.", len(ps), Score(r.Baseline.Selection), Score(r.Final.Selection))
	for _, o := range outcomes {
		if n[o] > 0 {
			s += fmt.Sprintf(" %d %s.", n[o], o)
		}
	}
	return s + " The figures follow as a table."
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// whisker draws an interval of a difference against zero, from -1 to 1.
func whisker(i *[2]float64) template.HTML {
	if !measured(i) {
		return ""
	}
	at := func(v float64) float64 { return 70 + 66*math.Min(1, math.Max(-1, v)) }
	lo, hi := at(i[0]), at(i[1])
	return template.HTML(fmt.Sprintf(`<svg class="interval" viewBox="0 0 140 20" width="140" height="20" role="img" aria-label="%s"><path class="grid" d="M4 10h132"/><path class="zero" d="M70 1v18"/><path class="bar" d="M%.1f 10H%.1fM%.1f 5v10M%.1f 5v10"/></svg>`, Change(i), lo, hi, lo, hi)) //nolint:gosec // figures
}
