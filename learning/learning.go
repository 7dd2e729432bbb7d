// Package learning holds what a person taught an agent: the Learning and its states, the [LEARN] parser, the JSON Lines
// form, redaction of secrets, and identity (two captures of one rule are one learning). It reads and writes no files
// and knows no store. Parsers report what they could not take; they never guess.
package learning

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Status is where a learning stands.
type Status string

// The states of a learning. Only approved ones train a skill or reach an agent.
const (
	Pending    Status = "pending"
	Approved   Status = "approved"
	Rejected   Status = "rejected"
	Superseded Status = "superseded"
	Forgotten  Status = "forgotten"
)

// Statuses lists every status in the order people meet them.
func Statuses() []Status { return []Status{Pending, Approved, Rejected, Superseded, Forgotten} }

// ParseStatus reads a status by name.
func ParseStatus(s string) (Status, error) {
	if st := Status(s); slices.Contains(Statuses(), st) {
		return st, nil
	}
	return "", fmt.Errorf("status %q: want pending, approved, rejected, superseded or forgotten", s)
}

// Learning is one correction. JSON names are the contract of `learn list --json` and of imports; times are RFC 3339.
type Learning struct {
	ID            string     `json:"id"`
	Status        Status     `json:"status"`
	Project       string     `json:"project"`
	Category      string     `json:"category"`
	Rule          string     `json:"rule"`
	Mistake       string     `json:"mistake"`
	Correction    string     `json:"correction"`
	Skill         string     `json:"skill"`
	Skills        []string   `json:"skills"` // all skills it trains; Skill is the first it was linked to
	Wiki          string     `json:"wiki"`
	Host          string     `json:"host"`
	Session       string     `json:"session"`
	Observations  int        `json:"observations"`
	TimesInjected int        `json:"times_injected"`
	TimesApplied  int        `json:"times_applied"`
	CreatedAt     time.Time  `json:"created_at"`
	ValidFrom     time.Time  `json:"valid_from"`
	ValidTo       *time.Time `json:"valid_to"`
}

// Limits on the fields of a learning, in bytes. A correction longer than that is a document.
const (
	MaxField    = 4000
	MaxCategory = 120
)

// Validate names the first field that makes l unusable.
func (l *Learning) Validate() error {
	switch {
	case strings.TrimSpace(l.Category) == "":
		return fmt.Errorf("category is empty")
	case len(l.Category) > MaxCategory:
		return fmt.Errorf("category is %d bytes long, at most %d", len(l.Category), MaxCategory)
	case strings.TrimSpace(l.Rule) == "":
		return fmt.Errorf("rule is empty")
	}
	for _, f := range []struct{ name, v string }{{"category", l.Category}, {"rule", l.Rule}, {"mistake", l.Mistake}, {"correction", l.Correction}, {"skill", l.Skill}, {"wiki", l.Wiki}} {
		if len(f.v) > MaxField {
			return fmt.Errorf("%s is %d bytes long, at most %d", f.name, len(f.v), MaxField)
		}
		if !utf8.ValidString(f.v) {
			return fmt.Errorf("%s is not valid UTF-8", f.name)
		}
		if strings.ContainsRune(f.v, 0) {
			return fmt.Errorf("%s contains a NUL byte", f.name)
		}
	}
	return nil
}

// NormaliseRule folds what does not tell two rules apart: Unicode form, case, white space, closing punctuation.
func NormaliseRule(rule string) string {
	s := strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(rule))), " ")
	return strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsPunct(r) && r != ')' && r != '"' && r != '`' })
}

// Identity is the id of a learning: it depends on project and normalised rule only, so that the same rule captured
// twice, by whichever host and under whichever category, is one learning with two observations.
func Identity(project, rule string) string {
	return "l_" + digest("learning", project, NormaliseRule(rule))[:16]
}

// CaptureID identifies one capture event: the same block of the same turn delivered again, by this host or another, has
// the same id.
func CaptureID(session, turn, rule string) string {
	return "c_" + digest("capture", session, turn, NormaliseRule(rule))[:24]
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Filter narrows a list of learnings. Zero fields do not.
type Filter struct {
	Status     Status
	Skill      string
	Categories []string // any of them, ignoring case
	Limit      int
}

// Capture is one [LEARN] block of one turn of one session.
type Capture struct {
	Event    string // identity of the event, see CaptureID
	Learning Learning
}
