package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode,
		},
	})
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
