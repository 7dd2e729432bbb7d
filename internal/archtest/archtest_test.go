// Package archtest holds the layout's rules: which room may import which, what the hook may link, who may speak SQL and
// who may call activities. Each rule says why it exists. A rule that is in the way is changed here, with a decision
// record, and not worked around.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// floors of the rooms; imports go to lower floors only, and rooms of one floor never import each other, so that each can
// be understood, tested and replaced without its neighbours.
var floors = map[string]int{
	"skill": 0, "learning": 0, "model": 0, "run": 0, "home": 0, "project": 0, "source": 0, "claim": 0,
	"validation": 1, "optimizer": 1, "hook": 1, "report": 1, "spool": 1, "session": 1, "review": 1, "wiki": 1, "research": 1,
	"calibrate": 2, "evidence": 2,
	"activities": 3, "install": 3, "store": 3, "llm": 3, "fetch": 3, "sandbox": 3,
	"workflows": 4,
	"devserver": 5,
	"service":   6,
	"cmd":       7,
	"bench":     7,
}

type pkg struct {
	ImportPath string
	Dir        string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Imports,Deps"}, args...)...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var ps []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	if len(ps) == 0 {
		t.Fatal("go list found no packages")
	}
	return ps
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// room is the first folder of a package of ours, "" for the root package and other modules' packages.
func room(path string) string {
	rest, ok := strings.CutPrefix(path, "whetstone/")
	if !ok {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

func TestImportsPointToLowerFloors(t *testing.T) {
	seen := 0
	for _, p := range list(t, "./...") {
		from := room(p.ImportPath)
		if from == "" || from == "internal" {
			continue
		}
		here, known := floors[from]
		if !known {
			t.Errorf("%s is in no room: add it to the floors, with a decision record", p.ImportPath)
			continue
		}
		seen++
		for _, imp := range p.Imports {
			to := room(imp)
			if to == "" || to == "internal" || to == from {
				continue
			}
			there, known := floors[to]
			if !known || there >= here {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports go to lower floors", p.ImportPath, here, imp, there)
			}
			if from == "workflows" && there == 3 && to != "activities" {
				t.Errorf("%s imports %s: workflows know activities' types and nothing else that does I/O", p.ImportPath, imp)
			}
			if from == "devserver" {
				t.Errorf("devserver imports %s: it could host any program's server and must stay so", imp)
			}
		}
	}
	if seen < len(floors) {
		t.Errorf("only %d packages were looked at, for %d rooms", seen, len(floors))
	}
}

// Floor 0 is what everything rests on: it must build in no time and pull in nothing that could change under it.
func TestFloorZeroUsesTheStandardLibraryAndYAMLOnly(t *testing.T) {
	allowed := []string{"github.com/goccy/go-yaml", "golang.org/x/text/unicode/norm", "whetstone/internal/mdblock", "whetstone/internal/late"}
	for _, p := range list(t, "./...") {
		if r := room(p.ImportPath); r == "" || floors[r] != 0 || r == "internal" {
			continue
		}
		for _, imp := range p.Imports {
			if strings.Contains(imp, ".") && !slices.Contains(allowed, imp) || strings.HasPrefix(imp, "whetstone/") && !slices.Contains(allowed, imp) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// A workflow that reaches a clock, the environment or a file is not deterministic, and workflowcheck does not see all of
// it; so what a workflow package may import at all is listed.
func TestWorkflowsImportNothingThatIsNotDeterministic(t *testing.T) {
	allowed := []string{"errors", "fmt", "strings", "time", "go.temporal.io/sdk/temporal", "go.temporal.io/sdk/workflow", "go.temporal.io/api/enums/v1", "whetstone/activities", "whetstone/optimizer", "whetstone/report", "whetstone/research", "whetstone/run", "whetstone/source", "whetstone/validation"}
	for _, p := range list(t, "./workflows/...") {
		for _, imp := range p.Imports {
			if !slices.Contains(allowed, imp) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// The sandbox is what stands between a person's command and the network: it must be readable by itself, in full.
func TestSandboxImportsTheStandardLibraryOnly(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			cmd := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "./sandbox")
			cmd.Dir, cmd.Env = root(t), append(os.Environ(), "GOOS="+goos)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range strings.Fields(string(out)) {
				if strings.Contains(imp, ".") || strings.HasPrefix(imp, "whetstone/") {
					t.Errorf("sandbox imports %s", imp)
				}
			}
			if !strings.Contains(string(out), "os/exec") {
				t.Error("it does not import os/exec: the test looks in the wrong place")
			}
		})
	}
}

// The hook runs on every turn of an agent: it must start in milliseconds, and can do no harm with what it does not link.
func TestHookLinksLittle(t *testing.T) {
	p := list(t, "./cmd/whetstone-hook")[0]
	for _, dep := range p.Deps {
		for _, forbidden := range []string{"go.temporal.io/", "google.golang.org/grpc", "github.com/sashabaranov/", "net/http", "github.com/spf13/cobra", "whetstone/activities", "whetstone/llm", "whetstone/workflows", "whetstone/service", "whetstone/devserver"} {
			if strings.HasPrefix(dep, forbidden) {
				t.Errorf("the hook links %s", dep)
			}
		}
	}
	if most := 200; len(p.Deps) > most {
		t.Errorf("the hook links %d packages, at most %d", len(p.Deps), most)
	}
}

// The offline judge must not be able to agree with the offline reflector by construction.
func TestOfflineJudgeAndReflectorShareNoCode(t *testing.T) {
	own := func(path string) map[string]bool {
		out := map[string]bool{}
		p := list(t, path)[0]
		for _, d := range append(p.Deps, p.ImportPath) {
			if strings.HasPrefix(d, "whetstone/") {
				out[d] = true
			}
		}
		return out
	}
	judge, reflector := own("./llm/statement"), own("./llm/rulepatch")
	for d := range judge {
		if reflector[d] {
			t.Errorf("both link %s", d)
		}
	}
	if len(judge) == 0 || len(reflector) == 0 {
		t.Error("one of them was not found")
	}
}

// SQL in one place can be reviewed; SQL everywhere can not. devserver reads the version stamp of the server's own file.
func TestOnlyStoreSpeaksSQL(t *testing.T) {
	for _, p := range list(t, "./...") {
		if r := room(p.ImportPath); r == "store" || r == "devserver" {
			continue
		}
		for _, imp := range p.Imports {
			if imp == "database/sql" || strings.HasPrefix(imp, "modernc.org/sqlite") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// A wrong input struct compiles and arrives as a zero value, so activities are called through typed wrappers only.
func TestOnlyCallsGoExecutesActivities(t *testing.T) {
	found := false
	err := filepath.WalkDir(root(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(b), "workflow.ExecuteActivity(") {
			if filepath.Base(path) != "calls.go" {
				t.Errorf("%s calls ExecuteActivity", path)
			}
			found = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		t.Error("no call of ExecuteActivity was found at all: the test looks in the wrong place")
	}
}

// A package without an opening comment makes its reader guess what it owns.
func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	for _, p := range list(t, "./...") {
		entries, err := os.ReadDir(p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			b, err := os.ReadFile(filepath.Join(p.Dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if s := string(b); strings.HasPrefix(s, "// Package ") || strings.HasPrefix(s, "// Command ") {
				said = true
			}
		}
		if !said {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}
