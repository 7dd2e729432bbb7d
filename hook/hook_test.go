package hook

import (
	"strings"
	"testing"
	"time"

	"whetstone/learning"
)

var now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

const reply = "Done.\n\n[LEARN] testing: never sleep in tests\nMistake: slept\nSkill: Go Testing\n"

func TestDecideCapturesFromRepliesOnly(t *testing.T) {
	for name, want := range map[string]int{"Stop": 1, "SubagentStop": 1, "StopFailure": 0, "UserPromptSubmit": 0, "PreToolUse": 0, "": 0} {
		d := Decide(Event{Name: name, Session: "s", Reply: reply}, "prj", now)
		if len(d.Captures) != want {
			t.Errorf("%s: %d captures", name, len(d.Captures))
		}
	}
	c := Decide(Event{Name: "Stop", Session: "s", Prompt: "p", Reply: reply}, "prj", now).Captures[0]
	l := c.Learning
	if l.Status != learning.Pending || l.Project != "prj" || l.Session != "s" || l.Skill != "go-testing" || l.Mistake != "slept" || c.Event != learning.CaptureID("s", "p", l.Rule) {
		t.Errorf("%+v", c)
	}
}

func TestDecideRedactsBeforeItParses(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	d := Decide(Event{Name: "Stop", Reply: "[LEARN] ci: pass the token\nCorrection: use " + secret + " from the store\n"}, "", now)
	if len(d.Captures) != 1 || strings.Contains(d.Captures[0].Learning.Correction, secret) || !strings.Contains(d.Captures[0].Learning.Correction, "[redacted:github-token]") || d.Redacted["github-token"] != 1 {
		t.Errorf("%+v", d)
	}
}

func TestDecideDropsWhatIsNoRule(t *testing.T) {
	if d := Decide(Event{Name: "Stop", Reply: "[LEARN] x: " + strings.Repeat("long ", 2000)}, "", now); len(d.Captures) != 0 {
		t.Error("a rule of ten thousand bytes was captured")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"hook_event_name": "Stop", "last_assistant_message": "[LEARN] a: b"}`))
	f.Add([]byte(`{"last_assistant_message": null}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if e, err := Parse(data); err == nil {
			Decide(e, "", now)
		}
	})
}
