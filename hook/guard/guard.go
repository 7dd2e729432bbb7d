// Package guard decides whether an agent's tool call may go on: allow, ask the person, or deny. It reads the call and
// nothing else: no command is run, and no file is opened. A call that it can not read is denied. What a static look can not
// see (a script's inside, a program that writes by itself) is listed in docs/hook.md.
package guard

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Answer is what a guard says.
type Answer int

// Answers, the later ones stronger.
const (
	Allow Answer = iota
	Ask
	Deny
)

func (a Answer) String() string { return [...]string{"allow", "ask", "deny"}[a] }

// Verdict is an answer with the rule that gave it and a reason in words, both "" for allow.
type Verdict struct {
	Answer Answer
	Rule   string
	Reason string
}

func (v Verdict) stronger(o Verdict) Verdict {
	if o.Answer > v.Answer {
		return o
	}
	return v
}

// Options is what the guard knows of the machine. Paths are absolute.
type Options struct {
	Dir      string   // where the agent works
	User     string   // the person's home folder
	Store    string   // WHETSTONE_HOME
	Deny     []string // patterns of files that must not be edited, relative to Dir; * stays in a folder, ** does not
	Ask      []string
	Training func() ([]string, error) // paths of skills that a run is optimizing; called only for an edit of a skill
	NoAsk    bool                     // the host can not ask
	Resolve  func(string) string
}

// Guard checks tool calls.
type Guard struct {
	o         Options
	deny, ask []*regexp.Regexp
}

// New makes a guard. It fails where a pattern can not be understood: the caller must then deny.
func New(o Options) (*Guard, error) {
	g := &Guard{o: o}
	for _, l := range []struct {
		from []string
		to   *[]*regexp.Regexp
	}{{o.Deny, &g.deny}, {o.Ask, &g.ask}} {
		for _, p := range l.from {
			re, err := pattern(p)
			if err != nil {
				return nil, err
			}
			*l.to = append(*l.to, re)
		}
	}
	return g, nil
}

// pattern turns a glob into an expression over slash-separated paths relative to the working folder.
func pattern(glob string) (*regexp.Regexp, error) {
	glob = strings.TrimSpace(filepath.ToSlash(glob))
	if strings.Trim(glob, "/*") == "" {
		return nil, fmt.Errorf("guard pattern %q would match everything", glob)
	}
	var b strings.Builder
	b.WriteString(`(?i)\A`)
	for i := 0; i < len(glob); i++ {
		switch {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`.*`)
			i++
		case glob[i] == '*':
			b.WriteString(`[^/]*`)
		case glob[i] == '?':
			b.WriteString(`[^/]`)
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	re, err := regexp.Compile(b.String() + `\z`)
	if err != nil {
		return nil, fmt.Errorf("guard pattern %q: %w", glob, err)
	}
	return re, nil
}

// Check answers for one tool call. input is the JSON that the host passes to the tool.
func (g *Guard) Check(tool string, input json.RawMessage) Verdict {
	call, err := read(tool, input)
	if err != nil {
		return Verdict{Deny, "unreadable", fmt.Sprintf("the call of %s can not be read: %v", tool, err)}
	}
	var v Verdict
	for _, w := range call.writes {
		v = v.stronger(g.file(w.path))
		v = v.stronger(secrets(w.text))
	}
	if call.script != "" {
		v = v.stronger(g.script(call.script))
	}
	if len(call.argv) > 0 {
		v = v.stronger(g.argv(call.argv))
	}
	if v.Answer == Ask && g.o.NoAsk {
		v = g.withoutAsk(v)
	}
	return v
}

// withoutAsk decides for a host that can not ask. A command that can not be resolved is denied only where what is visible
// of it names a guarded act; a rule of files is denied, so that the person does it.
func (g *Guard) withoutAsk(v Verdict) Verdict {
	if v.Rule == unresolved && !strings.HasPrefix(v.Reason, visible) {
		return Verdict{}
	}
	v.Answer = Deny
	v.Reason += "; this agent can not ask, so do it yourself if it is meant"
	return v
}
