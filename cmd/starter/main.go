// Command starter is Whetstone's command line: it starts and inspects runs, reviews learnings and shows skills. Arguments
// in, output out; logic lives in the rooms below.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetOutput(io.Discard) // libraries quote what servers say, unasked and unredacted
	os.Exit(execute(ctx, env{args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, isTerminal: isTerminal}))
}

// env is what the program takes from the process.
type env struct {
	args       []string
	stdin      io.Reader
	stdout     io.Writer
	stderr     io.Writer
	getenv     func(string) string
	isTerminal func(any) bool
}
