// Package e2e drives the real binaries as a person would: it builds them once, starts them with homes of their own, kills
// them, and reads what they print and leave behind. It links none of the embedded server, so its tests stay cheap under
// the race detector. Everything in it is for tests.
package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"whetstone/run"
)

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "whetstone-e2e-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "whetstone/cmd/starter", "whetstone/cmd/worker", "whetstone/cmd/whetstone-hook")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return dir, nil
})

// Binaries builds starter, worker and whetstone-hook once for the test process and returns their folder. WHETSTONE_BIN
// names a folder that holds them already.
func Binaries(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("WHETSTONE_BIN"); dir != "" {
		return dir
	}
	dir, err := build()
	if err != nil {
		t.Fatalf("build the binaries: %v", err)
	}
	return dir
}

// Root is the repository.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Cleanup removes the built binaries; a TestMain calls it last.
func Cleanup() {
	if os.Getenv("WHETSTONE_BIN") == "" {
		if dir, err := build(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
}

// Place is a home with a copy of an example beside it.
type Place struct {
	T     testing.TB
	Home  string
	Skill string
	Learn string
	Env   []string // added to the environment
}

// NewPlace copies an example into a folder of its own, with an empty home.
func NewPlace(t testing.TB, example string) *Place {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"SKILL.md", "learnings.jsonl"} {
		b, err := os.ReadFile(filepath.Join(Root(t), "examples", example, f))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &Place{T: t, Home: filepath.Join(dir, "home"), Skill: filepath.Join(dir, "SKILL.md"), Learn: filepath.Join(dir, "learnings.jsonl")}
}

// Command prepares a run of a binary in this place. Keys and addresses of the tester's own environment are left out.
func (p *Place) Command(name string, args ...string) *exec.Cmd {
	p.T.Helper()
	cmd := exec.Command(filepath.Join(Binaries(p.T), name), args...)
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(k, "TEMPORAL_") || strings.HasPrefix(k, "WHETSTONE_") || strings.HasSuffix(k, "_API_KEY") || strings.HasSuffix(k, "_BASE_URL") {
			continue
		}
		cmd.Env = append(cmd.Env, kv)
	}
	cmd.Env = append(append(cmd.Env, "WHETSTONE_HOME="+p.Home), p.Env...)
	return cmd
}

// Output is what a finished process left.
type Output struct {
	Stdout, Stderr string
	Code           int
}

// Run runs a binary to its end.
func (p *Place) Run(name string, args ...string) Output {
	p.T.Helper()
	cmd := p.Command(name, args...)
	return finish(p.T, cmd)
}

func finish(t testing.TB, cmd *exec.Cmd) Output {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %v: %v", cmd.Args, err)
	}
	return Output{Stdout: out.String(), Stderr: errs.String(), Code: cmd.ProcessState.ExitCode()}
}

// File writes a file into the home folder, making it where there is none.
func (p *Place) File(name, text string, mode os.FileMode) {
	p.T.Helper()
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		p.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Home, name), []byte(text), mode); err != nil {
		p.T.Fatal(err)
	}
}

// OptimizeArgs are the arguments of the main job in this place, staged, as JSON.
func (p *Place) OptimizeArgs(more ...string) []string {
	return append([]string{"optimize", "--skill", p.Skill, "--import", p.Learn, "--stage", "--json"}, more...)
}

// Optimize runs the main job to its end and reads its result.
func (p *Place) Optimize(more ...string) (run.Result, Output) {
	p.T.Helper()
	out := p.Run("starter", p.OptimizeArgs(more...)...)
	return Result(p.T, out), out
}

// Result reads the JSON object that optimize ends with; a zero one where it printed none.
func Result(t testing.TB, out Output) run.Result {
	t.Helper()
	var r run.Result
	lines := strings.Split(strings.TrimSpace(out.Stdout), "\n")
	last := lines[len(lines)-1]
	if last == "" {
		return r
	}
	if err := json.Unmarshal([]byte(last), &r); err != nil {
		t.Fatalf("the last line is not the result: %v\nstdout %q\nstderr %s", err, out.Stdout, out.Stderr)
	}
	return r
}

// grepFiles lists the files below dir that hold a text.
func grepFiles(t testing.TB, dir, text string) []string {
	t.Helper()
	var hits []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(b, []byte(text)) {
			hits = append(hits, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}
