package llm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"whetstone/model"
	"whetstone/validation"
)

// agent makes a program that answers as it is told, and notes how it was called.
func agent(t *testing.T, name, script string) (*AgentCLI, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake is a shell script")
	}
	dir := t.TempDir()
	text := "#!/bin/sh\npwd > '" + dir + "/cwd'; ls -A > '" + dir + "/ls'; env > '" + dir + "/env'; cat > '" + dir + "/stdin'\nfor a in \"$@\"; do echo \"[$a]\"; done > '" + dir + "/args'\n" + script + "\n"
	program := map[string]string{"claude-cli": "claude", "codex-cli": "codex"}[name]
	if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": dir + ":" + os.Getenv("PATH"), "HOME": dir, "OPENAI_API_KEY": "sk-other", "ANTHROPIC_API_KEY": "sk-ant-mine", "SECRET_OF_MINE": "x"}
	p, _ := (&Registry{}).provider(name)
	c, err := newAgentCLI(p, func(k string) string { return env[k] })
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var cliRequest = model.Request{Ref: model.Ref{Provider: "claude-cli", Model: "sonnet"}, MaxTokens: 100, Schema: validation.JudgeSchema, Messages: []model.Message{{Role: "system", Content: "the rules; $(rm -rf /)"}, {Role: "user", Content: "the items"}}}

func TestClaudeIsAskedWithoutToolsInAnEmptyFolder(t *testing.T) {
	c, dir := agent(t, "claude-cli", `echo '{"type":"result","subtype":"success","is_error":false,"result":"{\"verdicts\":[]}","stop_reason":"end_turn","total_cost_usd":0.0123,"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":4}}'`)
	r, err := c.Complete(t.Context(), cliRequest)
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != `{"verdicts":[]}` || r.Finish != "stop" || r.Reported != model.FromUSD(0.0123) || r.Usage != (model.Usage{Input: 60, Cached: 30, Written: 20, Output: 4}) {
		t.Errorf("%+v", r)
	}
	args := read(t, dir, "args")
	for _, want := range []string{"[-p]\n", "[--output-format]\n[json]\n", "[--tools]\n[]\n", "[--setting-sources]\n[]\n", "[--strict-mcp-config]\n", "[--model]\n[sonnet]\n", "[--system-prompt]\n[the rules; $(rm -rf /)]\n"} {
		if !strings.Contains(args, want) {
			t.Errorf("%q is not among %s", want, args)
		}
	}
	if read(t, dir, "ls") != "" || read(t, dir, "cwd") == dir {
		t.Error("it does not run in an empty folder")
	}
	if in := read(t, dir, "stdin"); !strings.HasPrefix(in, "the items") || !strings.Contains(in, `"verdicts"`) || strings.Contains(in, "the rules") {
		t.Errorf("%q", in)
	}
	if env := read(t, dir, "env"); strings.Contains(env, "sk-other") || strings.Contains(env, "SECRET_OF_MINE") || !strings.Contains(env, "ANTHROPIC_API_KEY=sk-ant-mine") {
		t.Errorf("%s", env)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "whetstone-cli-*"))
	for _, l := range left {
		if l == strings.TrimSpace(read(t, dir, "cwd")) {
			t.Error("the folder is left")
		}
	}
}

func TestCodexIsAskedReadOnly(t *testing.T) {
	c, dir := agent(t, "codex-cli", `cat <<'E'
{"type":"thread.started","thread_id":"x"}
a notice
{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"type":"agent_message","text":"{\"verdicts\":[]}"}}
{"type":"turn.completed","usage":{"input_tokens":50,"cached_input_tokens":40,"output_tokens":6}}
E`)
	req := cliRequest
	req.Ref = model.Ref{Provider: "codex-cli", Model: "gpt-5-codex"}
	r, err := c.Complete(t.Context(), req)
	if err != nil || r.Text != `{"verdicts":[]}` || r.Usage != (model.Usage{Input: 50, Cached: 40, Output: 6}) {
		t.Fatalf("%+v %v", r, err)
	}
	args := read(t, dir, "args")
	for _, want := range []string{"[exec]\n[--json]\n[--sandbox]\n[read-only]\n[--skip-git-repo-check]\n", "[--model]\n[gpt-5-codex]\n", "[-]\n"} {
		if !strings.Contains(args, want) {
			t.Errorf("%q is not among %s", want, args)
		}
	}
	if in := read(t, dir, "stdin"); !strings.HasPrefix(in, "the rules; $(rm -rf /)\n\nthe items") {
		t.Errorf("%q", in)
	}
	if env := read(t, dir, "env"); strings.Contains(env, "sk-ant-mine") {
		t.Errorf("%s", env)
	}
}

func TestAProgramThatFailsIsSorted(t *testing.T) {
	for _, c := range []struct {
		name, script string
		kind         model.Kind
	}{
		{"claude-cli", `echo 'Invalid API key · Please run /login' >&2; exit 1`, model.Unauthorised},
		{"claude-cli", `echo '{"type":"result","subtype":"success","is_error":true,"result":"Claude usage limit reached. Your limit will reset at 3pm"}'; exit 1`, model.Quota},
		{"claude-cli", `echo '{"type":"result","subtype":"error_max_turns","is_error":false}'`, model.Unavailable},
		{"claude-cli", `echo "error: unknown option '--tools'" >&2; exit 1`, model.BadRequest},
		{"claude-cli", `echo hello`, model.Malformed},
		{"claude-cli", `exit 3`, model.Unavailable},
		{"codex-cli", `echo '{"type":"turn.failed","error":{"message":"429 Too Many Requests"}}'; exit 1`, model.RateLimited},
		{"codex-cli", `echo '{"type":"error","message":"Not logged in"}'; exit 1`, model.Unauthorised},
		{"codex-cli", `echo '{"type":"thread.started"}'`, model.Malformed},
		{"codex-cli", `head -c 9000000 /dev/zero`, model.Malformed},
	} {
		a, _ := agent(t, c.name, c.script)
		_, err := a.Complete(t.Context(), cliRequest)
		if e, ok := model.AsError(err); !ok || e.Kind != c.kind || e.Provider != c.name {
			t.Errorf("%s: %v, want %s", c.script, err, c.kind)
		}
	}
}

func TestAProgramThatHangsIsEnded(t *testing.T) {
	a, _ := agent(t, "claude-cli", `sleep 60 & sleep 60`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := a.Complete(ctx, cliRequest)
	if e, ok := model.AsError(err); !ok || e.Kind != model.Timeout || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func TestAProgramThatIsNotThereIsTold(t *testing.T) {
	for _, name := range []string{"claude-cli", "codex-cli"} {
		p, _ := (&Registry{}).provider(name)
		_, err := newAgentCLI(p, func(k string) string { return map[string]string{"PATH": t.TempDir()}[k] })
		if err == nil || !strings.Contains(err.Error(), "PATH") {
			t.Errorf("%v", err)
		}
	}
}

func TestARunIsReplayedFromItsRecording(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	n := 0
	next := clientFunc(func(req model.Request) (model.Reply, error) {
		if n++; n == 2 {
			return model.Reply{}, &model.Error{Kind: model.RateLimited, Provider: "x", Status: 429, Err: fmt.Errorf("slow down, sk-ant-REDACTME0123456789abcdef")}
		}
		return model.Reply{Text: fmt.Sprint("answer ", n), Finish: "stop", Usage: model.Usage{Input: n, Output: 1}}, nil
	})
	rec := Recorder{Next: next, Dir: dir}
	a, b := cliRequest, cliRequest
	b.Messages = []model.Message{{Role: "user", Content: "other"}}
	var said []string
	ask := func(c model.Client, req model.Request) {
		r, err := c.Complete(t.Context(), req)
		kind := ""
		if e, ok := model.AsError(err); ok {
			kind = string(e.Kind)
		}
		said = append(said, fmt.Sprint(r.Text, r.Usage, kind))
	}
	for _, req := range []model.Request{a, a, b, a} {
		ask(rec, req)
	}
	want := said
	said = nil
	rep := &Replayer{Dir: dir}
	for _, req := range []model.Request{b, a, a, a} { // the order among different calls does not matter
		ask(rep, req)
	}
	if said[0] != want[2] || said[1] != want[0] || said[2] != want[1] || said[3] != want[3] {
		t.Errorf("%q, recorded %q", said, want)
	}
	if _, err := rep.Complete(t.Context(), a); err != nil {
		t.Errorf("the last answer is repeated: %v", err)
	}
	a.Seed++
	_, err := rep.Complete(t.Context(), a)
	if e, ok := model.AsError(err); !ok || e.Kind != model.NotFound || e.Retryable() {
		t.Errorf("%v", err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		info, _ := os.Stat(f)
		if info.Mode().Perm() != 0o600 || strings.Contains(read(t, f), "REDACTME") {
			t.Errorf("%s: %v", f, info.Mode())
		}
	}
}

type clientFunc func(model.Request) (model.Reply, error)

func (f clientFunc) Complete(_ context.Context, req model.Request) (model.Reply, error) {
	return f(req)
}
