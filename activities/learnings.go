package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"whetstone/internal/mdblock"
	"whetstone/learning"
	"whetstone/run"
	"whetstone/skill"
)

// learningsFor finds the learnings that train a skill: those linked to it, then unlinked ones of a category that the
// skill claims, then, on request, unlinked ones that its name, description and headings match. Only approved and
// presently valid ones count, and pending ones on request.
func (a *Activities) learningsFor(ctx context.Context, p run.Params, f *skill.File) ([]learning.Learning, error) {
	all, err := a.o.Store.Learnings(ctx, learning.Filter{})
	if err != nil {
		return nil, err
	}
	matched := map[string]bool{}
	if p.Match {
		ids, err := a.o.Store.SearchIDs(ctx, matchQuery(f), 100)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			matched[id] = true
		}
	}
	now := a.o.Now()
	var out []learning.Learning
	for _, l := range all {
		if l.Status != learning.Approved && (!p.Pending || l.Status != learning.Pending) {
			continue
		}
		if l.ValidTo != nil && !l.ValidTo.After(now) || l.ValidFrom.After(now) {
			continue
		}
		switch {
		case slices.Contains(l.Skills, p.SkillKey):
		case len(l.Skills) > 0:
			continue
		case !claims(f.Categories, l.Category) && !matched[l.ID]:
			continue
		}
		out = append(out, l)
	}
	return out, nil
}

func claims(categories []string, category string) bool {
	return slices.ContainsFunc(categories, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), strings.TrimSpace(category)) })
}

func matchQuery(f *skill.File) string {
	q := []string{f.Name, f.Description}
	for _, l := range mdblock.Scan(f.Body) {
		if l.Kind == mdblock.Text && strings.HasPrefix(l.Text, "#") {
			q = append(q, strings.Trim(l.Text, "# "))
		}
	}
	return strings.Join(q, " ")
}

// tooFew explains what is missing and how to link what there is.
func (a *Activities) tooFew(ctx context.Context, p run.Params, f *skill.File, used []learning.Learning, items int) error {
	all, err := a.o.Store.Learnings(ctx, learning.Filter{Status: learning.Pending})
	if err != nil {
		return err
	}
	var pending []string
	for _, l := range all {
		if slices.Contains(l.Skills, p.SkillKey) {
			pending = append(pending, l.ID)
		}
	}
	msg := fmt.Sprintf("train %s: %d learning(s) are linked to it and make %d testable item(s); %d are needed", p.SkillKey, len(used), items, MinItems)
	if len(pending) > 0 && !p.Pending {
		return InputError("%s: %d more are pending: look at them with `starter learn list --status pending` and approve what is right with `starter learn approve %s`, or use --include-pending", msg, len(pending), joinQuoted(pending, 12))
	}
	ids, err := a.o.Store.SearchIDs(ctx, matchQuery(f), 20)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return slices.ContainsFunc(used, func(l learning.Learning) bool { return l.ID == id })
	})
	if len(ids) > 0 {
		return InputError("%s: link some that fit with `starter learn link %s --skill %s`, import more with --import FILE, or let --match choose", msg, joinQuoted(ids, 12), p.SkillKey)
	}
	return InputError("%s: import some with --import FILE, or approve captured ones with `starter learn approve ID...`", msg)
}
