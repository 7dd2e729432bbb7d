package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// tail is how much of a transcript's end is read, in bytes.
const tail = 1 << 20

// LastReply finds the last reply of the agent in a conversation on disk, for hosts that do not send it. Lines of subagents are
// skipped. The file is written while we read, so a line that is cut off ends the search backwards only for itself. "" means
// that there is none after the person's last prompt.
func LastReply(path string) (string, error) {
	// Before it is opened: a pipe would have us wait for ever.
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read the transcript: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("read the transcript: %s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the transcript: %w", err)
	}
	defer func() { _ = f.Close() }()
	from := max(0, info.Size()-tail)
	b, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return "", fmt.Errorf("read the transcript: %w", err)
	}
	lines := bytes.Split(b, []byte("\n"))
	if from > 0 {
		lines = lines[1:]
	}
	var parts []string
	for i := len(lines) - 1; i >= 0; i-- {
		role, text := entry(lines[i])
		switch role {
		case "assistant":
			if text != "" {
				parts = append(parts, text)
			}
		case "user":
			if text != "" { // results of tools have no text of the person
				return join(parts), nil
			}
		}
	}
	return join(parts), nil
}

// join puts the parts of a reply in the order in which they were said.
func join(parts []string) string {
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
		b.WriteString("\n\n")
	}
	return strings.TrimSpace(b.String())
}

// entry reads one line of a transcript in the forms of the hosts: Claude's {type, message: {role, content}}, and
// {role, content} or {type: "assistant.message", data: {content}} of others.
func entry(line []byte) (role, text string) {
	var e struct {
		Type      string          `json:"type"`
		Sidechain bool            `json:"isSidechain"`
		Meta      bool            `json:"isMeta"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Message   struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Data struct {
			Content json.RawMessage `json:"content"`
		} `json:"data"`
		Payload struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Message json.RawMessage `json:"message"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &e) != nil || e.Sidechain || e.Meta {
		return "", ""
	}
	switch {
	case e.Message.Role != "":
		return e.Message.Role, said(e.Message.Content)
	case e.Payload.Role != "":
		return e.Payload.Role, said(e.Payload.Content)
	case e.Role != "":
		return e.Role, said(e.Content)
	case strings.HasPrefix(e.Type, "assistant"):
		return "assistant", said(e.Data.Content)
	case strings.HasPrefix(e.Type, "user"):
		return "user", said(e.Data.Content)
	}
	return "", ""
}

// said is the text of a message: a string, or the text blocks of a list.
func said(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var out []string
	for _, b := range blocks {
		if (b.Type == "text" || b.Type == "output_text" || b.Type == "input_text") && b.Text != "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n")
}
