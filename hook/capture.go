package hook

import (
	"strings"
	"time"

	"whetstone/learning"
	"whetstone/skill"
)

// Captured is what a reply held.
type Captured struct {
	Captures []learning.Capture
	Dropped  []string       // why blocks were not taken
	Redacted map[string]int // secrets that were taken out, by kind
}

// maxReply is how much of a reply is read, in bytes.
const maxReply = 1 << 20

// Capture reads the [LEARN] blocks of a reply. The reply is redacted before it is parsed, so no secret is ever taken for a
// part of a rule. Where a block names no skill, one that the session has loaded is proposed, if there is only one.
func Capture(e Event, project string, skills []string, now time.Time) Captured {
	if e.Kind != Reply && e.Kind != SubagentReply {
		return Captured{}
	}
	if n := len(e.Reply) - maxReply; n > 0 { // blocks stand at the end
		e.Reply = strings.ToValidUTF8(e.Reply[n:], "")
	}
	reply, redacted := learning.Redact(learning.Clean(e.Reply))
	session := Name(e.Session)
	out := Captured{Redacted: redacted}
	for _, b := range learning.ParseReply(reply) {
		l := learning.Learning{
			Status: learning.Pending, Project: project, Category: b.Category, Rule: b.Rule, Mistake: b.Mistake, Correction: b.Correction,
			Skill: skill.Key(b.Skill), Wiki: b.Wiki, Host: e.Host, Session: session, Observations: 1, CreatedAt: now.UTC(), ValidFrom: now.UTC(),
		}
		if l.Skill == "" && len(skills) == 1 {
			l.Skill = skills[0]
		}
		if err := l.Validate(); err != nil {
			out.Dropped = append(out.Dropped, err.Error()) // a rule of four thousand bytes is no rule
			continue
		}
		out.Captures = append(out.Captures, learning.Capture{Event: learning.CaptureID(e.Session, e.Turn, b.Rule), Learning: l})
	}
	return out
}

// Name makes a host's identifier harmless: no control characters, no secrets, not long.
func Name(s string) string {
	s, _ = learning.Redact(learning.Clean(s))
	if len(s) > 200 {
		s = s[:200]
	}
	return s
}

// NoteOf makes a correction note of a prompt that corrects; nil for all others.
func NoteOf(e Event, project string, now time.Time) *learning.Note {
	if e.Kind != Prompt || !Corrects(e.Prompt) {
		return nil
	}
	excerpt, _ := learning.Redact(learning.Clean(e.Prompt))
	if rs := []rune(excerpt); len(rs) > learning.MaxExcerpt {
		excerpt = string(rs[:learning.MaxExcerpt]) + "…"
	}
	return &learning.Note{ID: learning.NoteID(e.Session, e.Turn, e.Prompt), Project: project, Session: Name(e.Session), Host: e.Host, Excerpt: excerpt, Status: "open", At: now.UTC()}
}
