package guard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
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
	for _, file := range []string{"testdata/acts_dev.jsonl", "testdata/acts_aside.jsonl", "testdata/acts_review.jsonl"} {
		list := acts(t, file)
		if len(list) < 80 {
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
	for tool, want := range map[string]Answer{"Bash": Deny, "Write": Deny, "": Deny, "mcp__clock__now": Allow, "ExitPlanMode": Allow} {
		for _, in := range []string{"", "null"} {
			if v := g.Check(tool, json.RawMessage(in)); v.Answer != want {
				t.Errorf("%s with %q for arguments: %+v", tool, in, v)
			}
		}
	}
	for _, in := range []string{`{"file_path": ["/repo/.env"], "content": "x"}`, `{"file_path": {"a": 1}, "content": "x"}`} {
		if v := g.Check("Write", json.RawMessage(in)); v.Answer != Deny {
			t.Errorf("%s: %+v", in, v)
		}
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

func TestATildeIsThePersonsFolder(t *testing.T) {
	g := guarded(t, false)
	for command, rule := range map[string]string{
		"rm -rf ~/.ssh": "private-key", "rm ~/.ssh/*": "private-key", "pushd ~/.whetstone; rm data.db": "store-file", "rm -rf ~/.whet*": "store-file", "cd ~ && rm -rf .ssh": "private-key",
		"echo x > ~/.whetstone/data.db": "store-file", "ls ~/.ssh": "", "rm -rf ~/.cache": "", "rm -rf ~/.whetstone/wikis/tea": "",
	} {
		in, _ := json.Marshal(map[string]string{"command": command})
		if v := g.Check("Bash", in); v.Rule != rule || (v.Answer == Deny) != (rule != "") {
			t.Errorf("%s: %s (%s), want %q", command, v.Answer, v.Rule, rule)
		}
	}
}

// Small calls that a parser or an expression could take for ever over. A host that waits in vain lets the call pass.
func TestNoCallTakesForEver(t *testing.T) {
	g := guarded(t, false)
	doubling := "a0=xxxxxxxx; "
	for i := range 40 {
		doubling += fmt.Sprintf("a%d=$a%d$a%d; ", i+1, i, i)
	}
	for name, command := range map[string]string{
		"brackets": strings.Repeat("(", 100_000) + "git push -f", "brackets with spaces": strings.Repeat("( ", 5_000) + "git push -f", "dollars": strings.Repeat("$(", 3_000) + "git push -f", "arithmetic": strings.Repeat("$((", 300) + "1",
		"braces": strings.Repeat("{ ", 3_000) + "git push -f", "doubling": doubling + "git push -f", "commands": strings.Repeat("true; ", 100_000) + "git push -f", "brace lists": "git push " + strings.Repeat("{a,b}", 40) + " -f",
		"loops": strings.Repeat("for i in 1 2 3 4 5 6 7 8; do ", 12) + "true" + strings.Repeat("; done", 12) + "; git push -f", "functions": "f() { f; f; }; f; git push -f",
	} {
		in, _ := json.Marshal(map[string]string{"command": command})
		done := make(chan Verdict, 1)
		go func() { done <- g.Check("Bash", in) }()
		select {
		case v := <-done:
			if v.Answer == Allow {
				t.Errorf("%s: %s", name, v.Answer)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: no answer", name)
		}
	}
}
