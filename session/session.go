// Package session keeps what a hook must remember of one agent session between two calls, in one small file that is only
// appended to: many hooks of a session run at once, and a line is written whole or not at all. Nothing here is precious: what
// must not be lost is in the store. Texts of the conversation are never kept, only names, ids and counts.
package session

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxFile stops a session that never ends from growing without bound; what comes later is not remembered.
const maxFile = 2 << 20

// Line is one thing to remember. T says which fields count.
type Line struct {
	T        string `json:"t"`
	Name     string `json:"name,omitempty"`     // tool, skill, file
	Use      string `json:"use,omitempty"`      // tool call
	ID       string `json:"id,omitempty"`       // learning, note
	Detector string `json:"detector,omitempty"` // of an injected learning
	Evidence string `json:"evidence,omitempty"`
	N        [3]int `json:"n,omitzero"`
}

// The kinds of lines.
const (
	LStart   = "start"   // the session began, or went on
	LPrompt  = "prompt"  // the person said something
	LTool    = "tool"    // a tool ran: Name, Use
	LFailed  = "failed"  // a tool failed: Name, Use
	LRead    = "read"    // a file was read: Name, as a hash
	LEdit    = "edit"    // a file was edited: Name, as a hash
	LTests   = "tests"   // tests were run: Name is passed or failed
	LSkill   = "skill"   // a skill was loaded: Name
	LTold    = "told"    // a learning was injected: ID, Detector
	LLater   = "later"   // a learning is to be told with the next event that reaches the model: ID; without one, all were told
	LNote    = "note"    // the person corrected the agent: ID
	LCapture = "capture" // a rule was captured: ID
	LApplied = "applied" // evidence: ID, Evidence, Use
	LFlushed = "flushed" // the applied lines so far are in the store
	LCompact = "compact" // the context was compacted
	LOwed    = "owed"    // what waited for the person: N
	LShown   = "shown"   // a reminder was shown: Name
)

// Log is the file of one session.
type Log struct{ path string }

// Open names the file of a session; it need not exist.
func Open(dir, session string) *Log {
	sum := sha256.Sum256([]byte(session))
	return &Log{filepath.Join(dir, hex.EncodeToString(sum[:12])+".log")}
}

// Append adds lines with one write.
func (l *Log) Append(lines ...Line) error {
	if len(lines) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, x := range lines {
		j, err := json.Marshal(x)
		if err != nil {
			return fmt.Errorf("remember a session: %w", err)
		}
		b.Write(j)
		b.WriteByte('\n')
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return fmt.Errorf("remember a session: %w", err)
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("remember a session: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > maxFile {
		return nil
	}
	if _, err := f.Write(b.Bytes()); err != nil {
		return fmt.Errorf("remember a session: %w", err)
	}
	return nil
}

// State is a session as its lines tell it.
type State struct {
	Greeted                         bool // its start or a prompt was seen: we are registered for more than replies
	Prompts, Tools, Failures, Edits int
	Unread                          int  // files edited that were never read
	TestsFail                       bool // in the last run of them
	Notes, Captures                 []string
	Skills                          []string
	Detectors                       map[string]string // of learnings that were injected
	Told                            []string
	Later                           []string // learnings that the last prompt calls for and that could not be told with it
	Rounds                          int      // compactions
	Owed                            [3]int
	Shown                           string
	Pending                         []Line // applied lines that are not in the store yet
}

// Load reads a session. A file that is not there is a session of which nothing is known; a line that can not be read is skipped.
func (l *Log) Load() State {
	s := State{Detectors: map[string]string{}}
	b, err := os.ReadFile(l.path)
	if err != nil {
		return s
	}
	seen, read := map[string]bool{}, map[string]bool{}
	once := func(key string) bool {
		if key == "" {
			return true
		}
		was := seen[key]
		seen[key] = true
		return !was
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(make([]byte, 64<<10), maxFile)
	for sc.Scan() {
		var x Line
		if json.Unmarshal(sc.Bytes(), &x) != nil {
			continue
		}
		use := ""
		if x.Use != "" {
			use = x.T + ":" + x.Use
		}
		switch x.T {
		case LStart:
			s.Greeted = true
		case LPrompt:
			s.Greeted = true
			if once(use) {
				s.Prompts++
			}
		case LTool:
			if once(use) {
				s.Tools++
			}
		case LFailed:
			if once(use) {
				s.Failures++
			}
		case LRead:
			read[x.Name] = true
		case LEdit:
			if once(use) {
				s.Edits++
			}
			if !read[x.Name] && once("unread:"+x.Name) {
				s.Unread++
			}
			read[x.Name] = true
		case LTests:
			s.TestsFail = x.Name == "failed"
		case LSkill:
			s.Skills = addOnce(s.Skills, x.Name)
		case LTold:
			s.Told = addOnce(s.Told, x.ID)
			if x.Detector != "" {
				s.Detectors[x.ID] = x.Detector
			}
		case LLater:
			if x.ID == "" {
				s.Later = nil
			} else {
				s.Later = addOnce(s.Later, x.ID)
			}
		case LNote:
			s.Notes = addOnce(s.Notes, x.ID)
		case LCapture:
			s.Captures = addOnce(s.Captures, x.ID)
		case LApplied:
			if once("applied:" + x.ID + ":" + x.Use) {
				s.Pending = append(s.Pending, x)
			}
		case LFlushed:
			s.Pending = nil
		case LCompact:
			if once(use) {
				s.Rounds++
			}
		case LOwed:
			s.Owed = x.N
		case LShown:
			s.Shown = x.Name
		}
	}
	return s
}

func addOnce(list []string, v string) []string {
	if v == "" || slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// FileKey is how a file is remembered: its path is nobody's business.
func FileKey(path string) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(path, `\`, "/")))
	return hex.EncodeToString(sum[:6])
}

// Sweep removes the files of sessions that nobody touched since a moment.
func Sweep(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".log") && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
