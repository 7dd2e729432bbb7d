// Command latency times whole processes of the hook, as an agent's host waits for them: a Stop with and without a block, a
// prompt over ten thousand learnings, a guarded and an unguarded tool call, the start of a session; beside `node -e 0` and
// `true` on the same machine, interleaved, so that a busy moment hits all alike. It prints median and 95th percentile.
//
//	make build && go run ./bench/latency [-n 200] [-learnings 10000]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	n := flag.Int("n", 200, "calls of each kind")
	learnings := flag.Int("learnings", 10000, "approved learnings in the store")
	bin := flag.String("bin", "bin", "folder of the binaries")
	flag.Parse()
	if err := run(*bin, *n, *learnings); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type subject struct {
	name string
	argv []string
	in   func(i int) string
	took []time.Duration
}

func run(bin string, n, learnings int) error {
	dir, err := os.MkdirTemp("", "latency-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin, err = filepath.Abs(bin)
	if err != nil {
		return err
	}
	env := append(os.Environ(), "WHETSTONE_HOME="+filepath.Join(dir, "home"))
	if err := fill(bin, dir, env, learnings); err != nil {
		return err
	}
	hook := filepath.Join(bin, "whetstone-hook")
	event := func(name string, more map[string]any) func(int) string {
		return func(i int) string {
			m := map[string]any{"hook_event_name": name, "session_id": fmt.Sprintf("s%d", i%20), "prompt_id": fmt.Sprintf("p%d", i), "cwd": dir}
			for k, v := range more {
				if f, ok := v.(func(int) any); ok {
					v = f(i)
				}
				m[k] = v
			}
			b, _ := json.Marshal(m)
			return string(b)
		}
	}
	subjects := []*subject{
		{name: "true", argv: []string{"true"}},
		{name: "node -e 0", argv: []string{"node", "-e", "0"}},
		{name: "an event that is not ours", argv: []string{hook}, in: event("Notification", nil)},
		{name: "Stop, no block", argv: []string{hook}, in: event("Stop", map[string]any{"last_assistant_message": "All tests pass now. The cache key includes the tenant."})},
		{name: "Stop, a block", argv: []string{hook}, in: event("Stop", map[string]any{"last_assistant_message": func(i int) any { return fmt.Sprintf("Done.\n\n[LEARN] testing: keep fixture number %d small\n", i) }})},
		{name: "PostToolUse", argv: []string{hook}, in: event("PostToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": func(i int) any { return fmt.Sprint(i) }, "tool_input": map[string]any{"command": "go test ./..."}})},
		{name: "PreToolUse, guard", argv: []string{hook, "--guard"}, in: event("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "cd sub && git push --force-with-lease && go test ./... | tee out.txt"}})},
		{name: "UserPromptSubmit, told something", argv: []string{hook}, in: event("UserPromptSubmit", map[string]any{"prompt": func(i int) any {
			return fmt.Sprintf("The migration of table %d times out in the nightly import: add a retry with backoff to the importer of module %d.", i%997, (i*7)%997)
		}})},
		{name: "UserPromptSubmit, nothing relevant", argv: []string{hook}, in: event("UserPromptSubmit", map[string]any{"prompt": "ok, thanks, go on with the next one please"})},
		{name: "SessionStart", argv: []string{hook}, in: func(i int) string {
			return fmt.Sprintf(`{"hook_event_name": "SessionStart", "session_id": "start%d", "source": "startup", "cwd": %q}`, i, dir)
		}},
	}
	for i := range n + 5 { // the first five warm up
		for _, s := range subjects {
			if _, err := exec.LookPath(s.argv[0]); err != nil {
				continue
			}
			cmd := exec.CommandContext(context.Background(), s.argv[0], s.argv[1:]...)
			cmd.Env = env
			if s.in != nil {
				cmd.Stdin = bytes.NewReader([]byte(s.in(i)))
			}
			t := time.Now()
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i >= 5 {
				s.took = append(s.took, time.Since(t))
			}
		}
	}
	fmt.Printf("%d calls of each, %d learnings; milliseconds\n%-36s %8s %8s\n", n, learnings, "", "median", "p95")
	for _, s := range subjects {
		if len(s.took) == 0 {
			fmt.Printf("%-36s %8s %8s\n", s.name, "-", "-")
			continue
		}
		slices.Sort(s.took)
		ms := func(q float64) float64 { return float64(s.took[int(q*float64(len(s.took)-1))].Microseconds()) / 1000 }
		fmt.Printf("%-36s %8.1f %8.1f\n", s.name, ms(0.5), ms(0.95))
	}
	return nil
}

// fill makes a store with rules that differ in their words, as people's do.
func fill(bin, dir string, env []string, n int) error {
	subjects := []string{"migration", "importer", "cache", "handler", "retry", "backoff", "fixture", "index", "queue", "worker", "parser", "token", "session", "cookie", "schema", "endpoint", "timeout", "logger", "metric", "template"}
	verbs := []string{"rename", "split", "batch", "validate", "escape", "seed", "flush", "close", "wrap", "pin", "guard", "trace", "sort", "page", "lock"}
	places := []string{"nightly", "staging", "tenant", "billing", "checkout", "search", "mobile", "admin", "export", "report", "gateway", "scheduler", "archive"}
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"category": %q, "rule": "%s the %s %s of module %d before the %s step", "correction": "use the helper in %s/%s%d.go"}`+"\n",
			subjects[i%len(subjects)], verbs[i%len(verbs)], places[(i/3)%len(places)], subjects[(i/7)%len(subjects)], i%997, verbs[(i/11)%len(verbs)], places[i%len(places)], subjects[(i/5)%len(subjects)], i)
	}
	path := filepath.Join(dir, "learnings.jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), filepath.Join(bin, "starter"), "learn", "import", path)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("fill the store: %w: %s", err, out)
	}
	return nil
}
