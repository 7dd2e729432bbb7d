package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"whetstone/internal/fakeopenai"
)

func TestMain(m *testing.M) {
	if name := os.Getenv("FAKE_AGENT_CLI"); name != "" {
		os.Exit(fakeAgentCLI(name))
	}
	code := m.Run()
	Cleanup()
	os.Exit(code)
}

// Each script is one thing a person may do, right or wrong: see testdata/script. $EXAMPLES is the folder of the examples,
// WHETSTONE_HOME is an empty folder of the script's own.
func TestScripts(t *testing.T) {
	bin := Binaries(t)
	examples := filepath.Join(Root(t), "examples")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("WHETSTONE_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("EXAMPLES", examples)
			e.Values["fake"] = &scriptFake{t: t}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode,
			"fake":     startFake,
			"asked":    asked,
		},
	})
}

// scriptFake is a script's own model server.
type scriptFake struct {
	t      *testing.T
	server *fakeopenai.Server
}

// startFake starts a model server that speaks OpenAI's protocol, and points the environment to it: fake [FAULT...]. The n-th call
// fails with the n-th fault; "ok" is none.
func startFake(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: fake [fault...]")
	}
	f, _ := ts.Value("fake").(*scriptFake)
	f.server = fakeopenai.Start(f.t, 3*time.Second, func(n int, _ string) fakeopenai.Fault {
		if n >= len(args) || args[n] == "ok" {
			return fakeopenai.None
		}
		return fakeopenai.Fault(args[n])
	})
	ts.Setenv("OPENAI_API_KEY", "sk-test-key-that-must-not-leak")
	ts.Setenv("OPENAI_BASE_URL", f.server.URL)
}

// asked checks how many calls the model server had: asked N, or asked +N for at least N.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	f, _ := ts.Value("fake").(*scriptFake)
	if neg || len(args) != 1 || f.server == nil {
		ts.Fatalf("usage: asked N or asked +N, after fake")
	}
	least, isLeast := strings.CutPrefix(args[0], "+")
	want, err := strconv.Atoi(least)
	ts.Check(err)
	if n := len(f.server.Calls()); n != want && (!isLeast || n < want) {
		ts.Fatalf("the model was asked %d time(s), want %s", n, args[0])
	}
}

// exitCode runs a program and checks its exit code: exitcode N PROGRAM ARGS.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s exited with %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}
