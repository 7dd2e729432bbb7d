//go:build linux || darwin

package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func newSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// held makes a pipe with a name. The function it returns waits until a process has written to it (once true is given) and
// until no process holds it open any more: that is how a test knows that one is dead, without looking for it.
func held(t *testing.T) (path string, written, gone func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	done := make(chan error, 1)
	first := make(chan struct{})
	go func() {
		// Before the first writer a reader meets the end at once, so a keeper of our own holds it open until then.
		keeper, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			done <- err
			return
		}
		_, err = f.Read(make([]byte, 16))
		_ = keeper.Close()
		close(first)
		if err == nil {
			_, err = io.ReadAll(f)
		}
		done <- err
	}()
	written = func() {
		select {
		case <-first:
		case <-time.After(time.Minute):
			t.Fatal("the process did not come to hold the pipe")
		}
	}
	gone = func() {
		written()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the process is still alive")
		}
	}
	return path, written, gone
}

func TestRunKillsGrandchildrenWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{"in the group": nil, "in a session of its own": {"own"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if more != nil && runtime.GOOS != "linux" {
				t.Skip("only Linux has process namespaces")
			}
			path, _, gone := held(t)
			res := mustRun(t, Spec{Argv: me(t, "tree", append([]string{path}, more...)...), Timeout: 2 * time.Second})
			if !res.TimedOut || res.Exit == 0 || res.Took > 30*time.Second {
				t.Errorf("%+v", res)
			}
			gone()
		})
	}
}

// A command that ends must not leave one running that goes on after its verdict.
func TestRunLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	path, written, gone := held(t)
	if err := syscall.Mkfifo(path+".go", 0o600); err != nil {
		t.Fatal(err)
	}
	argv := me(t, "leave", path, "own")
	if runtime.GOOS != "linux" {
		argv = me(t, "leave", path)
	}
	result := make(chan error, 1)
	go func() {
		res, err := Run(context.Background(), Spec{Argv: argv, Timeout: time.Minute})
		if err == nil && (res.Exit != 0 || res.TimedOut) {
			err = errors.New(res.Output)
		}
		result <- err
	}()
	written() // the grandchild lives
	g, err := os.OpenFile(path+".go", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = g.Write([]byte("x"))
	_ = g.Close()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	gone()
}

func TestRunKillsTheCommandWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	path, written, gone := held(t)
	argv := me(t, "hold", path)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() {
		_, err := Run(ctx, Spec{Argv: argv, Timeout: time.Hour})
		result <- err
	}()
	written()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	gone()
}

// kill -9 of the worker must not leave a check running for ever, whose time nobody counts any more.
func TestTheCommandDiesWithUs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process that its parent died")
	}
	path, written, gone := held(t)
	argv := me(t, "host", path)
	host := exec.Command(argv[0], argv[1:]...)
	host.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // killed, it removes nothing
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	written()
	_ = host.Process.Kill()
	_ = host.Wait()
	gone()
}
