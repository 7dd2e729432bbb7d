// Command whetstone-hook is started by an agent's host on its lifecycle events. It reads one JSON object on standard input,
// does one thing, writes at most one JSON object on standard output, and exits. Without --guard it exits 0 whatever happens:
// a hook must never disturb the agent. With --guard, what it can not judge is denied. What goes wrong is noted in hook.log in
// the home folder, without any text of the conversation.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"time"
)

func main() {
	// A call ends within milliseconds: collecting what it leaves behind would take longer than the work. The limit is for the
	// rare large event.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(256 << 20)
	e := env{args: os.Args[1:], stdin: os.Stdin, getenv: os.Getenv, now: time.Now}
	if text, ok := about(e.args); ok && byHand() {
		fmt.Print(text)
		return
	}
	out, code, reason := safely(e)
	_, _ = os.Stdout.Write(out)
	if reason != "" {
		fmt.Fprintln(os.Stderr, reason)
	}
	os.Exit(code)
}

// byHand reports whether a person started the program: a host writes an event to standard input.
func byHand() bool {
	info, err := os.Stdin.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// about answers a person who asks the program what it is.
func about(args []string) (string, bool) {
	if len(args) != 1 {
		return "", false
	}
	switch args[0] {
	case "--version", "version":
		return "whetstone-hook " + version() + "\n", true
	case "--help", "-h", "help":
		return `whetstone-hook is started by a coding agent on its lifecycle events, with one JSON object on standard input.
Register it with "starter hook install --host NAME"; docs/hook.md says what it does.

  --host NAME    the agent (else told from the payload)
  --event NAME   the event, where the payload does not name it
  --guard        judge a tool call; what can not be judged is denied
  --plugin       the copy of the Claude Code plugin: stands back where settings register the hook
  --home DIR     home folder (else $WHETSTONE_HOME or ~/.whetstone)
`, true
	}
	return "", false
}

// env is what the program takes from the process.
type env struct {
	args   []string
	stdin  io.Reader
	getenv func(string) string
	now    func() time.Time
}

// denied is the exit code that every host takes for a refusal.
const denied = 2

// safely runs, whatever happens. A panic of Go would exit with 2, which hosts take for a refusal: right for a guard, and
// for nothing else.
func safely(e env) (out []byte, code int, reason string) {
	guards := slices.Contains(e.args, "--guard") || slices.Contains(e.args, "-guard")
	defer func() {
		if p := recover(); p != nil {
			out, code, reason = nil, 0, ""
			if guards {
				code, reason = denied, "whetstone's guard broke down, so the call is denied; see hook.log in its home folder"
			}
		}
	}()
	return run(e)
}
