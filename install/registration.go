// Package install registers the hook with the agents' hosts and takes it out again: it edits their configuration files without
// losing a comment, keeps a copy of what was there, and proves by a canary that the registered command answers. A file that it
// can not read is refused and left as it is.
package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"whetstone/hook/host"
)

// Options says what to register where.
type Options struct {
	Host    string
	Project string // folder of a project; "" registers for all of the person's work
	User    string // the person's home folder
	Binary  string // absolute path of whetstone-hook
	Guards  bool
	Home    string // the home folder that the hook is to use; "" leaves it to the agent's environment
}

// entry is one event that is registered.
type entry struct {
	event   string
	guard   bool
	seconds int
}

// entries are the events that each host is asked for: what is needed and no more, since one unknown name has made hosts
// refuse a whole file.
func entries(o Options) []entry {
	out := slices.Clone(plain[o.Host])
	if o.Guards {
		out = append(out, guards[o.Host]...)
	}
	return out
}

var plain = map[string][]entry{
	host.Claude: {
		{event: "SessionStart", seconds: 10},
		{event: "UserPromptSubmit", seconds: 10},
		{event: "PostToolUse", seconds: 10},
		{event: "PostToolUseFailure", seconds: 10},
		{event: "Stop", seconds: 15},
		{event: "SubagentStop", seconds: 10},
		{event: "PreCompact", seconds: 10},
		{event: "SessionEnd", seconds: 5},
	},
	host.Codex: {
		{event: "SessionStart", seconds: 10},
		{event: "UserPromptSubmit", seconds: 10},
		{event: "PostToolUse", seconds: 10},
		{event: "Stop", seconds: 15},
		{event: "SubagentStop", seconds: 10},
		{event: "PreCompact", seconds: 10},
		{event: "SessionEnd", seconds: 3},
	},
	host.Cursor: {
		{event: "sessionStart", seconds: 10},
		{event: "beforeSubmitPrompt", seconds: 10},
		{event: "postToolUse", seconds: 10},
		{event: "afterAgentResponse", seconds: 15},
		{event: "subagentStop", seconds: 10},
		{event: "preCompact", seconds: 10},
		{event: "sessionEnd", seconds: 5},
	},
	host.Gemini: {
		{event: "SessionStart", seconds: 10},
		{event: "BeforeAgent", seconds: 10},
		{event: "AfterTool", seconds: 10},
		{event: "AfterAgent", seconds: 15},
		{event: "PreCompress", seconds: 10},
		{event: "SessionEnd", seconds: 5},
	},
	host.Copilot: {
		{event: "sessionStart", seconds: 10},
		{event: "userPromptSubmitted", seconds: 10},
		{event: "postToolUse", seconds: 10},
		{event: "agentStop", seconds: 15},
		{event: "subagentStop", seconds: 10},
		{event: "preCompact", seconds: 10},
		{event: "sessionEnd", seconds: 5},
	},
	host.OpenCode: {{event: "plugin"}},
}

var guards = map[string][]entry{
	host.Claude:  {{event: "PreToolUse", guard: true, seconds: 10}},
	host.Codex:   {{event: "PreToolUse", guard: true, seconds: 10}},
	host.Cursor:  {{event: "preToolUse", guard: true, seconds: 10}, {event: "beforeShellExecution", guard: true, seconds: 10}},
	host.Gemini:  {{event: "BeforeTool", guard: true, seconds: 10}},
	host.Copilot: {{event: "preToolUse", guard: true, seconds: 10}},
}

// Path is the file that holds a host's registrations.
func Path(o Options) string {
	dir := o.User
	if o.Project != "" {
		dir = o.Project
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	switch o.Host {
	case host.Codex:
		return at(".codex", "hooks.json")
	case host.Cursor:
		return at(".cursor", "hooks.json")
	case host.Gemini:
		return at(".gemini", "settings.json")
	case host.Copilot:
		if o.Project != "" {
			return at(".github", "hooks", "whetstone.json")
		}
		return at(".copilot", "hooks", "whetstone.json")
	case host.OpenCode:
		if o.Project != "" {
			return at(".opencode", "plugins", "whetstone.js")
		}
		return at(".config", "opencode", "plugins", "whetstone.js")
	}
	return at(".claude", "settings.json")
}

// owned reports whether the whole file is ours.
func owned(hostName string) bool { return hostName == host.Copilot || hostName == host.OpenCode }

// value is what stands in the list of an event. Claude's registrations name no host: Cursor and Copilot run them, too.
func (e entry) value(o Options) json.RawMessage {
	var args []string
	if o.Host != host.Claude {
		args = append(args, "--host", o.Host)
	}
	if o.Host == host.Copilot {
		args = append(args, "--event", e.event)
	}
	if e.guard {
		args = append(args, "--guard")
	}
	if o.Home != "" {
		args = append(args, "--home", o.Home)
	}
	if args == nil {
		args = []string{}
	}
	var v any
	switch o.Host {
	case host.Codex:
		v = map[string]any{"hooks": []any{ordered{{"type", "command"}, {"command", shell(o.Binary, args)}, {"timeout", e.seconds}}}}
	case host.Cursor:
		x := ordered{{"command", shell(o.Binary, args)}, {"timeout", e.seconds}}
		if e.guard {
			x = append(x, pair{"failClosed", true})
		}
		v = x
	case host.Gemini:
		v = map[string]any{"hooks": []any{ordered{{"name", "whetstone"}, {"type", "command"}, {"command", shell(o.Binary, args)}, {"timeout", e.seconds * 1000}}}}
	case host.Copilot:
		v = ordered{{"type", "command"}, {"exec", o.Binary}, {"args", args}, {"timeoutSec", e.seconds}}
	default:
		v = map[string]any{"hooks": []any{ordered{{"type", "command"}, {"command", o.Binary}, {"args", args}, {"timeout", e.seconds}}}}
	}
	b, err := json.MarshalIndent(v, "      ", "  ")
	if err != nil {
		panic(err) // texts and numbers only
	}
	return b
}

// shell writes a command for hosts that start a shell. Quotation marks are what sh and cmd share.
func shell(binary string, args []string) string {
	out := []string{`"` + binary + `"`}
	for _, a := range args {
		if strings.ContainsAny(a, " ()&;'") {
			a = `"` + a + `"`
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

// unshell takes apart what shell wrote.
func unshell(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if rest, ok := strings.CutPrefix(s, `"`); ok {
			word, tail, _ := strings.Cut(rest, `"`)
			out, s = append(out, word), tail
			continue
		}
		i := strings.IndexAny(s, " \t")
		if i < 0 {
			i = len(s)
		}
		out, s = append(out, s[:i]), s[i:]
	}
	return out
}

type pair struct {
	key   string
	value any
}

// ordered is an object whose keys keep their order.
type ordered []pair

// MarshalJSON writes the keys in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := json.Marshal(p.key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(p.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%s", k, v)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// isOurs reports whether a program is our hook, whatever its folder.
func isOurs(program string) bool {
	return strings.TrimSuffix(strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:]), ".exe") == "whetstone-hook"
}
