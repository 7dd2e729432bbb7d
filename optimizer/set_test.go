package optimizer

import (
	"slices"
	"strings"
	"testing"

	"whetstone/model"
	"whetstone/skill"
)

const mainText = "---\nname: x\n---\n# X\n\n- Shared line.\n- Mock the database.\n"

func newTestSet(t *testing.T, parts ...skill.Part) *Set {
	t.Helper()
	p, err := skill.NewPackage(append([]skill.Part{{Path: skill.Main, Text: mainText}}, parts...))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSet(p.Join())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var refA = skill.Part{Path: "references/a.md", Text: "# A\r\n\r\n- Shared line.\r\n- Old.\r\n"}

func TestPatchesOfAPackageMeetWithinOneFileOnly(t *testing.T) {
	s := newTestSet(t, refA)
	edits, refused := s.Aggregate([]Patch{
		{Op: Replace, Anchor: "- Shared line.", Payload: "- Mine."},
		{Op: Replace, Anchor: "- Shared line.", Payload: "- Theirs.", File: "./references/a.md"},
		{Op: Replace, Anchor: "- Shared line.", Payload: "- Mine.", File: "SKILL.md"},
		{Op: Add, Payload: "- X.", File: "references/none.md"},
		{Op: Delete, Anchor: "name: x"},
	})
	if len(edits) != 2 || edits[0].Support != 2 || edits[0].Patch.File != "" || edits[1].Patch.File != "references/a.md" {
		t.Fatalf("edits %+v", edits)
	}
	if !slices.ContainsFunc(refused, func(r Refused) bool { return r.Reason == NoFile }) || !slices.ContainsFunc(refused, func(r Refused) bool { return r.Reason == AnchorMissing }) || len(refused) != 2 {
		t.Errorf("refused %+v", refused)
	}
	text, err := s.Apply(edits)
	if err != nil {
		t.Fatal(err)
	}
	p := skill.Split(text)
	if want := strings.Replace(mainText, "- Shared line.", "- Mine.", 1); p.Main() != want {
		t.Errorf("the skill file is %q", p.Main())
	}
	if got, _ := p.Text(refA.Path); got != strings.Replace(refA.Text, "- Shared line.", "- Theirs.", 1) {
		t.Errorf("the reference is %q", got)
	}
	if got := Changed(s.Package().Join(), text); !slices.Equal(got, []string{skill.Main, refA.Path}) {
		t.Errorf("changed %v", got)
	}
	// What is resolved again from the record has the same key.
	for _, e := range edits {
		if again, err := s.Resolve(e.Patch); err != nil || again.Key != e.Key {
			t.Errorf("%s became %s (%v)", e.Key, again.Key, err)
		}
	}
}

func TestAnEditHasAnotherKeyInAnotherFile(t *testing.T) {
	same := skill.Part{Path: "references/a.md", Text: "# X\n\n- Shared line.\n- Mock the database.\n"}
	s := newTestSet(t, same)
	a, err := s.Resolve(Patch{Op: Delete, Anchor: "- Shared line."})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Resolve(Patch{Op: Delete, Anchor: "- Shared line.", File: same.Path})
	if err != nil || a.Key == b.Key {
		t.Errorf("keys %s and %s (%v)", a.Key, b.Key, err)
	}
	alone, err := NewDoc(same.Text).Resolve(Patch{Op: Delete, Anchor: "- Shared line."})
	if err != nil || alone.Key != a.Key {
		t.Errorf("the key of an edit of the skill file depends on the package: %s, %s (%v)", alone.Key, a.Key, err)
	}
}

func TestEveryFileHasASizeOfItsOwn(t *testing.T) {
	s := newTestSet(t, refA)
	long := "- " + strings.Repeat("word ", 20) + "end."
	edits, _ := s.Aggregate([]Patch{{Op: Add, Payload: long}, {Op: Add, Payload: long, File: refA.Path}})
	for name, c := range map[string]struct {
		main, ref int
		want      []string
	}{
		"both are small enough":      {1000, 1000, []string{"", refA.Path}},
		"the skill file is too long": {50, 1000, []string{refA.Path}},
		"the reference is too long":  {1000, 50, []string{""}},
	} {
		taken, clipped := s.Select(edits, Limits{Patches: 9, Adds: 9, MaxBody: c.main, MaxReference: c.ref})
		var got []string
		for _, e := range taken {
			got = append(got, e.Patch.File)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || len(taken)+len(clipped) != 2 {
			t.Errorf("%s: taken in %q", name, got)
		}
	}
}

func TestTheFrontmatterOfAReferenceIsProtected(t *testing.T) {
	s := newTestSet(t, skill.Part{Path: "references/a.md", Text: "---\ntitle: t\n---\nBody.\n"}, skill.Part{Path: "references/b.md", Text: "---\nA rule, and no frontmatter.\n"})
	if _, err := s.Resolve(Patch{Op: Delete, Anchor: "title: t", File: "references/a.md"}); err == nil || err.Reason != AnchorMissing {
		t.Errorf("a patch of a reference's frontmatter: %v", err)
	}
	if _, err := s.Resolve(Patch{Op: Replace, Anchor: "A rule", Payload: "A line", File: "references/b.md"}); err != nil {
		t.Errorf("a rule at the top counts as frontmatter: %v", err)
	}
}

func TestPackagesMergeFileByFile(t *testing.T) {
	s := newTestSet(t, refA)
	change := func(p Patch) *Set {
		e, err := s.Resolve(p)
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.Apply([]Edit{e})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := NewSet(text)
		return out
	}
	a := change(Patch{Op: Replace, Anchor: "Mock", Payload: "Never mock"})
	b := change(Patch{Op: Replace, Anchor: "Old.", Payload: "New.", File: refA.Path})
	bodies, ok := a.Merge(s, b)
	if !ok || !strings.Contains(bodies[""], "Never mock") || !strings.Contains(bodies[refA.Path], "New.") {
		t.Errorf("merged %v %q", ok, bodies)
	}
	if _, ok := a.Merge(s, s); ok {
		t.Error("a merge with the base is new")
	}
	if _, ok := s.Merge(s, b); ok {
		t.Error("a merge of the base is new")
	}
}

func TestOnlyAPackageHasFilesInItsPrompt(t *testing.T) {
	in := ReflectInput{Skill: mainText, MaxPatches: 2, Train: []model.Trajectory{{ID: "i", Expected: "x"}}, Rejections: []Rejection{{Reason: "r", Patches: []Patch{{Op: Delete, Anchor: "y", File: refA.Path}}}}}
	whole := func() string { m := ReflectMessages(in); return m[0].Content + m[1].Content }
	if p := whole(); strings.Contains(p, `"file"`) || strings.Contains(p, "reference_file") || in.Schema() != ReflectSchema {
		t.Error("the prompt of a skill file alone tells of references")
	}
	in.References = []skill.Part{refA}
	p := whole()
	for _, want := range []string{`"file"`, "<reference_file path=\"references/a.md\">\n# A\r\n", "delete in references/a.md at"} {
		if !strings.Contains(p, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if in.Schema() != PackageSchema {
		t.Error("the schema has no file")
	}
}
