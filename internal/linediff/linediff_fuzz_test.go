package linediff

import (
	"slices"
	"strings"
	"testing"
)

// Whatever three texts: an unchanged side gives the other one, byte for byte; markers stand only where a conflict is counted;
// and no line is made up.
func FuzzMerge3(f *testing.F) {
	base := "a\nb\nc\nd\ne\n"
	for _, c := range [][3]string{
		{base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE"},
		{base, "a\nX\nc\nd\ne\n", "a\nY\nc\nd\ne\n"},
		{base, "", base},
		{"", "x", "y"},
		{"a\r\nb\r\n", "a\r\nX", "a\r\nY"},
		{"a\rb\r", "a\rc", "b\r"},
		{"<<<<<<< a\n=======\n>>>>>>> b\n", "x\n=======\n", "<<<<<<< a\ny\n"},
		{"x\nx\nx\n", "x\n", "x\nx\nx\nx\n"},
		{"caf\u00e9\n", "cafe\u0301\n", "caf\xe9\n"},
	} {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, base, a, b string) {
		if len(base)+len(a)+len(b) > 3000 {
			return
		}
		for _, c := range [][4]string{{base, a, base, a}, {base, base, b, b}, {base, a, a, a}} {
			if got, n := Merge3(c[0], c[1], c[2], "a", "b"); got != c[3] || n != 0 {
				t.Fatalf("base %q, a %q, b %q: %d conflicts, got %q, want %q", c[0], c[1], c[2], n, got, c[3])
			}
		}
		got, conflicts := Merge3(base, a, b, "a", "b")
		known := map[string]int{}
		for _, text := range []string{base, a, b} {
			for _, l := range lines(text) {
				known[l]++
				known[bare(l)]++
			}
		}
		markers := []string{"<<<<<<< a", "=======", ">>>>>>> b"}
		unknown := map[string]int{}
		for _, l := range lines(got) {
			text := bare(l)
			if known[l] > 0 || conflicts > 0 && known[text] > 0 && l != text {
				continue // of an input; in a conflict the last line of a side gets the line ending that it lacks
			}
			if !slices.Contains(markers, text) || conflicts == 0 {
				t.Fatalf("%d conflicts, and the line %q is of no input: base %q, a %q, b %q -> %q", conflicts, l, base, a, b, got)
			}
			unknown[text]++
		}
		for _, m := range markers {
			n := 0
			for _, l := range lines(got) {
				if bare(l) == m {
					n++
				}
			}
			if n < conflicts || unknown[m] > conflicts {
				t.Fatalf("%d conflicts, and %d lines %q: base %q, a %q, b %q -> %q", conflicts, n, m, base, a, b, got)
			}
		}
		// Which side is named first changes where a conflict's halves stand, never what is in conflict.
		if _, n := Merge3(base, b, a, "b", "a"); n != conflicts {
			t.Fatalf("%d conflicts, and %d with the sides changed: base %q, a %q, b %q", conflicts, n, base, a, b)
		}
	})
}

func bare(l string) string { return strings.TrimRight(l, "\r\n") }
