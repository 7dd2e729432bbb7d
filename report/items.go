package report

import (
	"math"
	"slices"
)

// itemTable is the items with what became of each.
type itemTable struct {
	Rows    []itemView
	Sides   []tally
	Changes []tally
}

type tally struct {
	Value, Name string
	N           int
}

type itemView struct {
	ItemRow
	Change string // improved, regressed, unchanged or unmeasured
	Sign   string // the change without colour
}

// sides in the order of what they testify.
var sides = []string{"test", "selection", "train"}

func newItems(rows []ItemRow) itemTable {
	t := itemTable{Changes: []tally{{"improved", "improved", 0}, {"regressed", "regressed", 0}, {"unchanged", "unchanged", 0}, {"unmeasured", "not measured", 0}}}
	for _, row := range rows {
		v := itemView{ItemRow: row}
		v.Change, v.Sign = changed(row.Before, row.After)
		t.Rows = append(t.Rows, v)
		t.Changes[slices.IndexFunc(t.Changes, func(c tally) bool { return c.Value == v.Change })].N++
		i := slices.IndexFunc(t.Sides, func(s tally) bool { return s.Value == row.Side })
		if i < 0 {
			t.Sides = append(t.Sides, tally{Value: row.Side, Name: row.Side})
			i = len(t.Sides) - 1
		}
		t.Sides[i].N++
	}
	slices.SortStableFunc(t.Sides, func(a, b tally) int { return rank(a.Value) - rank(b.Value) })
	return t
}

// rank puts sides that nobody knows last.
func rank(side string) int {
	if i := slices.Index(sides, side); i >= 0 {
		return i
	}
	return len(sides)
}

// changed compares shares of trials; less than a millionth is rounding.
func changed(before, after *float64) (change, sign string) {
	switch {
	case before == nil || after == nil || math.IsNaN(*before) || math.IsNaN(*after):
		return "unmeasured", "-"
	case *after > *before+1e-6:
		return "improved", "▲"
	case *after < *before-1e-6:
		return "regressed", "▼"
	}
	return "unchanged", "="
}
