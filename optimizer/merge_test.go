package optimizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"whetstone/internal/mdblock"
)

const mergeBase = "# Rules\n\nGeneral.\n\n## Tests\n\n- Keep tests small.\n- Name things.\n\n## Commits\n\n- Small ones.\n"

func change(t *testing.T, text string, oldNew ...string) string {
	t.Helper()
	for i := 0; i < len(oldNew); i += 2 {
		if strings.Count(text, oldNew[i]) != 1 {
			t.Fatalf("%q is not once in %q", oldNew[i], text)
		}
		text = strings.Replace(text, oldNew[i], oldNew[i+1], 1)
	}
	return text
}

func TestMergeSections(t *testing.T) {
	for name, c := range map[string]struct {
		a, b, want []string // changes of the base
		prefer     int
		conflicts  int
	}{
		"each side's section":              {[]string{"Keep tests small", "Keep tests tiny"}, []string{"Small ones", "Tiny ones"}, []string{"Keep tests small", "Keep tests tiny", "Small ones", "Tiny ones"}, 0, 0},
		"lines of one section apart":       {[]string{"## Tests\n", "## Tests!\n"}, []string{"- Name things.\n", "- Name things.\n- New.\n"}, []string{"## Tests\n", "## Tests!\n", "- Name things.\n", "- Name things.\n- New.\n"}, 0, 0},
		"one line twice, a preferred":      {[]string{"Small ones", "A"}, []string{"Small ones", "B", "Name", "Call"}, []string{"Small ones", "A", "Name", "Call"}, 0, 1},
		"one line twice, b preferred":      {[]string{"Small ones", "A", "Name", "Call"}, []string{"Small ones", "B"}, []string{"Small ones", "B", "Name", "Call"}, 1, 1},
		"a new section of each":            {[]string{"## Commits\n", "## New\n\nx\n\n## Commits\n"}, []string{"- Small ones.\n", "- Small ones.\n\n## Last\n\ny\n"}, []string{"## Commits\n", "## New\n\nx\n\n## Commits\n", "- Small ones.\n", "- Small ones.\n\n## Last\n\ny\n"}, 0, 0},
		"two at the end":                   {[]string{"- Small ones.\n", "- Small ones.\n\n## A\n\nx\n"}, []string{"- Small ones.\n", "- Small ones.\n\n## B\n\ny\n"}, []string{"- Small ones.\n", "- Small ones.\n\n## A\n\nx\n\n## B\n\ny\n"}, 0, 0},
		"the same new section twice":       {[]string{"- Small ones.\n", "- Small ones.\n\n## A\n\nx\n", "Name", "Call"}, []string{"- Small ones.\n", "- Small ones.\n\n## A\n\nx\n"}, nil, 0, 0},
		"a child and a sibling":            {[]string{"- Name things.\n", "- Name things.\n\n## New\n\nx\n"}, []string{"- Name things.\n", "- Name things.\n\n### Child\n\ny\n"}, []string{"- Name things.\n", "- Name things.\n\n### Child\n\ny\n\n## New\n\nx\n"}, 0, 0},
		"a removal and a change elsewhere": {[]string{"## Tests\n\n- Keep tests small.\n- Name things.\n\n", ""}, []string{"Small ones", "Tiny ones"}, []string{"## Tests\n\n- Keep tests small.\n- Name things.\n\n", "", "Small ones", "Tiny ones"}, 0, 0},
		"a removal of what changed":        {[]string{"\n## Commits\n\n- Small ones.\n", "", "Name", "Call"}, []string{"Small ones", "Tiny ones", "General", "Common"}, []string{"\n## Commits\n\n- Small ones.\n", "", "Name", "Call", "General", "Common"}, 0, 1},
		"a change of what was removed":     {[]string{"\n## Commits\n\n- Small ones.\n", "", "Name", "Call"}, []string{"Small ones", "Tiny ones"}, []string{"Name", "Call", "Small ones", "Tiny ones"}, 1, 1},
		"a section renamed and changed":    {[]string{"## Commits", "## History"}, []string{"Small ones", "Tiny ones"}, []string{"## Commits", "## History", "Small ones", "Tiny ones"}, 0, 0},
		"a slow block stays the last":      {[]string{"- Small ones.\n", "- Small ones.\n\n" + SlowOpen + "\n- s\n" + SlowClose + "\n"}, []string{"- Small ones.\n", "- Small ones.\n\n## B\n\ny\n"}, []string{"- Small ones.\n", "- Small ones.\n\n## B\n\ny\n\n" + SlowOpen + "\n- s\n" + SlowClose + "\n"}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := change(t, mergeBase, c.a...), change(t, mergeBase, c.b...)
			want := change(t, mergeBase, c.want...)
			wantOK := c.want != nil
			if !wantOK {
				want = a
			}
			for _, eol := range []string{"\n", "\r\n"} {
				crlf := func(s string) string { return strings.ReplaceAll(s, "\n", eol) }
				got, n, ok := MergeSections(crlf(mergeBase), crlf(a), crlf(b), func([]string) int { return c.prefer })
				if got != crlf(want) || n != c.conflicts || ok != wantOK {
					t.Errorf("got %d conflicts, %v\n%q\nwant %d\n%q", n, ok, got, c.conflicts, crlf(want))
				}
			}
		})
	}
}

func TestMergeSectionsMindsTheSeams(t *testing.T) {
	for name, c := range map[string]struct {
		base, a, b, want string
		prefer           int
	}{
		"a last section that no longer is": {"# K\n\nk\n\n## L\n\nl", "# K\n\nkk", "# K\n\nk\n\n## L\n\nll", "# K\n\nkk\n\n## L\n\nll", 1},
		"several sections of one name":     {"## T\nx\n## T\ny\n", "## T\nnew\n## T\nx\n## T\ny\n", "## T\nx\n## T\nyy\n", "## T\nnew\n## T\nx\n## T\nyy\n", 0},
		"fences that fit alone and not together": {
			"# A\n\n```\n1\n2\n3\n4\n5\n```\nend\n\n# B\n\nb\n", "# A\n\n1\n2\n3\n4\n5\nend\n\n# B\n\nb\n", "# A\n\n```\n1\n2\n```\n3\n4\n5\nend\n\n# B\n\nbb\n",
			"# A\n\n1\n2\n3\n4\n5\nend\n\n# B\n\nbb\n", 0,
		},
		"an underlined heading below a paragraph it was not below": {
			"# P\np\n# M\n```\nm\n```\n# N\n```\nn\n```\nT\n---\nt\n", "# P\np\n# N\n```\nn\n```\nT\n---\nt\n", "# P\np\n# M\n```\nm\n```\nT\n---\nt\n",
			"# P\np\n\nT\n---\nt\n", 0,
		},
		"a section of another level is another section": {"# A\na\n## B\nb\n", "# A\na\n### C\nc\n", "# A\na\n## B\nbb\n", "# A\na\n### C\nc\n## B\nbb\n", 1},
		"sections moved and changed":                    {"# A\na\n# B\nb\n# C\nc\n", "# C\nc\n# A\na\n# B\nb\n", "# A\naa\n# B\nb\n# C\ncc\n", "# C\ncc\n# A\naa\n# B\nb\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, ok := MergeSections(c.base, c.a, c.b, func([]string) int { return c.prefer })
			if !ok || got != c.want {
				t.Errorf("got %v, %q, want %q", ok, got, c.want)
			}
		})
	}
	// A heading that a comment left open would swallow.
	if got, _, ok := MergeSections("-->\nitem\n# A\n<!--\n", "x\nitem\n### C\n<!--\n", "-->\nitem\n# A\n<!--\ny\n", func([]string) int { return 1 }); ok || got != "" {
		t.Errorf("sections that do not fit together were merged: %q", got)
	}
	// Two halves of a slow block that fit apart can be too much together.
	lines := func(n int) string { return strings.Repeat(strings.Repeat("x", 60)+"\n", n) }
	block := func(above, below int) string {
		return mergeBase + "\n" + SlowOpen + "\n" + lines(above) + "- 1\n- 2\n- 3\n- 4\n" + lines(below) + SlowClose + "\n"
	}
	got, n, _ := MergeSections(block(0, 0), block(20, 0), block(0, 20), func([]string) int { return 1 })
	if n != 1 || got != block(0, 20) {
		t.Errorf("%d conflicts, %d bytes", n, len(got))
	}
	if got, n, ok := MergeSections(block(0, 0), block(10, 0), block(0, 10), func([]string) int { return 1 }); n != 0 || !ok || got != block(10, 10) {
		t.Errorf("%d conflicts, %v, %d bytes", n, ok, len(got))
	}
}

func TestMergeSectionsAsksByPath(t *testing.T) {
	var asked []string
	a, b := change(t, mergeBase, "Small ones", "A", "Name", "X"), change(t, mergeBase, "Small ones", "B", "Name", "Y")
	got, n, ok := MergeSections(mergeBase, a, b, func(path []string) int {
		asked = append(asked, strings.Join(path, "/"))
		return len(asked) - 1
	})
	if want := change(t, mergeBase, "Small ones", "B", "Name", "X"); got != want || n != 2 || !ok || !slices.Equal(asked, []string{"Rules/Tests", "Rules/Commits"}) {
		t.Errorf("asked %q, %d conflicts, %v:\n%s", asked, n, ok, got)
	}
}

func TestMergeSectionsFindsNothingNew(t *testing.T) {
	a := change(t, mergeBase, "Small ones", "A")
	for name, c := range map[string][3]string{
		"nothing changed":       {mergeBase, mergeBase, mergeBase},
		"one side unchanged":    {mergeBase, a, mergeBase},
		"the other unchanged":   {mergeBase, mergeBase, a},
		"both the same":         {mergeBase, a, a},
		"all of b is preferred": {mergeBase, a, change(t, mergeBase, "Small ones", "B")},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _, ok := MergeSections(c[0], c[1], c[2], func([]string) int { return 1 }); ok || got == "" {
				t.Errorf("got %v, %q", ok, got)
			}
		})
	}
}

// What a person keeps stays as it is, also where sections around it move; and half a region is not made.
func TestMergeSectionsKeepsRegions(t *testing.T) {
	region := "<!-- whetstone:keep -->\n## Kept\n\nas it is  \n<!-- /whetstone:keep -->\n"
	base := "# A\n\na\n\n" + region + "\n## B\n\nb\n"
	a, b := change(t, base, "\na\n", "\nA\n"), change(t, base, "\nb\n", "\nB\n\n## C\n\nc\n")
	got, _, ok := MergeSections(base, a, b, func([]string) int { return 0 })
	if want := change(t, base, "\na\n", "\nA\n", "\nb\n", "\nB\n\n## C\n\nc\n"); !ok || got != want {
		t.Errorf("got %v, %q", ok, got)
	}
	a, b = "# A\n\na\n\n## B\n\nb\n", strings.Replace(base, "as it is", "as a person changed it", 1)
	if got, _, ok := MergeSections(base, a, b, func([]string) int { return 0 }); ok {
		t.Errorf("two texts that keep different things were merged: %q", got)
	}
}

// checkMerge holds for any three texts: an unchanged side gives the other one; a merge that is taken keeps regions and
// fences, invents no line and loses no section that a side added.
func checkMerge(t *testing.T, base, a, b string, prefer int) (taken bool) {
	t.Helper()
	side := func([]string) int { return prefer }
	for _, c := range [][4]string{{base, a, base, a}, {base, base, b, b}, {base, a, a, a}} {
		if got, n, ok := MergeSections(c[0], c[1], c[2], side); ok || n != 0 || got != c[3] {
			t.Fatalf("base %q, a %q, b %q: got %q, %d conflicts, want %q", c[0], c[1], c[2], got, n, c[3])
		}
	}
	got, _, ok := MergeSections(base, a, b, side)
	if !ok {
		return false
	}
	if got == a || got == b || got == base {
		t.Fatalf("nothing new is taken for new: %q", got)
	}
	if !sameKept(base, a, b, got) {
		t.Fatalf("a kept region changed: base %q, a %q, b %q: %q", base, a, b, got)
	}
	if follower(base) != follower(got) {
		t.Fatalf("a fence is left open: base %q, a %q, b %q: %q", base, a, b, got)
	}
	of := map[string]int{}
	for _, p := range split(got) {
		of[p.core]++
	}
	for _, p := range split(base) {
		same := func(q part) bool { return q.core == p.core }
		if slices.ContainsFunc(split(a), same) && slices.ContainsFunc(split(b), same) && of[p.core] == 0 {
			t.Fatalf("the section %q that nobody changed is lost: base %q, a %q, b %q: %q", p.core, base, a, b, got)
		}
	}
	known := map[string]bool{"": true}
	for _, text := range []string{base, a, b} {
		for _, l := range mdblock.SplitLines(text) {
			known[l.Text] = true
		}
	}
	for _, l := range mdblock.SplitLines(got) {
		if !known[l.Text] {
			t.Fatalf("the line %q is of neither text: base %q, a %q, b %q: %q", l.Text, base, a, b, got)
		}
	}
	return true
}

// descend changes a text the way patches do: a line here, a section there.
func descend(rng *rand.Rand, text string) string {
	ls := slices.Collect(strings.Lines(text))
	for range rng.IntN(4) {
		i := rng.IntN(len(ls) + 1)
		l := oddLines[rng.IntN(len(oddLines))]
		switch {
		case rng.IntN(2) == 0 || i == len(ls):
			ls = slices.Insert(ls, i, l)
		case rng.IntN(2) == 0:
			ls = slices.Delete(ls, i, i+1)
		default:
			ls[i] = l
		}
	}
	return strings.Join(ls, "")
}

func TestMergeSectionsInvariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	taken := 0
	for range 5000 {
		base := oddText(rng)
		if rng.IntN(2) == 0 {
			base = mergeBase
		}
		if checkMerge(t, base, descend(rng, base), descend(rng, base), rng.IntN(2)) {
			taken++
		}
	}
	if taken < 500 {
		t.Errorf("only %d of 5000 merges were taken", taken)
	}
}

func FuzzMergeSections(f *testing.F) {
	rng := rand.New(rand.NewPCG(10, 10))
	for range 40 {
		base := oddText(rng)
		f.Add(base, descend(rng, base), descend(rng, base), rng.IntN(2))
	}
	f.Fuzz(func(t *testing.T, base, a, b string, prefer int) {
		if len(base)+len(a)+len(b) < 6000 {
			checkMerge(t, base, a, b, prefer)
		}
	})
}
