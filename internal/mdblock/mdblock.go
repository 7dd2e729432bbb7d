// Package mdblock tells, for every line of a Markdown text, in what kind of block it stands: text, fenced code,
// indented code, HTML comment or quotation, and inside which list item. It owns the CommonMark block rules that
// Whetstone's byte-exact editing and capturing rest on; it renders nothing, changes nothing and cannot fail: every text
// is some Markdown.
package mdblock

import "strings"

// Kind is the block a line belongs to.
type Kind uint8

// The kinds of lines. FenceOpen and FenceClose are the delimiter lines themselves.
const (
	Text Kind = iota
	Blank
	FenceOpen
	FenceInside
	FenceClose
	IndentedCode
	Comment
	Quote
)

// Line is one line of the scanned text.
type Line struct {
	Start, End int    // byte range in the scanned text, line ending included
	Text       string // the line without its ending
	EOL        string // "\n", "\r\n", "\r" or "" (at the end of the text)
	Kind       Kind
	Content    int  // byte offset in Text where the content begins, after indentation and list markers
	Indent     int  // columns of indentation of the content, relative to the innermost list item's content
	Container  int  // column at which the innermost open list item's content begins; 0 outside lists
	Marker     bool // the line itself opens a list item
	InCode     bool // the content begins inside an inline code span that an earlier line of the paragraph opened
	InFence    bool // a fence is open at the START of this line (so true for FenceInside and FenceClose)
}

// SplitLines cuts text into lines at "\n", "\r\n" and lone "\r", keeping byte offsets. A text that ends in a line
// ending has no empty last line.
func SplitLines(text string) []Line {
	var out []Line
	for start := 0; start < len(text); {
		i := strings.IndexAny(text[start:], "\r\n")
		if i < 0 {
			out = append(out, Line{Start: start, End: len(text), Text: text[start:]})
			break
		}
		end := start + i + 1
		if text[start+i] == '\r' && end < len(text) && text[end] == '\n' {
			end++
		}
		out = append(out, Line{Start: start, End: end, Text: text[start : start+i], EOL: text[start+i : end]})
		start = end
	}
	return out
}

type fence struct {
	char      byte
	length    int
	container int
}

type scanner struct {
	lists     []int // content columns of the open list items
	fence     *fence
	comment   bool
	paragraph bool // a paragraph is open, so indented code can not begin
}

// Scan classifies every line of text.
func Scan(text string) []Line {
	lines := SplitLines(text)
	var s scanner
	for i := range lines {
		s.line(&lines[i])
	}
	for i := 0; i < len(lines); {
		j := i + 1
		for lines[i].Kind == Text && j < len(lines) && lines[j].Kind == Text && !lines[j].Marker {
			j++
		}
		markCode(lines[i:j])
		i = j
	}
	return lines
}

// markCode finds code spans that run over the line ends of one paragraph.
func markCode(paragraph []Line) {
	if len(paragraph) < 2 {
		return
	}
	var b strings.Builder
	starts := make([]int, len(paragraph))
	for i, l := range paragraph {
		starts[i] = b.Len()
		b.WriteString(l.Text[l.Content:])
		b.WriteByte('\n')
	}
	for _, span := range CodeSpans(b.String()) {
		for i, at := range starts {
			if at > span[0] && at < span[1] {
				paragraph[i].InCode = true
			}
		}
	}
}

func (s *scanner) line(l *Line) {
	l.InFence = s.fence != nil
	col, off := indentation(l.Text, 0, 0)
	blank := off == len(l.Text)
	if s.fence != nil {
		if blank || col >= s.fence.container {
			l.Kind, l.Content, l.Container = FenceInside, off, s.fence.container
			if col-s.fence.container < 4 && s.fence.closes(l.Text[off:]) {
				l.Kind, s.fence = FenceClose, nil
			}
			return
		}
		s.fence, l.InFence = nil, false // the list item that held the fence has ended, and the fence with it
	}
	if s.comment {
		l.Kind, l.Content = Comment, off
		s.comment = !strings.Contains(l.Text, "-->")
		return
	}
	if blank {
		l.Kind, l.Content, s.paragraph = Blank, off, false
		return
	}
	s.block(l, col, off)
}

// block classifies a line outside fences and comments; col and off are where its content begins.
func (s *scanner) block(l *Line, col, off int) {
	for len(s.lists) > 0 && col < s.lists[len(s.lists)-1] {
		if s.paragraph && !startsBlock(l.Text[off:]) {
			break // lazy continuation of the item's paragraph
		}
		s.lists = s.lists[:len(s.lists)-1]
	}
	for {
		base := 0
		if n := len(s.lists); n > 0 {
			base = s.lists[n-1]
		}
		l.Content, l.Indent, l.Container = off, max(col-base, 0), base
		if l.Indent >= 4 {
			l.Kind = IndentedCode
			if s.paragraph {
				l.Kind = Text
			}
			return
		}
		rest := l.Text[off:]
		if f := openFence(rest); f != nil {
			f.container = base
			l.Kind, s.fence, s.paragraph = FenceOpen, f, false
			return
		}
		switch {
		case strings.HasPrefix(rest, ">"):
			l.Kind, s.paragraph = Quote, false
			return
		case strings.HasPrefix(rest, "<!--"):
			l.Kind, s.paragraph = Comment, false
			s.comment = !strings.Contains(rest[len("<!--"):], "-->")
			return
		}
		width := listMarker(rest)
		if width == 0 || isThematicBreak(rest) {
			l.Kind = Text
			s.paragraph = !strings.HasPrefix(rest, "#")
			if i := strings.LastIndex(rest, "<!--"); i >= 0 && !strings.Contains(rest[i:], "-->") && !InCodeSpan(rest, i) {
				s.comment = true
			}
			return
		}
		l.Marker, s.paragraph = true, false
		next, nextOff := indentation(l.Text, off+width, col+width)
		if nextOff == len(l.Text) { // an empty item
			s.lists = append(s.lists, col+width+1)
			l.Kind, l.Content, l.Indent, l.Container = Text, nextOff, 0, col+width+1
			return
		}
		if next-(col+width) > 4 { // the item begins with indented code
			next, nextOff = col+width+1, off+width+1
		}
		s.lists = append(s.lists, next)
		col, off = next, nextOff
	}
}

// indentation returns the column and offset of the first byte of text at or after off that is not a space or tab.
func indentation(text string, off, col int) (int, int) {
	for off < len(text) {
		switch text[off] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col, off
		}
		off++
	}
	return col, off
}

func openFence(s string) *fence {
	n := run(s)
	if n < 3 || (s[0] == '`' && strings.Contains(s[n:], "`")) {
		return nil
	}
	return &fence{char: s[0], length: n}
}

func (f *fence) closes(s string) bool {
	n := run(s)
	return n >= f.length && s[0] == f.char && strings.Trim(s[n:], " \t") == ""
}

// run counts the backticks or tildes that s begins with.
func run(s string) int {
	if s == "" || (s[0] != '`' && s[0] != '~') {
		return 0
	}
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// listMarker returns the width of a list marker at the start of s, 0 if there is none.
func listMarker(s string) int {
	n := 0
	switch s[0] {
	case '-', '*', '+':
		n = 1
	default:
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n == len(s) || (s[n] != '.' && s[n] != ')') {
			return 0
		}
		n++
	}
	if n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func isThematicBreak(s string) bool {
	c := s[0]
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// startsBlock reports whether s begins something that ends an open paragraph instead of continuing it lazily.
func startsBlock(s string) bool {
	return openFence(s) != nil || s[0] == '>' || s[0] == '#' || strings.HasPrefix(s, "<!--") || listMarker(s) > 0 || isThematicBreak(s)
}

// CodeSpans returns the byte ranges of the inline code spans of one line, backticks included. A run of backticks
// without a partner of the same length is text.
func CodeSpans(line string) [][2]int {
	var out [][2]int
	for i := 0; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		n := run(line[i:])
		end := -1
		for j := i + n; j < len(line); {
			if line[j] != '`' {
				j++
				continue
			}
			m := run(line[j:])
			if m == n {
				end = j + m
				break
			}
			j += m
		}
		if end < 0 {
			i += n
			continue
		}
		out = append(out, [2]int{i, end})
		i = end
	}
	return out
}

// InCodeSpan reports whether byte i of the line lies inside an inline code span.
func InCodeSpan(line string, i int) bool {
	for _, s := range CodeSpans(line) {
		if i >= s[0] && i < s[1] {
			return true
		}
	}
	return false
}
