package validation

import (
	"os"
	"regexp"
	"testing"
)

// The examples of docs/items.md are items files.
func TestExamplesOfTheDocsAreRead(t *testing.T) {
	b, err := os.ReadFile("../docs/items.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	blocks := regexp.MustCompile("(?ms)^```(?:yaml|jsonl)\n(.*?)^```$").FindAllSubmatch(b, -1)
	for _, block := range blocks {
		items, problems := readText(t, string(block[1]))
		if len(problems) > 0 {
			t.Errorf("%v in\n%s", problems, block[1])
		}
		for _, it := range items {
			kinds[it.Kind] = true
		}
	}
	if len(blocks) != 2 || len(kinds) != len(Kinds()) {
		t.Errorf("%d examples with kinds %v", len(blocks), kinds)
	}
}
