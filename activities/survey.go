package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"whetstone/claim"
	"whetstone/model"
	"whetstone/research"
	"whetstone/run"
	"whetstone/wiki"
)

const (
	surveySections = 12
	surveyClaims   = 15
	surveyTokens   = 1500
)

// SurveyJob names the survey an activity works for.
type SurveyJob struct {
	RunID      string
	WorkflowID string
	Params     run.SurveyParams
}

func (j SurveyJob) job() Job {
	p := j.Params
	return Job{RunID: j.RunID, WorkflowID: j.WorkflowID, Params: run.Params{BudgetUSD: p.BudgetUSD, MaxCalls: p.MaxCalls, Price: p.Price, PriceOut: p.PriceOut, Record: p.Record, Replay: p.Replay}}
}

// OutlineSurveyIn starts a survey.
type OutlineSurveyIn struct {
	Job       SurveyJob
	StartedAt time.Time
}

// OutlineSurveyOut names the pages that get a section, by id.
type OutlineSurveyOut struct{ Pages []string }

// WriteSectionIn writes one section.
type WriteSectionIn struct {
	Job  SurveyJob
	Page string
}

// WriteSectionOut tells what came of it.
type WriteSectionOut struct {
	Dropped int
	Stopped string
}

// FinishSurveyIn writes the page.
type FinishSurveyIn struct {
	Job     SurveyJob
	Pages   []string
	Dropped int
	Stopped string
}

// FinishSurveyOut is the survey's result.
type FinishSurveyOut struct {
	Result   run.SurveyResult
	Markdown string
}

// OutlineSurvey chooses the pages that a survey is about: those that bear on its topic, or those with most claims.
func (a *Activities) OutlineSurvey(ctx context.Context, in OutlineSurveyIn) (OutlineSurveyOut, error) {
	defer beat(ctx)()
	p := in.Job.Params
	w, d, cfg, err := a.openWiki(ctx, p.Wiki)
	if err != nil {
		return OutlineSurveyOut{}, err
	}
	if err := errors.Join(a.shelf.SyncPages(ctx, d, w.Slug), d.Close()); err != nil {
		return OutlineSurveyOut{}, err
	}
	if _, err := a.provider(run.ResearchParams{Provider: p.Provider, Price: p.Price, Replay: p.Replay}, cfg); err != nil {
		return OutlineSurveyOut{}, err
	}
	if err := a.o.Store.BeginResearch(ctx, in.Job.RunID, w.Slug, in.Job.WorkflowID, "survey", p, in.StartedAt); err != nil {
		return OutlineSurveyOut{}, err
	}
	pages, err := a.o.Store.Pages(ctx, w.Slug)
	if err != nil {
		return OutlineSurveyOut{}, err
	}
	live := map[string]bool{}
	for _, pg := range pages {
		live[pg.ID] = pg.State != claim.Removed && pg.Origin == claim.ByResearch
	}
	var out OutlineSurveyOut
	if p.Topic != "" {
		topic, err := a.o.Store.Text(ctx, p.Topic)
		if err != nil {
			return OutlineSurveyOut{}, err
		}
		hits, err := a.o.Store.SearchPages(ctx, w.Slug, topic, 10*surveySections)
		if err != nil {
			return OutlineSurveyOut{}, err
		}
		for _, h := range hits {
			if live[h.PageID] && !slices.Contains(out.Pages, h.PageID) && len(out.Pages) < surveySections {
				out.Pages = append(out.Pages, h.PageID)
			}
		}
		return out, nil
	}
	type weight struct {
		id string
		n  int
	}
	var ws []weight
	for _, pg := range pages {
		if !live[pg.ID] {
			continue
		}
		cs, err := a.o.Store.Claims(ctx, claim.Filter{Wiki: w.Slug, PageID: pg.ID})
		if err != nil {
			return OutlineSurveyOut{}, err
		}
		if len(cs) > 0 {
			ws = append(ws, weight{pg.ID, len(cs)})
		}
	}
	slices.SortStableFunc(ws, func(x, y weight) int { return y.n - x.n })
	for _, x := range ws[:min(len(ws), surveySections)] {
		out.Pages = append(out.Pages, x.id)
	}
	return out, nil
}

// WriteSection writes one page's section: its claims with their sources, or what a model makes of them. The model cites by
// number; a paragraph that cites no source of the page is dropped.
func (a *Activities) WriteSection(ctx context.Context, in WriteSectionIn) (WriteSectionOut, error) {
	defer beat(ctx)()
	said, err := a.o.Store.Council(ctx, in.Job.RunID, PhaseAnswer)
	if err != nil {
		return WriteSectionOut{}, err
	}
	if s, ok := said[in.Page]; ok && s[1] == "" {
		return WriteSectionOut{}, nil
	}
	sec, dropped, err := a.section(ctx, in)
	if reason, ok := stopReason(err); ok {
		return WriteSectionOut{Stopped: reason}, nil
	}
	if err != nil {
		return WriteSectionOut{}, translate(err)
	}
	b, err := json.Marshal(sec)
	if err != nil {
		return WriteSectionOut{}, fmt.Errorf("keep a section: %w", err)
	}
	return WriteSectionOut{Dropped: dropped}, a.o.Store.PutCouncil(ctx, in.Job.RunID, in.Page, PhaseAnswer, string(b), "")
}

func (a *Activities) section(ctx context.Context, in WriteSectionIn) (wiki.SurveySection, int, error) {
	if a.killed() {
		return wiki.SurveySection{}, 0, stopped{StopKillFile}
	}
	p, err := a.o.Store.Page(ctx, in.Page)
	if err != nil {
		return wiki.SurveySection{}, 0, err
	}
	claims, err := a.o.Store.Claims(ctx, claim.Filter{Wiki: p.Wiki, PageID: p.ID})
	if err != nil {
		return wiki.SurveySection{}, 0, err
	}
	sec := wiki.SurveySection{Title: p.Title, Page: p.Path}
	have := map[int]bool{}
	for _, c := range claims {
		if c.Unsupported || len(sec.Parts) == surveyClaims {
			continue
		}
		part := wiki.SurveyPart{Text: c.Text}
		for _, s := range append([]claim.Span{c.Span}, c.Supports...) {
			src, err := a.o.Store.Source(ctx, s.SourceID)
			if err != nil {
				return sec, 0, err
			}
			part.Sources = append(part.Sources, src.N)
			have[src.N] = true
		}
		sec.Parts = append(sec.Parts, part)
	}
	ref, err := model.ParseRef(in.Job.Params.Provider)
	if err != nil || ref.Provider == model.Offline || len(sec.Parts) == 0 {
		return sec, 0, err
	}
	statements := make([]string, len(sec.Parts))
	for i, part := range sec.Parts {
		marks := make([]string, len(part.Sources))
		for k, n := range part.Sources {
			marks[k] = "S" + strconv.Itoa(n)
		}
		statements[i] = part.Text + " [" + strings.Join(marks, ", ") + "]"
	}
	reply, err := a.complete(ctx, call{
		job: in.Job.job(), ref: ref, stage: "survey", site: in.Page, private: in.Job.Params.Private,
		req: model.Request{Ref: ref, Stage: "survey", MaxTokens: surveyTokens, Messages: research.SurveyMessages(p.Title, statements)},
	})
	if errors.Is(err, model.ErrNotRecorded) {
		return sec, 0, InputError("%w", err)
	}
	if err != nil {
		if me, ok := model.AsError(err); ok && (!me.Retryable() || !attemptsLeft(ctx)) {
			return sec, 0, nil // the claims as they stand say the same, less smoothly
		}
		return sec, 0, err
	}
	var parts []wiki.SurveyPart
	dropped := 0
	for _, para := range strings.Split(cleanText(reply.Text), "\n") {
		if para = strings.TrimLeft(strings.TrimSpace(para), "#-* "); para == "" {
			continue
		}
		part := wiki.SplitCitations(para)
		part.Sources = slices.DeleteFunc(part.Sources, func(n int) bool { return !have[n] })
		if len(part.Sources) == 0 {
			dropped++
			continue
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		sec.Parts = parts
	}
	return sec, dropped, nil
}

// FinishSurvey renders the survey as a page of the wiki and closes the record.
func (a *Activities) FinishSurvey(ctx context.Context, in FinishSurveyIn) (FinishSurveyOut, error) {
	defer beat(ctx)()
	p := in.Job.Params
	w, d, _, err := a.openWiki(ctx, p.Wiki)
	if err != nil {
		return FinishSurveyOut{}, err
	}
	defer func() { _ = d.Close() }()
	said, err := a.o.Store.Council(ctx, in.Job.RunID, PhaseAnswer)
	if err != nil {
		return FinishSurveyOut{}, err
	}
	var sections []wiki.SurveySection
	for _, id := range in.Pages {
		s, ok := said[id]
		if !ok || s[1] != "" {
			continue
		}
		var sec wiki.SurveySection
		if err := json.Unmarshal([]byte(s[0]), &sec); err != nil {
			return FinishSurveyOut{}, fmt.Errorf("read a section: %w", err)
		}
		sections = append(sections, sec)
	}
	disagreements, err := a.disagreements(ctx, w.Slug, in.Pages)
	if err != nil {
		return FinishSurveyOut{}, err
	}
	if len(disagreements.Parts) > 0 {
		sections = append(sections, disagreements)
	}
	pages, err := a.o.Store.Pages(ctx, w.Slug)
	if err != nil {
		return FinishSurveyOut{}, err
	}
	left := 0
	for _, pg := range pages {
		if pg.State != claim.Removed && pg.Origin == claim.ByResearch && !slices.Contains(in.Pages, pg.ID) {
			left++
		}
	}
	sources, err := a.o.Store.Sources(ctx, w.Slug)
	if err != nil {
		return FinishSurveyOut{}, err
	}
	topic := w.Title
	if p.Topic != "" {
		if topic, err = a.o.Store.Text(ctx, p.Topic); err != nil {
			return FinishSurveyOut{}, err
		}
	}
	heading := "Survey: " + title(topic)
	path := "wiki/survey/" + wiki.Slug(topic) + ".md"
	text, citations := wiki.RenderSurvey(heading, path, sections, sources, left)
	r := run.SurveyResult{RunID: in.Job.RunID, WorkflowID: in.Job.WorkflowID, Wiki: w.Slug, Sections: len(sections), Citations: citations, Dropped: in.Dropped, Stopped: in.Stopped, Provider: p.Provider, BudgetUSD: p.BudgetUSD}
	spent, calls, err := a.o.Store.Spent(ctx, in.Job.RunID)
	if err != nil {
		return FinishSurveyOut{}, err
	}
	r.SpentUSD, r.Calls = spent.USD(), calls
	if citations > 0 {
		if r.Page, err = a.putPage(ctx, d, w, "survey", claim.BySurvey, topic, heading, text); err != nil {
			return FinishSurveyOut{}, err
		}
		if err := a.shelf.WriteLists(ctx, d, w); err != nil {
			return FinishSurveyOut{}, err
		}
	}
	return FinishSurveyOut{Result: r, Markdown: text}, a.o.Store.EndResearch(ctx, in.Job.RunID, orDone(in.Stopped), r)
}

// disagreements lists where the sources of the surveyed pages contradict each other.
func (a *Activities) disagreements(ctx context.Context, slug string, pages []string) (wiki.SurveySection, error) {
	sec := wiki.SurveySection{Title: "Where the sources disagree"}
	pairs, err := a.o.Store.Contradictions(ctx, slug, "")
	if err != nil {
		return sec, err
	}
	for _, pair := range pairs {
		cs, err := a.o.Store.ClaimsByID(ctx, []string{pair.A, pair.B})
		if err != nil {
			return sec, err
		}
		if len(cs) != 2 || cs[0].Unsupported || cs[1].Unsupported || !slices.Contains(pages, cs[0].PageID) && !slices.Contains(pages, cs[1].PageID) {
			continue
		}
		part := wiki.SurveyPart{Text: cs[0].Text + " Against it: " + cs[1].Text}
		for _, c := range cs {
			src, err := a.o.Store.Source(ctx, c.Span.SourceID)
			if err != nil {
				return sec, err
			}
			part.Sources = append(part.Sources, src.N)
		}
		sec.Parts = append(sec.Parts, part)
	}
	return sec, nil
}
