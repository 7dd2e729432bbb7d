package optimizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"whetstone/internal/mdblock"
	"whetstone/skill"
)

func TestSections(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string // level, path, bytes
	}{
		"an empty body has none":        {"", nil},
		"a body without headings":       {"a\nb", []string{`0  "a\nb"`}},
		"a preamble and nested parts":   {"p\n# A\na\n## B\nb\n# C\n", []string{`0  "p\n"`, `1 A "# A\na\n"`, `2 A/B "## B\nb\n"`, `1 C "# C\n"`}},
		"a level that is left out":      {"# A\n### B\n## C\n", []string{`1 A "# A\n"`, `3 A/B "### B\n"`, `2 A/C "## C\n"`}},
		"closing marks and white space": {"##  A   b ##  \n#\n", []string{`2 A b "##  A   b ##  \n"`, `1  "#\n"`}},
		"underlined headings":           {"A\n===\nx\n\nB\nb\n--\ny\n", []string{`1 A "A\n===\nx\n\n"`, `2 A/B b "B\nb\n--\ny\n"`}},
		"a mark without a space":        {"#hash\n####### seven\n", []string{`0  "#hash\n####### seven\n"`}},
		"marks in a fence":              {"```\n# A\n```\n# B\n", []string{"0  \"```\\n# A\\n```\\n\"", `1 B "# B\n"`}},
		"marks in a comment":            {"<!--\n# A\n-->\n# B\n", []string{`0  "<!--\n# A\n-->\n"`, `1 B "# B\n"`}},
		"marks in a list":               {"- # A\n\n  # B\n", []string{`0  "- # A\n\n  # B\n"`}},
		"a break between paragraphs":    {"a\n\n---\nb\n", []string{`0  "a\n\n---\nb\n"`}},
		"a line under a list item":      {"- a\nb\n===\n", []string{`0  "- a\nb\n===\n"`}},
		"a line below an empty item":    {"-\nA\n===\n", []string{`0  "-\n"`, `1 A "A\n===\n"`}},
		"a line under a quotation":      {"> a\nb\n===\n", []string{`0  "> a\nb\n===\n"`}},
		"four spaces are code":          {"    # A\n", []string{`0  "    # A\n"`}},
		"Windows line ends":             {"# A\r\na\r\n## B", []string{`1 A "# A\r\na\r\n"`, `2 A/B "## B"`}},
		"a kept region is never cut":    {"# A\n<!-- whetstone:keep -->\n## B\n<!-- /whetstone:keep -->\n## C\n", []string{`1 A "# A\n<!-- whetstone:keep -->\n## B\n<!-- /whetstone:keep -->\n"`, `2 A/C "## C\n"`}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range Sections(c.body) {
				got = append(got, fmt.Sprintf("%d %s %q", s.Level, strings.Join(s.Path, "/"), c.body[s.Start:s.End]))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// checkSections holds for every text whatever: the sections are the body, each begins at a line, none is empty, no fence is
// cut, and a path is as long as its headings are nested.
func checkSections(t *testing.T, body string) {
	t.Helper()
	at := 0
	starts := map[int]bool{}
	for _, l := range mdblock.Scan(body) {
		starts[l.Start] = !l.InFence
	}
	for i, s := range Sections(body) {
		if s.Start != at || s.End <= s.Start {
			t.Fatalf("section %d is %d to %d, want it from %d: %q", i, s.Start, s.End, at, body)
		}
		if !starts[s.Start] {
			t.Fatalf("section %d begins in a line or a fence: %q", i, body)
		}
		if (s.Level == 0) != (len(s.Path) == 0) || s.Level == 0 && i > 0 || len(s.Path) > max(s.Level, 0) {
			t.Fatalf("section %d has level %d and path %q: %q", i, s.Level, s.Path, body)
		}
		for _, r := range skill.Regions(body) {
			if s.Start > r.Start && s.Start < r.End {
				t.Fatalf("section %d begins in a kept region: %q", i, body)
			}
		}
		at = s.End
	}
	if at != len(body) {
		t.Fatalf("the sections end at %d of %d: %q", at, len(body), body)
	}
}

// oddLines are what sections, regions, fences and lists are made of; random texts of them meet each other's edges.
var oddLines = []string{
	"# A\n", "## B\n", "### C\n", "# A\n", "Title\n", "===\n", "---\n", "- item\n", "  cont\n", "\n", "text\n", "other text\n", "```\n", "~~~\n", "<!--\n", "-->\n", "<!-- whetstone:keep -->\n",
	"<!-- /whetstone:keep -->\n", "> quote\n", "    code\n", "1. one\n", "# A\r\n", "x\r", "\r\n", "last", "name: x\n", "- a\n  ```\n", "e\u0301\n", "\u00e9\n", "\ufeff", "inline `code\n", "span` end\n",
}

func oddText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(14) {
		b.WriteString(oddLines[rng.IntN(len(oddLines))])
	}
	return b.String()
}

func TestSectionsInvariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 5000 {
		checkSections(t, oddText(rng))
	}
}

func FuzzSections(f *testing.F) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 40 {
		f.Add(oddText(rng))
	}
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) < 4000 {
			checkSections(t, body)
		}
	})
}
