package validation

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckDecidesTexts(t *testing.T) {
	for name, c := range map[string]struct {
		it   Item
		text string
		want State
	}{
		"a word that is there":                {Item{Kind: KindContains, Pattern: "t.Cleanup"}, "use t.Cleanup here", Pass},
		"a dot is a dot":                      {Item{Kind: KindContains, Pattern: "t.Cleanup"}, "use t_Cleanup here", Fail},
		"case counts":                         {Item{Kind: KindContains, Pattern: "t.Cleanup"}, "use T.CLEANUP here", Fail},
		"case does not count where told":      {Item{Kind: KindContains, Pattern: "t.Cleanup", FoldCase: true}, "use T.CLEANUP here", Pass},
		"folding knows Greek":                 {Item{Kind: KindContains, Pattern: "ΣΊΣΥΦΟΣ", FoldCase: true}, "σίσυφος", Pass},
		"folding knows the Kelvin sign":       {Item{Kind: KindContains, Pattern: "kelvin", FoldCase: true}, "\u212aelvin", Pass},
		"simple folding keeps lengths":        {Item{Kind: KindContains, Pattern: "strasse", FoldCase: true}, "straße", Fail},
		"forms of one letter are two":         {Item{Kind: KindContains, Pattern: "\u00e9"}, "e\u0301", Fail},
		"line ends are bytes":                 {Item{Kind: KindContains, Pattern: "a\nb"}, "a\r\nb", Fail},
		"bytes that are no text":              {Item{Kind: KindContains, Pattern: "b", FoldCase: true}, "\xff\xfeB", Pass},
		"they are not one another":            {Item{Kind: KindContains, Pattern: "\xfe", FoldCase: true}, "\xff", Fail},
		"what must not be there and is not":   {Item{Kind: KindNotContains, Pattern: "panic("}, "return err", Pass},
		"what must not be there and is":       {Item{Kind: KindNotContains, Pattern: "panic("}, "panic(err)", Fail},
		"in other case it is there too":       {Item{Kind: KindNotContains, Pattern: "TODO", FoldCase: true}, "todo", Fail},
		"nothing contains nothing":            {Item{Kind: KindNotContains, Pattern: "x"}, "", Pass},
		"an expression over lines":            {Item{Kind: KindRegex, Pattern: `(?m)^## Tests$`}, "# a\n## Tests\nb", Pass},
		"an expression that does not match":   {Item{Kind: KindRegex, Pattern: `^b`}, "ab", Fail},
		"folding holds for all alternatives":  {Item{Kind: KindRegex, Pattern: `x|abc`, FoldCase: true}, "ABC", Pass},
		"an expression that is none":          {Item{Kind: KindRegex, Pattern: `(`}, "(", Missing},
		"a model's item":                      {Item{Kind: KindLLM, Expected: "x"}, "x", Missing},
		"a command's item":                    {Item{Kind: KindCommand, Command: []string{"true"}}, "x", Missing},
		"no kind at all":                      {Item{Pattern: "x"}, "x", Missing},
		"a text of a megabyte":                {Item{Kind: KindContains, Pattern: "b"}, strings.Repeat("a", MaxChecked-1) + "b", Pass},
		"a longer text is not half looked at": {Item{Kind: KindNotContains, Pattern: "b"}, strings.Repeat("a", MaxChecked+1), Missing},
	} {
		t.Run(name, func(t *testing.T) {
			if got, why := Check(c.it, c.text); got != c.want || why == "" {
				t.Errorf("%s (%s), want %s", got, why, c.want)
			}
		})
	}
}

func TestCheckFindsSections(t *testing.T) {
	for name, c := range map[string]struct {
		section, text string
		want          State
	}{
		"a heading with text":               {"Tests", "# A\n\n## Tests\n\ntext\n", Pass},
		"of any level":                      {"Tests", "###### Tests\ntext", Pass},
		"of the level asked for":            {"## Tests", "## Tests\ntext", Pass},
		"not of another":                    {"## Tests", "### Tests\ntext", Fail},
		"seven #'s are none":                {"Tests", "####### Tests\ntext", Fail},
		"no blank after the #'s":            {"Tests", "##Tests\ntext", Fail},
		"closing #'s":                       {"Tests", "## Tests ##\ntext", Pass},
		"# that belongs to the text":        {"C#", "## C#\ntext", Pass},
		"indented by three":                 {"Tests", "   ## Tests\ntext", Pass},
		"indented by four is code":          {"Tests", "a\n\n    ## Tests\ntext", Fail},
		"underlined":                        {"Tests", "Tests\n=====\ntext", Pass},
		"underlined by dashes is level two": {"## Tests", "Tests\n---\ntext", Pass},
		"and not level one":                 {"# Tests", "Tests\n---\ntext", Fail},
		"underlined over two lines":         {"Tests in Go", "Tests\nin Go\n---\ntext", Pass},
		"a rule is no underline":            {"Tests", "Tests\n\n---\ntext", Fail},
		"in a fence":                        {"Tests", "```\n## Tests\ntext\n```\n", Fail},
		"in a comment":                      {"Tests", "<!--\n## Tests\ntext\n-->\n", Fail},
		"in a quotation":                    {"Tests", "> ## Tests\n> text\n", Fail},
		"in a list":                         {"Tests", "- ## Tests\n  text\n", Fail},
		"after a list":                      {"Tests", "- a\n- b\n## Tests\ntext\n", Pass},
		"case counts":                       {"Tests", "## tests\ntext", Fail},
		"part of a heading":                 {"Tests", "## Tests in Go\ntext", Fail},
		"in running text":                   {"Tests", "Tests\ntext", Fail},
		"nothing below":                     {"Tests", "## Tests\n\n## Other\ntext", Fail},
		"nothing below at the end":          {"Tests", "text\n\n## Tests\n", Fail},
		"a comment is nothing":              {"Tests", "## Tests\n<!-- later -->\n# Other\ntext", Fail},
		"an empty fence is nothing":         {"Tests", "## Tests\n```\n```\n# Other\ntext", Fail},
		"code is something":                 {"Tests", "## Tests\n```\ngo test\n```\n", Pass},
		"a list is something":               {"Tests", "## Tests\n- a\n", Pass},
		"text below a lower heading":        {"Tests", "## Tests\n### Unit\ntext\n", Pass},
		"lower headings alone":              {"Tests", "## Tests\n### Unit\n### Other\n", Fail},
		"text below a higher heading":       {"Tests", "## Tests\n# Other\ntext\n", Fail},
		"the underlined next one":           {"Tests", "## Tests\n\nOther\n-----\ntext\n", Fail},
		"the second of two":                 {"Tests", "## Tests\n## Tests\ntext\n", Pass},
		"CRLF":                              {"Tests", "## Tests\r\n\r\ntext\r\n", Pass},
		"frontmatter makes no heading":      {"name: a", "---\nname: a\n---\ntext\n", Fail},
		"after frontmatter":                 {"Tests", "---\nname: a\n---\n## Tests\ntext\n", Pass},
		"a rule at the head":                {"Tests", "---\n## Tests\ntext\n", Pass},
		"an empty text":                     {"Tests", "", Fail},
		"Chinese":                           {"测试", "## 测试\n文\n", Pass},
	} {
		t.Run(name, func(t *testing.T) {
			if got, why := Check(Item{Kind: KindSection, Section: c.section}, c.text); got != c.want {
				t.Errorf("%s (%s), want %s", got, why, c.want)
			}
		})
	}
	if got, _ := Check(Item{Kind: KindSection, Section: "## TESTS", FoldCase: true}, "## tests\na"); got != Pass {
		t.Error("case counted where it was told not to")
	}
}

// A text of a megabyte under a larger expression takes minutes; at the limit it takes some twenty seconds, and a skill of
// usual size one.
func TestExpressionsAreHeldToASize(t *testing.T) {
	for expr, fits := range map[string]bool{
		strings.Repeat("abcdefghij", 300):                     true,
		`(.{0,490}){2}z$`:                                     true,
		strings.Repeat(`.{0,500}x|`, 5) + "z":                 false,
		`(\pL{0,900}|x){1}` + strings.Repeat(`\pL{0,900}`, 4): false,
	} {
		if err := checkExpression(expr); (err == nil) != fits {
			t.Errorf("%.40s: %v", expr, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("Tests", "---\na\n---\n## Tests ##\n```\nx\n```\nTests\n===\n- a\n", true)
	f.Add("K(", "\u212a(\xff", false)
	f.Add("(a|b)*", "## a\r\nb\r", true)
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		yes, _ := Check(Item{Kind: KindContains, Pattern: pattern, FoldCase: fold}, text)
		no, _ := Check(Item{Kind: KindNotContains, Pattern: pattern, FoldCase: fold}, text)
		if yes == no && yes != Missing {
			t.Fatalf("%q is and is not in %q", pattern, text)
		}
		if strings.Contains(text, pattern) && yes == Fail && utf8.ValidString(pattern) {
			t.Fatalf("%q is in %q", pattern, text)
		}
		literal, why := Check(Item{Kind: KindRegex, Pattern: regexp.QuoteMeta(pattern)}, text)
		if exact, _ := Check(Item{Kind: KindContains, Pattern: pattern}, text); literal != Missing && literal != exact {
			t.Logf("%s", why)
			if strings.ToValidUTF8(text, "") == text && strings.ToValidUTF8(pattern, "") == pattern {
				t.Fatalf("%q in %q: %s as an expression, %s as a text", pattern, text, literal, exact)
			}
		}
		section := Item{Kind: KindSection, Section: pattern, FoldCase: fold}
		if s, _ := Check(section, text); s == Pass {
			_, want := sectionWanted(pattern)
			if !fold && want != "" && !strings.Contains(want, " ") && !strings.Contains(text, want) {
				t.Fatalf("a section %q was found in %q", pattern, text)
			}
		}
	})
}
