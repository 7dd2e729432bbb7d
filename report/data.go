package report

import (
	"time"

	"whetstone/run"
)

// Withheld stands in place of a text that was forgotten since the run.
const Withheld = "[withheld]"

// Data is all that HTML shows. Everything in it is taken for hostile text. The order of its lists is the order shown.
type Data struct {
	Result      run.Result
	Name        string // of the skill
	Description string
	Started     time.Time
	Ended       *time.Time
	Steps       []run.Step
	Patches     []run.PatchRecord // anchor and payload may be Withheld
	Curve       []Point
	Items       []ItemRow
	Spend       []run.Spend
	Diff        string // unified diff of the whole skill, before to after
	Baselines   []Baseline
	Advice      []string // what the optimizer advised itself, by epoch
	Version     string   // of the program
	// Params are the choices the run was made with, its seed among them; nil where they are not known.
	Params *run.Params
}

// Point is one look of the gate: the accepted text and a candidate, measured on the same items.
type Point struct {
	Step, Try int
	Label     string   // what to call it; "" is step and try
	Parent    *float64 // nil where there is no score
	Candidate *float64
	Interval  *[2]float64 // of candidate minus parent, 95 %
	Outcome   string      // accepted, rejected, indecisive, triaged or empty
}

// ItemRow is one item before and after the run. Before and After are shares of the trials passed; nil is not measured.
type ItemRow struct {
	ID, Kind, Category, Side  string
	Prompt, Expected          string // may be Withheld
	Weight                    float64
	Before, After             *float64
	BeforeTrials, AfterTrials int
	Cluster                   string
}

// Baseline is another way to spend the same budget.
type Baseline struct {
	Name, What      string
	Selection, Test *float64
	Interval        *[2]float64 // full loop minus this one, paired, on On
	On              string      // OnTest or OnSelection
	SpentUSD        float64
	Calls           int
	Note            string
}

// What a baseline was compared on.
const (
	OnTest      = "sealed test"
	OnSelection = "selection"
)
