package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// write is one text about to go into a file.
type write struct{ path, text string }

// call is what a tool call does, as far as its arguments say.
type call struct {
	script string   // for a shell
	argv   []string // without a shell
	writes []write
}

// reading names tools that only look. Their arguments may look like those of an edit.
var reading = map[string]bool{
	"read": true, "read_file": true, "readfile": true, "view": true, "grep": true, "glob": true, "ls": true, "list": true, "search": true, "webfetch": true,
	"websearch": true, "todowrite": true, "task": true, "agent": true, "skill": true,
}

// runs names the tools of the hosts that run commands.
var runs = map[string]bool{"bash": true, "shell": true, "run_shell_command": true, "exec_command": true, "local_shell": true, "powershell": true, "terminal": true, "run_terminal_cmd": true}

var (
	pathFields = []string{"file_path", "filePath", "notebook_path", "path", "filename", "target_file"}
	textFields = []string{"content", "new_string", "newString", "new_str", "new_source", "file_text", "text", "contents", "insert_text", "code_edit"}
)

// read takes a tool call apart by the names of its arguments, which the hosts share more than the names of their tools.
func read(tool string, input json.RawMessage) (call, error) {
	var c call
	if tool == "" {
		return c, errors.New("it names no tool")
	}
	input = bytes.TrimSpace(input)
	if len(input) == 0 || bytes.Equal(input, []byte("null")) {
		if editing(tool) || runs[strings.ToLower(tool)] {
			return c, errors.New("it has no arguments")
		}
		return c, nil
	}
	if input[0] == '"' { // arguments as a string of JSON, or a patch as such
		var s string
		if err := json.Unmarshal(input, &s); err != nil {
			return c, err
		}
		if strings.HasPrefix(strings.TrimSpace(s), "{") {
			return read(tool, json.RawMessage(s))
		}
		if strings.Contains(s, "*** Begin Patch") {
			c.writes = patchWrites(s)
			return c, nil
		}
		c.script = s
		return c, nil
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(input, &args); err != nil {
		return c, err
	}
	if reading[strings.ToLower(tool)] {
		return c, nil
	}
	for _, k := range []string{"command", "cmd", "script"} {
		raw, ok := args[k]
		if !ok {
			continue
		}
		if isEditCommand(args, k) {
			continue
		}
		var s string
		var list []string
		switch {
		case json.Unmarshal(raw, &s) == nil && strings.HasPrefix(strings.TrimSpace(s), "*** Begin Patch"):
			c.writes = append(c.writes, patchWrites(s)...)
		case json.Unmarshal(raw, &s) == nil:
			c.script = s
		case json.Unmarshal(raw, &list) == nil:
			c.argv = list
		default:
			return c, fmt.Errorf("%s is neither a text nor a list of texts", k)
		}
	}
	for _, k := range []string{"input", "patch", "patchText", "diff"} {
		if s := str(args[k]); strings.Contains(s, "*** Begin Patch") || strings.Contains(s, "\n+++ ") || strings.HasPrefix(s, "--- ") {
			c.writes = append(c.writes, patchWrites(s)...)
		}
	}
	if editing(tool) {
		for _, k := range []string{"destination", "dest", "to", "new_path", "newPath", "target", "source", "from", "old_path", "oldPath"} {
			if p := str(args[k]); p != "" {
				c.writes = append(c.writes, write{path: p})
			}
		}
	}
	path := ""
	for _, k := range pathFields {
		if path = str(args[k]); path != "" {
			break
		}
		if raw := bytes.TrimSpace(args[k]); editing(tool) && len(raw) > 0 && (raw[0] == '[' || raw[0] == '{') {
			return c, fmt.Errorf("%s is no text", k)
		}
	}
	if path == "" {
		return c, nil
	}
	texts, edits := []string{}, false
	for _, k := range textFields {
		if raw, ok := args[k]; ok {
			edits = true
			texts = append(texts, str(raw))
		}
	}
	if raw, ok := args["edits"]; ok {
		edits = true
		var list []map[string]json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return c, errors.New("edits is no list of objects")
		}
		for _, e := range list {
			for _, k := range textFields {
				texts = append(texts, str(e[k]))
			}
		}
	}
	if edits || editing(tool) {
		c.writes = append(c.writes, write{path, strings.Join(texts, "\n")})
	}
	return c, nil
}

// isEditCommand tells an editor's "command": "create" from a shell's.
func isEditCommand(args map[string]json.RawMessage, k string) bool {
	if k != "command" {
		return false
	}
	switch str(args[k]) {
	case "view", "create", "str_replace", "insert", "undo_edit":
		return len(args["path"]) > 0
	}
	return false
}

// editing tells by its name that a tool changes files, where its arguments do not.
func editing(tool string) bool {
	low := strings.ToLower(tool)
	for _, w := range []string{"write", "edit", "replace", "create", "delete", "remove", "patch", "move", "rename", "insert"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

func str(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// patchWrites reads the files and the added lines of a patch: the form of apply_patch, and unified diffs.
func patchWrites(patch string) []write {
	var out []write
	add := func(path string) {
		if path = strings.TrimSpace(path); path != "" && path != "/dev/null" {
			out = append(out, write{path: path})
		}
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		matched := false
		for _, head := range []string{"*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:"} {
			if path, ok := strings.CutPrefix(line, head); ok {
				add(path)
				matched = true
			}
		}
		if path, ok := strings.CutPrefix(line, "+++ "); ok && !matched {
			path, _, _ = strings.Cut(path, "\t")
			add(strings.TrimPrefix(path, "b/"))
			continue
		}
		if path, ok := strings.CutPrefix(line, "--- "); ok {
			path, _, _ = strings.Cut(path, "\t")
			add(strings.TrimPrefix(path, "a/"))
			continue
		}
		if text, ok := strings.CutPrefix(line, "+"); ok && len(out) > 0 {
			out[len(out)-1].text += text + "\n"
		}
	}
	return out
}
