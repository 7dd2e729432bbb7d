// Command whetstone-hook is started by an agent's host on its lifecycle events. It reads one JSON object on standard
// input, captures [LEARN] blocks from the agent's reply, prints nothing, and exits 0 whatever happens: a hook must never
// disturb the agent. What goes wrong is noted in hook.log in the home folder.
package main

import (
	"io"
	"os"
	"time"
)

func main() {
	// A panic would exit with 2, which hosts take for "block".
	defer func() {
		_ = recover()
		os.Exit(0)
	}()
	run(env{args: os.Args[1:], stdin: os.Stdin, getenv: os.Getenv, now: time.Now})
}

// env is what the program takes from the process.
type env struct {
	args   []string
	stdin  io.Reader
	getenv func(string) string
	now    func() time.Time
}
