package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"whetstone/install"
	"whetstone/learning"
	"whetstone/store"
)

// machine is a person's machine: a home of ours, a home folder, a project.
type machine struct {
	t       *testing.T
	home    string
	user    string
	project string
	now     func() time.Time
	broken  string // asking for this variable panics
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{t: t, home: filepath.Join(dir, "whetstone"), user: filepath.Join(dir, "user"), project: filepath.Join(dir, "project"), now: time.Now}
	for _, d := range []string{m.user, m.project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *machine) run(in string, args ...string) (out string, code int, reason string) {
	e := env{args: args, stdin: strings.NewReader(in), now: m.now, getenv: func(k string) string {
		if k == m.broken {
			panic("broken on purpose")
		}
		return map[string]string{"WHETSTONE_HOME": m.home, "HOME": m.user}[k]
	}}
	b, code, reason := safely(e)
	return string(b), code, reason
}

func (m *machine) store() *store.Store {
	m.t.Helper()
	if err := os.MkdirAll(m.home, 0o700); err != nil {
		m.t.Fatal(err)
	}
	s, err := store.Open(m.t.Context(), store.Options{Path: filepath.Join(m.home, "data.db"), Now: m.now})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (m *machine) approved(rules ...string) *store.Store {
	m.t.Helper()
	s := m.store()
	for _, r := range rules {
		if _, err := s.AddLearnings(m.t.Context(), []learning.Learning{{Category: "testing", Rule: r, Status: learning.Approved, ValidFrom: m.now(), CreatedAt: m.now()}}); err != nil {
			m.t.Fatal(err)
		}
	}
	return s
}

var events = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "StopFailure", "PreCompact", "PostCompact", "SessionEnd", "FileChanged",
	"CwdChanged", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "Notification", "TaskCreated", "PermissionRequest", "Setup", "TeammateIdle", "SubagentStart", "SomethingNew",
	"BeforeAgent", "AfterAgent", "BeforeTool", "sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "agentStop", "message.updated", "chat.message",
}

func payload(event string, more ...string) string {
	m := map[string]any{
		"hook_event_name": event, "session_id": "s", "prompt_id": "p", "cwd": "/tmp", "prompt": "no, use tabs", "tool_name": "Bash", "tool_use_id": "t",
		"tool_input": map[string]any{"command": "git push --force"}, "last_assistant_message": "[LEARN] a: b c d", "unknown_field": []any{1, nil, map[string]any{}},
	}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i]] = more[i+1]
	}
	b, _ := json.Marshal(m)
	return string(b)
}

// A Go panic exits with 2, which every host takes for a refusal: of a prompt, of the end of a turn.
func TestAPanicBlocksNothingButAGuard(t *testing.T) {
	for _, broken := range []string{"WHETSTONE_HOME", "HOME", "WHETSTONE_CANARY"} {
		for _, e := range events {
			m := newMachine(t)
			m.broken = broken
			if out, code, reason := m.run(payload(e)); code != 0 || out != "" || reason != "" {
				if broken == "HOME" && code == 0 {
					continue // it is not asked for on this way
				}
				t.Errorf("%s with a panic at %s: %q %d %q", e, broken, out, code, reason)
			}
		}
		m := newMachine(t)
		m.broken = broken
		out, code, reason := m.run(payload("PreToolUse"), "--guard")
		if broken == "WHETSTONE_CANARY" { // a guard does not ask for it
			if !strings.Contains(out, "deny") {
				t.Errorf("%q %d", out, code)
			}
			continue
		}
		if code != denied || reason == "" || out != "" {
			t.Errorf("a guard with a panic at %s: %q %d %q", broken, out, code, reason)
		}
	}
}

func TestThePanicOfAClockIsNotedWithoutAnyTextOfTheConversation(t *testing.T) {
	m := newMachine(t)
	m.now = func() time.Time { panic("no time") }
	for _, e := range events {
		if _, code, reason := m.run(payload(e)); code != 0 || reason != "" {
			t.Errorf("%s: %d %q", e, code, reason)
		}
	}
	b, err := os.ReadFile(filepath.Join(m.home, "hook.log"))
	if err != nil || !bytes.Contains(b, []byte("panic")) || bytes.Contains(b, []byte("tabs")) {
		t.Errorf("%v: %s", err, b)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the pipe broke") }

func TestWhatCanNotBeReadIsDeniedByGuardsAndHarmlessElsewhere(t *testing.T) {
	inputs := map[string]string{
		"empty": "", "no JSON": "{", "null": "null", "a list": "[]", "a number": "7", "text": "\"x\"", "bytes": "\xff\xfe\x00", "too much": strings.Repeat(" ", maxInput+2),
		"deep": strings.Repeat("[", 20000),
	}
	for name, in := range inputs {
		m := newMachine(t)
		if out, code, reason := m.run(in); code != 0 || out != "" || reason != "" {
			t.Errorf("%s: %q %d %q", name, out, code, reason)
		}
		if out, code, reason := m.run(in, "--guard"); code != denied || out != "" || reason == "" {
			t.Errorf("%s, guard: %q %d %q", name, out, code, reason)
		}
	}
	m := newMachine(t)
	e := env{args: []string{"--guard"}, stdin: io.Reader(failing{}), now: m.now, getenv: func(string) string { return m.home }}
	if _, code, reason := safely(e); code != denied || reason == "" {
		t.Errorf("%d %q", code, reason)
	}
}

func TestUnknownFlagsAreDeniedByGuardsAndHarmlessElsewhere(t *testing.T) {
	for _, args := range [][]string{{"--frobnicate"}, {"x"}, {"--host", "emacs"}, {"--host"}, {"--event"}, {"-"}, {"--"}, {"--guard=x", "--zz"}} {
		m := newMachine(t)
		plain := args
		if strings.HasPrefix(args[0], "--guard") {
			plain = args[1:]
		}
		for _, e := range events {
			if _, code, reason := m.run(payload(e), plain...); code != 0 || reason != "" {
				t.Errorf("%q %s: %d %q", plain, e, code, reason)
			}
		}
		if args[0] == "--event" {
			continue
		}
		if out, code, _ := m.run(payload("PreToolUse"), append([]string{"--guard"}, plain...)...); code != denied && !strings.Contains(out, "deny") {
			t.Errorf("%q as a guard: %q %d", args, out, code)
		}
	}
}

// delivery is one way on which an event reaches the program.
type delivery struct {
	name string
	args []string
	in   func(event, text string) string
}

func claudeForm(session string) func(event, text string) string {
	return func(event, text string) string {
		return payload(event, "session_id", session, "prompt_id", "turn", "prompt", text, "last_assistant_message", text)
	}
}

func cursorForm(own bool) func(event, text string) string {
	return func(event, text string) string {
		m := map[string]any{"conversation_id": "c1", "session_id": "c1", "generation_id": "g1", "cursor_version": "3.2", "workspace_roots": []string{"/tmp"}}
		names := map[string]string{"SessionStart": "sessionStart", "UserPromptSubmit": "beforeSubmitPrompt", "Stop": "afterAgentResponse"}
		m["hook_event_name"] = event
		if own {
			m["hook_event_name"] = names[event]
		}
		switch event {
		case "UserPromptSubmit":
			m["prompt"] = text
		case "Stop":
			m["text"], m["last_assistant_message"] = text, text
		}
		b, _ := json.Marshal(m)
		return string(b)
	}
}

func copilotForm(t *testing.T, own bool, dir string) func(event, text string) string {
	return func(event, text string) string {
		path := filepath.Join(dir, "events.jsonl")
		if event == "Stop" {
			line, _ := json.Marshal(map[string]any{"type": "assistant.message", "data": map[string]any{"content": text}})
			if err := os.WriteFile(path, append(line, '\n'), 0o600); err != nil {
				t.Error(err)
			}
		}
		m := map[string]any{"cwd": "/tmp", "prompt": text, "source": "new", "toolName": "bash", "tool_name": "bash", "toolArgs": map[string]any{"command": "ls"}}
		if own {
			m["sessionId"], m["timestamp"], m["transcriptPath"] = "k1", 1794993245120, path
		} else {
			m["session_id"], m["timestamp"], m["transcript_path"], m["hook_event_name"] = "k1", "2026-11-18T09:14:05.120Z", path, event
		}
		b, _ := json.Marshal(m)
		return string(b)
	}
}

// One event reaches us over each subset of the ways that it can take, at once and in any order: its effect is there, and once.
// The plugin's copy beside settings that register the hook and beside such that do not; Cursor's own registration beside
// Claude's settings, which it reads; Copilot's own beside a repository's Claude settings, which it reads.
func TestOneEventOnSeveralWaysHasOneEffect(t *testing.T) {
	dir := t.TempDir()
	own := func(event string) []string {
		return []string{"--host", "copilot", "--event", map[string]string{"SessionStart": "sessionStart", "UserPromptSubmit": "userPromptSubmitted", "PostToolUse": "postToolUse", "Stop": "agentStop"}[event]}
	}
	worlds := map[string][]delivery{
		"claude":  {{"settings", nil, claudeForm("s1")}, {"plugin", []string{"--plugin"}, claudeForm("s1")}},
		"cursor":  {{"own", []string{"--host", "cursor"}, cursorForm(true)}, {"claude's settings", nil, cursorForm(false)}, {"claude's project settings", nil, cursorForm(false)}},
		"copilot": {{"own", nil, copilotForm(t, true, dir)}, {"claude's settings", nil, copilotForm(t, false, dir)}},
	}
	const rule = "close the importer's cursor before the retry with backoff"
	for name, ways := range worlds {
		for mask := 1; mask < 1<<len(ways); mask++ {
			for _, settings := range []bool{false, true} {
				if settings && (name != "claude" || mask&1 == 0) {
					continue // settings that register the hook deliver it, too
				}
				t.Run(fmt.Sprintf("%s %b settings=%v", name, mask, settings), func(t *testing.T) {
					m := newMachine(t)
					s := m.approved(rule)
					if settings {
						bin := filepath.Join(m.user, "whetstone-hook")
						if err := os.WriteFile(bin, []byte("x"), 0o755); err != nil {
							t.Fatal(err)
						}
						if _, err := install.Install(install.Options{Host: "claude", User: m.user, Binary: bin}); err != nil {
							t.Fatal(err)
						}
					}
					deliver := func(event, text string) (told int) {
						t.Helper()
						var wg sync.WaitGroup
						var mu sync.Mutex
						for n := range 4 * len(ways) { // each way four times: a host may repeat itself, too
							i := n % len(ways)
							w := ways[i]
							if mask&(1<<i) == 0 {
								continue
							}
							wg.Go(func() {
								args := w.args
								if name == "copilot" && w.name == "own" {
									args = own(event)
								}
								out, code, reason := m.run(w.in(event, text), args...)
								if code != 0 || reason != "" {
									t.Errorf("%s %s: %d %q", w.name, event, code, reason)
								}
								mu.Lock()
								defer mu.Unlock()
								told += strings.Count(out, rule)
							})
						}
						wg.Wait()
						return told
					}
					if n := deliver("UserPromptSubmit", "No, I told you to use tabs. Now let the importer retry with backoff and close its cursor."); name == "copilot" {
						n = deliver("PostToolUse", "")
						if n != 1 {
							t.Errorf("after the tool it was told %d times", n)
						}
					} else if n != 1 {
						t.Errorf("it was told %d times", n)
					}
					deliver("Stop", "Done.\n\n[LEARN] whitespace: indent with tabs in this tree\n")
					ls, err := s.Learnings(t.Context(), learning.Filter{})
					if err != nil {
						t.Fatal(err)
					}
					notes, err := s.Notes(t.Context(), "open")
					if err != nil {
						t.Fatal(err)
					}
					if len(ls) != 2 || ls[0].TimesInjected != 1 || ls[1].Observations != 1 || ls[1].Status != learning.Pending || len(notes) != 1 {
						t.Errorf("%d learnings, %d notes: %+v", len(ls), len(notes), ls)
					}
				})
			}
		}
	}
}

func TestSixtyHooksMakeAHomeTogether(t *testing.T) {
	m := newMachine(t)
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if _, code, reason := m.run(payload("Stop", "session_id", fmt.Sprint("s", i), "last_assistant_message", fmt.Sprintf("[LEARN] many: keep rule number %d", i))); code != 0 {
				t.Errorf("%d %q", code, reason)
			}
		})
	}
	wg.Wait()
	// What did not get in because others were writing waits in the spool for the next one.
	m.run(payload("SessionStart"))
	m.run(payload("SessionStart"))
	m.run(payload("SessionStart"))
	ls, err := m.store().Learnings(t.Context(), learning.Filter{})
	if err != nil || len(ls) != 60 {
		t.Errorf("%d learnings, %v", len(ls), err)
	}
}

func TestOldSessionsAreSwept(t *testing.T) {
	m := newMachine(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m.now = func() time.Time { return at }
	m.run(payload("SessionStart", "session_id", "old"))
	files, _ := filepath.Glob(filepath.Join(m.home, "sessions", "*.log"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	if err := os.Chtimes(files[0], at, at); err != nil {
		t.Fatal(err)
	}
	at = at.Add(40 * 24 * time.Hour)
	m.run(payload("SessionStart", "session_id", "new"))
	if _, err := os.Stat(files[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
