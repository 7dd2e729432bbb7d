package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/faults.md names a test for every fault: a test that is renamed or removed is missed here.
func TestTheTableOfFaultsNamesTestsThatExist(t *testing.T) {
	root := filepath.Join("..", "..")
	data, err := os.ReadFile(filepath.Join(root, "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	named, faults := 0, 0
	for _, line := range strings.Split(string(data), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Contains(line, "---") || strings.Contains(line, "| fault |") {
			continue
		}
		if strings.TrimSpace(cells[1]) != "" {
			faults++
		}
		dir := strings.TrimSpace(cells[3])
		if sources[dir] == "" {
			files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[dir] += string(text)
			}
		}
		tests := regexp.MustCompile("`([A-Za-z0-9]+)`").FindAllStringSubmatch(cells[2], -1)
		if len(tests) == 0 {
			t.Errorf("no test: %s", line)
		}
		for _, name := range tests {
			named++
			if !strings.Contains(sources[dir], "\nfunc "+name[1]+"(") {
				t.Errorf("package %s has no %s", dir, name[1])
			}
		}
	}
	if faults < 26 || named < faults {
		t.Errorf("only %d tests of %d faults", named, faults)
	}
}
