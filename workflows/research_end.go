package workflows

import (
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/report"
	"whetstone/research"
	"whetstone/run"
)

// ResearchProgress is the answer to the progress query of a research run.
type ResearchProgress struct {
	RunID     string  `json:"run_id"`
	Wiki      string  `json:"wiki"`
	Phase     string  `json:"phase"`
	Pages     int     `json:"pages"`
	MaxPages  int     `json:"max_pages"`
	Claims    int     `json:"claims"`
	Seeds     int     `json:"seeds"`
	Failures  int     `json:"failures"`
	SpentUSD  float64 `json:"spent_usd"`
	BudgetUSD float64 `json:"budget_usd"`
	Last      string  `json:"last"`
	Halted    string  `json:"halted"`
	Paused    bool    `json:"paused"`
}

var keyWiki = temporal.NewSearchAttributeKeyKeyword("WikiSlug")

// listen installs the query and the updates.
func (r *researching) listen(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (ResearchProgress, error) { return r.progress(), nil }); err != nil {
		return fmt.Errorf("install the progress query: %w", err)
	}
	over := func(StopRequest) error {
		if r.finished {
			return errors.New("the run is over already")
		}
		return nil
	}
	for _, u := range []struct {
		name, about string
		handle      func(StopRequest)
	}{
		{StopUpdate, "Stop after the seeds that are under way; what was settled stays, the rest goes back into the queue.", func(q StopRequest) {
			r.person = true
			r.Last = "asked to stop"
			if q.Why != "" {
				r.Last += ": " + q.Why
			}
		}},
		{PauseUpdate, "Take no more seeds until resumed.", func(StopRequest) { r.Paused = true }},
		{ResumeUpdate, "Go on after a pause.", func(StopRequest) { r.Paused = false }},
	} {
		err := workflow.SetUpdateHandlerWithOptions(ctx, u.name, func(_ workflow.Context, q StopRequest) error {
			u.handle(q)
			return nil
		}, workflow.UpdateHandlerOptions{Description: u.about, Validator: over})
		if err != nil {
			return fmt.Errorf("install the %s update: %w", u.name, err)
		}
	}
	return nil
}

func (r *researching) progress() ResearchProgress {
	return ResearchProgress{
		RunID: r.job.RunID, Wiki: r.in.Params.Wiki, Phase: r.phase, Pages: r.Pages, MaxPages: r.Settings.MaxPages, Claims: r.Claims, Seeds: r.Seeds, Failures: r.Failures,
		SpentUSD: r.SpentUSD, BudgetUSD: r.Settings.BudgetUSD, Last: r.Last, Halted: string(r.Halted), Paused: r.Paused,
	}
}

// show brings current details and search attributes up to date.
func (r *researching) show(ctx workflow.Context) {
	p := r.progress()
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** wiki `%s`\n\n- pages: %d of at most %d\n- claims: %d new\n- seeds settled: %d, fetches failed: %d\n- spent: $%.4f of $%.2f\n", p.Phase, p.Wiki, p.Pages, p.MaxPages, p.Claims, p.Seeds, p.Failures, p.SpentUSD, p.BudgetUSD)
	if p.Last != "" {
		fmt.Fprintf(&b, "- last: %s\n", p.Last)
	}
	if p.Halted != "" {
		fmt.Fprintf(&b, "\n**Halted: %s** (%s)\n", p.Halted, report.Halted(p.Halted))
	}
	workflow.SetCurrentDetails(ctx, b.String())
	r.attributes(ctx)
}

func (r *researching) attributes(ctx workflow.Context) {
	if !r.in.SearchAttributes {
		return
	}
	outcome := string(r.Halted)
	if outcome == "" {
		outcome = string(run.Running)
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, keyWiki.ValueSet(r.in.Params.Wiki), keyOutcome.ValueSet(outcome), keySpent.ValueSet(r.SpentUSD)); err != nil {
		workflow.GetLogger(ctx).Warn("search attributes", "error", err)
	}
}

// end brings the vectors up to date where a model for them is configured, writes the lists and closes the record.
func (r *researching) end(ctx workflow.Context) (ResearchOutput, error) {
	if r.Settings.Embedding != "" && r.Pages > 0 && r.Halted != research.KillFile {
		r.phase = "embedding"
		if out, err := callEmbedPages(ctx, activities.EmbedPagesIn{Job: r.job}); err != nil {
			r.Why = joined(r.Why, "the vectors could not be brought up to date: "+message(err))
		} else if out.Stopped != "" {
			r.Why = joined(r.Why, "not all vectors were made: "+out.Stopped)
		}
	}
	f, err := callFinishResearch(ctx, activities.FinishResearchIn{Job: r.job, Result: r.result()})
	if err != nil {
		return ResearchOutput{}, err
	}
	r.close(ctx, f)
	return ResearchOutput{Result: f.Result, Markdown: f.Markdown}, nil
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// fail closes the record of a run that an error ended, and returns the error.
func (r *researching) fail(ctx workflow.Context, cause error) (ResearchOutput, error) {
	keep, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	res := r.result()
	res.Halted, res.Why = "failed", message(cause)
	if f, err := callFinishResearch(keep, activities.FinishResearchIn{Job: r.job, Result: res}); err == nil {
		r.close(keep, f)
	}
	r.finished = true
	return ResearchOutput{}, cause
}

func (r *researching) close(ctx workflow.Context, f activities.FinishResearchOut) {
	r.phase, r.finished = "done", true
	r.SpentUSD, r.Calls = f.Result.SpentUSD, f.Result.Calls
	workflow.SetCurrentDetails(ctx, clip(f.Markdown))
	r.attributes(ctx)
}

func (r *researching) result() run.ResearchResult {
	why := r.Why
	for _, f := range r.Settings.Fetchers {
		if r.givenUp(f) {
			why = joined(why, f+" could not be reached and was left out after a while")
		}
	}
	return run.ResearchResult{
		RunID: r.job.RunID, Wiki: r.in.Params.Wiki, Halted: string(r.Halted), BudgetUSD: r.Settings.BudgetUSD, WorkflowID: r.job.WorkflowID, Why: why,
		Provider: r.Settings.Provider, Fetchers: r.Settings.Fetchers, Errors: []run.FetchError{},
	}
}

// isInput reports whether a person has to mend what an activity failed of.
func isInput(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == activities.TypeInput
}
