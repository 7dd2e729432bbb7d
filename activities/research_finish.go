package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"whetstone/claim"
	"whetstone/report"
	"whetstone/research"
	"whetstone/run"
	"whetstone/wiki"
	"whetstone/wiki/folder"
)

// FinishResearch completes the result with what only the store knows, writes the wiki's lists, and closes the record.
func (a *Activities) FinishResearch(ctx context.Context, in FinishResearchIn) (FinishResearchOut, error) {
	defer beat(ctx)()
	r := in.Result
	w, err := a.o.Store.Wiki(ctx, in.Job.Wiki)
	if err != nil {
		return FinishResearchOut{}, err
	}
	// Whatever this run still holds goes back: no seed stays active.
	if _, err := a.o.Store.ReleaseSeeds(ctx, w.Slug, ""); err != nil {
		return FinishResearchOut{}, err
	}
	if err := a.writeLists(ctx, w); err != nil {
		var app *temporal.ApplicationError
		if !errors.As(err, &app) {
			return FinishResearchOut{}, err
		}
		// The run ends with what it has; the reason is told.
		r.Why = joined(r.Why, app.Message())
	}
	spent, calls, err := a.o.Store.Spent(ctx, in.Job.RunID)
	if err != nil {
		return FinishResearchOut{}, err
	}
	r.SpentUSD, r.Calls = spent.USD(), calls
	figures, err := a.o.Store.RunFigures(ctx, in.Job.RunID)
	if err != nil {
		return FinishResearchOut{}, err
	}
	r.Pages, r.Claims, r.Supports, r.Conflicts = figures.Pages, figures.Claims, figures.Supports, figures.Conflicts
	counts, err := a.o.Store.WikiCounts(ctx, w.Slug, a.o.Now().Add(-time.Duration(in.Job.Settings.StaleAfter)*time.Second))
	if err != nil {
		return FinishResearchOut{}, err
	}
	r.Seeds = run.SeedCounts{Done: counts.Done, Pending: counts.Pending + counts.Active, Failed: counts.Failed}
	errs, err := a.o.Store.FetchErrors(ctx, in.Job.RunID)
	if err != nil {
		return FinishResearchOut{}, err
	}
	if r.Halted == string(research.QueueEmpty) && counts.Failed > 0 {
		r.Why = joined(r.Why, fmt.Sprintf("%d seed(s) failed: see `starter wiki seeds %s --status failed`, try them again with `starter wiki seeds %s --retry`", counts.Failed, w.Slug, w.Slug))
	}
	r.Errors = []run.FetchError{}
	for _, e := range errs {
		r.Errors = append(r.Errors, run.FetchError{Seed: e[0], Fetcher: e[1], Kind: e[2], Error: e[3]})
	}
	if len(r.Errors) > maxErrors {
		r.Why += fmt.Sprintf(" (%d more fetches failed)", len(r.Errors)-maxErrors)
		r.Errors = r.Errors[:maxErrors]
	}
	if err := a.o.Store.EndResearch(ctx, in.Job.RunID, r.Halted, r); err != nil {
		return FinishResearchOut{}, err
	}
	return FinishResearchOut{Result: r, Markdown: report.Research(r, counts)}, nil
}

// maxErrors bounds what a result carries through Temporal; the store has all of them.
const maxErrors = 200

// writeLists renders index.md, sources.md and logs/research.md. They are ours; what people write belongs on pages.
func (a *Activities) writeLists(ctx context.Context, w claim.Wiki) error {
	d, err := folder.Open(w.Root)
	if err != nil {
		return InputError("%w", err)
	}
	defer func() { _ = d.Close() }()
	if err := a.shelf.RenderDirty(ctx, d, w); err != nil {
		return err
	}
	return a.shelf.WriteLists(ctx, d, w)
}

// WriteLists renders index.md, sources.md and logs/research.md.
func (s *Shelf) WriteLists(ctx context.Context, d *folder.Dir, w claim.Wiki) error {
	pages, err := s.store.Pages(ctx, w.Slug)
	if err != nil {
		return err
	}
	sources, err := s.store.Sources(ctx, w.Slug)
	if err != nil {
		return err
	}
	seeds, err := s.store.SettledSeeds(ctx, w.Slug)
	if err != nil {
		return err
	}
	paths := map[string]string{}
	for _, p := range pages {
		if p.State != claim.Removed {
			paths[p.ID] = p.Path
		}
	}
	for _, f := range []struct{ name, text string }{
		{"index.md", wiki.RenderIndex(w.Title, wiki.FlavorOf(w.Flavor), pages)}, {"sources.md", wiki.RenderSources(sources)}, {"logs/research.md", wiki.RenderLog(seeds, paths)},
	} {
		if err := s.placeList(ctx, d, w.Slug, f.name, f.text); err != nil {
			return err
		}
	}
	return nil
}

// placeList writes a list like a page: what a person added to it stays.
func (s *Shelf) placeList(ctx context.Context, d *folder.Dir, slug, name, text string) error {
	generated, err := s.store.ListGenerated(ctx, slug, name)
	if err != nil {
		return err
	}
	base := ""
	if generated != "" {
		if base, err = s.store.Text(ctx, generated); err != nil {
			return err
		}
	} else if old, ok, rerr := d.Read(name); rerr == nil && ok && (old == wiki.RenderSources(nil) || old == wiki.RenderLog(nil, nil) || strings.HasSuffix(old, "\nNo pages yet.\n")) {
		generated, base = claim.Hash(old), old // the scaffold's
	}
	if _, err := s.store.PutText(ctx, text); err != nil {
		return err
	}
	placed, err := d.Place(claim.Page{Path: name, Generated: generated}, base, text, func(hash string) bool {
		ok, err := s.store.HasText(ctx, hash)
		return err == nil && ok
	})
	if err != nil {
		return fileError(err)
	}
	return s.store.SetListGenerated(ctx, slug, name, placed.Generated)
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
