package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"whetstone/internal/fakeanthropic"
	"whetstone/internal/fakeopenai"
	"whetstone/run"
)

// fakeAgentCLI is this test program in the place of claude or codex: it answers the prompt on standard input by rule, in the form
// that the real one prints.
func fakeAgentCLI(name string) int {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	prompt := strings.Join(os.Args[1:], "\n") + "\n" + string(in)
	answer := fakeopenai.Answer(prompt)
	out := json.NewEncoder(os.Stdout)
	if name == "claude" {
		_ = out.Encode(map[string]any{"type": "result", "subtype": "success", "is_error": false, "result": answer, "total_cost_usd": 0.001, "stop_reason": "end_turn", "usage": map[string]any{"input_tokens": len(prompt) / 4, "output_tokens": len(answer) / 4}})
		return 0
	}
	_ = out.Encode(map[string]any{"type": "thread.started"})
	_ = out.Encode(map[string]any{"type": "item.completed", "item": map[string]any{"type": "agent_message", "text": answer}})
	_ = out.Encode(map[string]any{"type": "turn.completed", "usage": map[string]any{"input_tokens": len(prompt) / 4, "cached_input_tokens": 0, "output_tokens": len(answer) / 4}})
	return 0
}

// agentPath is a folder with claude and codex in it.
func agentPath(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fakes are shell scripts")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"claude", "codex"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(fmt.Sprintf("#!/bin/sh\nFAKE_AGENT_CLI=%s exec '%s' \"$@\"\n", name, self)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A whole run of each provider through the real binaries and real HTTP or a real process, each with the same outcome.
func TestARunOfEachProvider(t *testing.T) {
	args := []string{"--goal", "adopt", "--epochs", "1", "--trials", "1"}
	calm, _ := withFake(t, nil)
	want, out := calm.Optimize(args...)
	if out.Code != 0 || want.Outcome != run.Accepted {
		t.Fatalf("openai: exit %d, %+v\n%s", out.Code, want, out.Stderr)
	}
	chat := func(baseEnv, keyEnv string) func(t *testing.T, p *Place) {
		return func(t *testing.T, p *Place) {
			f := fakeopenai.Start(t, time.Second, nil)
			p.Env = append(p.Env, baseEnv+"="+f.URL)
			if keyEnv != "" {
				p.Env = append(p.Env, keyEnv+"=key-that-must-not-leak-0123456789")
			}
		}
	}
	for name, c := range map[string]struct {
		flags []string
		setup func(t *testing.T, p *Place)
		paid  bool
	}{
		"anthropic": {[]string{"--provider", "anthropic"}, func(t *testing.T, p *Place) {
			p.Env = append(p.Env, "ANTHROPIC_API_KEY=key-that-must-not-leak-0123456789", "ANTHROPIC_BASE_URL="+fakeanthropic.Start(t, nil).URL)
		}, true},
		"gemini":     {[]string{"--provider", "gemini"}, chat("GEMINI_BASE_URL", "GEMINI_API_KEY"), true},
		"openrouter": {[]string{"--provider", "openrouter", "--model", "openai/gpt-4.1-mini"}, chat("OPENROUTER_BASE_URL", "OPENROUTER_API_KEY"), true},
		"fireworks":  {[]string{"--provider", "fireworks"}, chat("FIREWORKS_BASE_URL", "FIREWORKS_API_KEY"), true},
		"groq":       {[]string{"--provider", "groq"}, chat("GROQ_BASE_URL", "GROQ_API_KEY"), true},
		"ollama":     {[]string{"--provider", "ollama"}, chat("OLLAMA_HOST", ""), false},
		"vllm":       {[]string{"--provider", "vllm", "--model", "qwen"}, chat("VLLM_BASE_URL", ""), false},
		"lmstudio":   {[]string{"--provider", "lmstudio", "--model", "qwen"}, chat("LMSTUDIO_BASE_URL", ""), false},
		"llamacpp":   {[]string{"--provider", "llamacpp", "--model", "qwen"}, chat("LLAMACPP_BASE_URL", ""), false},
		"one of config.yaml, its key in the file of keys": {[]string{"--provider", "mine"}, func(t *testing.T, p *Place) {
			f := fakeopenai.Start(t, time.Second, nil)
			p.File("config.yaml", "providers:\n  mine: {base_url: \""+f.URL+"\", key_env: MINE_KEY, model: m1, at_once: 2}\nprices:\n  \"mine:m1\": {input: 1, output: 2}\n", 0o644)
			p.File("keys.env", "# keys\nMINE_KEY=\"key-that-must-not-leak-0123456789\"\n", 0o600)
		}, true},
		"claude-cli": {[]string{"--provider", "claude-cli"}, func(t *testing.T, p *Place) {
			p.Env = append(p.Env, "PATH="+agentPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
		}, false},
		"codex-cli": {[]string{"--provider", "codex-cli"}, func(t *testing.T, p *Place) {
			p.Env = append(p.Env, "PATH="+agentPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := NewPlace(t, "go-testing")
			c.setup(t, p)
			got, out := p.Optimize(append(c.flags, args...)...)
			if out.Code != 0 || got.Outcome != run.Accepted || got.HashAfter != want.HashAfter {
				t.Fatalf("exit %d, %+v\n%s", out.Code, got, out.Stderr)
			}
			if (got.SpentUSD > 0) != c.paid || got.SpentUSD > got.BudgetUSD || !strings.HasPrefix(got.Provider, c.flags[1]+":") && c.flags[1] != "codex-cli" {
				t.Errorf("%+v", got)
			}
			if found := grepFiles(t, p.Home, "key-that-must-not-leak"); len(found) > 1 || len(found) == 1 && filepath.Base(found[0]) != "keys.env" {
				t.Errorf("the key is in %v", found)
			}
			if strings.Contains(out.Stdout+out.Stderr, "must-not-leak") {
				t.Error("the key was printed")
			}
		})
	}
}

// What was recorded answers the same run again, without a provider, a key or a cent.
func TestARecordedRunIsReplayed(t *testing.T) {
	args := []string{"--goal", "adopt", "--epochs", "1", "--trials", "1"}
	p, f := withFake(t, func(n int, _ string) fakeopenai.Fault {
		if n == 1 {
			return fakeopenai.ServerError
		}
		return fakeopenai.None
	})
	rec := filepath.Join(t.TempDir(), "rec")
	want, out := p.Optimize(append(args, "--record", rec)...)
	if out.Code != 0 || want.Outcome != run.Accepted {
		t.Fatalf("exit %d\n%s", out.Code, out.Stderr)
	}
	asked := len(f.Calls())
	if found := grepFiles(t, rec, "sk-test-key"); len(found) > 0 {
		t.Errorf("the key was recorded in %v", found)
	}
	again := NewPlace(t, "go-testing") // another machine, without a key
	got, out := again.Optimize(append(args, "--replay", rec, "--provider", "openai")...)
	if out.Code != 0 || got.HashAfter != want.HashAfter || got.SpentUSD != 0 || len(f.Calls()) != asked {
		t.Errorf("exit %d, %+v, want %+v\n%s", out.Code, got, want, out.Stderr)
	}
	other := NewPlace(t, "commit-hygiene")
	if got, out := other.Optimize(append(args, "--replay", rec, "--provider", "openai")...); out.Code == 0 || got.Outcome == run.Accepted || !strings.Contains(out.Stdout+out.Stderr, "the recording holds no answer") {
		t.Errorf("a recording of something else: exit %d, %+v\n%s", out.Code, got, out.Stderr)
	}
}

// Caps of config.yaml hold across runs, and name themselves.
func TestCapsHoldAcrossRuns(t *testing.T) {
	p, f := withFake(t, nil)
	p.File("config.yaml", "caps: {day: {calls: 9}}\n", 0o644)
	args := []string{"--goal", "adopt", "--epochs", "1", "--trials", "1"}
	first, out := p.Optimize(args...)
	if first.StoppedReason != "cap_day" || len(f.Calls()) > 9 || out.Code == 1 {
		t.Fatalf("exit %d, %d calls, %+v\n%s", out.Code, len(f.Calls()), first, out.Stderr)
	}
	n := len(f.Calls())
	second, out := p.Optimize(append(args, "--seed", "2")...)
	if len(f.Calls()) != n || second.StoppedReason != "cap_day" || out.Code != 4 {
		t.Errorf("exit %d, %d calls more, %+v\n%s", out.Code, len(f.Calls())-n, second, out.Stderr)
	}
}
