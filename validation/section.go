package validation

import (
	"strings"

	"whetstone/internal/mdblock"
)

// heading is a Markdown heading and the lines [from, to) after it up to the next heading of whatever level.
type heading struct {
	level    int
	text     string
	from, to int
}

// checkSection looks for a heading with the item's text that has something below it. Code, quotations and comments hold
// no headings; nor do lists, whose headings make no section.
func checkSection(it Item, text string) (State, string) {
	level, want := sectionWanted(it.Section)
	if it.FoldCase {
		want = foldCase(want)
	}
	lines := mdblock.Scan(withoutFrontmatter(text))
	hs := headings(lines)
	found := false
	for i, h := range hs {
		got := h.text
		if it.FoldCase {
			got = foldCase(got)
		}
		if got != want || level != 0 && h.level != level {
			continue
		}
		found = true
		for j := i; j < len(hs) && (j == i || hs[j].level > h.level); j++ {
			if says(lines[hs[j].from:hs[j].to]) {
				return Pass, "the section is there"
			}
		}
	}
	if found {
		return Fail, "there is nothing below the heading " + short(it.Section)
	}
	return Fail, "there is no heading " + short(it.Section)
}

// sectionWanted takes the level apart from the text: "## Tests" is that of level 2 only, "Tests" of any level (0).
func sectionWanted(section string) (level int, text string) {
	s := strings.TrimSpace(section)
	if level, text, ok := atx(s); ok {
		return level, text
	}
	return 0, s
}

// atx reads "## text ##": one to six #'s, then white space or the end.
func atx(s string) (level int, text string, ok bool) {
	rest := strings.TrimLeft(s, "#")
	level = len(s) - len(rest)
	if level < 1 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, "", false
	}
	text = strings.Trim(rest, " \t")
	if open := strings.TrimRight(text, "#"); open == "" || strings.HasSuffix(open, " ") || strings.HasSuffix(open, "\t") {
		text = strings.TrimRight(open, " \t") // a closing run of #'s stands apart from the text
	}
	return level, text, true
}

func headings(lines []mdblock.Line) []heading {
	var out []heading
	var paragraph []string
	add := func(level int, text string, before, next int) {
		if n := len(out); n > 0 {
			out[n-1].to = before
		}
		out = append(out, heading{level: level, text: text, from: next, to: len(lines)})
		paragraph = nil
	}
	for i, l := range lines {
		rest := strings.TrimRight(l.Text[l.Content:], " \t")
		if level := underline(rest); level > 0 && l.Indent < 4 && len(paragraph) > 0 && (l.Kind == mdblock.Text) {
			add(level, strings.Join(paragraph, " "), i-len(paragraph), i+1)
			continue
		}
		if l.Kind != mdblock.Text || l.Container > 0 || l.Marker {
			paragraph = nil
			continue
		}
		if level, text, ok := atx(rest); ok && l.Indent < 4 && !l.InCode {
			add(level, text, i, i+1)
			continue
		}
		paragraph = append(paragraph, rest)
	}
	return out
}

// underline is the level of a setext heading that ends with this line, 0 if it is none.
func underline(s string) int {
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

// says reports whether any of the lines holds something a reader sees.
func says(lines []mdblock.Line) bool {
	for _, l := range lines {
		switch l.Kind {
		case mdblock.Text, mdblock.IndentedCode, mdblock.Quote, mdblock.FenceInside:
			if strings.TrimSpace(l.Text[l.Content:]) != "" {
				return true
			}
		}
	}
	return false
}

// withoutFrontmatter drops the YAML at the head of a skill file: its last line would make a heading of the one before.
func withoutFrontmatter(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "\ufeff"), "---")
	if !ok {
		return text
	}
	lines := mdblock.SplitLines(rest)
	if len(lines) == 0 || strings.TrimSpace(lines[0].Text) != "" {
		return text
	}
	for _, l := range lines[1:] {
		if strings.TrimRight(l.Text, " \t") == "---" {
			return rest[l.End:]
		}
	}
	return text
}
