package validation

import (
	"errors"
	"strconv"
	"strings"
)

type nodeKind int

const (
	textNode nodeKind = iota
	intNode
	floatNode
	boolNode
	nullNode
	listNode
	mappingNode
)

// node is a value of an items file with its position, whichever form it was written in.
type node struct {
	kind    nodeKind
	at      place
	text    string // a text, or how another scalar is written
	list    []*node
	entries []entry
	refused string // why it is not taken, such as an alias; what stands below is read all the same
}

type entry struct {
	key   string
	at    place
	value *node
}

// what names a value for a message.
func (n *node) what() string {
	switch n.kind {
	case textNode:
		return "the text " + short(n.text)
	case nullNode:
		return "nothing"
	case listNode:
		return "a list"
	case mappingNode:
		return "a mapping"
	default:
		return n.text
	}
}

// short quotes a text for a message.
func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return strconv.Quote(s)
}

// coreKind is how the core schema of YAML 1.2 reads a scalar without quotes; the library's own typing knows YAML 1.1,
// where yes is a boolean and 1_000 a number.
func coreKind(s string) nodeKind {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nullNode
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return boolNode
	}
	unsigned := strings.TrimLeft(s, "+-")
	switch strings.ToLower(unsigned) {
	case ".inf", ".nan":
		return floatNode
	}
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o") {
		if _, err := strconv.ParseUint(s, 0, 64); err == nil && !strings.Contains(s, "_") {
			return intNode
		}
		return textNode
	}
	if len(s)-len(unsigned) > 1 || unsigned == "" {
		return textNode
	}
	if strings.Trim(unsigned, "0123456789") == "" {
		return intNode
	}
	if strings.Trim(s, "+-0123456789.eE") == "" && strings.ContainsAny(s, "0123456789") {
		if _, err := strconv.ParseFloat(s, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return floatNode
		}
	}
	return textNode
}

// closest is the known word that s is most likely to stand for, by edits against the length; "" if none is near.
func closest(s string, known []string) string {
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(s))
	}
	if len(s) > 64 {
		return ""
	}
	best, least := "", 1<<30
	for _, k := range known {
		a, b := fold(s), fold(k)
		if d := edits(a, b); d < least && d <= max(len(a), len(b))/2 && d < min(len(a), len(b)) {
			best, least = k, d
		}
	}
	return best
}

// meant ends a message about an unknown word.
func meant(s string, known []string) string {
	if c := closest(s, known); c != "" {
		return ": did you mean " + c + "?"
	}
	return ": known are " + strings.Join(known, ", ")
}

// edits is the distance of Levenshtein (1965), with a swap of neighbours as one edit.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
