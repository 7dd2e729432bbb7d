package report

import (
	"fmt"
	"math"

	"whetstone/run"
)

// comparison is the full loop beside other ways to spend the same budget.
type comparison struct {
	Rows []baselineRow
	Bars string // which score the bars show
}

type baselineRow struct {
	Baseline
	Self      bool    // the full loop itself
	Scored    bool    // there is a bar; no score is not a bar of no length
	Bar       float64 // 0 to 100
	Statement string
}

// fullLoop is what a run calls itself among its baselines.
const fullLoop = "full loop"

// compare sets the baselines beside the run. A win over one is stated only where the paired interval excludes zero, and
// with what it was measured on.
func compare(r run.Result, bs []Baseline) comparison {
	if len(bs) == 0 {
		return comparison{}
	}
	c := comparison{Bars: OnSelection}
	rows := []baselineRow{}
	known := false
	for _, b := range bs {
		known = known || b.Name == fullLoop
		if b.Test != nil && r.Final.Test != nil {
			c.Bars = OnTest
		}
		rows = append(rows, baselineRow{Baseline: b, Self: b.Name == fullLoop, Statement: beats(b)})
	}
	if !known {
		rows = append(rows, baselineRow{Self: true, Baseline: Baseline{Name: fullLoop, What: "this run", Selection: r.Final.Selection, Test: r.Final.Test, SpentUSD: r.SpentUSD, Calls: r.Calls}})
	}
	for i := range rows {
		s := rows[i].Selection
		if c.Bars == OnTest {
			s = rows[i].Test
		}
		if s != nil && !math.IsNaN(*s) {
			rows[i].Scored, rows[i].Bar = true, 100*min(1, max(0, *s))
		}
	}
	c.Rows = rows
	return c
}

// beats says in words what an interval says.
func beats(b Baseline) string {
	if b.Name == fullLoop {
		return ""
	}
	if !measured(b.Interval) {
		return fmt.Sprintf("The full loop and %s were not compared item by item.", b.Name)
	}
	on := "on the sealed test"
	if b.On != OnTest {
		on = "on the selection items, which its own gate chose by"
	}
	switch {
	case b.Interval[0] > 0:
		return fmt.Sprintf("The full loop beats %s %s (%s).", b.Name, on, Change(b.Interval))
	case b.Interval[1] < 0:
		return fmt.Sprintf("%s beats the full loop %s (%s).", capital(b.Name), on, Change(b.Interval))
	}
	return fmt.Sprintf("No evidence that the full loop beats %s %s (%s includes zero).", b.Name, on, Change(b.Interval))
}
