package evidence

import (
	"slices"

	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/validation"
)

// StageTest is where the verdicts on the sealed test are.
const StageTest = "test"

// claims works the run's result out again: its scores, intervals and counts. current is the text that the accepted steps lead to, and
// stage where its verdicts on the selection items are.
func (c *checker) claims(current, stage string) {
	res := c.r.Result
	if res.RunID == "" {
		return // a record made by hand has none
	}
	if res.Outcome != c.r.Outcome {
		c.differ("the run is on record as %s, and its result says %s", c.r.Outcome, res.Outcome)
	}
	c.counts(res)
	selection, test := c.items(validation.Selection), c.items(validation.Test)
	at := func(stage, hash string, items []validation.Item) validation.Measured {
		vs, _ := c.read(stage, hash)
		return validation.Measured{Items: items, Verdicts: vs}
	}
	first := at(StageBaseline, c.r.HashBefore, selection)
	if current == c.r.HashBefore {
		stage = StageBaseline
	}
	last := at(stage, current, selection)
	c.same("the score of the first text on the selection items", res.Baseline.Selection, first.Score())
	c.same("the score of the last text on the selection items", res.Final.Selection, last.Score())
	if res.Baseline.Selection != nil && first.Judges() == last.Judges() {
		c.sameInterval("the interval of the change on the selection items", res.Interval, validation.Interval(first, last, optimizer.SeedFor(c.r.Seed, "interval")))
	}
	if c.r.Reviewed != "" {
		return // the sealed test is of the text that a person rejected
	}
	before, after := at(StageTest, c.r.HashBefore, test), at(StageTest, current, test)
	if res.Baseline.Test == nil && res.Final.Test == nil && res.TestInterval == nil {
		return // it was not opened, or not read to its end; nothing is claimed of it
	}
	c.same("the score of the first text on the sealed test", res.Baseline.Test, before.Score())
	c.same("the score of the last text on the sealed test", res.Final.Test, after.Score())
	c.sameInterval("the interval of the change on the sealed test", res.TestInterval, validation.Interval(before, after, optimizer.SeedFor(c.r.Seed, "test interval")))
}

// ledger compares the numbers that the steps' looks have with those that alpha was booked under.
func (c *checker) ledger() {
	if c.r.Result.RunID == "" {
		return
	}
	booked := map[[2]int]int{}
	for _, x := range c.r.Looks {
		booked[[2]int{x[0], x[1]}] = x[2]
	}
	for _, st := range c.r.Steps {
		if st.Look == nil {
			continue
		}
		if n, ok := booked[[2]int{st.Step, st.Try}]; !ok || n != *st.Look {
			c.differ("step %d.%d: its look is not booked under the number it has", st.Step, st.Try)
		}
	}
}

// counts compares how many steps ended how.
func (c *checker) counts(res run.Result) {
	n := map[string]int{}
	last := 0
	for _, st := range c.r.Steps {
		n[st.Outcome]++
		last = max(last, st.Step)
	}
	if c.r.Reviewed != "" {
		n[validation.Rejected] += n[validation.Accepted]
		n[validation.Accepted] = 0
	}
	for _, x := range []struct {
		outcome string
		claimed int
	}{{validation.Accepted, res.Accepted}, {validation.Rejected, res.Rejected}, {validation.Indecisive, res.Indecisive}} {
		there := n[x.outcome]
		if x.outcome == validation.Indecisive && res.StoppedReason == "no_baseline" {
			there++ // the baseline itself
		}
		if there != x.claimed {
			c.differ("the run says %d %s, and its steps are %d", x.claimed, x.outcome, there)
		}
	}
	// A run that something from outside stopped may have begun a step that has no record.
	if whole := []string{"epochs", "patience", "all_pass"}; slices.Contains(whole, res.StoppedReason) && last != res.Steps {
		c.differ("the run says that it made %d steps, and the last on record is %d", res.Steps, last)
	}
}

func (c *checker) same(what string, claimed, found *float64) {
	if !near(claimed, found) {
		c.differ("%s is claimed as %s and is %s", what, number(claimed), number(found))
	}
}

func (c *checker) sameInterval(what string, claimed, found *[2]float64) {
	if claimed == nil && found == nil {
		return
	}
	if claimed == nil || found == nil || !near(&claimed[0], &found[0]) || !near(&claimed[1], &found[1]) {
		c.differ("%s is not what was claimed", what)
	}
}
