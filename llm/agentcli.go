package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"whetstone/model"
)

// AgentCLI asks an agent that a person already pays for, by its program: Claude Code with -p, or Codex with exec. It runs without a
// shell, in an empty folder, with its tools, settings and sessions off, and the prompt on standard input.
type AgentCLI struct {
	name    string
	program string
	args    func(req model.Request, system string) []string
	read    func(out []byte) (model.Reply, error)
	env     []string
}

// maxOutput bounds what a program may print.
const maxOutput = 8 << 20

func newAgentCLI(p Provider, getenv func(string) string) (*AgentCLI, error) {
	program := map[protocol]string{claudeCLI: "claude", codexCLI: "codex"}[p.protocol]
	if v := getenv("WHETSTONE_" + strings.ToUpper(program) + "_CLI"); v != "" {
		program = v
	}
	path := ""
	if filepath.IsAbs(program) {
		path = program
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return nil, fmt.Errorf("use %s: %s is not there", p.Name, path)
		}
	} else {
		for _, dir := range filepath.SplitList(getenv("PATH")) {
			if at := filepath.Join(dir, program); dir != "" {
				if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
					path = at
					break
				}
			}
		}
		if path == "" {
			return nil, fmt.Errorf("use %s: %s is not in PATH: install it and log in", p.Name, program)
		}
	}
	c := &AgentCLI{name: p.Name, program: path}
	// What the program needs to find its login and the network, and nothing else: keys of other providers are none of its business.
	for _, k := range []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE"} {
		if v := getenv(k); v != "" {
			c.env = append(c.env, k+"="+v)
		}
	}
	if p.protocol == claudeCLI {
		c.env = append(c.env, pass(getenv, "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")...)
		c.args, c.read = claudeArgs, readClaude
	} else {
		c.env = append(c.env, pass(getenv, "CODEX_HOME", "OPENAI_API_KEY", "CODEX_API_KEY")...)
		c.args, c.read = codexArgs, readCodex
	}
	return c, nil
}

func pass(getenv func(string) string, names ...string) (out []string) {
	for _, n := range names {
		if v := getenv(n); v != "" {
			out = append(out, n+"="+v)
		}
	}
	return out
}

// claudeArgs: print mode, no tools, no settings (so no hooks), no MCP servers, no session kept.
func claudeArgs(req model.Request, system string) []string {
	args := []string{"-p", "--output-format", "json", "--tools", "", "--setting-sources", "", "--strict-mcp-config", "--no-session-persistence", "--max-turns", "1"}
	if req.Ref.Model != "" {
		args = append(args, "--model", req.Ref.Model)
	}
	if system != "" {
		args = append(args, "--system-prompt", system)
	}
	return args
}

// codexArgs: one turn, read-only, no session kept, the prompt from standard input.
func codexArgs(req model.Request, _ string) []string {
	args := []string{"exec", "--json", "--sandbox", "read-only", "--skip-git-repo-check", "--ephemeral"}
	if req.Ref.Model != "" {
		args = append(args, "--model", req.Ref.Model)
	}
	return append(args, "-")
}

// Complete runs the program once.
func (c *AgentCLI) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	dir, err := os.MkdirTemp("", "whetstone-cli-*")
	if err != nil {
		return model.Reply{}, &model.Error{Kind: model.Unavailable, Provider: c.name, NotSent: true, Err: errors.New("no empty folder can be made")}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var system, prompt strings.Builder
	for _, m := range req.Messages {
		to := &prompt
		if m.Role == "system" && c.name == "claude-cli" {
			to = &system
		}
		if to.Len() > 0 {
			to.WriteString("\n\n")
		}
		to.WriteString(m.Content)
	}
	if req.Schema != nil {
		fmt.Fprintf(&prompt, "\n\nAnswer with one JSON object of this schema and nothing else:\n%s\n", req.Schema.JSON)
	}
	cmd := exec.CommandContext(ctx, c.program, c.args(req, system.String())...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, c.env, 2*time.Second
	cmd.Stdin = strings.NewReader(prompt.String())
	out, errOut := &limited{max: maxOutput}, &limited{max: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, errOut
	err = cmd.Run()
	if ctx.Err() != nil {
		return model.Reply{}, &model.Error{Kind: model.Timeout, Provider: c.name, Err: errors.New("the program gave no answer in time")}
	}
	if out.over {
		return model.Reply{}, &model.Error{Kind: model.Malformed, Provider: c.name, Err: fmt.Errorf("the program printed more than %d bytes", maxOutput)}
	}
	reply, rerr := c.read(out.Bytes())
	switch {
	case rerr != nil && err != nil:
		var missing *exec.Error
		if errors.As(err, &missing) {
			return model.Reply{}, &model.Error{Kind: model.NotFound, Provider: c.name, NotSent: true, Err: errors.New(short(missing.Error()))}
		}
		var known *model.Error
		if errors.As(rerr, &known) {
			rerr = known.Err
		}
		said := short(strings.TrimSpace(errOut.String() + " " + rerr.Error()))
		return model.Reply{}, &model.Error{Kind: said2kind(said), Provider: c.name, Err: fmt.Errorf("the program failed (%w): %s", err, said)}
	case rerr != nil:
		var e *model.Error
		if errors.As(rerr, &e) {
			e.Provider = c.name
			return model.Reply{}, e
		}
		return model.Reply{}, &model.Error{Kind: model.Malformed, Provider: c.name, Err: rerr}
	}
	if u := reply.Usage; u.Input <= 0 && u.Output <= 0 {
		reply.Usage = estimated(req, reply.Text)
	}
	return reply, nil
}

// said2kind sorts what a program said before it failed.
func said2kind(text string) model.Kind {
	low := strings.ToLower(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	switch {
	case has("log in", "login", "logged in", "unauthor", "authentication", "api key", "oauth"):
		return model.Unauthorised
	case has("usage limit", "credit balance", "quota", "out of credits"):
		return model.Quota
	case has("rate limit", "429", "too many requests"):
		return model.RateLimited
	case has("prompt is too long", "context window", "context length"):
		return model.TooLong
	case has("model") && has("not found", "does not exist", "not supported", "invalid model"):
		return model.NotFound
	case has("unknown option", "unexpected argument", "unrecogni", "usage:"):
		return model.BadRequest
	}
	return model.Unavailable
}

// readClaude reads the object that Claude Code prints at the end of print mode.
func readClaude(out []byte) (model.Reply, error) {
	var r struct {
		Type    string  `json:"type"`
		Subtype string  `json:"subtype"`
		IsError bool    `json:"is_error"`
		Result  string  `json:"result"`
		Cost    float64 `json:"total_cost_usd"`
		Stop    string  `json:"stop_reason"`
		Usage   struct {
			Input   int `json:"input_tokens"`
			Output  int `json:"output_tokens"`
			Read    int `json:"cache_read_input_tokens"`
			Written int `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(bytes.TrimSpace(out), &r); err != nil || r.Type != "result" {
		return model.Reply{}, errors.New("it did not print the documented result")
	}
	if r.IsError || r.Subtype != "success" {
		return model.Reply{}, &model.Error{Kind: said2kind(r.Subtype + " " + r.Result), Err: errors.New(short(r.Subtype + " " + r.Result))}
	}
	u := r.Usage
	return model.Reply{
		Text: r.Result, Finish: finishOf(r.Stop), Reported: model.FromUSD(max(r.Cost, 0)),
		Usage: model.Usage{Input: u.Input + u.Read + u.Written, Cached: u.Read, Written: u.Written, Output: u.Output},
	}, nil
}

// readCodex reads the events that Codex prints, one on a line.
func readCodex(out []byte) (model.Reply, error) {
	var reply model.Reply
	done := false
	for line := range bytes.Lines(out) {
		var e struct {
			Type string `json:"type"`
			Item struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"item"`
			Usage struct {
				Input  int `json:"input_tokens"`
				Cached int `json:"cached_input_tokens"`
				Output int `json:"output_tokens"`
			} `json:"usage"`
			Error   struct{ Message string } `json:"error"`
			Message string                   `json:"message"`
		}
		if json.Unmarshal(line, &e) != nil {
			continue // notices
		}
		switch e.Type {
		case "item.completed":
			if e.Item.Type == "agent_message" {
				reply.Text = e.Item.Text
			}
		case "turn.completed":
			done = true
			reply.Usage = model.Usage{Input: e.Usage.Input, Cached: e.Usage.Cached, Output: e.Usage.Output}
		case "turn.failed":
			return reply, &model.Error{Kind: said2kind(e.Error.Message), Err: errors.New(short(e.Error.Message))}
		case "error":
			return reply, &model.Error{Kind: said2kind(e.Message), Err: errors.New(short(e.Message))}
		}
	}
	if !done {
		return reply, errors.New("it ended without finishing its turn")
	}
	reply.Finish = "stop"
	return reply, nil
}

// limited is a buffer that stops keeping at a bound.
type limited struct {
	bytes.Buffer
	max  int
	over bool
}

// Write keeps what fits.
func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > l.max {
		l.over = true
		return len(p), nil
	}
	return l.Buffer.Write(p)
}
