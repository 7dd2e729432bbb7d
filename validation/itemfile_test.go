package validation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"
)

// testCorpus holds ReadItems to a folder of labelled files: want.txt has for each the number of items and the problems.
func testCorpus(t *testing.T, dir string) {
	want, err := os.ReadFile(filepath.Join(dir, "want.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(want), "\n"), "\n")
	if len(lines) < 30 {
		t.Fatalf("only %d files are labelled", len(lines))
	}
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, "\t")
		count, problems, _ := strings.Cut(rest, "\t")
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			items, found, err := ReadItems(f, name)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := strconv.Atoi(count); err != nil || len(items) != n {
				t.Errorf("%d items, want %s", len(items), count)
			}
			var got []string
			for _, p := range found {
				got = append(got, fmt.Sprintf("%d:%d:%s", p.Line, p.Column, p.Field))
			}
			if g := strings.Join(got, " "); g != problems {
				t.Errorf("problems\n got %s\nwant %s\n%v", g, problems, found)
			}
		})
	}
}

func TestReadItemsFindsTheLabelledProblems(t *testing.T) { testCorpus(t, "testdata/items") }

func readText(t testing.TB, text string) ([]Item, []Problem) {
	t.Helper()
	items, problems, err := ReadItems(strings.NewReader(text), "items.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return items, problems
}

func TestReadItemsSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"the closest key":             {"- promt: a\n  expected: b\n", "did you mean prompt?"},
		"a key by its hyphen":         {"- kind: contains\n  pattern: a\n  ignore-case: true\n", "did you mean ignore_case?"},
		"all keys where none is near": {"- kind: contains\n  pattern: a\n  zzz: true\n", "known are kind, prompt"},
		"the closest kind":            {"- kind: not-contains\n  pattern: a\n", "did you mean not_contains?"},
		"the compiler's own words":    {"- kind: regex\n  pattern: 'a(b'\n", "missing closing ): `a(b`"},
		"the line of the first":       {"- kind: contains\n  pattern: a\n- pattern: a\n  kind: contains\n", "on line 1 already"},
		"to write a list":             {"- kind: command\n  command: ls -l\n", "want a list of the program and its arguments"},
		"to use quotes":               {"- kind: contains\n  pattern: 404\n", "put it in quotes"},
		"to begin an item":            {"prompt: a\nexpected: b\n", `begins with "- "`},
		"the broken line":             {"{\"kind\": \"contains\", \"pattern\": \"a\"}\n{\"kind\"}\n", "the line is not JSON: invalid character '}'"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := readText(t, c.text)
			if !slices.ContainsFunc(problems, func(p Problem) bool { return strings.Contains(p.Text, c.says) }) {
				t.Errorf("want %q in %v", c.says, problems)
			}
		})
	}
}

func TestReadItemsReadsEveryField(t *testing.T) {
	items, problems := readText(t, `
- {kind: llm, prompt: p, expected: e, category: c, weight: 2.5, side: test, id: mine}
- {kind: regex, pattern: 'a+', ignore_case: true, prompt: q}
- {kind: command, command: [grep, -q, "a b", SKILL.md], timeout: 7}
- {kind: command, command: ["true"]}
- {kind: section, section: "## Tests"}
`)
	if len(problems) != 0 || len(items) != 5 {
		t.Fatalf("%v, %v", items, problems)
	}
	for _, it := range items {
		if it.ID == "" || it.Cluster == "" || it.Learning == nil || it.Weight == 0 {
			t.Errorf("%+v", it)
		}
		switch {
		case it.Kind == KindLLM && (it.Prompt != "p" || it.Expected != "e" || it.Category != "c" || it.Weight != 2.5 || it.Side != Test || it.Label != "mine"),
			it.Kind == KindRegex && (it.Pattern != "a+" || !it.FoldCase || it.Prompt != "q"),
			it.Kind == KindCommand && len(it.Command) == 4 && (it.Command[2] != "a b" || it.TimeoutSec != 7),
			it.Kind == KindCommand && len(it.Command) == 1 && it.TimeoutSec != DefaultTimeoutSec,
			it.Kind == KindSection && it.Section != "## Tests":
			t.Errorf("%+v", it)
		}
	}
}

func TestReadItemsHasLimits(t *testing.T) {
	many := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	t.Run("5000 items are taken", func(t *testing.T) {
		if items, problems := readText(t, many(MaxItems, "{\"kind\":\"contains\",\"pattern\":\"x%d\"}\n")); len(items) != MaxItems || len(problems) != 0 {
			t.Errorf("%d items, %v", len(items), problems)
		}
	})
	t.Run("5001 are not", func(t *testing.T) {
		items, problems := readText(t, many(MaxItems+2, "- {kind: contains, pattern: x%d}\n"))
		if len(items) != MaxItems || len(problems) != 1 || problems[0].Line != MaxItems+1 || problems[0].Column != 3 {
			t.Errorf("%d items, %v", len(items), problems)
		}
	})
	t.Run("more than 5 MB are not read", func(t *testing.T) {
		items, problems := readText(t, "- {kind: contains, pattern: x}\n"+strings.Repeat("# comment\n", MaxItemsFile/10))
		if len(items) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Text, "larger than 5 MB") {
			t.Errorf("%v, %v", items, problems)
		}
	})
	t.Run("problems beyond a thousand are counted", func(t *testing.T) {
		_, problems := readText(t, many(1500, "- {kind: contains, pattern: x%d, wieght: 2}\n"))
		if len(problems) != maxProblems || !strings.Contains(problems[maxProblems-1].Text, "500 more") {
			t.Errorf("%d, the last %v", len(problems), problems[len(problems)-1])
		}
	})
	t.Run("a reader's error is returned", func(t *testing.T) {
		broken := errors.New("broken")
		if _, _, err := ReadItems(iotest.ErrReader(broken), "x.yaml"); !errors.Is(err, broken) || !strings.Contains(err.Error(), "x.yaml") {
			t.Errorf("%v", err)
		}
	})
}

// What nests without end would take the parser's stack, and the process with it.
func TestReadItemsRefusesWhatNestsWithoutEnd(t *testing.T) {
	for _, unit := range []string{"[", "{", "- ", "? ", "a: ", "!a ", "&a ", "!a\n", "&a\n", "- [", "{a: ", "'", "\"", "*a ", "|\n", "[{\n", "? - ", "<<: ", "--- "} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat(unit, 100_000)
			began := time.Now()
			items, problems := readText(t, text)
			if len(items) != 0 || len(problems) == 0 {
				t.Errorf("%d items, %d problems", len(items), len(problems))
			}
			t.Log(time.Since(began), problems[0])
		})
	}
}

func FuzzReadItems(f *testing.F) {
	for _, dir := range []string{"testdata/items", "testdata/items/aside"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() || e.Name() == "want.txt" {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		items, problems := readText(t, string(b))
		if len(items) == 0 && len(problems) == 0 {
			t.Fatalf("%q holds nothing, and nothing is said about it", b)
		}
		text := strings.TrimPrefix(string(b), "\ufeff")
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
		for _, p := range problems {
			if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 || p.Text == "" || !utf8.ValidString(p.Text) {
				t.Fatalf("%q: %+v is outside of the file", b, p)
			}
		}
		seen := map[string]bool{}
		for _, it := range items {
			if it.Kind == KindRegex {
				regexp.MustCompile(it.Pattern)
			}
			if seen[it.ID] || it.ID == "" || it.Weight < 1 || it.Weight > 3 || !slices.Contains(Kinds(), it.Kind) {
				t.Fatalf("%q: %+v", b, it)
			}
			seen[it.ID] = true
			if s, why := Check(it, "a text"); (s == Missing) != (it.Kind == KindLLM || it.Kind == KindCommand) {
				t.Fatalf("%q: %+v is %s: %s", b, it, s, why)
			}
		}
	})
}

// Kept apart while ReadItems was written.
func TestReadItemsFindsTheProblemsOfFilesKeptAside(t *testing.T) {
	testCorpus(t, "testdata/items/aside")
}
