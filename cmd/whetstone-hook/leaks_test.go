package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whetstone/learning"
)

// seeded are secrets of all kinds with a text around each, written apart from the code. A "~" stands in each secret, so that no
// scanner takes the file for a leak.
func seeded(t *testing.T) (out []struct{ ID, Text, Secret string }) {
	t.Helper()
	f, err := os.Open("../../learning/testdata/secrets.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var s struct{ ID, Text, Secret string }
		if err := json.Unmarshal([]byte(strings.ReplaceAll(sc.Text(), "~", "")), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if len(out) < 100 {
		t.Fatalf("%d secrets", len(out))
	}
	return out
}

// pieces are the parts of a secret that must not be anywhere: a key of several lines is told by any of them.
func pieces(secret string) (out []string) {
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 6 && !strings.HasPrefix(line, "-----") {
			out = append(out, line)
		}
	}
	return out
}

// A hundred secrets in every field that an event can carry them in: none in the database, its log, the spool, the sessions, the
// journal, or in what a model or a person is told.
func TestNoSecretIsKeptOrTold(t *testing.T) {
	list := seeded(t)
	m := newMachine(t)
	var said bytes.Buffer
	send := func(event string, more ...string) {
		t.Helper()
		out, code, reason := m.run(payload(event, more...))
		if code != 0 {
			t.Fatalf("%s: %d %s", event, code, reason)
		}
		said.WriteString(out + reason)
	}
	for i, s := range list {
		flat := strings.Join(strings.Fields(s.Text), " ")
		session := fmt.Sprint("s", i%7)
		send("UserPromptSubmit", "session_id", session, "prompt_id", s.ID, "prompt", "No, I told you not to do that. "+s.Text)
		send("PostToolUse", "session_id", session, "prompt_id", s.ID, "tool_name", "Bash "+flat, "tool_response", s.Text, "error", s.Text)
		send("Stop", "session_id", session, "prompt_id", s.ID, "last_assistant_message", s.Text+"\n\n[LEARN] keys: keep this out of the logs "+flat+"\nMistake: it was "+flat+"\nCorrection: never write "+flat+"\n")
		send("SubagentStop", "session_id", session, "prompt_id", s.ID+"b", "agent_type", flat, "last_assistant_message", "[LEARN] "+s.ID+": "+flat)
		send("StopFailure", "session_id", session, "last_assistant_message", s.Text, "error", s.Text)
		send("Notification", "session_id", session, "message", s.Text)
		send("PreCompact", "session_id", session, "custom_instructions", s.Text)
	}
	// Broken and locked ways, where the spool and the journal come in.
	db := filepath.Join(m.home, "data.db")
	if err := os.Rename(db, db+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(db, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		send("Stop", "prompt_id", s.ID+"c", "last_assistant_message", s.Text+"\n\n[LEARN] spooled: "+strings.Join(strings.Fields(s.Text), " ")+"\n")
		m.run(`{"hook_event_name": "Stop", "last_assistant_message": ` + s.Text)
		m.run(payload("PreToolUse", "tool_name", "Write", "prompt", s.Text), "--guard", "--"+s.Text)
	}
	var searched int64
	search := func() {
		err := filepath.WalkDir(m.home, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			searched += int64(len(b))
			for _, s := range list {
				for _, p := range pieces(s.Secret) {
					if i := bytes.Index(b, []byte(p)); i >= 0 {
						t.Errorf("%s: in %s: %q", s.ID, filepath.Base(path), b[max(0, i-60):min(len(b), i+len(p)+10)])
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	search()
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(db+".away", db); err != nil {
		t.Fatal(err)
	}
	// What was kept is approved, even what a person slipped a secret into by hand, and told.
	s := m.store()
	ls, err := s.Learnings(t.Context(), learning.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, l := range ls {
		ids = append(ids, l.ID)
	}
	if len(ids) < 150 {
		t.Errorf("only %d learnings were captured", len(ids))
	}
	if err := s.SetStatus(t.Context(), ids, learning.Approved); err != nil {
		t.Fatal(err)
	}
	for i, x := range list {
		if i%5 == 0 {
			l := learning.Learning{Category: "slipped", Rule: "widget number " + x.ID + " takes " + strings.Join(strings.Fields(x.Text), " "), Status: learning.Approved, CreatedAt: m.now(), ValidFrom: m.now()}
			if _, err := s.AddLearnings(t.Context(), []learning.Learning{l}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, x := range list {
		session := fmt.Sprint("later", i)
		send("SessionStart", "session_id", session, "source", "startup")
		send("UserPromptSubmit", "session_id", session, "prompt_id", x.ID, "prompt", "Which widget number "+x.ID+" takes "+strings.Join(strings.Fields(x.Text), " "))
		send("PreCompact", "session_id", session)
		send("SessionStart", "session_id", session, "source", "compact")
	}
	if n := strings.Count(said.String(), "additionalContext"); n < 100 {
		t.Errorf("only %d were told", n)
	}
	for _, x := range list {
		for _, p := range pieces(x.Secret) {
			j, _ := json.Marshal(p)
			for _, form := range []string{p, strings.Trim(string(j), `"`)} {
				if i := strings.Index(said.String(), form); i >= 0 {
					t.Errorf("%s: told: %q", x.ID, said.String()[max(0, i-60):min(said.Len(), i+len(form)+10)])
				}
			}
		}
	}
	if searched < 100_000 {
		t.Errorf("only %d bytes were searched", searched)
	}
}
