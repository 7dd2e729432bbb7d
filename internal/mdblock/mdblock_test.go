package mdblock

import (
	"strings"
	"testing"
)

func kinds(text string) string {
	var b strings.Builder
	for _, l := range Scan(text) {
		b.WriteByte(" _FfCI!>"[map[Kind]int{Text: 0, Blank: 1, FenceOpen: 2, FenceInside: 3, FenceClose: 4, IndentedCode: 5, Comment: 6, Quote: 7}[l.Kind]])
	}
	return b.String()
}

func TestScanTellsBlocksApart(t *testing.T) {
	for name, c := range map[string][2]string{
		"a fence":                              {"a\n```go\nx\n```\nb", " FfC "},
		"a longer closer closes":               {"```\nx\n`````\nb", "FfC "},
		"a shorter one does not":               {"````\n```\n````\n", "FfC"},
		"tildes do not close backticks":        {"```\n~~~\n```\n", "FfC"},
		"an unclosed fence runs on":            {"```\na\n\nb", "Ffff"},
		"an info string with a backtick":       {"``` a`b\nx\n", "  "},
		"indented code after a blank line":     {"a\n\n    code\nb", " _I "},
		"an indented line goes on a paragraph": {"a\n    not code\n", "  "},
		"a comment over lines":                 {"<!-- a\nb\n-->\nc", "!!! "},
		"a quote":                              {"> a\nb", "> "},
		"a fence in a list item ends with it":  {"- a\n  ```\n  x\nb\n", " Ff "},
		"a fence in a list item":               {"- a\n  ```\n  x\n  ```\n- b\n", " FfC "},
		"CRLF":                                 {"a\r\n```\r\nx\r\n```\r\n", " FfC"},
		"a lone carriage return ends a line":   {"a\rb\r", "  "},
	} {
		t.Run(name, func(t *testing.T) {
			if got := kinds(c[0]); got != c[1] {
				t.Errorf("%q: got %q, want %q", c[0], got, c[1])
			}
		})
	}
}

func TestCodeSpans(t *testing.T) {
	for line, want := range map[string]string{"a `b` c": "`b`", "`` a`b `` c": "`` a`b ``", "a ` b": "", "`a``b`": "`a``b`"} {
		var got []string
		for _, s := range CodeSpans(line) {
			got = append(got, line[s[0]:s[1]])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// Lines cover the text without gap or overlap, whatever the text.
func FuzzScan(f *testing.F) {
	f.Add("- a\n  ```\r\n x\ry\n\n> q <!-- c\n-->\n1. b")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, l := range Scan(text) {
			if l.Start != at || l.End <= l.Start || text[l.Start:l.End] != l.Text+l.EOL || l.Content > len(l.Text) {
				t.Fatalf("line %+v at %d of %q", l, at, text)
			}
			at = l.End
		}
		if at != len(text) {
			t.Fatalf("the lines end at %d of %d", at, len(text))
		}
	})
}
