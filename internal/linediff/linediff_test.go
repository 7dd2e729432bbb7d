package linediff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnifiedReadsLikeDiff(t *testing.T) {
	a, b := "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine", "one\ntwo\nthree\nfour\n5\nsix\nseven\neight\nnine\nten"
	want := "--- a\n+++ b\n@@ -2,8 +2,9 @@\n two\n three\n four\n-five\n+5\n six\n seven\n eight\n-nine\n\\ No newline at end of file\n+nine\n+ten\n\\ No newline at end of file\n"
	if got := Unified("a", "b", a, b); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Unified("a", "b", a, a); got != "" {
		t.Errorf("equal texts differ: %s", got)
	}
}

func TestMerge3(t *testing.T) {
	base := "a\nb\nc\nd\ne\n"
	for name, c := range map[string]struct {
		a, b, want string
		conflicts  int
	}{
		"both sides' changes are kept":      {"A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n", 0},
		"equal changes are one":             {"a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", 0},
		"a deletion and a change elsewhere": {"a\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "a\nc\nd\nE\n", 0},
		"different changes of one line":     {"a\nX\nc\nd\ne\n", "a\nY\nc\nd\ne\n", "a\n<<<<<<< mine\nX\n=======\nY\n>>>>>>> theirs\nc\nd\ne\n", 1},
		"two insertions at one place":       {"a\nX\nb\nc\nd\ne\n", "a\nY\nb\nc\nd\ne\n", "a\n<<<<<<< mine\nX\n=======\nY\n>>>>>>> theirs\nb\nc\nd\ne\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, n := Merge3(base, c.a, c.b, "mine", "theirs")
			if got != c.want || n != c.conflicts {
				t.Errorf("got %d conflicts\n%s\nwant %d\n%s", n, got, c.conflicts, c.want)
			}
		})
	}
}

// One side unchanged: the merge is the other side, byte for byte. Both the same: that. And a merge without conflict holds
// every line that either side added.
func TestMerge3Invariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	text := func(from string) string {
		ls := lines(from)
		for range rng.IntN(4) {
			i := rng.IntN(len(ls) + 1)
			switch rng.IntN(3) {
			case 0:
				ls = append(ls[:i:i], append([]string{fmt.Sprintf("new %d\n", rng.IntN(1000))}, ls[i:]...)...)
			case 1:
				if i < len(ls) {
					ls = append(ls[:i:i], ls[i+1:]...)
				}
			default:
				if i < len(ls) {
					ls[i] = fmt.Sprintf("changed %d\r\n", rng.IntN(1000))
				}
			}
		}
		return strings.Join(ls, "")
	}
	for range 2000 {
		var b strings.Builder
		for i := range 1 + rng.IntN(12) {
			fmt.Fprintf(&b, "line %d\n", i%5)
		}
		base := b.String()
		x, y := text(base), text(base)
		if got, n := Merge3(base, x, base, "a", "b"); got != x || n != 0 {
			t.Fatalf("base unchanged on one side: %q, want %q", got, x)
		}
		if got, n := Merge3(base, base, y, "a", "b"); got != y || n != 0 {
			t.Fatalf("base unchanged on the other side: %q, want %q", got, y)
		}
		if got, n := Merge3(base, x, x, "a", "b"); got != x || n != 0 {
			t.Fatalf("both the same: %q, want %q", got, x)
		}
		got, n := Merge3(base, x, y, "a", "b")
		for _, side := range []string{x, y} {
			for _, l := range lines(side) {
				if (strings.HasPrefix(l, "new") || strings.HasPrefix(l, "changed")) && !strings.Contains(got, l) {
					t.Fatalf("%d conflicts: the merge lost %q:\n%q\n%q\n%q\n-> %q", n, l, base, x, y, got)
				}
			}
		}
	}
}

// Unified diffs are for patch(1), too: applying one gives the other text.
func TestUnifiedAppliesWithPatch(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("patch is not installed; the golden test above covers the format")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	a, b := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "0\n1\n2\n3\n5\n6\n7\n8\n9\n10\neleven\n12"
	if err := os.WriteFile(file, []byte(a), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(patch, "-s", file)
	cmd.Stdin = strings.NewReader(Unified("f", "f", a, b))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != b {
		t.Errorf("got %q, want %q (%v)", got, b, err)
	}
}

func TestStatCountsLines(t *testing.T) {
	for name, c := range map[string]struct {
		a, b           string
		added, removed int
	}{
		"equal texts":       {"a\nb\n", "a\nb\n", 0, 0},
		"a line more":       {"a\nb\n", "a\nx\nb\n", 1, 0},
		"a line less":       {"a\nb\n", "b\n", 0, 1},
		"a changed line":    {"a\nb\nc\n", "a\nB\nc\n", 1, 1},
		"from nothing":      {"", "a\nb", 2, 0},
		"a lost final line": {"a\nb\n", "a\nb", 1, 1},
	} {
		if added, removed := Stat(c.a, c.b); added != c.added || removed != c.removed {
			t.Errorf("%s: +%d -%d, want +%d -%d", name, added, removed, c.added, c.removed)
		}
	}
}

func TestUnresolvedKnowsMarkersThatATextTellsAbout(t *testing.T) {
	merged, n := Merge3("a\n", "b\n", "c\n", "mine", "theirs")
	if n != 1 || !Unresolved(merged, "a\n", "b\n") {
		t.Errorf("a merge with a conflict counts as resolved: %q", merged)
	}
	skill := "Resolve every\r\n<<<<<<< HEAD\r\n=======\r\n>>>>>>> main\r\nby hand.\r\n"
	if Unresolved(skill+"More.\n", skill) {
		t.Error("markers that the file told about before count as a conflict")
	}
	if !Unresolved(skill + "<<<<<<< mine\n") {
		t.Error("a marker left over counts as resolved")
	}
	if Unresolved("Title\n=======\n<<<<<<<<<<\n>> quoted\n") {
		t.Error("a heading or a quotation counts as a conflict")
	}
}
