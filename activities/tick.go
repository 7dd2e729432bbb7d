package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"whetstone/claim"
	"whetstone/wiki/folder"
)

// PickWikiIn asks which wiki a tick takes.
type PickWikiIn struct {
	// PerDay caps what all ticks of a day (UTC) may spend, in dollars; nil is no cap beyond each wiki's own budget.
	PerDay *float64
}

// PickWikiOut is the wiki, or why there is none.
type PickWikiOut struct {
	Wiki      string
	BudgetUSD *float64 // what is left of the day; nil leaves the wiki's own budget
	Why       string
}

// MarkTickIn notes how a tick went.
type MarkTickIn struct {
	Wiki   string
	Failed string
}

// MarkTickOut is empty.
type MarkTickOut struct{}

// PickWiki takes the opted-in wiki that waited longest: one that never had a tick first, then the oldest tick, then the
// name. Wikis whose last tick failed wait for their backoff, and none is taken more often than it wants.
func (a *Activities) PickWiki(ctx context.Context, in PickWikiIn) (PickWikiOut, error) {
	defer beat(ctx)()
	now := a.o.Now()
	if a.killed() {
		return PickWikiOut{Why: "the kill file exists"}, nil
	}
	var out PickWikiOut
	if in.PerDay != nil {
		day := time.Date(now.UTC().Year(), now.UTC().Month(), now.UTC().Day(), 0, 0, 0, 0, time.UTC)
		spent, err := a.o.Store.TickSpend(ctx, day)
		if err != nil {
			return out, err
		}
		left := max(*in.PerDay-spent.USD(), 0)
		if left == 0 && *in.PerDay > 0 {
			return PickWikiOut{Why: fmt.Sprintf("the $%.2f of this day are spent", *in.PerDay)}, nil
		}
		out.BudgetUSD = &left
	}
	ws, err := a.o.Store.Wikis(ctx)
	if err != nil {
		return out, err
	}
	slices.SortStableFunc(ws, func(x, y claim.Wiki) int {
		switch {
		case x.LastTick == nil && y.LastTick != nil:
			return -1
		case x.LastTick != nil && y.LastTick == nil:
			return 1
		case x.LastTick != nil && !x.LastTick.Equal(*y.LastTick):
			return x.LastTick.Compare(*y.LastTick)
		}
		return strings.Compare(x.Slug, y.Slug)
	})
	var why []string
	for _, w := range ws {
		reason, budget := a.notNow(w, now)
		if reason != "" {
			why = append(why, w.Slug+": "+reason)
			continue
		}
		out.Wiki = w.Slug
		if out.BudgetUSD != nil && budget != nil && *budget < *out.BudgetUSD {
			out.BudgetUSD = budget
		}
		return out, nil
	}
	if len(ws) == 0 {
		why = []string{"there are no wikis"}
	}
	return PickWikiOut{Why: strings.Join(why, "; ")}, nil
}

// notNow says why a wiki gets no tick now, "" if it may have one, and its own budget.
func (a *Activities) notNow(w claim.Wiki, now time.Time) (string, *float64) {
	if w.TickBefore != nil && w.TickBefore.After(now) {
		return "its last tick failed, it waits until " + w.TickBefore.UTC().Format("2006-01-02 15:04") + " UTC", nil
	}
	d, err := folder.Open(w.Root)
	if err != nil {
		return "its folder can not be opened", nil
	}
	defer func() { _ = d.Close() }()
	cfg, err := d.Config()
	if err != nil {
		return err.Error(), nil
	}
	if cfg.Research.Enabled == nil || !*cfg.Research.Enabled {
		return "not opted in", nil
	}
	if iv := cfg.Research.MinInterval; w.LastTick != nil && now.Sub(*w.LastTick) < iv {
		return "its min_interval is not over", nil
	}
	budget := defaultBudget
	if cfg.Research.BudgetUSD != nil {
		budget = *cfg.Research.BudgetUSD
	}
	return "", &budget
}

// MarkTick notes that a wiki had its tick. One that failed backs off, an hour at first and a day at most; it is never put
// off for ever.
func (a *Activities) MarkTick(ctx context.Context, in MarkTickIn) (MarkTickOut, error) {
	defer beat(ctx)()
	now := a.o.Now()
	if in.Failed == "" {
		return MarkTickOut{}, a.o.Store.MarkTick(ctx, in.Wiki, now, "", nil)
	}
	w, err := a.o.Store.Wiki(ctx, in.Wiki)
	if err != nil {
		return MarkTickOut{}, err
	}
	wait := min(time.Hour<<min(w.TickFailures, 5), 24*time.Hour)
	until := now.Add(wait)
	return MarkTickOut{}, a.o.Store.MarkTick(ctx, in.Wiki, now, oneLine(in.Failed, 300), &until)
}
