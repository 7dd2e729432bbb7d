package validation

import (
	"encoding/json"
	"strings"
)

type fileForm int

const (
	formYAML  fileForm = iota
	formLines          // one JSON object a line
	formJSON           // one JSON document
	formEmpty
)

// formOf tells the forms apart by content. A file is JSON Lines if a line of it, from its first column, is a JSON object
// by itself, or if it begins like one; unless it is one JSON document as a whole. A YAML file shows such a line nowhere:
// inside its texts they are indented.
func formOf(lines []string, text string) fileForm {
	first := ""
	for _, l := range lines {
		if t := strings.TrimSpace(l); t != "" && t[0] != '#' {
			first = t
			break
		}
	}
	switch {
	case first == "":
		return formEmpty
	case first == "-" || strings.HasPrefix(first, "- ") || strings.HasPrefix(first, "---") || first[0] == '%' || strings.HasPrefix(first, "items:"):
		return formYAML
	}
	if json.Valid([]byte(text)) {
		var top map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &top) != nil || top["items"] != nil {
			return formJSON
		}
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "{") && json.Valid([]byte(l)) {
			return formLines
		}
	}
	if rest, ok := strings.CutPrefix(first, "{"); ok && strings.HasPrefix(strings.TrimSpace(rest), `"`) {
		return formLines
	}
	return formYAML
}
