package guard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

type act1 struct {
	ID, Tool, Want, Rule, Why string
	Input                     json.RawMessage
}

func guarded(t testing.TB, noAsk bool) *Guard {
	t.Helper()
	g, err := New(Options{
		Dir: "/repo", User: "/home/dev", Store: "/home/dev/.whetstone", Deny: []string{"migrations/*.sql"}, Ask: []string{"deploy/**"}, NoAsk: noAsk,
		Training: func() ([]string, error) { return []string{"/repo/.claude/skills/go-testing/SKILL.md"}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func acts(t testing.TB, path string) []act1 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []act1
	sc := bufio.NewScanner(bytes.NewReader(bytes.ReplaceAll(b, []byte("~"), nil)))
	for sc.Scan() {
		var a act1
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// The list of guarded acts and their spellings was written before the guard, from the contract alone; the second one was
// not looked at while it was built: 220 of its 221 acts were as labelled then, and the one that was not has been fixed. Secrets in it carry a mark that is removed here, so that scanners of code hosts let
// them be.
func TestEveryActInEverySpelling(t *testing.T) {
	g := guarded(t, false)
	for _, file := range []string{"testdata/acts_dev.jsonl", "testdata/acts_aside.jsonl"} {
		list := acts(t, file)
		if len(list) < 100 {
			t.Fatalf("%s: %d acts", file, len(list))
		}
		wrong := 0
		for _, a := range list {
			v := g.Check(a.Tool, a.Input)
			if v.Answer.String() != a.Want || v.Rule != a.Rule {
				wrong++
				t.Errorf("%s: %s %s: %s (%s), want %s (%s): %s", a.ID, a.Tool, a.Input, v.Answer, v.Rule, a.Want, a.Rule, a.Why)
			}
		}
		t.Logf("%s: %d of %d as labelled", file, len(list)-wrong, len(list))
	}
}

// What a host that can not ask is told: a file that is to be asked for is denied, a command that can not be resolved only where
// what can be seen of it names a guarded act.
func TestAHostThatCanNotAsk(t *testing.T) {
	g := guarded(t, true)
	for command, want := range map[string]Answer{
		"$APP --serve":                   Allow,
		"$X push --force":                Deny,
		"eval \"$A\"":                    Allow,
		"echo x > deploy/a.yaml":         Deny,
		"git status":                     Allow,
		"cat x | sh":                     Allow,
		"if then (":                      Allow,
		"if then ( git reset --hard":     Deny,
		"$(cat cmd.txt) branch -D topic": Deny,
	} {
		in, _ := json.Marshal(map[string]string{"command": command})
		if v := g.Check("shell", in); v.Answer != want {
			t.Errorf("%s: %s (%s), want %s", command, v.Answer, v.Reason, want)
		}
	}
}

func TestACallThatCanNotBeReadIsDenied(t *testing.T) {
	g := guarded(t, false)
	for _, in := range []string{`{"command": 7}`, `{"command": `, `[1]`, `{"file_path": "a", "edits": 3}`, `12`} {
		if v := g.Check("Bash", json.RawMessage(in)); v.Answer != Deny {
			t.Errorf("%s: %s", in, v.Answer)
		}
	}
	if v := g.Check("Bash", nil); v.Answer != Allow {
		t.Errorf("a tool without arguments: %+v", v)
	}
	if _, err := New(Options{Deny: []string{"**"}}); err == nil {
		t.Error("a pattern that matches everything was taken")
	}
}

func TestALinkIsWhatItPointsTo(t *testing.T) {
	g, err := New(Options{Dir: "/repo", Resolve: func(p string) string {
		if p == "/repo/settings.txt" {
			return "/repo/.env"
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	if v := g.Check("Write", json.RawMessage(`{"file_path": "settings.txt", "content": "x"}`)); v.Answer != Deny || v.Rule != "env-file" {
		t.Errorf("%+v", v)
	}
}

func FuzzCheck(f *testing.F) {
	for _, a := range acts(f, "testdata/acts_dev.jsonl")[:60] {
		f.Add(a.Tool, []byte(a.Input))
	}
	g := guarded(f, false)
	f.Fuzz(func(t *testing.T, tool string, in []byte) {
		if v := g.Check(tool, in); (v.Answer == Allow) != (v.Reason == "") {
			t.Errorf("%+v: an answer without a reason", v)
		}
	})
}
