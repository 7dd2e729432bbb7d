// Package hook decides what to do with an agent's lifecycle event: event in, decision out. It is pure; the binary reads,
// writes and keeps. An event it does not know, and one it cannot read, decide nothing.
package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"whetstone/learning"
	"whetstone/skill"
)

// Event is what a host sends. Only the fields that are used are read; hosts add others freely.
type Event struct {
	Name      string `json:"hook_event_name"`
	Session   string `json:"session_id"`
	Prompt    string `json:"prompt_id"`
	CWD       string `json:"cwd"`
	Reply     string `json:"last_assistant_message"`
	AgentType string `json:"agent_type"`
}

// Decision is what follows from an event.
type Decision struct {
	Captures []learning.Capture
	Dropped  []string       // why blocks were not taken
	Redacted map[string]int // secrets that were taken out, by kind
}

// Parse reads an event.
func Parse(data []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &e); err != nil {
		return Event{}, fmt.Errorf("read a hook event: %w", err)
	}
	return e, nil
}

// Decide handles one event of Claude Code. The reply is redacted before it is parsed, so no secret is ever taken for
// part of a rule. StopFailure is not captured from: its message is an error of the provider.
func Decide(e Event, project string, now time.Time) Decision {
	switch e.Name {
	case "Stop", "SubagentStop":
	default:
		return Decision{}
	}
	reply, redacted := learning.Redact(learning.Clean(e.Reply))
	session, _ := learning.Redact(learning.Clean(e.Session))
	d := Decision{Redacted: redacted}
	for _, b := range learning.ParseReply(reply) {
		l := learning.Learning{
			Status: learning.Pending, Project: project, Category: b.Category, Rule: b.Rule, Mistake: b.Mistake, Correction: b.Correction,
			Skill: skill.Key(b.Skill), Wiki: b.Wiki, Host: "claude", Session: session, Observations: 1, CreatedAt: now.UTC(), ValidFrom: now.UTC(),
		}
		if err := l.Validate(); err != nil {
			d.Dropped = append(d.Dropped, err.Error()) // a rule of four thousand bytes is no rule
			continue
		}
		d.Captures = append(d.Captures, learning.Capture{Event: learning.CaptureID(e.Session, e.Prompt, b.Rule), Learning: l})
	}
	return d
}
