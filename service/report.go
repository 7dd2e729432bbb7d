package service

import (
	"context"
	"errors"
	"fmt"

	"whetstone/activities"
	"whetstone/learning"
	"whetstone/optimizer"
	"whetstone/report"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/store"
	"whetstone/validation"
)

// Report gathers all that a run's HTML report shows. A text that was forgotten meanwhile is withheld.
func (s *Service) Report(ctx context.Context, r run.Run, version string) (report.Data, error) {
	if r.Result == nil {
		return report.Data{}, fmt.Errorf("report on run %s: it is not over yet", r.ID)
	}
	d := report.Data{Result: *r.Result, Name: r.SkillName, Started: r.StartedAt, Ended: r.EndedAt, Version: version, Params: r.Result.Params}
	var err error
	if d.Steps, err = s.Store.Steps(ctx, r.ID); err != nil {
		return d, err
	}
	if d.Patches, err = s.Store.Patches(ctx, r.ID, 0); err != nil {
		return d, err
	}
	if d.Spend, err = s.Store.SpendByStage(ctx, r.ID); err != nil {
		return d, err
	}
	before, err := s.text(ctx, r.Result.HashBefore)
	if err != nil {
		return d, err
	}
	after, err := s.text(ctx, r.Result.HashAfter)
	if err != nil {
		return d, err
	}
	if f, err := skill.Parse([]byte(skill.Split(before).Main()), skill.Options{Plain: true}); err == nil {
		d.Description = f.Description
	}
	d.Diff = optimizer.Diff(before, after, func(path string) (string, string) {
		if path == skill.Main {
			return "before", "after"
		}
		return path + " before", path + " after"
	})
	redact(&d)
	m := measurements{s: s, run: r}
	if d.Curve, err = m.curve(ctx, d.Steps); err != nil {
		return d, err
	}
	if d.Items, err = m.items(ctx, d.Steps); err != nil {
		return d, err
	}
	if d.Baselines, err = m.baselines(ctx); err != nil {
		return d, err
	}
	d.Advice, err = s.advice(ctx, r.ID)
	return d, err
}

// redact takes out of a report what looks like a secret: a skill file may hold one, and a report is passed on.
func redact(d *report.Data) {
	clean := func(s *string) { *s, _ = learning.Redact(*s) }
	clean(&d.Diff)
	clean(&d.Description)
	for i := range d.Patches {
		clean(&d.Patches[i].Anchor)
		clean(&d.Patches[i].Payload)
	}
}

// text is a stored text, or the word that it was withheld.
func (s *Service) text(ctx context.Context, hash string) (string, error) {
	t, err := s.Store.Text(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return report.Withheld, nil
	}
	return t, err
}

func (s *Service) advice(ctx context.Context, runID string) ([]string, error) {
	all, err := s.Store.Advice(ctx, runID)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range all {
		t, err := s.text(ctx, a.Hash)
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("after epoch %d (%s update): %s", a.Epoch, a.Kind, t))
	}
	return out, nil
}

// measurements reads a run's verdicts.
type measurements struct {
	s   *Service
	run run.Run
}

// params are the run's choices, where they are on record.
func (m measurements) params() run.Params {
	if m.run.Result != nil && m.run.Result.Params != nil {
		return *m.run.Result.Params
	}
	return run.Params{}
}

func (m measurements) at(ctx context.Context, stage, hash string, items []validation.Item) (validation.Measured, error) {
	vs, err := m.s.Store.Verdicts(ctx, m.run.ID, stage, hash)
	return validation.Measured{Items: items, Verdicts: vs}, err
}

// curve is every look with what it measured.
func (m measurements) curve(ctx context.Context, steps []run.Step) ([]report.Point, error) {
	items, err := m.s.Store.RunItems(ctx, m.run.ID, validation.Selection)
	if err != nil {
		return nil, err
	}
	var out []report.Point
	for _, st := range steps {
		p := report.Point{Step: st.Step, Try: st.Try, Parent: st.Parent01, Candidate: st.Cand01, Outcome: st.Outcome}
		switch {
		case st.Stage == validation.StageTriage:
			p.Outcome = "triaged"
		case st.Kind != run.KindStep && st.Kind != "":
			p.Label = fmt.Sprintf("%d %s", st.Step, st.Kind)
		}
		if st.Candidate != "" && st.Stage != "" {
			site := activities.Site(st.Step, st.Try, st.Judge)
			before, err := m.at(ctx, site, st.Parent, items)
			if err != nil {
				return nil, err
			}
			after, err := m.at(ctx, site, st.Candidate, items)
			if err != nil {
				return nil, err
			}
			p.Interval = validation.Interval(before, after, optimizer.SeedFor(m.run.Seed, "curve", st.Step, st.Try))
		}
		out = append(out, p)
	}
	return out, nil
}

// items are all of the run, with their rates before and after where both were measured.
func (m measurements) items(ctx context.Context, steps []run.Step) ([]report.ItemRow, error) {
	last := "baseline"
	for _, st := range steps {
		if st.Outcome == validation.Accepted && st.Candidate == m.run.Result.HashAfter {
			last = activities.ScoreSite(st.Step, st.Try, st.Judge, m.params())
		}
	}
	var out []report.ItemRow
	for _, side := range []struct {
		side         validation.Side
		first, after string
	}{{validation.Selection, "baseline", last}, {validation.Test, "test", "test"}, {validation.Train, "", ""}} {
		items, err := m.s.Store.RunItems(ctx, m.run.ID, side.side)
		if err != nil {
			return nil, err
		}
		before, err := m.at(ctx, side.first, m.run.Result.HashBefore, items)
		if err != nil {
			return nil, err
		}
		after, err := m.at(ctx, side.after, m.run.Result.HashAfter, items)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			row := report.ItemRow{ID: it.ID, Kind: it.Kind, Category: it.Category, Side: string(side.side), Prompt: it.Prompt, Expected: validation.Describe(it), Weight: it.Weight, Cluster: it.Cluster}
			row.Before, row.BeforeTrials = rate(before, it.ID)
			row.After, row.AfterTrials = rate(after, it.ID)
			out = append(out, row)
		}
	}
	return out, nil
}

func rate(m validation.Measured, id string) (*float64, int) {
	r, ok := m.Rate(id)
	if !ok {
		return nil, 0
	}
	n := 0
	for _, v := range m.Verdicts {
		if v.Item == id {
			n++
		}
	}
	return &r, n
}

// what each baseline is, for the report.
var baselineWords = map[string]string{
	activities.BaselineAppend:  "every correction of the train part as a line at the end of the file",
	activities.BaselineOneShot: "the model rewrites the whole body once, from the same corrections",
}

// baselines are what simpler ways reached on the items that the result is reported on.
func (m measurements) baselines(ctx context.Context) ([]report.Baseline, error) {
	kept, err := m.s.Store.Baselines(ctx, m.run.ID)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	side, stage, on := validation.Test, "test", report.OnTest
	items, err := m.s.Store.RunItems(ctx, m.run.ID, side)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		side, stage, on = validation.Selection, "baseline", report.OnSelection
		if items, err = m.s.Store.RunItems(ctx, m.run.ID, side); err != nil {
			return nil, err
		}
	}
	r := m.run.Result
	before, err := m.at(ctx, stage, r.HashBefore, items)
	if err != nil {
		return nil, err
	}
	loopStage := stage
	if side == validation.Selection {
		steps, err := m.s.Store.Steps(ctx, m.run.ID)
		if err != nil {
			return nil, err
		}
		for _, st := range steps {
			if st.Outcome == validation.Accepted && st.Candidate == r.HashAfter {
				loopStage = activities.ScoreSite(st.Step, st.Try, st.Judge, m.params())
			}
		}
	}
	loop, err := m.at(ctx, loopStage, r.HashAfter, items)
	if err != nil {
		return nil, err
	}
	score := func(b *report.Baseline, x validation.Measured) {
		v := x.Score()
		if side == validation.Test {
			b.Test = v
		} else {
			b.Selection = v
		}
		b.Interval = validation.Interval(x, loop, optimizer.SeedFor(m.run.Seed, "baseline", b.Name))
	}
	none := report.Baseline{Name: "no change", What: "the file as it was", On: on}
	score(&none, before)
	out := []report.Baseline{none}
	for _, k := range kept {
		b := report.Baseline{Name: k.Name, What: baselineWords[k.Name], On: on, Note: k.Note}
		if k.Hash != "" {
			x, err := m.at(ctx, activities.BaselineSite(k.Name), k.Hash, items)
			if err != nil {
				return nil, err
			}
			score(&b, x)
			if b.Test == nil && b.Selection == nil && b.Note == "" {
				b.Note = "not measured to the end"
			}
		}
		out = append(out, b)
	}
	full := report.Baseline{Name: "full loop", What: "this run", On: on, SpentUSD: r.SpentUSD, Calls: r.Calls}
	score(&full, loop)
	full.Interval = nil
	return append(out, full), nil
}
