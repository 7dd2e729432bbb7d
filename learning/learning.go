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
	// TimesRecurred counts captures of the rule after it had been injected: it was told, and did not help.
	TimesRecurred int    `json:"times_recurred"`
	SupersededBy  string `json:"superseded_by"`
	Detector      string `json:"detector"` // see ParseDetector
	Flag          string `json:"flag"`     // why it should be demoted, "" where it should not
}

// Bounds of the flag for demotion.
const (
	flagInjected = 10 // times injected without any evidence that it was applied
	flagRecurred = 2  // captures after it had been injected
)

// SetFlag decides whether a learning earns its place: one that was injected often and never applied, or whose correction
// came again after it had been injected, is a candidate for demotion.
func (l *Learning) SetFlag() {
	l.Flag = ""
	switch {
	case l.Status != Approved:
	case l.TimesRecurred >= flagRecurred:
		l.Flag = fmt.Sprintf("corrected again %d times after it had been injected", l.TimesRecurred)
	case l.TimesInjected >= flagInjected && l.TimesApplied == 0:
		l.Flag = fmt.Sprintf("injected %d times and never applied", l.TimesInjected)
	}
}

// ValidAt reports whether a learning holds at a moment.
func (l *Learning) ValidAt(t time.Time) bool {
	return !l.ValidFrom.After(t) && (l.ValidTo == nil || l.ValidTo.After(t))
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
	for _, f := range []struct{ name, v string }{{"category", l.Category}, {"rule", l.Rule}, {"mistake", l.Mistake}, {"correction", l.Correction}, {"skill", l.Skill}, {"wiki", l.Wiki}, {"detector", l.Detector}} {
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
	if _, err := ParseDetector(l.Detector); err != nil {
		return err
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
	Project    string
	Flagged    bool
	AsOf       *time.Time // valid at that time
	KnownAt    *time.Time // as it was recorded at that time
	Limit      int
}

// Capture is one [LEARN] block of one turn of one session.
type Capture struct {
	Event    string // identity of the event, see CaptureID
	Learning Learning
}

// Note is a prompt in which a person corrected the agent; review turns it into a learning.
type Note struct {
	ID       string    `json:"id"`
	Project  string    `json:"project"`
	Session  string    `json:"session"`
	Host     string    `json:"host"`
	Excerpt  string    `json:"excerpt"` // redacted
	Status   string    `json:"status"`  // open, turned, dismissed
	Learning string    `json:"learning"`
	At       time.Time `json:"at"`
}

// MaxExcerpt bounds the excerpt of a note, in runes.
const MaxExcerpt = 400

// NoteID identifies a correction note: the same prompt delivered again has the same id.
func NoteID(session, turn, prompt string) string {
	return "n_" + digest("note", session, turn, prompt)[:16]
}

// Application is evidence that a learning was applied.
type Application struct {
	ID       string    `json:"id"`
	Learning string    `json:"learning"`
	Session  string    `json:"session"`
	Evidence string    `json:"evidence"` // cited, reply, edit, run, command
	At       time.Time `json:"at"`
}

// ApplicationID identifies evidence: the same turn or tool call delivered again has the same id.
func ApplicationID(session, place, learningID string) string {
	return "a_" + digest("application", session, place, learningID)[:24]
}

// Record is what one event of a host leaves behind. It goes to the store in one transaction, or to the spool.
type Record struct {
	Captures     []Capture     `json:"captures,omitempty"`
	Notes        []Note        `json:"notes,omitempty"`
	Applications []Application `json:"applications,omitempty"`
	Keys         []string      `json:"keys,omitempty"` // of the project that captures and notes belong to
}

// Empty reports whether there is nothing in r.
func (r *Record) Empty() bool { return len(r.Captures)+len(r.Notes)+len(r.Applications) == 0 }
