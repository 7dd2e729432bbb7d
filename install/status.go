package install

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"whetstone/hook/host"
)

// Status is what can be said of one host's registration.
type Status struct {
	Host      string   `json:"host"`
	Scope     string   `json:"scope"` // user, project
	Path      string   `json:"path"`
	Installed bool     `json:"installed"`
	Guards    bool     `json:"guards"`
	Events    []string `json:"events"`
	Live      bool     `json:"live"`     // the registered command answered a canary
	Teaches   bool     `json:"teaches"`  // the start of a session tells the agent how a block looks
	Version   string   `json:"version"`  // of the registered binary
	Problems  []string `json:"problems"` // what is wrong, and what to do
}

// canaryTime bounds one canary.
const canaryTime = 10 * time.Second

// Look reads a host's registration and proves it: the registered command is run with a canary, and once more as at the start of
// a session, in a home of its own. version is this program's.
func Look(ctx context.Context, o Options, version string) Status {
	s := Status{Host: o.Host, Scope: "user", Path: Path(o), Events: []string{}, Problems: []string{}}
	if o.Project != "" {
		s.Scope = "project"
	}
	problem := func(format string, args ...any) { s.Problems = append(s.Problems, fmt.Sprintf(format, args...)) }
	text, _, existed, err := read(s.Path)
	if err != nil {
		problem("%v", err)
		return s
	}
	if !existed {
		return s
	}
	var commands [][]string
	if o.Host == host.OpenCode {
		s.Installed = bytes.Contains(text, []byte(pluginMark))
		if !s.Installed {
			return s
		}
		s.Events = append(s.Events, "plugin")
		s.Guards = bytes.Contains(text, []byte("const guards = true"))
		for line := range strings.Lines(string(text)) {
			if raw, ok := strings.CutPrefix(strings.TrimSpace(line), "const binary = "); ok {
				var bin string
				if json.Unmarshal([]byte(raw), &bin) == nil {
					commands = append(commands, []string{bin, "--host", host.OpenCode})
				}
			}
		}
	} else {
		d, err := parse(s.Path, text)
		if err != nil {
			problem("%v", err)
			return s
		}
		if d.off {
			problem("%s has disableAllHooks set, so no hook runs: take that out", s.Path)
		}
		seen := map[string]int{}
		for _, f := range d.ours() {
			s.Installed = true
			s.Guards = s.Guards || f.guard
			key := f.event
			if f.guard {
				key += " (guard)"
			}
			if seen[key]++; seen[key] == 2 {
				problem("%s is registered more than once: run `starter hook install --host %s` again", key, o.Host)
			}
			s.Events = append(s.Events, f.event)
			if !slices.ContainsFunc(commands, func(c []string) bool { return slices.Equal(c, f.argv) }) {
				commands = append(commands, f.argv)
			}
		}
		if s.Installed {
			for _, e := range plain[o.Host] {
				if seen[e.event] == 0 {
					problem("%s is not registered: run `starter hook install --host %s` again", e.event, o.Host)
				}
			}
		}
		slices.Sort(s.Events)
		s.Events = slices.Compact(s.Events)
	}
	if !s.Installed {
		return s
	}
	s.Live = len(commands) > 0
	for _, argv := range commands {
		v, err := probe(ctx, argv, o.Host)
		if err != nil {
			s.Live = false
			problem("%s does not answer: %v: run `starter hook install --host %s` again", argv[0], err, o.Host)
			continue
		}
		s.Version = v
		if v != version {
			problem("%s is of version %s, and this is %s: run `starter hook install --host %s` again", argv[0], v, version, o.Host)
		}
	}
	if s.Live {
		if s.Teaches, err = teaches(ctx, commands, o.Host); err != nil || !s.Teaches {
			problem("the start of a session does not tell the agent how a correction is kept (%v)", err)
		}
	}
	if s.Scope == "project" {
		everywhere := o
		everywhere.Project = ""
		if text, _, existed, err := read(Path(everywhere)); Path(everywhere) != s.Path && err == nil && existed && mentions(Path(everywhere), text) {
			problem("it is registered for all of your work, too, in %s, so that each event comes twice (and counts once): uninstall one of the two", Path(everywhere))
		}
	}
	if s.Scope == "project" && o.Host == host.Claude {
		local := filepath.Join(filepath.Dir(s.Path), "settings.local.json")
		if text, _, existed, err := read(local); err == nil && existed && mentions(local, text) {
			problem("%s registers the hook, too, so that each event comes twice (and counts once): take it out there", local)
		}
	}
	if o.Host == host.Codex {
		codexConfig(filepath.Dir(s.Path), problem)
	}
	if s.Scope == "user" && o.Host == host.Claude {
		if p := pluginCopy(o.User); p != "" {
			problem("the plugin's copy in %s is registered, too; it stands back where these settings name the same event", p)
		}
	}
	return s
}

// probe runs a registered command with a canary.
func probe(ctx context.Context, argv []string, hostName string) (version string, err error) {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw)
	token := hex.EncodeToString(raw)
	args := slices.DeleteFunc(slices.Clone(argv[1:]), func(a string) bool { return a == "--guard" })
	out, err := start(ctx, argv[0], args, hostName, "WHETSTONE_CANARY="+token)
	if err != nil {
		return "", err
	}
	var answer struct{ Whetstone, Canary string }
	if json.Unmarshal(out, &answer) != nil || answer.Canary != token {
		return "", errors.New("it did not answer the canary")
	}
	return answer.Whetstone, nil
}

// teaches looks for the format in what the start of a session tells.
func teaches(ctx context.Context, commands [][]string, hostName string) (bool, error) {
	home, err := os.MkdirTemp("", "whetstone-canary-*")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	for _, argv := range commands {
		if slices.Contains(argv, "--guard") || hostName == host.Copilot && !slices.Contains(argv, "sessionStart") {
			continue
		}
		out, err := start(ctx, argv[0], argv[1:], hostName, "WHETSTONE_HOME="+home)
		return bytes.Contains(out, []byte("[LEARN]")), err
	}
	return false, errors.New("no registration but guards")
}

func start(ctx context.Context, bin string, args []string, hostName string, env ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, canaryTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = os.TempDir()
	cmd.Stdin = strings.NewReader(greeting(hostName))
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		var not *fs.PathError
		if errors.As(err, &not) {
			return nil, not.Err
		}
		return nil, err
	}
	return out, nil
}

// greeting is the start of a session as a host sends it.
func greeting(hostName string) string {
	dir, _ := json.Marshal(os.TempDir())
	switch hostName {
	case host.Cursor:
		return `{"hook_event_name": "sessionStart", "conversation_id": "canary", "generation_id": "canary", "cursor_version": "0", "workspace_roots": [` + string(dir) + `]}`
	case host.Copilot:
		return `{"sessionId": "canary", "timestamp": 0, "cwd": ` + string(dir) + `, "source": "startup"}`
	case host.OpenCode:
		return `{"host": "opencode", "event": "session.created", "sessionID": "canary", "directory": ` + string(dir) + `}`
	case host.Gemini:
		return `{"hook_event_name": "SessionStart", "session_id": "canary", "timestamp": "2026-01-01T00:00:00Z", "transcript_path": "", "cwd": ` + string(dir) + `, "source": "startup"}`
	}
	return `{"hook_event_name": "SessionStart", "session_id": "canary", "cwd": ` + string(dir) + `, "source": "startup"}`
}

// pluginCopy looks for our plugin among the installed ones of Claude Code.
func pluginCopy(user string) string {
	matches, _ := filepath.Glob(filepath.Join(user, ".claude", "plugins", "*", "*", "hooks", "hooks.json"))
	more, _ := filepath.Glob(filepath.Join(user, ".claude", "plugins", "*", "*", "*", "*", "hooks", "hooks.json"))
	for _, m := range append(matches, more...) {
		if b, err := os.ReadFile(m); err == nil && bytes.Contains(b, []byte("whetstone-hook")) {
			return m
		}
	}
	return ""
}

// Registered reports whether Claude's settings certainly register the hook for an event: the plugin's copy then stands back.
// What can not be read is not certain.
func Registered(paths []string, event string, guard bool) bool {
	for _, p := range paths {
		text, _, existed, err := read(p)
		if err != nil || !existed || !bytes.Contains(text, []byte("whetstone-hook")) {
			continue
		}
		d, err := parse(p, text)
		if err != nil || d.off {
			continue
		}
		for _, f := range d.ours() {
			if f.event == event && f.guard == guard && f.every {
				if _, err := os.Stat(f.argv[0]); err == nil {
					return true
				}
			}
		}
	}
	return false
}

// codexConfig looks into the file beside hooks.json, which can switch hooks off and register some of its own.
func codexConfig(dir string, problem func(string, ...any)) {
	path := filepath.Join(dir, "config.toml")
	b, err := os.ReadFile(path)
	if err != nil {
		return
	}
	section := ""
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.Join(strings.Fields(line), "")
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		if (section == "features" || section == "") && slices.Contains([]string{"hooks=false", "codex_hooks=false", "features.hooks=false", "features.codex_hooks=false"}, line) {
			problem("%s switches hooks off: take `hooks = false` out of its [features]", path)
		}
		if strings.HasPrefix(section, "hooks") && strings.Contains(line, "whetstone-hook") {
			problem("%s registers the hook, too, so that each event comes twice (and counts once): take it out there", path)
		}
	}
}
