package validation

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of an items file.
const (
	MaxItemsFile  = 5 << 20 // bytes
	MaxItems      = 5000
	maxProblems   = 1000 // reported of one file; the last one then says how many more there are
	itemsFileHint = "an items file is a YAML list of items (or a mapping with the key items), or JSON Lines"
)

// Problem is one thing that is wrong with an items file. Line and column are counted from 1, the column in characters; a
// byte order mark counts for nothing. Field is the key it is about, empty where it is the item or the file.
type Problem struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Field  string `json:"field,omitempty"`
	Text   string `json:"text"`
}

func (p Problem) String() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Text) }

// ReadItems reads an items file; docs/items.md describes its form. It returns the items nothing is wrong with, sorted by
// id and clustered, and every problem of the file in the order of its lines: a caller that finds any should not go on
// with the rest, since what a person asked for would be measured in part. YAML and JSON Lines are told apart by content.
// The error is of reading r only, under the name of the file; a file that is wrong throughout has problems, no error.
func ReadItems(r io.Reader, name string) ([]Item, []Problem, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxItemsFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read items of %s: %w", name, err)
	}
	f := &itemFile{first: map[string]int{}}
	if len(b) > MaxItemsFile {
		f.problem(place{1, 1}, "", "the file is larger than %d MB", MaxItemsFile>>20)
		return nil, f.problems, nil
	}
	f.read(b)
	return Combine(f.items), f.sorted(), nil
}

// place is a position in the file, counted from 1, in characters.
type place struct{ line, col int }

// itemFile is a file being read.
type itemFile struct {
	lines    []string // without their endings and the byte order mark
	items    []Item
	count    int            // items met, also those that are wrong
	first    map[string]int // the line on which an item's id was met first
	problems []Problem
	more     int // problems beyond the ones kept
}

func (f *itemFile) problem(at place, field, format string, args ...any) {
	if len(f.problems) == maxProblems {
		f.more++
		return
	}
	f.problems = append(f.problems, Problem{at.line, at.col, field, fmt.Sprintf(format, args...)})
}

func (f *itemFile) sorted() []Problem {
	slices.SortStableFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Field, b.Field))
	})
	if n := len(f.problems); f.more > 0 {
		f.problems[n-1].Text += fmt.Sprintf(" (and %d more problems)", f.more)
	}
	return f.problems
}

// clamp keeps a position that a library reports inside the file.
func (f *itemFile) clamp(at place) place {
	at.line = min(max(at.line, 1), max(len(f.lines), 1))
	width := 0
	if len(f.lines) > 0 {
		width = utf8.RuneCountInString(f.lines[at.line-1])
	}
	at.col = min(max(at.col, 1), width+1)
	return at
}

func (f *itemFile) read(b []byte) {
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		f.problem(place{1, 1}, "", "the file is UTF-16: save it as UTF-8")
		return
	}
	// Positions are those of the text with unified line ends: neither library counts carriage returns as editors do.
	text := strings.TrimPrefix(string(b), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	f.lines = strings.Split(text, "\n")
	bad := f.badLines()
	switch formOf(f.lines, text) {
	case formEmpty:
		f.problem(place{1, 1}, "", "the file is empty: %s", itemsFileHint)
	case formLines:
		f.readJSONLines(bad)
	case formJSON:
		if len(bad) == 0 {
			f.top(parseJSON(text, 0, 1))
		}
	default:
		if len(bad) == 0 {
			f.readYAML(text)
		}
	}
}

// badLines reports each line that holds a byte no text has, at the first of them.
func (f *itemFile) badLines() map[int]bool {
	bad := map[int]bool{}
	for i, line := range f.lines {
		at := strings.IndexByte(line, 0)
		what := "a NUL byte"
		if u := invalidUTF8(line); u >= 0 && (at < 0 || u < at) {
			at, what = u, fmt.Sprintf("byte 0x%02x, which is not UTF-8", line[u])
		}
		if at >= 0 {
			bad[i] = true
			f.problem(place{i + 1, utf8.RuneCountInString(line[:at]) + 1}, "", "the line holds %s", what)
		}
	}
	return bad
}

func invalidUTF8(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// top reads the root of a YAML or JSON document: a list of items, or a mapping that holds it.
func (f *itemFile) top(root *node) {
	switch {
	case root.refused != "":
		f.problem(root.at, "", "%s", root.refused)
	case root.kind == listNode:
		f.list(root, root.at, "")
	case root.kind == mappingNode:
		f.mapping(root)
	default:
		f.problem(root.at, "", "this is no list: %s", itemsFileHint)
	}
}

func (f *itemFile) mapping(root *node) {
	var found *entry
	for i, e := range root.entries {
		if e.key == "items" && found == nil {
			found = &root.entries[i]
		}
	}
	if found == nil {
		hint := itemsFileHint
		for _, e := range root.entries {
			if slices.Contains(itemKeys, e.key) {
				hint = `one item alone begins with "- " too`
			}
		}
		f.problem(root.at, "items", "the key items is missing: %s", hint)
		return
	}
	for i, e := range root.entries {
		switch {
		case &root.entries[i] == found:
		case e.key == "items":
			f.problem(e.at, e.key, "items is there twice")
		default:
			f.problem(e.at, e.key, "unknown key %s beside items%s", short(e.key), meant(e.key, []string{"items"}))
		}
	}
	switch v := found.value; {
	case v.refused != "":
		f.problem(v.at, "items", "%s", v.refused)
	case v.kind == listNode:
		f.list(v, v.at, "items")
	case v.kind == nullNode:
		f.problem(found.at, "items", "items is empty")
	default:
		f.problem(v.at, "items", "items: want a list, not %s", v.what())
	}
}

func (f *itemFile) list(list *node, at place, field string) {
	if len(list.list) == 0 {
		f.problem(at, field, "the list of items is empty")
	}
	for _, n := range list.list {
		f.item(n)
	}
}
