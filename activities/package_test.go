package activities

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whetstone/model"
	"whetstone/skill"
)

const refText = "# Tests\n\n- Mock the database in repository tests.\n"

// packed is a place whose skill has a reference.
func packed(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	if err := os.Mkdir(filepath.Join(p.dir, "references"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("references/tests.md", refText)
	return p
}

func TestAPackageIsDeliveredFileByFile(t *testing.T) {
	const newRef = "# Tests\n\n- Never mock the database in repository tests.\n"
	deliver := func(t *testing.T, p *place, how string) DeliverOut {
		t.Helper()
		_, pkg, err := ReadPackage(p.job.Params.SkillPath, false)
		if err != nil {
			t.Fatal(err)
		}
		p.job.Params.Deliver = how
		before := pkg.With(map[string]string{skill.Main: skillText, "references/tests.md": refText})
		after := before.With(map[string]string{skill.Main: strings.Replace(skillText, "- Keep tests small.", "- Keep tests small and fast.", 1), "references/tests.md": newRef})
		in := DeliverIn{Job: p.job}
		for text, into := range map[string]*string{before.Join(): &in.Before, after.Join(): &in.After} {
			if *into, err = p.store.PutText(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		out, err := p.a.Deliver(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	attested := func(p *place, path string) bool {
		as, err := p.store.Attestations(t.Context(), filepath.Join(p.dir, path))
		return err == nil && len(as) > 0 && as[0].Hash == skill.Hash(p.read(path))
	}
	t.Run("all files are written where all are as they were", func(t *testing.T) {
		p := packed(t)
		if out := deliver(t, p, "write"); out.Delivered != "written" || p.read("references/tests.md") != newRef || !strings.Contains(p.read("SKILL.md"), "small and fast") {
			t.Errorf("%+v", out)
		}
		if !attested(p, "SKILL.md") || !attested(p, "references/tests.md") {
			t.Error("a file is not attested")
		}
		vs, err := p.store.Versions(t.Context(), "demo")
		if err != nil || len(vs) != 1 {
			t.Fatalf("versions %v (%v)", vs, err)
		}
		text, err := p.store.Text(t.Context(), vs[0].Hash)
		if kept := skill.Split(text); err != nil || kept.Single() || kept.Main() != p.read("SKILL.md") {
			t.Errorf("the version holds %q (%v)", text, err)
		}
	})
	t.Run("a file changed meanwhile is merged and staged, the other written", func(t *testing.T) {
		p := packed(t)
		mine := strings.Replace(refText, "# Tests", "# My tests", 1)
		p.write("references/tests.md", mine)
		out := deliver(t, p, "write")
		if out.Delivered != "staged" || !strings.HasSuffix(out.ProposalPath, "tests.md.proposed") || !strings.Contains(out.Why, "references/tests.md: the file was changed while the run went on") {
			t.Errorf("%+v", out)
		}
		if p.read("references/tests.md") != mine || p.read("references/tests.md.proposed") != strings.Replace(newRef, "# Tests", "# My tests", 1) || !strings.Contains(p.read("SKILL.md"), "small and fast") || p.read("SKILL.md.proposed") != "" {
			t.Error("the files are not what they should be")
		}
		if !attested(p, "references/tests.md.proposed") || attested(p, "references/tests.md") {
			t.Error("the attestations are wrong")
		}
	})
	t.Run("all are staged when asked to", func(t *testing.T) {
		p := packed(t)
		if out := deliver(t, p, "stage"); out.Delivered != "staged" || p.read("references/tests.md.proposed") != newRef || p.read("references/tests.md") != refText || p.read("SKILL.md") != skillText {
			t.Errorf("%+v", out)
		}
	})
}

// The judge and the reflecting model see the references; a skill without them is kept and hashed as the file itself.
func TestModelsSeeTheReferences(t *testing.T) {
	p := packed(t)
	p.learn(rules...)
	out := p.preflight()
	if out.Hash == skill.Hash(skillText) {
		t.Error("the package has the hash of the skill file")
	}
	if _, err := p.a.Evaluate(t.Context(), EvaluateIn{Job: p.job, Stage: "baseline", Hash: out.Hash, Side: "selection", Trials: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: out.Hash, Epoch: 1, Step: 1}); err != nil {
		t.Fatal(err)
	}
	for _, r := range p.m.requests() {
		all := ""
		for _, m := range r.Messages {
			all += m.Content
		}
		if !strings.Contains(all, "references/tests.md") || !strings.Contains(all, "Mock the database in repository tests.\n") || strings.Contains(all, "whetstone-package") {
			t.Errorf("a %s call: %q", r.Stage, all)
		}
		switch task := r.Task.(type) {
		case *model.JudgeTask:
			if !strings.Contains(task.Body, "# Tests") {
				t.Error("the judge's task has no reference")
			}
		case *model.ReflectTask:
			if len(task.References) != 1 || strings.Contains(task.Body, "# Tests\n\n- Mock") {
				t.Errorf("the reflecting task: %+v", task)
			}
		}
	}
	alone := newPlace(t)
	alone.learn(rules...)
	if got := alone.preflight().Hash; got != skill.Hash(skillText) {
		t.Errorf("a skill without references has hash %s", got)
	}
}
