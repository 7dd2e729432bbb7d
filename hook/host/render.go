package host

import (
	"bytes"
	"encoding/json"
	"slices"

	"whetstone/hook"
)

// ask tells whether a host can put a question to the person before a tool runs.
func ask(hostName, event string) bool {
	switch hostName {
	case Claude, Copilot:
		return true
	case Cursor:
		return event == "beforeShellExecution" || event == "beforeMCPExecution"
	}
	return false
}

// CanAsk reports whether an event's answer may be "ask".
func CanAsk(e hook.Event) bool { return ask(e.Host, e.Name) }

// Tells reports whether context that is given with this event reaches the model. Where it does not, it must not be counted as told.
func Tells(e hook.Event) bool {
	const probe = "a fact"
	return bytes.Contains(Render(e, hook.Decision{Context: probe}), []byte(probe))
}

// Render writes a decision in the schema of the event's host; nil means that nothing is printed. What a host does not take for
// that event is left out: a wrong field makes some of them drop the whole answer.
func Render(e hook.Event, d hook.Decision) []byte {
	if d.Permission == "ask" && !ask(e.Host, e.Name) {
		d.Permission = "deny"
	}
	if e.Kind != hook.BeforeTool || d.Permission == "allow" {
		d.Permission, d.Reason = "", ""
	}
	var out map[string]any
	switch e.Host {
	case Codex:
		out = nested(e, d, []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"},
			[]string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop"})
		if len(out) == 0 && (e.Name == "Stop" || e.Name == "SubagentStop") {
			return object(map[string]any{})
		}
	case Cursor:
		return object(cursor(e, d))
	case Gemini:
		return object(gemini(e, d))
	case Copilot:
		out = copilot(e, d)
	case OpenCode:
		out = opencode(e, d)
	default:
		out = nested(e, d, []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"},
			[]string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop"})
	}
	if len(out) == 0 {
		return nil
	}
	return object(out)
}

func object(v map[string]any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // maps of strings do not fail
	}
	return append(b, '\n')
}

// nested is the form of Claude Code and Codex.
func nested(e hook.Event, d hook.Decision, inject, tell []string) map[string]any {
	out, own := map[string]any{}, map[string]any{}
	if d.Message != "" && slices.Contains(tell, e.Name) {
		out["systemMessage"] = d.Message
	}
	if d.Permission != "" {
		own["permissionDecision"], own["permissionDecisionReason"] = d.Permission, d.Reason
	}
	if d.Context != "" && slices.Contains(inject, e.Name) {
		own["additionalContext"] = d.Context
	}
	if len(own) > 0 {
		own["hookEventName"] = e.Name
		out["hookSpecificOutput"] = own
	}
	return out
}

func cursor(e hook.Event, d hook.Decision) map[string]any {
	out := map[string]any{}
	switch {
	case d.Permission != "":
		out["permission"], out["user_message"] = d.Permission, d.Reason
		if e.Name != "beforeReadFile" {
			out["agent_message"] = d.Reason
		}
	case d.Context != "" && e.Kind == hook.Prompt:
		out["continue"], out["additional_context"] = true, d.Context
	case d.Context != "" && (e.Kind == hook.Start || e.Name == "postToolUse" || e.Name == "PostToolUse"):
		out["additional_context"] = d.Context
	case d.Message != "" && e.Kind == hook.BeforeCompact:
		out["user_message"] = d.Message
	}
	return out
}

func gemini(e hook.Event, d hook.Decision) map[string]any {
	out := map[string]any{}
	if d.Permission != "" {
		out["decision"], out["reason"] = d.Permission, d.Reason
	}
	if d.Message != "" && e.Kind != hook.Other {
		out["systemMessage"] = d.Message
	}
	if d.Context != "" && slices.Contains([]string{"SessionStart", "BeforeAgent", "AfterTool"}, e.Name) {
		out["hookSpecificOutput"] = map[string]any{"hookEventName": e.Name, "additionalContext": d.Context}
	}
	return out
}

func copilot(e hook.Event, d hook.Decision) map[string]any {
	switch {
	case d.Permission != "":
		return map[string]any{"permissionDecision": d.Permission, "permissionDecisionReason": d.Reason}
	case d.Context != "" && (e.Kind == hook.Start || e.Kind == hook.AfterTool):
		return map[string]any{"additionalContext": d.Context}
	case d.Message != "" && (e.Kind == hook.Reply || e.Kind == hook.BeforeTool):
		return map[string]any{"type": "progress", "message": d.Message}
	}
	return nil
}

func opencode(e hook.Event, d hook.Decision) map[string]any {
	out := map[string]any{}
	if d.Permission != "" {
		out["permission"], out["reason"] = d.Permission, d.Reason
	}
	if d.Context != "" && (e.Kind == hook.Start || e.Kind == hook.Prompt || e.Kind == hook.AfterTool || e.Kind == hook.AfterCompact) {
		out["context"] = d.Context
	}
	if d.Message != "" && (e.Kind != hook.Other || e.Name == "session.idle") {
		out["message"] = d.Message
	}
	return out
}
