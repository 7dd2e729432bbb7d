package activities

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"whetstone/learning"
	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

// The tests of this file are named after faults of the reference implementation; docs/faults.md lists them all.

// A project that is called as the skill is no link: learnings train a skill because somebody linked them, because the skill claims
// their category, or because --match was given.
func TestFaultProjectNameUsedAsSkillSlug(t *testing.T) {
	p := newPlace(t)
	var ls []learning.Learning
	for _, r := range rules {
		ls = append(ls, learning.Learning{Status: learning.Approved, Category: "testing", Rule: r, Project: "demo", CreatedAt: time.Now().Add(-time.Hour), ValidFrom: time.Now().Add(-time.Hour)})
	}
	if _, err := p.store.AddLearnings(t.Context(), ls); err != nil {
		t.Fatal(err)
	}
	_, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err == nil || !strings.Contains(err.Error(), "8 are needed") || !strings.Contains(err.Error(), "learn link") {
		t.Errorf("%v", err)
	}
	p.write("SKILL.md", strings.Replace(skillText, "description: d\n", "description: d\nmetadata:\n  whetstone-categories: testing\n", 1))
	p.job.RunID = "run-2"
	if pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()}); err != nil || pre.Counts.Train == 0 {
		t.Errorf("a claimed category: %+v, %v", pre, err)
	}
}

// What a run froze stays, whatever becomes of the learnings: also where preflight itself is executed again.
func TestFaultFrozenRowsOverwritten(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	frozen := func() []validation.Item {
		items, err := p.store.RunItems(t.Context(), p.job.RunID, "")
		if err != nil {
			t.Fatal(err)
		}
		return items
	}
	first, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	before := frozen()
	all, err := p.store.Learnings(t.Context(), learning.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.store.SetStatus(t.Context(), []string{all[0].ID}, learning.Rejected); err != nil {
		t.Fatal(err)
	}
	edited := all[1]
	edited.Rule += " and nowhere else at all"
	if err := p.store.EditLearning(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	var more []string
	for i := range 12 {
		more = append(more, fmt.Sprintf("a newcomer number %d asks for something of its own %d", i, i*i))
	}
	p.learn(more...)
	if !reflect.DeepEqual(frozen(), before) {
		t.Error("the frozen items follow the learnings")
	}
	again, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(frozen(), before) {
		t.Errorf("%d items, then %d", len(before), len(frozen()))
	}
	if again.Gate != first.Gate || again.TrainItems != first.TrainItems || again.TestManifest != first.TestManifest || again.Counts != first.Counts {
		t.Errorf("first %+v\nagain %+v", first, again)
	}
}

// pricing knows no price of some providers.
type pricing struct{ *models }

func (p pricing) Price(r model.Ref) (model.Price, error) {
	if r.Provider == "unknown" {
		return model.Price{}, fmt.Errorf("no price of %s is known: set it with --price", r)
	}
	return model.Price{}, nil
}

// Every model that a run may call has a price before the run begins.
func TestFaultUnknownModelThrowsAfterTheRunHasBegun(t *testing.T) {
	for name, change := range map[string]func(*run.Params){
		"the reflecting model": func(p *run.Params) { p.Provider = "unknown:x" },
		"a fallback":           func(p *run.Params) { p.Fallback = []string{"unknown:x"} },
		"the judge":            func(p *run.Params) { p.Judge = "unknown:x" },
		"the second judge":     func(p *run.Params) { p.Judge2 = "unknown:x" },
		"the target":           func(p *run.Params) { p.Mode, p.Target = ModeRollout, "unknown:x" },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.learn(rules...)
			p.a.o.Models = pricing{p.m}
			change(&p.job.Params)
			_, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
			if err == nil || !strings.Contains(err.Error(), "unknown:x") || !strings.Contains(err.Error(), "--price") {
				t.Errorf("%v", err)
			}
			if runs, err := p.store.Runs(t.Context(), 0); err != nil || len(runs) > 0 || len(p.m.requests()) > 0 {
				t.Errorf("%d runs, %d calls, %v", len(runs), len(p.m.requests()), err)
			}
		})
	}
}

// A skill over the size cap may shrink, step by step, and may not grow.
func TestFaultSkillOverTheCapCannotEvenShrink(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	text := strings.Replace(skillText, "- Keep tests small.\n", "- Keep tests small.\n- A long line: "+strings.Repeat("blah ", 80)+"\n- Another one: "+strings.Repeat("blub ", 80)+"\n", 1)
	p.write("SKILL.md", text)
	p.job.Params.MaxTokens = 100 // 300 bytes; the body has about 1000
	pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(f.Body, "\n")
	long := ""
	for _, l := range lines {
		if strings.HasPrefix(l, "- A long line") {
			long = l
		}
	}
	for i, c := range []struct {
		patch optimizer.Patch
		built bool
	}{
		{optimizer.Patch{Op: optimizer.Delete, Anchor: long}, true}, // still over the cap, and smaller
		{optimizer.Patch{Op: optimizer.Replace, Anchor: long, Payload: "- A short line."}, true},
		{optimizer.Patch{Op: optimizer.Add, Anchor: "- Keep tests small.", Payload: "- More."}, false},
		{optimizer.Patch{Op: optimizer.Replace, Anchor: long, Payload: long + " and longer."}, false},
	} {
		step := i + 1
		e, perr := optimizer.NewDoc(f.Body).Resolve(c.patch)
		if perr != nil {
			t.Fatal(perr)
		}
		rec := run.PatchRecord{RunID: "run-1", Step: step, Key: e.Key, Op: string(c.patch.Op), Anchor: c.patch.Anchor, Payload: c.patch.Payload, State: "selected"}
		if err := p.store.PutPatches(t.Context(), "run-1", step, []run.PatchRecord{rec}); err != nil {
			t.Fatal(err)
		}
		out, err := p.a.Build(t.Context(), BuildIn{Job: p.job, Hash: pre.Hash, Against: pre.Hash, Step: step, Keys: []string{e.Key}})
		if err != nil || (out.Hash != "") != c.built || (out.Refused != "") == c.built {
			t.Errorf("%s %q: %+v, %v", c.patch.Op, c.patch.Payload, out, err)
		}
		if !c.built && !strings.Contains(out.Refused, "over the cap") {
			t.Errorf("refused because of %q", out.Refused)
		}
	}
}

// An edit that a person makes while a run goes on survives every way of delivery, byte for byte where there is no conflict.
func TestFaultUsersEditsOverwritten(t *testing.T) {
	after := strings.Replace(skillText, "- Keep tests small.", "- Keep tests tiny.", 1)
	for _, how := range []string{"write", "stage", "ask"} {
		for name, mine := range map[string]string{
			"elsewhere":         strings.Replace(skillText, "- Keep commits small.", "- Keep commits signed.", 1),
			"on the same line":  strings.Replace(skillText, "- Keep tests small.", "- Keep tests short.", 1),
			"the whole file":    "something else\n",
			"the file is empty": "",
		} {
			t.Run(how+", "+name, func(t *testing.T) {
				p := newPlace(t)
				for _, s := range []string{skillText, after} {
					if _, err := p.store.PutText(t.Context(), s); err != nil {
						t.Fatal(err)
					}
				}
				p.write("SKILL.md", mine)
				p.job.Params.Deliver = how
				out, err := p.a.Deliver(t.Context(), DeliverIn{Job: p.job, Before: skill.Hash(skillText), After: skill.Hash(after)})
				if err != nil {
					t.Fatal(err)
				}
				if p.read("SKILL.md") != mine || out.Delivered != "staged" || out.Why == "" {
					t.Errorf("%+v: the file is %q", out, p.read("SKILL.md"))
				}
				proposal := p.read("SKILL.md.proposed")
				for _, line := range strings.Split(strings.TrimSpace(mine), "\n") {
					if !strings.Contains(skillText, line) && !strings.Contains(proposal, line) {
						t.Errorf("the proposal lost %q:\n%s", line, proposal)
					}
				}
				if !strings.Contains(proposal, "- Keep tests tiny.") {
					t.Errorf("the proposal lost the result:\n%s", proposal)
				}
			})
		}
	}
}
