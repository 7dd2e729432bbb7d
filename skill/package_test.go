package skill

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const aSkill = "---\nname: x\n---\n# X\n\n- One.\n"

func TestASkillAloneIsItsOwnCanonicalText(t *testing.T) {
	p, err := NewPackage([]Part{{Main, aSkill}})
	if err != nil || p.Join() != aSkill || !p.Single() || p.View() != aSkill {
		t.Errorf("a skill without references became %q (%v)", p.Join(), err)
	}
	if body, err := p.BodyView(); err != nil || body != "# X\n\n- One.\n" {
		t.Errorf("its body is %q (%v)", body, err)
	}
}

func TestAPackageHasOneTextWhateverTheOrderOfItsFiles(t *testing.T) {
	a := []Part{{Main, aSkill}, {"references/b.md", "B <b>\r\n"}, {"references/a.md", "A \u2028 \"q\""}}
	p, err := NewPackage(a)
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewPackage([]Part{a[2], a[0], a[1]})
	if err != nil || p.Join() != q.Join() {
		t.Errorf("the order matters: %q %q (%v)", p.Join(), q.Join(), err)
	}
	if !strings.HasPrefix(p.Join(), `{"whetstone-package":1,"files":[{"path":"SKILL.md","text":"`) {
		t.Errorf("the canonical text is %q", p.Join())
	}
	back := Split(p.Join())
	if fmt.Sprint(back) != fmt.Sprint(p) || back.Single() {
		t.Errorf("split, it is %+v", back)
	}
	if v := back.View(); !strings.Contains(v, "\n# File: references/a.md\n\nA ") || strings.Index(v, "a.md") > strings.Index(v, "b.md") {
		t.Errorf("the view is %q", v)
	}
}

func TestWhatMakesNoPackage(t *testing.T) {
	many := []Part{{Main, aSkill}}
	for i := range MaxReferences + 1 {
		many = append(many, Part{fmt.Sprintf("references/%02d.md", i), "x"})
	}
	if _, err := NewPackage(many[:MaxReferences+1]); err != nil {
		t.Errorf("%d references: %v", MaxReferences, err)
	}
	packed, _ := NewPackage(many[:2])
	for name, parts := range map[string][]Part{
		"no skill file":         {{"references/a.md", "x"}},
		"nothing":               nil,
		"too many references":   many,
		"a way out":             {{Main, aSkill}, {"references/../../x.md", "x"}},
		"a folder below":        {{Main, aSkill}, {"references/a/b.md", "x"}},
		"another kind of file":  {{Main, aSkill}, {"references/a.txt", "x"}},
		"another folder":        {{Main, aSkill}, {"scripts/a.md", "x"}},
		"a file twice":          {{Main, aSkill}, {"references/a.md", "x"}, {"references/a.md", "y"}},
		"a reference too large": {{Main, aSkill}, {"references/a.md", strings.Repeat("x", MaxBytes+1)}},
		"a stored package":      {{Main, packed.Join()}},
	} {
		if _, err := NewPackage(parts); !errors.Is(err, ErrPackage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever a text is, splitting and joining gives it back.
func FuzzSplit(f *testing.F) {
	p, _ := NewPackage([]Part{{Main, aSkill}, {"references/a.md", "x"}})
	for _, s := range []string{aSkill, p.Join(), packageHead, p.Join() + " ", strings.Replace(p.Join(), "a.md", "../a.md", 1), strings.Replace(p.Join(), "x", `\u0078`, 1)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := Split(text); got.Join() != text {
			t.Fatalf("%q became %q", text, got.Join())
		}
	})
}
