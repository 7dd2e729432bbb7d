package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"whetstone/model"
	"whetstone/run"
	"whetstone/validation"
)

// Nights is the port to what is remembered of nightly training.
type Nights interface {
	LastNight(ctx context.Context, skillKey, path string) (r run.Run, found bool, err error)
	NightSpend(ctx context.Context) (model.NanoUSD, error)
}

// OpenNightIn asks whether a night has anything to do.
type OpenNightIn struct {
	Params run.Params
	// PerDay caps what all nights of a day (UTC) may spend together, in dollars; nil is no cap.
	PerDay *float64
}

// OpenNightOut is what the night's run is started with, or why there is none.
type OpenNightOut struct {
	Params run.Params
	Memo   string // Params, as the run's memo keeps them
	Skip   string // why this night has no run; "" where it has one
}

// OpenNight decides whether a night trains its skill, and with what. It pays for nothing: what is new is found by
// comparing the file and the items that a run would freeze now with those of the last night that came to a decision.
func (a *Activities) OpenNight(ctx context.Context, in OpenNightIn) (OpenNightOut, error) {
	defer beat(ctx)()
	if a.killed() {
		return OpenNightOut{Skip: "the kill file exists"}, nil
	}
	p := in.Params
	p.Night, p.NightUSD = true, in.PerDay
	f, text, err := ReadSkill(p.SkillPath, p.Plain)
	if err != nil {
		return OpenNightOut{}, err
	}
	if p.Items != "" { // what the file holds tonight counts, and not what it held when the schedule was made
		if _, p.ItemsHash, err = ItemsFile(p.Items); err != nil {
			return OpenNightOut{}, err
		}
	}
	items, _, err := a.items(ctx, Job{Params: p}, f)
	if err != nil {
		return OpenNightOut{}, err
	}
	sum := sha256.Sum256([]byte(text))
	skip, err := a.nothingNew(ctx, p, hex.EncodeToString(sum[:]), items)
	if err != nil || skip != "" {
		return OpenNightOut{Skip: skip}, err
	}
	if in.PerDay != nil {
		spent, err := a.o.Store.NightSpend(ctx)
		if err != nil {
			return OpenNightOut{}, err
		}
		left := max(*in.PerDay-spent.USD(), 0)
		if left == 0 && *in.PerDay > 0 {
			return OpenNightOut{Skip: fmt.Sprintf("the $%.2f that the nights of a day may spend together are spent", *in.PerDay)}, nil
		}
		p.BudgetUSD = min(p.BudgetUSD, left)
	}
	memo, err := json.Marshal(p)
	if err != nil {
		return OpenNightOut{}, fmt.Errorf("open the night of %s: %w", p.SkillKey, err)
	}
	return OpenNightOut{Params: p, Memo: string(memo)}, nil
}

// CloseNightIn names the run of a night that failed.
type CloseNightIn struct{ RunID string }

// CloseNightOut is what it has spent nevertheless, in dollars.
type CloseNightOut struct{ SpentUSD float64 }

// CloseNight tells what a night's run has spent, where the run itself can not say it any more.
func (a *Activities) CloseNight(ctx context.Context, in CloseNightIn) (CloseNightOut, error) {
	defer beat(ctx)()
	spent, _, err := a.o.Store.Spent(ctx, in.RunID)
	return CloseNightOut{SpentUSD: spent.USD()}, err
}

// nothingNew says why another run would find what the last night found, "" where it may find something else. A night that
// was stopped, failed or lacked evidence decided nothing: the next one tries again.
func (a *Activities) nothingNew(ctx context.Context, p run.Params, hash string, items []validation.Item) (string, error) {
	last, found, err := a.o.Store.LastNight(ctx, p.SkillKey, p.SkillPath)
	if err != nil || !found || last.Result == nil || last.Result.Params == nil || last.HashBefore != hash {
		return "", err
	}
	accepted := last.Outcome == run.Accepted
	if accepted && (last.Result.Delivered == "none" || last.Result.Params.Deliver != p.Deliver) {
		return "", nil
	}
	before, err := choices(*last.Result.Params)
	if err != nil {
		return "", err
	}
	now, err := choices(p)
	if err != nil || before != now {
		return "", err
	}
	frozen, err := a.o.Store.RunItems(ctx, last.ID, "")
	if err != nil || !slices.Equal(identities(frozen), identities(items)) {
		return "", err
	}
	same := fmt.Sprintf("nothing new since run %s: the same skill file, the same %d item(s), the same learnings", last.ID, len(items))
	if accepted {
		return same + "; its result was accepted and is not in the file yet", nil
	}
	return same + "; it ended with no improvement", nil
}

// choices is what a run was asked to do, without what bounds it and without what becomes of its result.
func choices(p run.Params) (string, error) {
	p.BudgetUSD, p.MaxCalls, p.TimeoutSec, p.NightUSD, p.Record, p.Report, p.Deliver, p.Review = 0, 0, 0, nil, "", "", "", false
	b, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("compare the choices of two nights: %w", err)
	}
	return string(b), nil
}

// identities names items with the learnings they were made of, in an order of their own.
func identities(items []validation.Item) []string {
	out := make([]string, len(items))
	for i, it := range items {
		of := slices.Sorted(slices.Values(it.Learning))
		out[i] = it.ID + " " + strings.Join(of, " ")
	}
	slices.Sort(out)
	return out
}
