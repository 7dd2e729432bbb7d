// Package sandbox runs a check command of a person's own: without a shell, in a fresh folder that is removed afterwards,
// with next to no environment, for a bounded time, and without network. It keeps a command from sending what it reads and
// from outliving its time; it does not hide files: the command may read and write what the person may. Where the system
// cannot take the network away nothing is run: ErrNoIsolation. It never decides what an exit code means.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// MaxOutput is how many bytes of what a command prints are kept, from the end.
const MaxOutput = 64 << 10

// afterKill is how long the output is waited for once the command has ended, where something else holds it open.
const afterKill = 2 * time.Second

// probeTime is what trying the isolation may take on the busiest machine.
const probeTime = 20 * time.Second

// ErrNoIsolation is wrapped by every *IsolationError.
var ErrNoIsolation = errors.New("commands can not be run without network here")

// IsolationError says why this system can not run a command without network, and what to do about it.
type IsolationError struct {
	Reason string
	Remedy string
}

func (e *IsolationError) Error() string {
	return fmt.Sprintf("%s: %s: %s", ErrNoIsolation, e.Reason, e.Remedy)
}

// Unwrap makes errors.Is(err, ErrNoIsolation) hold.
func (e *IsolationError) Unwrap() error { return ErrNoIsolation }

// Spec is one command to run.
type Spec struct {
	Argv    []string          // the program, by full path or by a name on PATH, and its arguments
	Files   map[string]string // texts by slash-separated name, put into the command's folder
	Env     map[string]string // beside PATH and LANG; HOME and TMPDIR are always the command's folder
	Timeout time.Duration     // must be positive
}

// Result is how a command ended.
type Result struct {
	Exit     int    // -1 where a signal ended it, ours included
	Output   string // standard output and error as they came, UTF-8, the last MaxOutput bytes
	TimedOut bool
	Took     time.Duration
}

// Available reports whether commands can be run here: nil, or an *IsolationError. It tries, which takes milliseconds.
func Available() error {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	return available(ctx)
}

// Run runs a command and waits for it. A command that ran has a Result and no error, whatever its exit code and also when
// its time was up. Errors: *IsolationError; a Spec that names no program, no timeout, or a file outside of the folder; a
// program that is not found or can not be started; ctx.Err() when ctx ended first; a folder that could not be made or
// removed. All processes of the command are killed before Run returns (on macOS: all of its process group).
func Run(ctx context.Context, spec Spec) (res Result, err error) {
	program, err := spec.check()
	if err != nil {
		return Result{}, err
	}
	if err := available(ctx); err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err() // the probe was stopped; nothing is known about the system
		}
		return Result{}, err
	}
	dir, err := os.MkdirTemp("", "whetstone-check-")
	if err != nil {
		return Result{}, fmt.Errorf("make a folder for %s: %w", spec.Argv[0], err)
	}
	defer func() {
		if rerr := remove(dir); rerr != nil && err == nil {
			err = fmt.Errorf("remove the folder of %s: %w", spec.Argv[0], rerr)
		}
	}()
	// The real path: on macOS the temporary folder is a link, and a command may compare the two.
	if real, rerr := filepath.EvalSymlinks(dir); rerr == nil {
		dir = real
	}
	if err := writeFiles(dir, spec.Files); err != nil {
		return Result{}, err
	}
	return run(ctx, spec, program, dir)
}

func run(ctx context.Context, spec Spec, program, dir string) (Result, error) {
	// The kernel kills the command when the thread that started it ends, so that none survives us; this goroutine must
	// keep its thread until the command has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	timed, cancel := context.WithTimeout(ctx, spec.Timeout)
	defer cancel()
	cmd := exec.CommandContext(timed, program, spec.Argv[1:]...)
	cmd.Dir, cmd.Env = dir, spec.environment(dir)
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = afterKill
	isolate(cmd)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		return Result{}, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	err := cmd.Wait()
	killRest(cmd)
	res := Result{Output: out.String(), Took: time.Since(began)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case cmd.ProcessState == nil || err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && timed.Err() == nil:
		return Result{}, fmt.Errorf("run %s: %w", spec.Argv[0], err)
	}
	res.Exit = cmd.ProcessState.ExitCode()
	res.TimedOut = timed.Err() != nil && !cmd.ProcessState.Exited()
	return res, nil
}

// check refuses a Spec that can not be run, and finds the program.
func (s Spec) check() (program string, err error) {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return "", errors.New("run a command: Argv names no program")
	}
	if s.Timeout <= 0 {
		return "", fmt.Errorf("run %s: Timeout must be positive", s.Argv[0])
	}
	for k, v := range s.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) {
			return "", fmt.Errorf("run %s: Env holds %q, which is no variable", s.Argv[0], k)
		}
	}
	for name := range s.Files {
		if !local(name) {
			return "", fmt.Errorf("run %s: Files holds %q, which is not a name inside of a folder", s.Argv[0], name)
		}
	}
	// A relative path would be looked up in our folder and not in the command's, where nothing is executable.
	if !filepath.IsAbs(s.Argv[0]) && filepath.Base(s.Argv[0]) != s.Argv[0] {
		return "", fmt.Errorf("start %s: give its full path, or a name that is found on PATH", s.Argv[0])
	}
	program, err = exec.LookPath(s.Argv[0])
	if err != nil {
		return "", fmt.Errorf("start %s: %w", s.Argv[0], err)
	}
	return program, nil
}

// environment holds no variable of ours but the two a program can hardly do without: a key can not leak from here.
func (s Spec) environment(dir string) []string {
	env := []string{}
	for _, k := range []string{"PATH", "LANG"} {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	keys := make([]string, 0, len(s.Env))
	for k := range s.Env {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		env = append(env, k+"="+s.Env[k])
	}
	return append(env, "HOME="+dir, "TMPDIR="+dir) // the last value of a name counts
}
