package workflows

import (
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"whetstone/report"
	"whetstone/run"
)

// Progress is the answer to the progress query.
type Progress struct {
	RunID         string   `json:"run_id"`
	Phase         string   `json:"phase"`
	Epoch         int      `json:"epoch"`
	Epochs        int      `json:"epochs"`
	Step          int      `json:"step"`
	Steps         int      `json:"steps"`
	Baseline      *float64 `json:"baseline"`
	Score         *float64 `json:"score"`
	Accepted      int      `json:"accepted"`
	Rejected      int      `json:"rejected"`
	Indecisive    int      `json:"indecisive"`
	SpentUSD      float64  `json:"spent_usd"`
	BudgetUSD     float64  `json:"budget_usd"`
	Calls         int      `json:"calls"`
	Last          string   `json:"last"`
	StoppedReason string   `json:"stopped_reason"`
	Review        bool     `json:"review"` // a result waits for a person
	HashBefore    string   `json:"hash_before"`
	HashAfter     string   `json:"hash_after"`
	Params        run.Params
}

// StopRequest is the argument of the stop update.
type StopRequest struct{ Why string }

var (
	keySkill   = temporal.NewSearchAttributeKeyKeyword("SkillSlug")
	keyOutcome = temporal.NewSearchAttributeKeyKeyword("Outcome")
	keyBest    = temporal.NewSearchAttributeKeyFloat64("BestScore")
	keySpent   = temporal.NewSearchAttributeKeyFloat64("SpentUSD")
)

// listen installs the query and the update.
func (o *optimization) listen(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (Progress, error) { return o.progress(), nil }); err != nil {
		return fmt.Errorf("install the progress query: %w", err)
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, StopUpdate, func(_ workflow.Context, r StopRequest) error {
		o.Stopping, o.Last = true, "asked to stop"
		o.review.stopped = o.review.open
		if r.Why != "" {
			o.Last += ": " + r.Why
		}
		return nil
	}, workflow.UpdateHandlerOptions{
		Description: "Stop after the present look; what was accepted so far is delivered.",
		Validator: func(StopRequest) error {
			if o.finished {
				return errors.New("the run is over already")
			}
			if o.Stopping && (!o.review.open || o.review.stopped) {
				return errors.New("the run is stopping already")
			}
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("install the stop update: %w", err)
	}
	return o.listenForReview(ctx)
}

func (o *optimization) progress() Progress {
	p := o.in.Params
	return Progress{
		RunID: o.job.RunID, Phase: o.phase, Epoch: o.Epoch, Epochs: p.Epochs, Step: o.Step, Steps: p.Epochs * o.stepsPerEpoch(),
		Baseline: o.Baseline, Score: o.Score, Accepted: o.Accepted, Rejected: o.Rejected, Indecisive: o.Indecisive,
		SpentUSD: o.SpentUSD, BudgetUSD: p.BudgetUSD, Calls: o.Calls, Last: o.Last, StoppedReason: o.StopReason, Params: p,
		Review: o.review.open, HashBefore: o.Pre.Hash, HashAfter: o.Current,
	}
}

// show brings current details and search attributes up to date.
func (o *optimization) show(ctx workflow.Context) {
	p := o.progress()
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** of `%s`, epoch %d of %d, step %d of %d\n\n", p.Phase, o.in.Params.SkillKey, p.Epoch, p.Epochs, p.Step, p.Steps)
	fmt.Fprintf(&b, "- held-out score: %s at the start, %s now\n", report.Score(p.Baseline), report.Score(p.Score))
	fmt.Fprintf(&b, "- candidates: %d accepted, %d rejected, %d indecisive\n", p.Accepted, p.Rejected, p.Indecisive)
	fmt.Fprintf(&b, "- spent: $%.4f of $%.2f in %d call(s)\n", p.SpentUSD, p.BudgetUSD, p.Calls)
	if p.Last != "" {
		fmt.Fprintf(&b, "- last: %s\n", p.Last)
	}
	if o.review.open {
		fmt.Fprintf(&b, "\n**It waits for a person.** `starter runs diff %s` shows the change; decide with `starter runs decide %s accept`, or `reject --why ...`, or with the update `decide`.\n", o.job.RunID, o.job.RunID)
	}
	if o.Pre.Measures != "" {
		fmt.Fprintf(&b, "\nThe scores measure %s.\n", o.Pre.Measures)
	}
	workflow.SetCurrentDetails(ctx, b.String())
	o.attributes(ctx, "")
}

// close shows the final word.
func (o *optimization) close(ctx workflow.Context, r run.Result, markdown string) {
	o.phase, o.finished = "done", true
	o.SpentUSD, o.Calls = r.SpentUSD, r.Calls
	workflow.SetCurrentDetails(ctx, clip(markdown))
	o.attributes(ctx, string(r.Outcome))
}

func (o *optimization) attributes(ctx workflow.Context, outcome string) {
	if !o.in.SearchAttributes {
		return
	}
	if outcome == "" {
		outcome = string(run.Running)
	}
	set := []temporal.SearchAttributeUpdate{keySkill.ValueSet(o.in.Params.SkillKey), keyOutcome.ValueSet(outcome), keySpent.ValueSet(o.SpentUSD)}
	if o.Score != nil {
		set = append(set, keyBest.ValueSet(*o.Score))
	}
	// An attribute that can not be set costs a line in the Web UI, not the run.
	if err := workflow.UpsertTypedSearchAttributes(ctx, set...); err != nil {
		workflow.GetLogger(ctx).Warn("search attributes", "error", err)
	}
}

// mostDetails is what the Web UI takes as current details, with room to spare.
const mostDetails = 18_000

func clip(s string) string {
	n := mostDetails
	if len(s) <= n {
		return s
	}
	if i := strings.LastIndexByte(s[:n], '\n'); i > 0 {
		return s[:i]
	}
	return s[:n]
}
