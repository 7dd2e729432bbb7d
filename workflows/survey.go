package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/run"
)

// SurveyName is the wire name of the survey workflow.
const SurveyName = "Survey"

// SurveyInput starts a survey.
type SurveyInput struct {
	Params           run.SurveyParams
	SearchAttributes bool
}

// SurveyOutput is the survey's result, with its page.
type SurveyOutput struct {
	Result   run.SurveyResult
	Markdown string
}

// Survey writes a literature survey of a wiki: an outline of pages, a section for each, and a page on which every citation
// exists in the wiki's sources. What is written when the budget ends is kept.
func Survey(ctx workflow.Context, in SurveyInput) (SurveyOutput, error) {
	info := workflow.GetInfo(ctx)
	job := activities.SurveyJob{RunID: info.FirstRunID, WorkflowID: info.WorkflowExecution.ID, Params: in.Params}
	if in.SearchAttributes {
		if err := workflow.UpsertTypedSearchAttributes(ctx, keyWiki.ValueSet(in.Params.Wiki)); err != nil {
			workflow.GetLogger(ctx).Warn("search attributes", "error", err)
		}
	}
	outline, err := callOutlineSurvey(ctx, activities.OutlineSurveyIn{Job: job, StartedAt: workflow.Now(ctx)})
	if err != nil {
		return SurveyOutput{}, err
	}
	fin := activities.FinishSurveyIn{Job: job, Pages: outline.Pages}
	for i, p := range outline.Pages {
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("**section %d of %d** of a survey of wiki `%s`", i+1, len(outline.Pages), in.Params.Wiki))
		out, err := callWriteSection(ctx, activities.WriteSectionIn{Job: job, Page: p})
		if err != nil {
			return SurveyOutput{}, err
		}
		fin.Dropped += out.Dropped
		if fin.Stopped = out.Stopped; fin.Stopped != "" {
			break
		}
	}
	f, err := callFinishSurvey(ctx, fin)
	if err != nil {
		return SurveyOutput{}, err
	}
	workflow.SetCurrentDetails(ctx, clip(f.Markdown))
	return SurveyOutput{Result: f.Result, Markdown: f.Markdown}, nil
}
