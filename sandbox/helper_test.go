package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary itself be the command: no test depends on what is installed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "as-") {
		os.Exit(act(strings.TrimPrefix(os.Args[1], "as-"), os.Args[2:]))
	}
	os.Exit(m.Run())
}

// act is what the test binary does as a command.
func act(what string, args []string) int {
	switch what {
	case "exit":
		fmt.Println("out")
		fmt.Fprintln(os.Stderr, "err")
		return len(args)
	case "args":
		fmt.Printf("%q", args)
	case "dial":
		c, err := net.DialTimeout("tcp", args[0], 5*time.Second)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		_ = c.Close()
	case "env":
		fmt.Print(strings.Join(os.Environ(), "\n"))
	case "flood":
		for i := range 40_000 {
			fmt.Printf("line %d é\n", i)
		}
		fmt.Print("\xffthe end")
	case "files":
		wd, _ := os.Getwd()
		fmt.Println(wd)
		_ = filepath.WalkDir(".", func(p string, d os.DirEntry, _ error) error {
			if !d.IsDir() {
				b, _ := os.ReadFile(p)
				fmt.Printf("%s=%s\n", filepath.ToSlash(p), b)
			}
			return nil
		})
	case "lock": // leaves folders that can not be written to
		_ = os.MkdirAll("a/b", 0o700)
		_ = os.WriteFile("a/b/c", nil, 0o400)
		_ = os.Chmod("a/b", 0o500)
		_ = os.Chmod("a", 0)
		wd, _ := os.Getwd()
		fmt.Print(wd)
	case "hold": // holds a pipe open, as a grandchild in a session of its own
		f, err := os.OpenFile(args[0], os.O_WRONLY, 0)
		if err != nil {
			return 1
		}
		fmt.Fprintln(f, "held")
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		<-interrupted // nobody interrupts it: it ends by being killed
	case "leave", "tree": // starts one that holds, and ends or waits
		cmd := exec.Command(os.Args[0], "as-hold", args[0])
		if len(args) > 1 {
			newSession(cmd)
		}
		if cmd.Start() != nil {
			return 1
		}
		if what == "tree" {
			_ = cmd.Wait() // which does not end by itself
		}
		<-opened(args[0] + ".go")
	case "host": // runs a command, to be killed while it does
		_, err := Run(context.Background(), Spec{Argv: []string{os.Args[0], "as-hold", args[0]}, Timeout: time.Hour})
		fmt.Println(err)
	}
	return 0
}

// opened is closed once somebody opens the pipe for reading and writes to it; a path that is no pipe is closed at once.
func opened(path string) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		defer close(c)
		if f, err := os.Open(path); err == nil {
			_, _ = f.Read(make([]byte, 1))
			_ = f.Close()
		}
	}()
	return c
}

// me is the test binary as a command.
func me(t *testing.T, what string, args ...string) []string {
	t.Helper()
	if err := Available(); err != nil {
		t.Skipf("%s: %v", runtime.GOOS, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, "as-" + what}, args...)
}

func mustRun(t *testing.T, spec Spec) Result {
	t.Helper()
	if spec.Timeout == 0 {
		spec.Timeout = time.Minute
	}
	res, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
