package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"whetstone/learning"
	"whetstone/service"
	"whetstone/store"
)

// Exit codes, see docs/cli.md.
const (
	exitDone          = 0
	exitFailed        = 1
	exitUsage         = 2
	exitNoImprovement = 3
	exitStopped       = 4
	exitIndecisive    = 5
	exitInterrupted   = 130
)

// exitError carries an exit code. A nil err says nothing more.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage makes an error that exits with 2.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// app is the state of one invocation.
type app struct {
	env
	home    string
	json    bool
	quiet   bool
	verbose bool
	// waits lists what the run under way waits for, of the home that is open.
	waits func(context.Context) ([]service.Wait, error)
}

func execute(ctx context.Context, e env) int {
	a := &app{env: e}
	root := a.root()
	root.SetArgs(e.args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	code := codeOf(ctx, err)
	if msg := err.Error(); msg != "" {
		fmt.Fprintf(e.stderr, "whetstone: %s\n", msg)
		hint := hintFor(err)
		if strings.Contains(msg, "arg(s)") {
			hint = "usage: " + cmd.UseLine()
		}
		if hint != "" {
			fmt.Fprintf(e.stderr, "hint: %s\n", hint)
		}
	}
	return code
}

func codeOf(ctx context.Context, err error) int {
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		return exit.code
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, service.ErrBadInput), errors.Is(err, service.ErrOtherFlags), errors.Is(err, service.ErrOpenElsewhere), errors.Is(err, service.ErrNoSchedule), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrAmbiguous):
		return exitUsage
	case strings.HasPrefix(err.Error(), "unknown ") || strings.Contains(err.Error(), "arg(s)") || strings.HasPrefix(err.Error(), "required flag") ||
		strings.HasPrefix(err.Error(), "invalid argument") || strings.HasPrefix(err.Error(), "flag needs") || strings.HasPrefix(err.Error(), "if any flags"):
		return exitUsage // cobra has no types for these
	}
	return exitFailed
}

// hintFor says what to do next, where an error itself does not.
func hintFor(err error) string {
	switch {
	case errors.Is(err, store.ErrBusy):
		return "another process is writing; try again in a moment"
	case errors.Is(err, store.ErrFull):
		return "free some space on the disk; what was stored before is safe"
	case errors.Is(err, store.ErrReadOnly):
		return "check the owner and mode of the home folder, or choose another with --home"
	case strings.Contains(err.Error(), "unknown shorthand flag"):
		return "put -- before a text that begins with a dash, as in: starter learn search -- -race"
	case strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "unknown flag"):
		return "see starter --help"
	}
	return ""
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "starter",
		Short:         "Turn the corrections you give your coding agent into better skills",
		Long:          "Whetstone keeps the corrections you give your coding agent and trains SKILL.md files with them.\n\nThe main job: starter optimize --skill path/to/SKILL.md --import learnings.jsonl --stage\nIt needs no key and no server: without them an offline model and an embedded Temporal server do the work.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&a.home, "home", "", "home folder (default $WHETSTONE_HOME or ~/.whetstone)")
	f.BoolVar(&a.json, "json", false, "machine-readable output")
	f.BoolVar(&a.quiet, "quiet", false, "print the result only")
	f.BoolVar(&a.verbose, "verbose", false, "log what goes on to standard error")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		text, _, _ := strings.Cut(err.Error(), ": strconv.") // how the number was parsed is nobody's business
		return usage("%s", text)
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.optimizeCmd(), a.learnCmd(), a.hookCmd(), a.importCmd(), a.runsCmd(), a.calibrateCmd(), a.skillCmd(), a.wikiCmd(), a.scheduleCmd(), a.doctorCmd(), a.versionCmd())
	return root
}

// open opens the home for one command.
func (a *app) open(ctx context.Context) (*service.Service, error) {
	log := slog.New(slog.DiscardHandler)
	if a.verbose {
		log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	return service.Open(ctx, service.Options{Home: a.home, Getenv: a.getenv, Log: log})
}

// with opens the home, runs f, and closes it.
func (a *app) with(ctx context.Context, f func(*service.Service) error) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	a.waits = s.Waits
	return errors.Join(f(s), s.Close())
}

// printJSON writes one value on one line.
func (a *app) printJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return a.print("%s\n", b)
}

// print writes to standard output. What comes from learnings, models and files is stripped of control characters first:
// a captured rule must not be able to drive somebody's terminal.
func (a *app) print(format string, args ...any) error {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = printable(s)
		}
	}
	if _, err := fmt.Fprintf(a.stdout, format, args...); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

var ansiColour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// printable strips control characters but for our own colours.
func printable(s string) string {
	var b strings.Builder
	last := 0
	for _, m := range ansiColour.FindAllStringIndex(s, -1) {
		b.WriteString(learning.Clean(s[last:m[0]]))
		b.WriteString(s[m[0]:m[1]])
		last = m[1]
	}
	b.WriteString(learning.Clean(s[last:]))
	return b.String()
}

// note tells a person something that is not the result.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}

// colour wraps s in an ANSI colour where standard output is a terminal and NO_COLOR is not set.
func (a *app) colour(code, s string) string {
	if a.getenv("NO_COLOR") != "" || !a.isTerminal(a.stdout) {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
