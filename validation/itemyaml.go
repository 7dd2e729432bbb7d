package validation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxNesting = 32   // brackets in brackets, and openers on one line
	maxRefused = 1000 // anchors, aliases and tags of one file: none is taken, and they nest what comes after them
)

// errNesting is a text whose nesting would exhaust the parser's stack, which no recover can catch.
type errNesting struct {
	at   place
	text string
}

func (e *errNesting) Error() string { return e.text }

// readYAML reads the text as one document. Where it is not YAML the entries of its list are read one by one, so that one
// broken entry hides neither the others nor their problems.
func (f *itemFile) readYAML(text string) {
	docs, err := parseYAML(text)
	if err != nil {
		if !f.piecewise() {
			f.syntax(err, 0)
		}
		return
	}
	if len(docs) == 0 {
		f.problem(place{1, 1}, "", "the file is empty: %s", itemsFileHint)
		return
	}
	f.top(convert(docs[0], 0))
	for _, d := range docs[1:] {
		f.problem(convert(d, 0).at, "", "a second document begins here: an items file has one")
	}
}

// syntax reports what the parser says, for a text that begins after skipped lines.
func (f *itemFile) syntax(err error, skipped int) {
	var deep *errNesting
	if errors.As(err, &deep) {
		f.problem(f.clamp(place{deep.at.line + skipped, deep.at.col}), "", "%s", deep.text)
		return
	}
	at := place{1 + skipped, 1}
	var text string
	var y yaml.Error
	if errors.As(err, &y) {
		text = y.GetMessage() // its Error prints the source around it, which takes minutes on a long line
		if t := y.GetToken(); t != nil && t.Position != nil {
			at = place{t.Position.Line + skipped, t.Position.Column}
		}
	} else {
		text = err.Error()
	}
	f.problem(f.clamp(at), "", "not valid YAML: %s", text)
}

// parseYAML returns the bodies of the documents that are not empty.
func parseYAML(text string) (docs []ast.Node, err error) {
	tokens := lexer.Tokenize(text)
	if err := nesting(tokens); err != nil {
		return nil, err
	}
	// The parser has panicked on texts that are no YAML before; a person's typing error must not end a run with a trace.
	defer func() {
		if p := recover(); p != nil {
			docs, err = nil, fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if _, directive := d.Body.(*ast.DirectiveNode); !directive {
			docs = append(docs, d.Body)
		}
	}
	return docs, nil
}

// nesting refuses what would make the parser call itself without end.
func nesting(tokens token.Tokens) error {
	var outer place // where the outermost open bracket stands
	depth, refused, line, openers := 0, 0, 0, 0
	for _, t := range tokens {
		at := place{t.Position.Line, t.Position.Column}
		if at.line != line {
			line, openers = at.line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			if depth++; depth == 1 {
				outer = at
			}
			if depth > maxNesting {
				return &errNesting{outer, "nested too deeply"}
			}
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		case token.AnchorType, token.AliasType, token.TagType:
			if refused++; refused > maxRefused {
				return &errNesting{at, fmt.Sprintf("more than %d anchors, aliases and tags", maxRefused)}
			}
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if depth == 0 {
				if openers++; openers > maxNesting {
					return &errNesting{at, "nested too deeply"}
				}
			}
		}
	}
	return nil
}

// piecewise reads the entries of the file's list one by one; it reports false, and does nothing, where there is no list
// to be seen. An entry reaches to the next line that begins one at the same indentation: YAML lets nothing that belongs
// to an entry stand so far to the left.
func (f *itemFile) piecewise() bool {
	var starts []int
	indent := ""
	for i, line := range f.lines {
		t := strings.TrimLeft(line, " ")
		entry := t == "-" || strings.HasPrefix(t, "- ")
		switch {
		case len(starts) > 0:
			if entry && len(line)-len(t) == len(indent) {
				starts = append(starts, i)
			}
		case entry:
			indent = line[:len(line)-len(t)]
			starts = append(starts, i)
		case t == "" || t[0] == '#' || t[0] == '%' || strings.HasPrefix(t, "---"):
		case strings.HasPrefix(line, "items:"):
		default:
			return false
		}
	}
	if len(starts) == 0 {
		return false
	}
	for i, start := range starts {
		end := len(f.lines)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		docs, err := parseYAML(strings.Join(f.lines[start:end], "\n") + "\n")
		if err != nil {
			f.count++
			f.syntax(err, start)
			continue
		}
		for _, d := range docs {
			n := convert(d, start)
			if n.kind != listNode {
				f.problem(f.clamp(n.at), "", "this stands outside of the list of items")
			}
			for _, it := range n.list {
				f.item(it)
			}
		}
	}
	return true
}

// convert makes nodes of the library's tree. Aliases are not followed, so there is nothing that could grow.
func convert(x ast.Node, skipped int) *node {
	at := place{1 + skipped, 1}
	if t := x.GetToken(); t != nil && t.Position != nil {
		at = place{t.Position.Line + skipped, t.Position.Column}
	}
	n := &node{at: at}
	switch x := x.(type) {
	case *ast.MappingNode:
		n.kind = mappingNode
		for _, v := range x.Values {
			n.entries = append(n.entries, convertEntry(v, skipped))
		}
		if !x.IsFlowStyle && len(n.entries) > 0 {
			n.at = n.entries[0].at // the library points to the first colon
		}
	case *ast.MappingValueNode:
		n.kind, n.entries = mappingNode, []entry{convertEntry(x, skipped)}
		n.at = n.entries[0].at
	case *ast.SequenceNode:
		n.kind = listNode
		for i, v := range x.Values {
			below := convert(v, skipped)
			if _, empty := v.(*ast.NullNode); empty && i < len(x.Entries) && x.Entries[i].Start != nil {
				below.at = place{x.Entries[i].Start.Position.Line + skipped, x.Entries[i].Start.Position.Column}
			}
			n.list = append(n.list, below)
		}
	case *ast.AnchorNode:
		n = refuse(x.Value, skipped, at, "anchors are not taken: write the value out where it is needed")
	case *ast.AliasNode:
		n.refused = "aliases are not taken: write the value out"
	case *ast.TagNode:
		n = refuse(x.Value, skipped, at, "tags such as "+x.Start.Value+" are not taken")
	case *ast.StringNode:
		n.text = x.Value
		if t := x.Token.Type; t != token.SingleQuoteType && t != token.DoubleQuoteType {
			n.kind = coreKind(x.Value)
		}
	case *ast.LiteralNode:
		n.text = x.Value.Value
	case *ast.NullNode:
		n.kind = nullNode
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.text = x.GetToken().Value
		n.kind = coreKind(n.text)
	default:
		n.refused = "this kind of YAML is not taken"
	}
	return n
}

func refuse(below ast.Node, skipped int, at place, why string) *node {
	n := &node{kind: nullNode}
	if below != nil {
		n = convert(below, skipped)
	}
	n.at, n.refused = at, why
	return n
}

func convertEntry(v *ast.MappingValueNode, skipped int) entry {
	e := entry{at: place{1 + skipped, 1}, value: &node{kind: nullNode}}
	if t := v.Key.GetToken(); t != nil && t.Position != nil {
		e.at = place{t.Position.Line + skipped, t.Position.Column}
	}
	e.value.at = e.at
	if key, ok := v.Key.(*ast.StringNode); ok {
		e.key = key.Value
	} else {
		e.key = strings.TrimSpace(v.Key.String())
	}
	if v.Value != nil {
		e.value = convert(v.Value, skipped)
	}
	return e
}
