package install

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"whetstone/hook/host"
)

func machine(t *testing.T, hostName string) Options {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin", "whetstone-hook")
	put(t, bin, "#!/bin/sh\n")
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	return Options{Host: hostName, User: filepath.Join(dir, "home"), Binary: bin}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// what people have in their configurations: nothing, an empty object, other hooks, comments, trailing commas, odd indentation,
// another copy of ours from an older place.
var befores = map[string]string{
	"none": "", "empty": "", "object": "{}\n", "one line": `{"model": "x", "hooks": {}}`,
	"others":   "{\n    \"model\": \"x\",\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"echo done\"\n                    }\n                ]\n            }\n        ]\n    }\n}\n",
	"comments": "{\n  // mine, do not touch\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]}, /* why */\n  \"hooks\": {\n    \"SessionStart\": [ // a list\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"},]},\n    ],\n  },\n}\n",
	"tabs":     "{\n\t\"a\": 1\n}",
}

func TestInstallingTwiceIsInstallingOnceAndUninstallingRestores(t *testing.T) {
	for _, h := range []string{host.Claude, host.Codex, host.Cursor, host.Gemini} {
		for name, before := range befores {
			t.Run(h+" "+name, func(t *testing.T) {
				o := machine(t, h)
				o.Guards = true
				path := Path(o)
				if name != "none" {
					put(t, path, before)
				}
				r, err := Install(o)
				if err != nil || !r.Changed {
					t.Fatalf("%+v, %v", r, err)
				}
				once := get(t, path)
				d, err := parse(path, []byte(once))
				if err != nil || len(d.ours()) != len(entries(o)) {
					t.Fatalf("%d registrations, %v:\n%s", len(d.ours()), err, once)
				}
				for _, keep := range []string{"echo done", "mine, do not touch", "why", "a list", "\"date\"", "Bash(ls)"} {
					if strings.Contains(before, keep) && !strings.Contains(once, keep) {
						t.Errorf("%q is lost:\n%s", keep, once)
					}
				}
				if json.Valid([]byte(before)) && !json.Valid([]byte(once)) {
					t.Errorf("plain JSON became something else:\n%s", once)
				}
				if r, err := Install(o); err != nil || r.Changed || get(t, path) != once {
					t.Errorf("the second time changed it: %+v, %v\n%s", r, err, get(t, path))
				}
				o.Guards = false
				if r, err := Install(o); err != nil || !r.Changed || strings.Contains(get(t, path), "--guard") {
					t.Errorf("the guards are still there: %+v, %v", r, err)
				}
				if _, err := Uninstall(o); err != nil {
					t.Fatal(err)
				}
				after, err := os.ReadFile(path)
				switch {
				case name == "none" && err == nil:
					t.Errorf("a file was left behind:\n%s", after)
				case name != "none" && string(after) != before:
					t.Errorf("not restored:\n%s\nwant\n%s", after, before)
				}
				if _, err := os.Stat(path + backupSuffix); err == nil {
					t.Error("the copy was left behind")
				}
			})
		}
	}
}

func TestChangesMadeInBetweenAreKept(t *testing.T) {
	o := machine(t, host.Claude)
	path := Path(o)
	put(t, path, befores["others"])
	if _, err := Install(o); err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.Replace(get(t, path), `"model": "x"`, `"model": "y"`, 1))
	r, err := Uninstall(o)
	if err != nil || len(r.Notes) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := get(t, path); got != strings.Replace(befores["others"], `"x"`, `"y"`, 1) {
		t.Errorf("%s", got)
	}
}

func TestAnOlderCopyIsReplacedAndOneRegistrationStays(t *testing.T) {
	o := machine(t, host.Claude)
	path := Path(o)
	put(t, path, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/place/whetstone-hook", "timeout": 10}, {"type": "command", "command": "echo"}]}], "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "\"/old/whetstone-hook\" --guard"}]}]}}`)
	if _, err := Install(o); err != nil {
		t.Fatal(err)
	}
	got := get(t, path)
	if strings.Contains(got, "/old/") || !strings.Contains(got, `"echo"`) || strings.Contains(got, "PreToolUse") {
		t.Errorf("%s", got)
	}
}

func TestWhatCanNotBeReadIsRefusedAndLeftAlone(t *testing.T) {
	for name, text := range map[string]string{"cut off": `{"hooks": {"Stop": [`, "a list": `[]`, "hooks is text": `{"hooks": "x"}`, "binary": "\x00\x01\x02"} {
		for _, h := range []string{host.Claude, host.Gemini} {
			o := machine(t, h)
			put(t, Path(o), text)
			_, err := Install(o)
			if err == nil || !strings.Contains(err.Error(), Path(o)) {
				t.Errorf("%s: %v", name, err)
			}
			if get(t, Path(o)) != text {
				t.Errorf("%s: it was changed", name)
			}
			if _, err := Uninstall(o); err == nil || get(t, Path(o)) != text {
				t.Errorf("%s: uninstall: %v", name, err)
			}
		}
	}
	o := machine(t, host.Claude)
	if err := os.MkdirAll(Path(o), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(o); err == nil {
		t.Error("a folder was taken for a configuration")
	}
}

func TestLinksAndModesAreKept(t *testing.T) {
	o := machine(t, host.Claude)
	real := filepath.Join(filepath.Dir(o.User), "dotfiles", "settings.json")
	put(t, real, "{\n  \"a\": 1\n}\n")
	if err := os.Chmod(real, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(Path(o)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, Path(o)); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := Install(o); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(Path(o))
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(get(t, real), "whetstone-hook") {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Chmod(real, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Uninstall(o); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a read-only file: %v", err)
	}
	if err := os.Chmod(real, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(o); err == nil || !strings.Contains(err.Error(), "link to nowhere") {
		t.Errorf("a dangling link: %v", err)
	}
}

func TestFilesOfOurOwnComeAndGo(t *testing.T) {
	for _, h := range []string{host.Copilot, host.OpenCode} {
		for _, inProject := range []bool{false, true} {
			o := machine(t, h)
			if inProject {
				o.Project = filepath.Join(filepath.Dir(o.User), "project")
				if err := os.MkdirAll(o.Project, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Install(o)
			if err != nil || !r.Changed {
				t.Fatalf("%+v, %v", r, err)
			}
			if h == host.Copilot {
				if v, err := hujson.Parse([]byte(get(t, r.Path))); err != nil || v.Find("/version") == nil {
					t.Errorf("%v\n%s", err, get(t, r.Path))
				}
			}
			if r, err := Install(o); err != nil || r.Changed {
				t.Errorf("the second time: %+v, %v", r, err)
			}
			if _, err := Uninstall(o); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(r.Path); err == nil {
				t.Errorf("%s is still there", r.Path)
			}
			if r.Rules != "" {
				if _, err := os.Stat(r.Rules); err == nil {
					t.Errorf("%s is still there", r.Rules)
				}
			}
		}
	}
	o := machine(t, host.OpenCode)
	put(t, Path(o), "export default {}\n")
	if _, err := Install(o); err == nil {
		t.Error("a person's own plugin was overwritten")
	}
}

func TestTheRulesFileKeepsWhatIsInIt(t *testing.T) {
	o := machine(t, host.OpenCode)
	o.Project = filepath.Join(filepath.Dir(o.User), "project")
	rules := filepath.Join(o.Project, "AGENTS.md")
	for _, before := range []string{"# Rules\n\nNo tabs.", "# Rules\n", "\r\nodd\r\n"} {
		put(t, rules, before)
		for range 2 {
			if _, err := Install(o); err != nil {
				t.Fatal(err)
			}
		}
		got := get(t, rules)
		if strings.Count(got, "<!-- whetstone: begin") != 1 || !strings.Contains(got, "[LEARN]") || !strings.HasPrefix(got, before) {
			t.Errorf("%q", got)
		}
		if _, err := Uninstall(o); err != nil {
			t.Fatal(err)
		}
		if got := get(t, rules); got != before {
			t.Errorf("%q, want %q", got, before)
		}
	}
}

func TestARulesFileThatCanNotBeEditedWithoutGuessingIsLeftAlone(t *testing.T) {
	o := machine(t, host.OpenCode)
	o.Project = filepath.Join(filepath.Dir(o.User), "project")
	rules := filepath.Join(o.Project, "AGENTS.md")
	for _, before := range []string{"# Mine\n<!-- whetstone: begin -->\nand what I wrote after it\n", "<!-- whetstone: end -->\nmine\n", "<!-- whetstone: begin -->\n<!-- whetstone: begin -->\nx\n<!-- whetstone: end -->\n"} {
		put(t, rules, before)
		if _, err := Install(o); err == nil {
			t.Errorf("%q was edited", before)
		}
		if _, err := os.Stat(Path(o)); err == nil {
			t.Errorf("half of it was installed")
		}
		_, _ = Uninstall(o)
		if got := get(t, rules); got != before {
			t.Errorf("%q, want %q", got, before)
		}
	}
	o = machine(t, host.Cursor)
	o.Project = filepath.Join(filepath.Dir(o.User), "project")
	rules = filepath.Join(o.Project, ".cursor", "rules", "whetstone.mdc")
	put(t, rules, "mine\n")
	if _, err := Install(o); err == nil {
		t.Error("a file of the person's was overwritten")
	}
	if _, err := Uninstall(o); err != nil || get(t, rules) != "mine\n" {
		t.Errorf("%v %q", err, get(t, rules))
	}
}

func TestHooksThatAreNotAListAreRefusedAndNullIsNothing(t *testing.T) {
	for _, before := range []string{`{"hooks": {"Stop": {}}}`, `{"hooks": {"Stop": "x"}}`, `{"hooks": []}`, `{"hooks": 7}`, `[]`, `"x"`} {
		o := machine(t, host.Claude)
		put(t, Path(o), before)
		if _, err := Install(o); err == nil || !strings.Contains(err.Error(), Path(o)) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", before, err)
		}
		if got := get(t, Path(o)); got != before {
			t.Errorf("%q, want %q", got, before)
		}
	}
	o := machine(t, host.Claude)
	put(t, Path(o), `{"hooks": null, "x": 1}`)
	if _, err := Install(o); err != nil {
		t.Fatal(err)
	}
	if _, err := Uninstall(o); err != nil {
		t.Fatal(err)
	}
	if got := get(t, Path(o)); got != `{"hooks": null, "x": 1}` {
		t.Errorf("%q", got)
	}
}

func TestAProgramInAFolderWithSpacesIsFoundAgain(t *testing.T) {
	for _, h := range host.Names() {
		o := machine(t, h)
		o.Binary = filepath.Join(filepath.Dir(o.Binary), "my tools (1)", "whetstone-hook")
		put(t, o.Binary, "#!/bin/sh\n")
		if err := os.Chmod(o.Binary, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			r, err := Install(o)
			if err != nil || r.Changed != (i == 0) {
				t.Errorf("%s: %+v %v", h, r, err)
			}
		}
		if r, err := Uninstall(o); err != nil || !r.Changed {
			t.Errorf("%s: %+v %v", h, r, err)
		}
		if b, err := os.ReadFile(Path(o)); err == nil && bytes.Contains(b, []byte("whetstone-hook")) {
			t.Errorf("%s: %s", h, b)
		}
	}
}

func TestAProgramThatAShellWouldTakeApartIsRefused(t *testing.T) {
	o := machine(t, host.Codex)
	for _, bad := range []string{"whetstone-hook", "/no/such/whetstone-hook", filepath.Dir(o.Binary)} {
		o.Binary = bad
		if _, err := Install(o); err == nil {
			t.Errorf("%s was registered", bad)
		}
	}
	o = machine(t, host.Codex)
	spaced := filepath.Join(filepath.Dir(o.Binary), "my tools", "whetstone-hook")
	put(t, spaced, "x")
	if err := os.Chmod(spaced, 0o755); err != nil {
		t.Fatal(err)
	}
	o.Binary = spaced
	if _, err := Install(o); err != nil {
		t.Fatal(err)
	}
	d, err := parse("x", []byte(get(t, Path(o))))
	if err != nil || len(d.ours()) == 0 || d.ours()[0].argv[0] != spaced {
		t.Errorf("%+v, %v", d.ours(), err)
	}
}

func FuzzEdit(f *testing.F) {
	for _, b := range befores {
		f.Add([]byte(b))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o := Options{Host: host.Claude, Binary: "/opt/whetstone-hook", Guards: true}
		d, err := parse("x", text)
		if err != nil || len(d.ours()) > 0 {
			return
		}
		before := d.value.Pack()
		if err := d.add(o); err != nil {
			return // a list that is none
		}
		again, err := parse("x", d.bytes(text))
		if err != nil {
			t.Fatalf("what was written can not be read: %v\n%s", err, d.bytes(text))
		}
		if len(again.ours()) != len(entries(o)) {
			t.Fatalf("%d registrations", len(again.ours()))
		}
		if err := again.removeOurs(); err != nil {
			t.Fatal(err)
		}
		if len(again.ours()) != 0 {
			t.Fatal("some are left")
		}
		if !bytes.Contains(before, []byte("hooks")) && bare("x", before) != bare("x", again.bytes(text)) {
			t.Errorf("more was changed than the hooks:\n%s\n%s", before, again.bytes(text))
		}
	})
}
