package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"whetstone/run"
)

// page is what the template is filled with.
type page struct {
	Data
	Sentence string // what the run's result supports
	Tone     string // win, worse or none
	Outcome  string
	Tried    int // candidates that the gate decided on
	When     string
	Scores   []scoreRow
	Curve    curve
	Accepted []patchView
	Refused  []patchGroup
	Diff     diffView
	Items    itemTable
	Spend    spendTable
	Compared comparison
	Facts    []fact
	Choices  []fact

	Style  template.CSS
	Script template.JS
	Policy string
}

type fact struct{ Name, Value string }

type scoreRow struct {
	Name, What    string
	N             int
	Before, After *float64
	Interval      *[2]float64
	Says          string
}

func newPage(d Data) page {
	r := &d.Result
	dir := folder(r.Path)
	r.Why, r.StoppedReason = bare(dir, r.Why), bare(dir, r.StoppedReason)
	r.Notes, d.Advice = slices.Clone(r.Notes), slices.Clone(d.Advice)
	for _, texts := range [][]string{r.Notes, d.Advice} {
		for i := range texts {
			texts[i] = bare(dir, texts[i])
		}
	}
	d.Steps = slices.Clone(d.Steps)
	for i := range d.Steps {
		d.Steps[i].Reason = bare(dir, d.Steps[i].Reason)
	}
	if d.Name == "" {
		d.Name = r.Skill
	}
	p := page{
		Data: d, Outcome: Title(r.Outcome), When: span(d.Started, d.Ended),
		Curve: newCurve(*r, d.Curve), Diff: newDiff(d.Diff), Items: newItems(d.Items), Spend: newSpend(d.Spend), Compared: compare(*r, d.Baselines),
		Facts: facts(d), Choices: choices(d.Params),
		Style: template.CSS(style), Script: template.JS(script), Policy: policy(), //nolint:gosec // both are files of this package
	}
	var win bool
	win, p.Sentence = Claim(*r)
	p.Tone = "none"
	if win {
		p.Tone = "win"
	} else if strings.HasPrefix(p.Sentence, "Worse") {
		p.Tone = "worse"
	}
	p.Tried = r.Accepted + r.Rejected + r.Indecisive
	p.Accepted, p.Refused = sortPatches(d.Patches, dir)
	p.Scores = []scoreRow{
		{Name: "Sealed test", What: "opened at the end: no candidate was chosen by it", N: r.Learnings.Test, Before: r.Baseline.Test, After: r.Final.Test, Interval: r.TestInterval},
		{Name: "Selection", What: "held out from the reflecting model; candidates were chosen by it", N: r.Learnings.Selection, Before: r.Baseline.Selection, After: r.Final.Selection, Interval: r.Interval},
	}
	for i := range p.Scores {
		p.Scores[i].Says = against0(p.Scores[i].Interval)
	}
	return p
}

// against0 says where an interval lies.
func against0(i *[2]float64) string {
	switch {
	case !measured(i):
		return "not measured"
	case i[0] > 0:
		return "above zero"
	case i[1] < 0:
		return "below zero"
	}
	return "includes zero"
}

// span names when a run took place, in UTC whatever the machine's own time is.
func span(from time.Time, to *time.Time) string {
	if from.IsZero() {
		return ""
	}
	const layout = "2006-01-02 15:04"
	s := from.UTC().Format(layout) + " UTC"
	if to == nil {
		return s + ", still running"
	}
	return s + ", took " + to.Sub(from).Round(time.Second).String()
}

// base is the last element of a path of any system.
func base(p string) string { return p[strings.LastIndexAny(p, `/\`)+1:] }

// folder is where a path lies, with the separator; "" where cutting it out of a text could hit something else.
func folder(p string) string {
	dir := strings.TrimSuffix(p, base(p))
	if len(dir) < 3 {
		return ""
	}
	return dir
}

// bare takes the skill's folder out of a text: where a person keeps files is nobody's business who is shown a report.
func bare(dir, s string) string {
	if dir == "" {
		return s
	}
	return strings.ReplaceAll(s, dir, "")
}

// short is the beginning of a hash.
func short(s string) string {
	if r := []rune(s); len(r) > 12 {
		return string(r[:12])
	}
	return s
}

// difference renders b - a; it does not exist where one of them does not.
func difference(a, b *float64) string {
	if Score(a) == "-" || Score(b) == "-" {
		return "-"
	}
	return fmt.Sprintf("%+.3f", *b-*a)
}

// odds renders a probability.
func odds(p *float64) string {
	if p == nil || math.IsNaN(*p) {
		return "-"
	}
	return fmt.Sprintf("%.4f", *p)
}

func list(s []string) string { return strings.Join(s, ", ") }

// grouped writes a count with its thousands apart.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func facts(d Data) []fact {
	r := d.Result
	var out []fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{name, value})
		}
	}
	add("Run", r.RunID)
	add("Workflow", r.WorkflowID)
	add("File", base(r.Path))
	if r.ProposalPath != nil {
		add("Proposal", base(*r.ProposalPath))
	}
	add("Delivered", r.Delivered)
	add("Body before", r.HashBefore)
	add("Body after", r.HashAfter)
	add("Model", r.Provider)
	add("Judge", r.Judge)
	add("Goal", r.Goal)
	add("Mode", r.Mode)
	add("Stopped by", r.StoppedReason)
	add("Learnings", fmt.Sprintf("%d train, %d selection, %d test", r.Learnings.Train, r.Learnings.Selection, r.Learnings.Test))
	add("Steps", fmt.Sprintf("%d in %d epoch(s): %d accepted, %d rejected, %d indecisive", r.Steps, r.Epochs, r.Accepted, r.Rejected, r.Indecisive))
	add("Patches", fmt.Sprintf("%d proposed, %d applied, %d refused", r.Patches.Proposed, r.Patches.Applied, r.Patches.Refused))
	add("Spent", fmt.Sprintf("$%.4f of $%.2f in %d call(s)", r.SpentUSD, r.BudgetUSD, r.Calls))
	if e := r.EstimateUSD; len(e) == 2 {
		add("Expected", fmt.Sprintf("$%.4f in half of all runs, $%.4f in 95 of 100", e[0], e[1]))
	}
	add("Program", d.Version)
	return out
}

// choices are the parameters of a run, but for those that name folders of its machine.
func choices(p *run.Params) []fact {
	if p == nil {
		return nil
	}
	n := func(name string, v int) fact { return fact{name, strconv.Itoa(v)} }
	out := []fact{
		{"seed", strconv.FormatInt(p.Seed, 10)},
		n("epochs", p.Epochs), n("minibatches", p.Minibatch), n("batch size", p.BatchSize), n("learning rate, most", p.LR), n("learning rate, least", p.MinLR),
		n("adds a step, most", p.MaxAdds), n("deletes a step, most", p.MaxDeletes), n("replaces a step, most", p.MaxReplace), n("trials", p.Trials),
		{"alpha", strconv.FormatFloat(p.Alpha, 'g', -1, 64)},
		{"budget", fmt.Sprintf("$%.2f", p.BudgetUSD)},
		n("calls, most", p.MaxCalls), n("seconds, most", p.TimeoutSec), n("patience", p.Patience), n("tokens of the skill, most", p.MaxTokens),
		{"matched learnings", yes(p.Match)},
		{"pending learnings", yes(p.Pending)},
		{"delivery", p.Deliver},
	}
	if len(p.Fallback) > 0 {
		out = append(out, fact{"fallback", list(p.Fallback)})
	}
	return out
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
