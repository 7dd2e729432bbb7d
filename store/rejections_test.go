package store

import (
	"fmt"
	"testing"

	"whetstone/run"
)

// What is known against edits leaves out what could not be proven and what may have a good part; edits that did harm alone come with
// their text, once each, unless it was forgotten.
func TestWhatIsKnownAgainstEdits(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	for _, r := range []run.Rejection{
		{Bundle: "a", SkillKey: "x", Reason: "established"},
		{Bundle: "b", SkillKey: "x", Reason: "may be chance", Unproven: true},
		{Bundle: "c", SkillKey: "x", Reason: "has a good part", Divisible: true},
		{Bundle: "d", SkillKey: "y", Reason: "of another skill"},
	} {
		r.Patches = []run.PatchRecord{{Op: "add", Payload: r.Reason}}
		must(t, s.PutRejection(ctx, r))
	}
	if r, _, err := s.Rejection(ctx, "b"); err != nil || !r.Unproven {
		t.Errorf("%+v (%v)", r, err)
	}
	for _, id := range []string{"r1", "r2"} {
		must(t, s.BeginRun(ctx, run.Run{ID: id, WorkflowID: id, SkillKey: "x", SkillName: "x", SkillPath: "/x", Provider: "p", Judge: "j", Mode: "judge", Goal: "improve"}))
		must(t, s.PutPatches(ctx, id, 1, []run.PatchRecord{
			{Key: "bad", Op: "replace", Anchor: "here", Payload: "worse", File: "references/a.md", State: "selected"},
			{Key: "gone", Op: "add", Payload: Withheld, State: "selected"},
			{Key: "fine", Op: "add", Payload: "better", State: "selected"},
		}))
		for _, edit := range []string{"bad", "gone"} {
			must(t, s.PutHarmful(ctx, run.Harmful{SkillKey: "x", Edit: edit, Parent: "p-" + id, Manifest: "m", Judge: "j", RunID: id, Reason: "alone it loses 4.0 of 9"}))
		}
	}
	got, err := s.Established(ctx, "x", 10)
	must(t, err)
	if len(got) != 2 || got[0].Bundle != "a" || got[0].Patches[0].Payload != "established" {
		t.Fatalf("%+v", got)
	}
	if p := got[1].Patches; got[1].Reason != "alone it loses 4.0 of 9" || len(p) != 1 || p[0].Op != "replace" || p[0].Anchor != "here" || p[0].Payload != "worse" || p[0].File != "references/a.md" {
		t.Errorf("%+v", got[1])
	}
	for limit := range 3 {
		if got, err := s.Established(ctx, "x", limit); err != nil || len(got) != limit {
			t.Errorf("at most %d: %d (%v)", limit, len(got), err)
		}
	}
	for i := range 5 {
		must(t, s.PutRejection(ctx, run.Rejection{Bundle: fmt.Sprint(i), SkillKey: "x", Patches: []run.PatchRecord{}}))
	}
	if got, err := s.Established(ctx, "x", 3); err != nil || len(got) != 3 || got[2].Bundle == "" {
		t.Errorf("bundles give way to edits: %+v (%v)", got, err)
	}
}
