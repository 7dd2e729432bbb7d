package rulepatch

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

const body = `# Testing

Write tests first.

- Mock the database in repository tests.
- Keep tests small.

## Files

- Temporary files belong into the folder of the test.

<!-- whetstone:keep -->
- Never edit this line about golden files.
<!-- /whetstone:keep -->

` + "```go\n// Mock the clock.\n```\n"

func propose(limit int, expected ...string) []Patch {
	var cs []Correction
	for i, e := range expected {
		cs = append(cs, Correction{ID: fmt.Sprintf("i%d", i), Category: "testing", Expected: e})
	}
	return Propose(body, cs, limit)
}

func TestProposeReplacesWhatACorrectionContradicts(t *testing.T) {
	ps := propose(4, "Do not mock the database in repository tests")
	if len(ps) != 1 || ps[0].Op != "replace" || ps[0].Anchor != "- Mock the database in repository tests." || ps[0].Payload != "- Do not mock the database in repository tests." {
		t.Errorf("%+v", ps)
	}
}

func TestProposeLeavesAloneWhatIsStated(t *testing.T) {
	if ps := propose(4, "keep tests small"); len(ps) != 0 {
		t.Errorf("%+v", ps)
	}
}

func TestProposeAddsBelowTheClosestHeading(t *testing.T) {
	ps := propose(4, "Files that a test writes go to t.TempDir")
	if len(ps) != 1 || ps[0].Op != "add" || !strings.Contains(ps[0].Anchor, "Temporary files") || !strings.HasPrefix(ps[0].Payload, "- Files") {
		t.Errorf("%+v", ps)
	}
}

func TestProposeMergesWordingsOfOneAdvice(t *testing.T) {
	ps := propose(4, "Run go test with -race on packages with goroutines", "run go test -race on every package with goroutines", "close what a helper opens with t.Cleanup")
	if len(ps) != 2 || len(ps[0].Items) != 2 || len(ps[1].Items) != 1 {
		t.Errorf("%+v", ps)
	}
}

func TestProposeNeverTouchesKeptLinesOrCode(t *testing.T) {
	for _, e := range []string{"Always edit this line about golden files", "Do not mock the clock"} {
		for _, p := range propose(4, e) {
			if p.Op != "add" || strings.Contains(p.Anchor, "Never edit") || strings.Contains(p.Anchor, "// Mock") {
				t.Errorf("%q: %+v", e, p)
			}
		}
	}
}

func TestProposeDoesNotDependOnTheOrderOfCorrections(t *testing.T) {
	cs := []Correction{{"b", "go", "close files that helpers open"}, {"a", "go", "register t.Cleanup to close files"}, {"c", "ci", "run the race detector nightly"}, {"d", "go", "do not mock the database in repository tests"}}
	want := Propose(body, cs, 8)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		rng.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
		if got := Propose(body, cs, 8); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nand\n%+v", got, want)
		}
	}
	if len(want) == 0 || len(Propose(body, cs, 1)) != 1 {
		t.Error("nothing proposed, or more than the limit")
	}
}
