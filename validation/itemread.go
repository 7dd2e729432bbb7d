package validation

import (
	"errors"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DefaultTimeoutSec is what a command item has where its file says nothing, maxTimeoutSec what it may ask for.
const (
	DefaultTimeoutSec = 20
	maxTimeoutSec     = 300
	maxLabel          = 100
	maxProgram        = 5000 // instructions of a compiled expression: each may cost a step for each character of the text
)

var itemKeys = []string{"kind", "prompt", "expected", "category", "weight", "pattern", "section", "command", "timeout", "ignore_case", "side", "id"}

// kindKeys are the keys that have a meaning for some kinds only.
var kindKeys = map[string][]string{
	"pattern":     {KindContains, KindNotContains, KindRegex},
	"ignore_case": {KindContains, KindNotContains, KindRegex, KindSection},
	"section":     {KindSection},
	"command":     {KindCommand},
	"timeout":     {KindCommand},
}

// required are the keys without which an item of a kind asks nothing.
var required = map[string][]string{
	KindLLM:         {"prompt", "expected"},
	KindContains:    {"pattern"},
	KindNotContains: {"pattern"},
	KindRegex:       {"pattern"},
	KindSection:     {"section"},
	KindCommand:     {"command"},
}

// itemReader reads one item.
type itemReader struct {
	f     *itemFile
	it    Item
	given map[string]entry // by key, the first of each
	wrong bool
}

// item reads one entry of the list, and keeps it if nothing is wrong with it.
func (f *itemFile) item(n *node) {
	f.count++
	if f.count > MaxItems {
		if f.count == MaxItems+1 {
			f.problem(n.at, "", "more than %d items: this one and those after it are not read", MaxItems)
		}
		return
	}
	r := &itemReader{f: f, given: map[string]entry{}}
	if n.refused != "" {
		r.problem(n.at, "", "%s", n.refused)
	}
	if n.kind != mappingNode {
		if n.refused == "" {
			r.problem(n.at, "", "an item is a mapping of keys to values, not %s", n.what())
		}
		return
	}
	r.read(n)
	if r.wrong {
		return
	}
	r.it.ID = identity(r.it)
	r.it.text = subject(r.it)
	if line, ok := f.first[r.it.ID]; ok {
		r.problem(n.at, "", "the same item is on line %d already", line)
		return
	}
	f.first[r.it.ID] = n.at.line
	f.items = append(f.items, r.it)
}

func (r *itemReader) problem(at place, field, format string, args ...any) {
	r.wrong = true
	r.f.problem(at, field, format, args...)
}

func (r *itemReader) read(n *node) {
	for _, e := range n.entries {
		_, twice := r.given[e.key]
		switch {
		case !slices.Contains(itemKeys, e.key):
			r.problem(e.at, e.key, "unknown key %s%s", short(e.key), meant(e.key, itemKeys))
		case twice:
			r.problem(e.at, e.key, "%s is there twice", e.key)
		default:
			r.given[e.key] = e
		}
	}
	kind := r.kind()
	r.it = Item{Kind: kind, Weight: 1, Learning: []string{}}
	needs := required[kind]
	for _, key := range needs {
		if _, ok := r.given[key]; !ok {
			r.problem(n.at, key, "an item of kind %s needs %s", kind, key)
		}
	}
	for _, e := range n.entries {
		first, ok := r.given[e.key]
		if !ok || first.at != e.at || e.key == "kind" {
			continue
		}
		switch kinds := kindKeys[e.key]; {
		case kind != "" && kinds != nil && !slices.Contains(kinds, kind):
			r.problem(e.at, e.key, "%s has no meaning for an item of kind %s", e.key, kind)
		case e.value.refused != "":
			r.problem(e.value.at, e.key, "%s: %s", e.key, e.value.refused)
		case e.value.kind != nullNode:
			r.field(e)
		case slices.Contains(needs, e.key):
			r.problem(e.at, e.key, "%s is empty", e.key)
		}
	}
	if kind == KindCommand && r.it.TimeoutSec == 0 {
		r.it.TimeoutSec = DefaultTimeoutSec
	}
}

// kind reads the kind before the other fields, which depend on it; "" if it is not known.
func (r *itemReader) kind() string {
	e, ok := r.given["kind"]
	switch v := e.value; {
	case !ok || v.kind == nullNode && v.refused == "":
		return KindLLM
	case v.refused != "":
		r.problem(v.at, "kind", "kind: %s", v.refused)
	case v.kind != textNode:
		r.problem(v.at, "kind", "kind: want one of %s, not %s", strings.Join(Kinds(), ", "), v.what())
	case !slices.Contains(Kinds(), v.text):
		r.problem(v.at, "kind", "unknown kind %s%s", short(v.text), meant(v.text, Kinds()))
	default:
		return v.text
	}
	return ""
}

func (r *itemReader) field(e entry) {
	switch e.key {
	case "prompt":
		r.it.Prompt = r.said(e)
	case "expected":
		r.it.Expected = r.said(e)
	case "category":
		r.it.Category, _ = r.text(e.key, e.value)
	case "section":
		r.it.Section = r.said(e)
		if r.it.Section != "" && !r.wrong {
			if _, text := sectionWanted(r.it.Section); text == "" {
				r.problem(e.value.at, e.key, "section: there is no text after the #'s")
			}
		}
	case "pattern":
		r.pattern(e)
	case "command":
		r.command(e)
	case "weight":
		r.weight(e)
	case "timeout":
		r.timeout(e)
	case "ignore_case":
		if e.value.kind != boolNode {
			r.problem(e.value.at, e.key, "ignore_case: want true or false without quotes, not %s", e.value.what())
			return
		}
		r.it.FoldCase = strings.EqualFold(e.value.text, "true")
	case "side":
		r.side(e)
	case "id":
		s, ok := r.text(e.key, e.value)
		if ok && (strings.ContainsAny(s, "\n\r\t") || utf8.RuneCountInString(s) > maxLabel) {
			r.problem(e.value.at, e.key, "id: want one line of at most %d characters", maxLabel)
		}
		r.it.Label = s
	}
}

// text reads a text of any content.
func (r *itemReader) text(key string, v *node) (string, bool) {
	switch {
	case v.refused != "":
		r.problem(v.at, key, "%s: %s", key, v.refused)
	case v.kind == nullNode:
		r.problem(v.at, key, "%s: an entry is empty", key)
	case v.kind == listNode || v.kind == mappingNode:
		r.problem(v.at, key, "%s: want a text, not %s", key, v.what())
	case v.kind != textNode:
		r.problem(v.at, key, "%s: %s is not a text: put it in quotes", key, v.text)
	case strings.ContainsRune(v.text, 0):
		r.problem(v.at, key, "%s: holds a NUL character", key)
	case !utf8.ValidString(v.text):
		r.problem(v.at, key, "%s: holds an escape that is no character", key)
	default:
		return v.text, true
	}
	return "", false
}

// said reads a text that must say something where its kind needs it, and may be missing elsewhere.
func (r *itemReader) said(e entry) string {
	s, ok := r.text(e.key, e.value)
	if ok && strings.TrimSpace(s) == "" && slices.Contains(required[r.it.Kind], e.key) {
		r.problem(e.value.at, e.key, "%s is empty", e.key)
	}
	return s
}

func (r *itemReader) pattern(e entry) {
	s, ok := r.text(e.key, e.value)
	if !ok {
		return
	}
	if s == "" {
		r.problem(e.value.at, e.key, "pattern is empty, and would occur in every text")
		return
	}
	r.it.Pattern = s
	if r.it.Kind == KindRegex {
		if err := checkExpression(s); err != nil {
			r.problem(e.value.at, e.key, "pattern: %s", err)
		}
	}
}

// errLarge is an expression that would take minutes over a long text.
var errLarge = errors.New("the expression is too large: lower its repeat counts")

func checkExpression(s string) error {
	if _, err := regexp.Compile(s); err != nil {
		return err
	}
	parsed, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return err
	}
	if len(prog.Inst) > maxProgram {
		return errLarge
	}
	return nil
}

func (r *itemReader) command(e entry) {
	v := e.value
	switch {
	case v.kind == textNode:
		r.problem(v.at, e.key, `command: want a list of the program and its arguments, such as [grep, -q, word, SKILL.md]: a text would need a shell to take it apart, and none is used`)
		return
	case v.kind != listNode:
		r.problem(v.at, e.key, "command: want a list of the program and its arguments, not %s", v.what())
		return
	case len(v.list) == 0:
		r.problem(v.at, e.key, "command: the list is empty")
		return
	}
	for i, a := range v.list {
		s, ok := r.text(e.key, a)
		if ok && i == 0 && strings.TrimSpace(s) == "" {
			r.problem(a.at, e.key, "command: the program has no name")
		}
		r.it.Command = append(r.it.Command, s)
	}
}

func (r *itemReader) weight(e entry) {
	v := e.value
	w, err := strconv.ParseFloat(v.text, 64)
	if (v.kind != intNode && v.kind != floatNode) || err != nil || math.IsNaN(w) || w < 1 || w > 3 {
		r.problem(v.at, e.key, "weight: want a number from 1 to 3, not %s", v.what())
		return
	}
	r.it.Weight = w
}

func (r *itemReader) timeout(e entry) {
	v := e.value
	n, err := strconv.Atoi(v.text)
	if v.kind != intNode || err != nil || n < 1 || n > maxTimeoutSec {
		r.problem(v.at, e.key, "timeout: want whole seconds from 1 to %d, not %s", maxTimeoutSec, v.what())
		return
	}
	r.it.TimeoutSec = n
}

func (r *itemReader) side(e entry) {
	sides := []string{string(Train), string(Selection), string(Test)}
	v := e.value
	switch {
	case v.kind != textNode:
		r.problem(v.at, e.key, "side: want one of %s, not %s", strings.Join(sides, ", "), v.what())
	case !slices.Contains(sides, v.text):
		r.problem(v.at, e.key, "unknown side %s%s", short(v.text), meant(v.text, sides))
	default:
		r.it.Side = Side(v.text)
	}
}
