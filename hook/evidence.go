package hook

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"whetstone/internal/late"
	"whetstone/skill"
)

// SkillLoaded is the key of the skill that a tool call loads, "" for any other call: the Skill tool, or the reading of a
// SKILL.md.
func SkillLoaded(tool string, input json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	get := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := in[k].(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
	if strings.EqualFold(tool, "skill") {
		name := get("skill", "name", "command", "skill_name")
		if i := strings.LastIndexByte(name, ':'); i >= 0 {
			name = name[i+1:] // plugin:skill
		}
		return skill.Key(name)
	}
	if m := catSkill().FindStringSubmatch(Ran(input)); m != nil {
		return skill.Key(m[1])
	}
	p := strings.ReplaceAll(get("file_path", "filePath", "path", "absolute_path"), `\`, "/")
	if strings.EqualFold(path.Base(p), "SKILL.md") && !edits(tool) {
		return skill.Key(path.Base(path.Dir(p)))
	}
	return ""
}

// catSkill is a command that prints a skill's file, for agents whose only tool is a shell.
var catSkill = late.Regexp("(?:^|[;&|\\s'\"])(?:cat|bat|less|more|head|tail|sed|nl)\\s[^;&|]*?([^/\\s'\"]+)/SKILL\\.md(?:['\";&|\\s]|$)")

// Touched is the file that a tool call reads or edits, "" for other calls.
func Touched(tool string, input json.RawMessage) (file string, edit bool) {
	var in map[string]any
	if json.Unmarshal(input, &in) != nil {
		return "", false
	}
	for _, k := range []string{"file_path", "filePath", "notebook_path", "path", "absolute_path"} {
		if s, ok := in[k].(string); ok && s != "" {
			return s, edits(tool)
		}
	}
	return "", false
}

func edits(tool string) bool {
	low := strings.ToLower(tool)
	return slices.ContainsFunc([]string{"edit", "write", "replace", "create", "patch"}, func(w string) bool { return strings.Contains(low, w) })
}

// Written are the texts that a tool call is about to write, and Ran the command that it runs.
func Written(input json.RawMessage) string {
	var out []string
	collect(input, []string{"content", "new_string", "newString", "new_str", "new_source", "file_text", "input", "patchText"}, &out)
	return strings.Join(out, "\n")
}

// Ran is the command of a tool call.
func Ran(input json.RawMessage) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	var s string
	var list []string
	switch {
	case json.Unmarshal(in["command"], &s) == nil:
		return s
	case json.Unmarshal(in["command"], &list) == nil:
		return strings.Join(list, " ")
	}
	return ""
}

func collect(raw json.RawMessage, keys []string, out *[]string) {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return
	}
	for _, k := range keys {
		var s string
		if json.Unmarshal(in[k], &s) == nil && s != "" {
			*out = append(*out, s)
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(in["edits"], &list) == nil {
		for _, e := range list {
			collect(e, keys, out)
		}
	}
}
