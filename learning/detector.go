package learning

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"whetstone/internal/late"
)

// Detector shows by evidence that a rule was applied. It is kept with the rule and written by a person:
//
//	reply:REGEXP    the agent's reply matches
//	edit:REGEXP     a text that the agent writes into a file matches
//	run:REGEXP      a command that the agent runs matches
//	command:PROGRAM ARG...    the program, run in the project's folder at the end of a turn, exits with 0
//
// Resemblance of words is never evidence.
type Detector struct {
	Kind    string         // reply, edit, run, command
	Pattern *regexp.Regexp // nil for command
	Args    []string       // of a command; no shell is started
}

// ParseDetector reads a detector; "" is none and gives nil.
func ParseDetector(s string) (*Detector, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // no detector is no error
	}
	kind, rest, ok := strings.Cut(s, ":")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" || !slices.Contains([]string{"reply", "edit", "run", "command"}, kind) {
		return nil, fmt.Errorf("detector %q: want reply:REGEXP, edit:REGEXP, run:REGEXP or command:PROGRAM ARG", s)
	}
	if kind == "command" {
		return &Detector{Kind: kind, Args: strings.Fields(rest)}, nil
	}
	re, err := regexp.Compile(rest)
	if err != nil {
		return nil, fmt.Errorf("detector %q: %w", s, err)
	}
	if re.MatchString("") {
		return nil, fmt.Errorf("detector %q matches the empty text, so it would prove nothing", s)
	}
	return &Detector{Kind: kind, Pattern: re}, nil
}

var citation = late.Regexp(`\bl_[0-9a-f]{16}\b`)

// Cited lists the ids of learnings that a reply names, each once.
func Cited(reply string) []string {
	ids := citation().FindAllString(reply, -1)
	slices.Sort(ids)
	return slices.Compact(ids)
}
