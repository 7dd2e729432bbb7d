package validation

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readJSONLines reads one JSON object a line. A line that is broken is reported, and the others are read.
func (f *itemFile) readJSONLines(bad map[int]bool) {
	for i, line := range f.lines {
		if bad[i] || strings.TrimSpace(line) == "" {
			continue
		}
		start := place{i + 1, len(line) - len(strings.TrimLeft(line, " \t")) + 1}
		var raw json.RawMessage
		if err := json.Unmarshal([]byte(line), &raw); err != nil {
			at := start
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				// The offset counts the bytes read, the offending one included; at the end of the line there is none.
				n := int(syntax.Offset) - 1
				if strings.HasPrefix(syntax.Error(), "unexpected end") {
					n = len(line)
				}
				at.col = utf8.RuneCountInString(line[:min(max(n, 0), len(line))]) + 1
			}
			f.problem(f.clamp(at), "", "the line is not JSON: %s", err)
			continue
		}
		f.item(parseJSON(line, i, 1))
	}
}

// parseJSON makes nodes of a text that is known to be one valid JSON value. skipped is the number of lines before it.
func parseJSON(text string, skipped, col int) *node {
	p := &jsonReader{text: text, dec: json.NewDecoder(strings.NewReader(text)), now: place{skipped + 1, col}}
	p.dec.UseNumber()
	return p.value()
}

type jsonReader struct {
	text string
	dec  *json.Decoder
	read int   // bytes of text that now has passed
	now  place // the position of byte read
}

// next returns the next token, where it begins, and how it is written.
func (p *jsonReader) next() (json.Token, place, string) {
	from := int(p.dec.InputOffset())
	for from < len(p.text) && strings.IndexByte(" \t\n\r,:", p.text[from]) >= 0 {
		from++
	}
	for _, r := range p.text[p.read:from] {
		if p.now.col++; r == '\n' {
			p.now = place{p.now.line + 1, 1}
		}
	}
	p.read = from
	t, err := p.dec.Token()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, p.now, "" // not met: the text is valid
	}
	return t, p.now, p.text[from:max(from, int(p.dec.InputOffset()))]
}

func (p *jsonReader) value() *node {
	t, at, written := p.next()
	switch v := t.(type) {
	case json.Delim:
		if v == '{' {
			return p.object(at)
		}
		n := &node{kind: listNode, at: at}
		for p.dec.More() {
			n.list = append(n.list, p.value())
		}
		p.next()
		return n
	case string:
		n := &node{kind: textNode, at: at, text: v}
		if halfSurrogate(written) {
			n.refused = `a \u escape is half of a surrogate pair, which is no character`
		}
		return n
	case json.Number:
		return &node{kind: coreKind(v.String()), at: at, text: v.String()}
	case bool:
		return &node{kind: boolNode, at: at, text: strconv.FormatBool(v)}
	default:
		return &node{kind: nullNode, at: at}
	}
}

func (p *jsonReader) object(at place) *node {
	n := &node{kind: mappingNode, at: at}
	for p.dec.More() {
		t, at, _ := p.next()
		key, _ := t.(string)
		n.entries = append(n.entries, entry{key, at, p.value()})
	}
	p.next()
	return n
}

// halfSurrogate reports whether a JSON string, as it is written, escapes half a pair: the decoder would put U+FFFD there.
func halfSurrogate(written string) bool {
	if !strings.Contains(written, `\u`) {
		return false
	}
	var s string
	if json.Unmarshal([]byte(written), &s) != nil {
		return false
	}
	// U+FFFD that the file itself writes, plainly or escaped, is a character like any other.
	own := strings.Count(written, "\ufffd") + strings.Count(strings.ToLower(written), `\ufffd`)
	return strings.Count(s, "\ufffd") > own
}
