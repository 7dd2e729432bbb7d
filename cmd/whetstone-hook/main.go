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
	out, code, reason := safely(e)
	_, _ = os.Stdout.Write(out)
	if reason != "" {
		fmt.Fprintln(os.Stderr, reason)
	}
	os.Exit(code)
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
