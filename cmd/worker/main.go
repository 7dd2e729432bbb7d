// Command worker stands by: it hosts the home's embedded Temporal server and Web UI, unless an address is given, and runs
// the workers, for as long as it lives.
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
	os.Exit(run(ctx, env{args: os.Args[1:], stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}))
}

// env is what the program takes from the process.
type env struct {
	args   []string
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
}
