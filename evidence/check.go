package evidence

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

// Checked is what deciding a run again found.
type Checked struct {
	Decided     int      `json:"decided"`     // looks decided again
	Rebuilt     int      `json:"rebuilt"`     // candidates made again from parent and patches
	Unmeasured  int      `json:"unmeasured"`  // steps that had nothing to decide: no candidate, a replayed refusal, an outage
	Withheld    int      `json:"withheld"`    // candidates whose texts were forgotten
	Differences []string `json:"differences"` // empty where everything comes out as recorded
}

// Check decides every step of a run again from its record, makes every candidate again from its parent and patches, and follows
// the accepted texts from the first to the last. It asks no model.
func Check(r Record) Checked {
	c := checker{r: r, out: Checked{Differences: []string{}}, at: map[[2]string][]validation.Verdict{}, looks: map[int]string{}}
	for _, v := range r.Verdicts {
		k := [2]string{v.Stage, v.Hash}
		c.at[k] = append(c.at[k], validation.Verdict{Item: v.Item, Trial: v.Trial, State: v.State, Judge: v.Judge})
	}
	for hash, text := range r.Texts {
		if !strings.Contains(text, Withheld) && skill.Hash(text) != hash {
			c.differ("the text kept as %.12s has another hash", hash)
		}
	}
	current, stage, accepted := r.HashBefore, StageBaseline, false
	for _, st := range r.Steps {
		c.step(st, current, stage)
		if st.Outcome == validation.Accepted {
			current, stage, accepted = st.Candidate, ScoreSite(st.Step, st.Try, st.Judge, r.Pairwise), true
		}
	}
	if accepted = accepted && r.Reviewed == ""; accepted != (r.Outcome == run.Accepted) && r.Outcome != run.Failed {
		c.differ("the run says that it ended %s, and its steps say otherwise", r.Outcome)
	}
	if r.Reviewed != "" {
		current = r.HashBefore
	}
	if r.HashAfter != "" && current != r.HashAfter {
		c.differ("the accepted steps lead to %.12s, and the run says that it ended with %.12s", current, r.HashAfter)
	}
	c.ledger()
	c.claims(current, stage)
	return c.out
}

var errWithheld = errors.New("a text was forgotten")

type checker struct {
	r     Record
	out   Checked
	at    map[[2]string][]validation.Verdict
	looks map[int]string
}

func (c *checker) differ(format string, args ...any) {
	c.out.Differences = append(c.out.Differences, fmt.Sprintf(format, args...))
}

func (c *checker) read(stage, hash string) ([]validation.Verdict, error) {
	return c.at[[2]string{stage, hash}], nil
}

// step decides one look again. stage is where the verdicts of the text accepted so far are.
func (c *checker) step(st Step, current, stage string) {
	where := fmt.Sprintf("step %d.%d", st.Step, st.Try)
	if st.Parent != current {
		c.differ("%s: it was compared with %.12s, but the text accepted so far is %.12s", where, st.Parent, current)
	}
	c.rebuild(st, where)
	if st.Stage == "" || st.Replayed {
		c.out.Unmeasured++
		if st.Outcome == validation.Accepted {
			c.differ("%s: accepted without a measurement", where)
		}
		return
	}
	if st.ParentStage != stage {
		c.differ("%s: what its parent fails was read from %q, and its verdicts are at %q", where, st.ParentStage, stage)
	}
	d, err := c.look(st).Decide(c.read, func() (float64, error) {
		if st.Look == nil {
			return 0, errors.New("it spent alpha, but has no number")
		}
		return validation.AlphaFor(c.r.Gate.Alpha, c.r.Gate.PlannedLooks, *st.Look), nil
	})
	if err != nil {
		c.differ("%s: %v", where, err)
		return
	}
	c.out.Decided++
	if st.Look != nil {
		if other, ok := c.looks[*st.Look]; ok {
			c.differ("%s: its look has the same number as %s", where, other)
		}
		c.looks[*st.Look] = where
	}
	if d.Outcome != st.Outcome {
		c.differ("%s: recorded as %s (%s), decided again it is %s (%s)", where, st.Outcome, st.Reason, d.Outcome, d.Reason)
	}
	if d.Stage != st.Stage {
		c.differ("%s: recorded as decided at the stage %s, decided again it is at %s", where, st.Stage, d.Stage)
	}
	for _, x := range []struct {
		name      string
		was, here *float64
	}{{"p", st.P, d.P}, {"alpha", st.Alpha, d.Alpha}, {"the parent's score", st.ParentScore, d.Parent}, {"the candidate's score", st.Score, d.Candidate}} {
		if !near(x.was, x.here) {
			c.differ("%s: %s was recorded as %s and is %s", where, x.name, number(x.was), number(x.here))
		}
	}
}

func near(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) < 1e-9
}

func number(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprintf("%.6f", *x)
}

// look is the step's, from the record alone.
func (c *checker) look(st Step) Look {
	l := Look{
		RunSeed: c.r.Seed, Step: st.Step, Try: st.Try, By: st.Judge, Parent: st.Parent, Candidate: st.Candidate, ParentStage: st.ParentStage, Trials: c.r.Gate.Trials,
		Deterministic: c.r.Gate.Deterministic, Adopt: c.r.Goal == "adopt", Held: c.items(validation.Selection), Second: c.r.SecondJudge != "",
		SecondDeterministic: strings.HasPrefix(c.r.SecondJudge, model.Offline), ByEdit: map[string][]string{},
	}
	if !l.Adopt {
		return l
	}
	own := map[string]bool{}
	for _, p := range c.r.Patches {
		if p.Step != st.Step || len(p.Items) == 0 || !has(st.Edits, p.Key) {
			continue
		}
		l.ByEdit[p.Key] = p.Items
		for _, id := range p.Items {
			own[id] = true
		}
	}
	for _, it := range c.items(validation.Train) {
		if own[it.ID] {
			l.Own = append(l.Own, it)
		}
	}
	return l
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (c *checker) items(side validation.Side) []validation.Item {
	var out []validation.Item
	for _, it := range c.r.Items {
		if it.Side == side {
			out = append(out, validation.Item{ID: it.ID, Kind: it.Kind, Side: it.Side, Weight: it.Weight})
		}
	}
	return out
}

// rebuild makes a candidate again from the text that its edits changed.
func (c *checker) rebuild(st Step, where string) {
	if st.Candidate == "" || st.Kind == run.KindMerge {
		return
	}
	if len(st.Edits) == 0 {
		c.differ("%s: which edits made its candidate is not on record", where)
		return
	}
	base := st.Base
	if base == "" {
		base = st.Parent
	}
	text, ok := c.r.Texts[base]
	want, okWant := c.r.Texts[st.Candidate]
	if !ok || !okWant {
		c.differ("%s: the text of its parent or of its candidate is gone", where)
		return
	}
	if strings.Contains(text, Withheld) || strings.Contains(want, Withheld) {
		c.out.Withheld++
		return
	}
	got, err := c.apply(text, st)
	switch {
	case errors.Is(err, errWithheld):
		c.out.Withheld++
	case err != nil:
		c.differ("%s: its edits do not apply to its parent: %v", where, err)
	case got != want:
		c.differ("%s: its edits do not make the text that was measured", where)
	default:
		c.out.Rebuilt++
	}
}

func (c *checker) apply(text string, st Step) (string, error) {
	d, err := optimizer.NewSet(text)
	if err != nil {
		return "", err
	}
	if st.Kind == run.KindSlow {
		d = d.Slow()
	}
	var edits []optimizer.Edit
	for _, key := range st.Edits {
		found := false
		for _, p := range c.r.Patches {
			if p.Step != st.Step || p.Key != key {
				continue
			}
			if strings.Contains(p.Payload, Withheld) || strings.Contains(p.Anchor, Withheld) {
				return "", errWithheld
			}
			e, perr := d.Resolve(optimizer.Patch{Op: optimizer.Op(p.Op), Anchor: p.Anchor, Payload: p.Payload, Items: p.Items, File: p.File})
			if perr != nil {
				return "", perr
			}
			e.Support = p.Support
			edits, found = append(edits, e), true
			break
		}
		if !found {
			return "", fmt.Errorf("edit %s is not on record", key)
		}
	}
	optimizer.SortEdits(edits)
	made, perr := d.Apply(edits)
	if perr != nil {
		return "", perr
	}
	return made, nil
}
