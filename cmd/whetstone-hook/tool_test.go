package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func tool(event, name, use string, input map[string]any, more map[string]any) string {
	m := map[string]any{"hook_event_name": event, "session_id": "s", "prompt_id": "p", "cwd": "/tmp", "tool_name": name, "tool_use_id": use, "tool_input": input}
	for k, v := range more {
		m[k] = v
	}
	b, _ := json.Marshal(m)
	return string(b)
}

func TestFailingTestsAndUnreadEditsAreReminded(t *testing.T) {
	m := newMachine(t)
	m.run(payload("SessionStart", "session_id", "s"))
	m.run(tool("PostToolUseFailure", "Bash", "t1", map[string]any{"command": "cd sub && go test ./..."}, map[string]any{"error": "exit status 1"}))
	m.run(tool("PostToolUse", "Read", "t2", map[string]any{"file_path": "/tmp/read.go"}, nil))
	m.run(tool("PostToolUse", "Edit", "t3", map[string]any{"file_path": "/tmp/read.go"}, nil))
	m.run(tool("PostToolUse", "Edit", "t4", map[string]any{"file_path": "/tmp/unread.go"}, nil))
	stop := func() string {
		out, _, _ := m.run(payload("Stop", "session_id", "s", "prompt_id", "p", "last_assistant_message", "Done."))
		return out
	}
	if out := stop(); !strings.Contains(out, "tests=failing") || !strings.Contains(out, "edited_unread=1") {
		t.Errorf("%s", out)
	}
	if out := stop(); out != "" {
		t.Errorf("said twice: %s", out)
	}
	// After a compaction the model is told, too.
	m.run(payload("PreCompact", "session_id", "s"))
	if out, _, _ := m.run(payload("SessionStart", "session_id", "s", "source", "compact")); !strings.Contains(out, "last run of the tests in it failed") {
		t.Errorf("%s", out)
	}
	// A pipe hides the exit code; the output does not.
	m.run(tool("PostToolUse", "Bash", "t5", map[string]any{"command": "go test ./... | tee out"}, map[string]any{"tool_response": map[string]any{"stdout": "ok  \tx\t0.1s\n"}}))
	if out := stop(); strings.Contains(out, "tests=failing") {
		t.Errorf("they pass: %s", out)
	}
	m.run(tool("PostToolUse", "Bash", "t6", map[string]any{"command": "go test ./... | tee out"}, map[string]any{"tool_response": map[string]any{"stdout": "--- FAIL: TestX (0.0s)\nFAIL\n"}}))
	if out := stop(); !strings.Contains(out, "tests=failing") {
		t.Errorf("they fail: %s", out)
	}
}
