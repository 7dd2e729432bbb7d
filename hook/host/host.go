// Package host knows how each coding agent writes its events and what it takes for an answer: Claude Code, Codex CLI, Cursor,
// Gemini CLI, Copilot CLI and OpenCode. Where each fact comes from, and which are contested, is in testdata/README.md. It
// reads unknown events and fields without complaint and answers each host in its own schema only.
package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"whetstone/hook"
)

// The hosts.
const (
	Claude   = "claude"
	Codex    = "codex"
	Cursor   = "cursor"
	Gemini   = "gemini"
	Copilot  = "copilot"
	OpenCode = "opencode"
)

// Names lists the hosts in the order people meet them.
func Names() []string { return []string{Claude, Codex, Cursor, Gemini, Copilot, OpenCode} }

// kinds maps a host's event names to what they mean; what is missing is hook.Other.
var kinds = map[string]map[string]hook.Kind{
	Claude: pascal,
	Codex:  pascal,
	Cursor: {
		"sessionStart": hook.Start, "sessionEnd": hook.End, "beforeSubmitPrompt": hook.Prompt, "preToolUse": hook.BeforeTool, "postToolUse": hook.AfterTool,
		"postToolUseFailure": hook.ToolFailed, "beforeShellExecution": hook.BeforeTool, "afterShellExecution": hook.AfterTool, "beforeMCPExecution": hook.BeforeTool,
		"afterMCPExecution": hook.AfterTool, "beforeReadFile": hook.BeforeTool, "afterFileEdit": hook.FileChanged, "subagentStop": hook.SubagentReply,
		"preCompact": hook.BeforeCompact, "stop": hook.Reply, "afterAgentResponse": hook.Reply,
	},
	Gemini: {
		"SessionStart": hook.Start, "SessionEnd": hook.End, "BeforeAgent": hook.Prompt, "AfterAgent": hook.Reply, "BeforeTool": hook.BeforeTool,
		"AfterTool": hook.AfterTool, "PreCompress": hook.BeforeCompact,
	},
	Copilot: {
		"sessionStart": hook.Start, "sessionEnd": hook.End, "userPromptSubmitted": hook.Prompt, "preToolUse": hook.BeforeTool, "postToolUse": hook.AfterTool,
		"postToolUseFailure": hook.ToolFailed, "agentStop": hook.Reply, "subagentStop": hook.SubagentReply, "preCompact": hook.BeforeCompact, "errorOccurred": hook.Failure,
		"ErrorOccurred": hook.Failure,
	},
	OpenCode: {
		"session.created": hook.Start, "chat.message": hook.Prompt, "tool.execute.before": hook.BeforeTool, "tool.execute.after": hook.AfterTool,
		"message.updated": hook.Reply, "session.compacted": hook.AfterCompact,
	},
}

// pascal are the names that Claude Code chose and others took over.
var pascal = map[string]hook.Kind{
	"SessionStart": hook.Start, "SessionEnd": hook.End, "UserPromptSubmit": hook.Prompt, "PreToolUse": hook.BeforeTool, "PostToolUse": hook.AfterTool,
	"PostToolUseFailure": hook.ToolFailed, "Stop": hook.Reply, "SubagentStop": hook.SubagentReply, "StopFailure": hook.Failure, "PreCompact": hook.BeforeCompact,
	"PostCompact": hook.AfterCompact, "FileChanged": hook.FileChanged,
}

var geminiOnly = []string{"BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress", "BeforeModel", "AfterModel", "BeforeToolSelection"}

// payload is an event as it came.
type payload map[string]json.RawMessage

func (p payload) str(keys ...string) string {
	for _, k := range keys {
		var s string
		if json.Unmarshal(p[k], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

func (p payload) has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { _, ok := p[k]; return ok })
}

func (p payload) object(key string) payload {
	var o payload
	_ = json.Unmarshal(p[key], &o)
	return o
}

// Parse reads an event. host and event are what the registration says, "" where it leaves them to the payload.
func Parse(data []byte, hostName, event string) (hook.Event, error) {
	var p payload
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &p); err != nil {
		return hook.Event{}, fmt.Errorf("read a hook event: %w", err)
	}
	if p == nil {
		return hook.Event{}, fmt.Errorf("read a hook event: it is null")
	}
	name := p.str("hook_event_name", "event", "hookEventName")
	if name == "" || hostName == OpenCode && event != "" {
		name = event
	}
	if !slices.Contains(Names(), hostName) {
		hostName = detect(p, name)
	}
	e := hook.Event{
		Host: hostName, Name: name, Kind: kindOf(hostName, name),
		Session:    p.str("conversation_id", "session_id", "sessionId", "sessionID"),
		Turn:       p.str("generation_id", "prompt_id"),
		CWD:        p.str("cwd", "directory"),
		Transcript: p.str("transcript_path", "transcriptPath"),
		Agent:      p.str("agent_id", "agentId", "subagent_id"),
	}
	if e.Turn == "" && hostName == Codex {
		e.Turn = p.str("turn_id")
	}
	if e.Turn == "" && hostName == OpenCode {
		e.Turn = p.str("messageID")
	}
	if e.CWD == "" {
		var roots []string
		if json.Unmarshal(p["workspace_roots"], &roots) == nil && len(roots) > 0 {
			e.CWD = roots[0]
		}
	}
	if e.Agent == "" && (strings.EqualFold(name, "subagentStop") || strings.EqualFold(name, "subagentStart")) {
		e.Agent = p.str("agent_type", "agentType", "subagent_type", "agentName", "agent_name")
	}
	p.byKind(&e)
	return e, nil
}

func kindOf(hostName, name string) hook.Kind {
	if k, ok := kinds[hostName][name]; ok {
		return k
	}
	// Cursor and Copilot run the hooks of Claude's settings, too, under Claude's names.
	if hostName == Cursor || hostName == Copilot {
		if k, ok := pascal[name]; ok {
			return k
		}
	}
	return hook.Other
}

// detect finds the host by the keys of the payload.
func detect(p payload, name string) string {
	switch {
	case slices.Contains(Names(), p.str("host")):
		return p.str("host")
	case p.has("cursor_version", "conversation_id"):
		return Cursor
	case p.has("sessionId"):
		return Copilot
	case slices.Contains(geminiOnly, name):
		return Gemini
	case p.has("timestamp"):
		if p.has("transcript_path") && slices.Contains([]string{"SessionStart", "SessionEnd", "Notification"}, name) {
			return Gemini
		}
		return Copilot
	case p.has("turn_id") && name != "MessageDisplay": // Claude's only event with that key
		return Codex
	}
	return Claude
}

// byKind reads the fields that only events of a kind have.
func (p payload) byKind(e *hook.Event) {
	switch e.Kind {
	case hook.Start:
		e.Source = p.str("source")
		if e.Source == "new" {
			e.Source = "startup"
		}
	case hook.Prompt:
		e.Prompt = p.str("prompt")
	case hook.Reply, hook.SubagentReply:
		e.Reply = p.str("last_assistant_message", "prompt_response", "lastAssistantMessage", "reply", "response", "summary")
		if e.Name == "afterAgentResponse" {
			e.Reply = p.str("text")
		}
		if e.Host == Gemini {
			e.Prompt = p.str("prompt")
		}
		if e.Kind == hook.SubagentReply {
			if t := p.str("agent_transcript_path", "agentTranscriptPath"); t != "" {
				e.Transcript = t
			}
		}
		_ = json.Unmarshal(p["stop_hook_active"], &e.Active)
		switch p.str("status") {
		case "error":
			e.Kind, e.Reply = hook.Failure, ""
		case "aborted":
			e.Kind, e.Reply = hook.Other, ""
		}
	case hook.BeforeTool, hook.AfterTool, hook.ToolFailed:
		p.tool(e)
	case hook.FileChanged:
		e.File = p.str("file_path")
	case hook.Failure:
		if c := p.str("errorContext", "error_context"); c != "" && c != "model_call" {
			e.Kind = hook.Other
		}
	}
}

func (p payload) tool(e *hook.Event) {
	e.Tool = p.str("tool_name", "toolName", "tool")
	e.ToolUse = p.str("tool_use_id", "toolUseId", "callID")
	for _, k := range []string{"tool_input", "toolArgs", "args"} {
		if raw, ok := p[k]; ok {
			e.Input = unquote(raw)
			break
		}
	}
	switch e.Name {
	case "beforeShellExecution", "afterShellExecution":
		e.Tool = "Shell"
		e.Input, _ = json.Marshal(map[string]json.RawMessage{"command": p["command"]})
	case "beforeReadFile":
		e.Tool = "Read"
		e.Input, _ = json.Marshal(map[string]json.RawMessage{"file_path": p["file_path"]})
	}
	var in payload
	if json.Unmarshal(e.Input, &in) == nil {
		e.File = in.str("file_path", "notebook_path", "filePath", "path")
	}
	if e.Kind != hook.BeforeTool {
		var out []string
		for _, k := range []string{"tool_response", "tool_output", "toolResult", "output", "error"} {
			texts(p[k], 2, &out)
		}
		e.Output = strings.Join(out, "\n")
		if n := len(e.Output) - maxOutput; n > 0 {
			e.Output = strings.ToValidUTF8(e.Output[n:], "")
		}
	}
	if e.Kind == hook.AfterTool && e.Host == Gemini && p.object("tool_response").has("error") {
		if raw := p.object("tool_response")["error"]; !bytes.Equal(raw, []byte("null")) {
			e.Kind = hook.ToolFailed
		}
	}
}

// maxOutput is how much of a tool's output is kept, in bytes.
const maxOutput = 32 << 10

// texts collects the strings of a value: hosts wrap what a tool said in objects of their own.
func texts(raw json.RawMessage, depth int, out *[]string) {
	var s string
	var o map[string]json.RawMessage
	switch {
	case len(raw) == 0 || depth < 0:
	case json.Unmarshal(raw, &s) == nil:
		*out = append(*out, s)
	case json.Unmarshal(raw, &o) == nil:
		for _, k := range slices.Sorted(maps.Keys(o)) {
			texts(o[k], depth-1, out)
		}
	}
}

// unquote takes arguments that came as a string of JSON.
func unquote(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) == nil && strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return raw
}
