// Package hook decides what to do with an agent's lifecycle event: event in, decision out. It is pure; the binary reads,
// writes and keeps, host/ knows how each host writes events and reads answers, and guard/ judges tool calls. An event it does
// not know, and one it cannot read, decide nothing.
package hook

import (
	"encoding/json"
)

// Kind is what an event means, whatever its host calls it.
type Kind string

// The kinds of events.
const (
	Start         Kind = "start"
	Prompt        Kind = "prompt"
	BeforeTool    Kind = "before_tool"
	AfterTool     Kind = "after_tool"
	ToolFailed    Kind = "tool_failed"
	Reply         Kind = "reply"
	SubagentReply Kind = "subagent_reply"
	Failure       Kind = "failure" // the provider failed; its message is no reply of the agent
	BeforeCompact Kind = "before_compact"
	AfterCompact  Kind = "after_compact"
	End           Kind = "end"
	FileChanged   Kind = "file_changed"
	Other         Kind = "other"
)

// Event is what a host sends, in one form for all hosts. Empty fields were not sent.
type Event struct {
	Host       string
	Kind       Kind
	Name       string // the host's own name of the event
	Session    string
	Turn       string // names the turn within the session
	CWD        string
	Source     string // of a start: startup, resume, clear, compact, fork
	Prompt     string
	Reply      string
	Transcript string // path of the conversation on disk
	Tool       string
	ToolUse    string // names the tool call
	Input      json.RawMessage
	Output     string // of a tool that ran: what it said, the end of it
	File       string // of a file change
	Agent      string // kind of subagent
	Active     bool   // the turn goes on because a hook asked for it
}

// Decision is what the host is told.
type Decision struct {
	Context    string // facts for the model
	Message    string // a line for the person
	Permission string // allow, ask, deny; "" says nothing
	Reason     string // of the permission
}

// Teaching says, as a fact, how a correction is kept. Without it no agent would ever write a block.
const Teaching = "This project keeps the corrections that people give. After a correction, the reply ends with a line `[LEARN] category: one-line rule`, and may add lines `Mistake: ...`, `Correction: ...` and `Skill: ...`; a person reviews them later."
