package optimizer

import (
	"strings"

	"whetstone/internal/mdblock"
	"whetstone/skill"
)

// Section is a heading with the text below it, up to the next heading of any level, or the preamble before the first
// heading. The sections of a body, one after the other, are the body.
type Section struct {
	Start, End int      // byte range in the body
	Level      int      // 1 to 6; 0 for the preamble
	Path       []string // titles from the outermost heading down to this one; empty for the preamble
	Setext     bool     // the heading is underlined, so it needs a blank line before it
}

// Sections cuts a body at its ATX and setext headings, as CommonMark 0.31 defines them. What stands in a fence, a comment, a
// list or a quotation is no heading here, and neither is what stands in a kept region: a region is never cut. A body without
// bytes has no sections.
func Sections(body string) []Section {
	if body == "" {
		return nil
	}
	out := []Section{{}}
	var path []Section
	regions := skill.Regions(body)
	for _, h := range headings(mdblock.Scan(body)) {
		if within(regions, h.start) {
			continue
		}
		for len(path) > 0 && path[len(path)-1].Level >= h.level {
			path = path[:len(path)-1]
		}
		s := Section{Start: h.start, Level: h.level, Setext: h.setext}
		if len(path) > 0 {
			s.Path = append(s.Path, path[len(path)-1].Path...)
		}
		s.Path = append(s.Path, h.title)
		path = append(path, s)
		out[len(out)-1].End = h.start
		out = append(out, s)
	}
	out[len(out)-1].End = len(body)
	if out[0].End == 0 {
		out = out[1:]
	}
	return out
}

func within(regions []skill.Region, at int) bool {
	for _, r := range regions {
		if at > r.Start && at < r.End {
			return true
		}
	}
	return false
}

type heading struct {
	start, level int
	title        string // with white space folded and without the marks
	setext       bool
}

func headings(lines []mdblock.Line) []heading {
	var out []heading
	paragraph := -1 // index of the first line of the open top-level paragraph
	for i, l := range lines {
		if l.Kind != mdblock.Text || l.Marker || l.Container > 0 {
			paragraph = -1
			continue
		}
		text := l.Text[l.Content:]
		if level := atx(text); level > 0 && l.Indent < 4 {
			out = append(out, heading{start: l.Start, level: level, title: atxTitle(text, level)})
			paragraph = -1
			continue
		}
		if level := underline(text); level > 0 && l.Indent < 4 && paragraph >= 0 {
			var title []string
			for _, p := range lines[paragraph:i] {
				title = append(title, p.Text)
			}
			out = append(out, heading{start: lines[paragraph].Start, level: level, title: CanonicalPayload(strings.Join(title, " ")), setext: true})
			paragraph = -1
			continue
		}
		switch {
		case thematicBreak(text):
			paragraph = -1
		case paragraph < 0 && (i == 0 || lines[i-1].Kind != mdblock.Quote): // below a quotation it may go on with its paragraph
			paragraph = i
		}
	}
	return out
}

func atx(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func atxTitle(s string, level int) string {
	s = strings.Trim(s[level:], " \t")
	if t := strings.TrimRight(s, "#"); t == "" || strings.HasSuffix(t, " ") || strings.HasSuffix(t, "\t") {
		s = t // a closing run of marks
	}
	return CanonicalPayload(s)
}

func underline(s string) int {
	s = strings.TrimRight(s, " \t")
	switch {
	case s == "":
		return 0
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

func thematicBreak(s string) bool {
	s = strings.NewReplacer(" ", "", "\t", "").Replace(s)
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}
