package activities

import (
	"context"
	"fmt"
	"math"

	"whetstone/evidence"
	"whetstone/run"
	"whetstone/validation"
)

// Screen measures a part of a refused bundle on the items that triage looks at, and on those that fell under the bundle: once,
// and a single edit up to validation.CreditTrials times while it is not clear. The parent's verdicts are drawn once for all
// parts of a bundle, and those of the look that refused it count as well. A part that shows a gain is kept; a single edit that shows a
// clear loss is remembered as harmful and not tried again for this skill. Screening spends no alpha and accepts nothing: what
// is kept goes through the gate together.
func (a *Activities) Screen(ctx context.Context, in ScreenIn) (ScreenOut, error) {
	defer beat(ctx)()
	out, err := a.screen(ctx, in)
	if reason, ok := stopReason(err); ok {
		return ScreenOut{Stopped: reason}, nil
	}
	return out, translate(err)
}

func (a *Activities) screen(ctx context.Context, in ScreenIn) (ScreenOut, error) {
	text, refusal, err := a.assemble(ctx, in.Job, in.Parent, run.KindStep, in.Step, in.Keys)
	if err != nil || refusal != "" {
		return ScreenOut{}, err
	}
	part, err := a.o.Store.PutText(ctx, text)
	if err != nil {
		return ScreenOut{}, err
	}
	l, err := a.lookAt(ctx, in.Job, in.Step, in.Try, "", in.Parent, in.ParentStage, in.Candidate, nil, in.Gate)
	if err != nil {
		return ScreenOut{}, err
	}
	read := a.recorded(ctx, in.Job.RunID)
	s, err := l.Sights(read)
	if err != nil {
		return ScreenOut{}, err
	}
	var items []validation.Item
	fell := map[string]bool{}
	chosen := map[int]bool{}
	for _, i := range l.Design().TriageItems(s, l.Seed()) {
		chosen[i] = true
	}
	for i, x := range s {
		if x.Main[0].N > 0 && x.Main[0].Rate()-x.Main[1].Rate() > validation.VetoFall {
			chosen[i], fell[x.Item] = true, true
		}
	}
	for i, it := range l.Held {
		if chosen[i] {
			items = append(items, it)
		}
	}
	before, err := parentBefore(l, read)
	if err != nil {
		return ScreenOut{}, err
	}
	l.Candidate = part
	most := validation.CreditTrials(len(items), len(l.Held), l.Trials)
	var word validation.Credited
	for trial := 0; ; trial++ {
		if err := a.draw(ctx, in.Job, l, l.Site(evidence.StageCredit), items, trial, 1, false); err != nil {
			return ScreenOut{}, err
		}
		parent, candidate, err := l.Sides(read, evidence.StageCredit, items)
		if err != nil {
			return ScreenOut{}, err
		}
		// The parent may have trials that another part asked for, and after a crash the part may: the word is on as many of both.
		if word = validation.Credit(parent.Before(trial+1).With(before), candidate.Before(trial+1), fell, len(in.Keys) == 1, trial+1, most); !word.More {
			break
		}
	}
	if word.Harmful {
		err = a.o.Store.PutHarmful(ctx, run.Harmful{
			SkillKey: in.Job.Params.SkillKey, Edit: in.Keys[0], Parent: in.Parent, Manifest: in.Gate.Manifest, Judge: judgeName(in.Job), RunID: in.Job.RunID,
			Reason: fmt.Sprintf("alone it loses %.1f of %d held-out items", math.Abs(word.Gain), len(items)),
		})
	}
	return ScreenOut{Keep: word.Keep}, err
}

// parentBefore are the parent's verdicts of the look that refused the bundle. Credit accepts nothing, so that they may be used
// once more.
func parentBefore(l evidence.Look, read evidence.Verdicts) ([]validation.Verdict, error) {
	var out []validation.Verdict
	for _, stage := range []string{validation.StageTriage, validation.StageMain} {
		vs, err := read(l.Site(stage), l.Parent)
		if err != nil {
			return nil, err
		}
		for _, v := range vs {
			if v.State != validation.Missing && v.Trial < l.Trials { // further trials are of some items only, chosen by their verdicts
				out = append(out, v)
			}
		}
	}
	return out, nil
}
