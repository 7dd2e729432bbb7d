package report

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"whetstone/run"
)

func TestALineOfADiffIsReadByItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ diff, want string }{
		"headers and a hunk":                            {"--- /a/b.md\n+++ c:\\d\\b.md\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n", "file:--- b.md file:+++ b.md hunk:@@ -1,2 +1,2 @@ ctx:x del:y add:z"},
		"a removed rule and an added one are no header": {"@@ -1,1 +1,1 @@\n--- x\n+++ y\n", "hunk:@@ -1,1 +1,1 @@ del:-- x add:++ y"},
		"a count left out is one":                       {"@@ -1 +1 @@\n-a\n+b\n-c", "hunk:@@ -1 +1 @@ del:a add:b note:-c"},
		"an empty line of context without its space":    {"@@ -1,2 +1,2 @@\n\n-a\n+b", "hunk:@@ -1,2 +1,2 @@ ctx: del:a add:b"},
		"no final newline":                              {"@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n", "hunk:@@ -0,0 +1 @@ add:a note:\\ No newline at end of file"},
		"line ends of two characters":                   {"@@ -1 +1 @@\r\n-a\r\n+b\r\n", "hunk:@@ -1 +1 @@ del:a add:b"},
		"no diff at all":                                {"what is this", "note:what is this"},
		"nothing":                                       {"", ""},
	} {
		var got []string
		for _, l := range newDiff(c.diff).Lines {
			got = append(got, l.Kind+":"+l.Text)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %q, want %q", name, s, c.want)
		}
	}
}

func TestAWinOverABaselineNeedsAnIntervalAboveZero(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		b    Baseline
		want string
	}{
		"above zero":       {Baseline{Name: "x", Interval: iv(0.1, 0.2), On: OnTest}, "The full loop beats x on the sealed test"},
		"on selection":     {Baseline{Name: "x", Interval: iv(0.1, 0.2), On: OnSelection}, "The full loop beats x on the selection items, which its own gate chose by"},
		"not said on what": {Baseline{Name: "x", Interval: iv(0.1, 0.2)}, "on the selection items"},
		"begins at zero":   {Baseline{Name: "x", Interval: iv(0, 0.2), On: OnTest}, "No evidence that the full loop beats x"},
		"below zero":       {Baseline{Name: "x", Interval: iv(-0.2, -0.1), On: OnTest}, "X beats the full loop"},
		"no interval":      {Baseline{Name: "x", Test: f(0), On: OnTest}, "were not compared"},
		"no number":        {Baseline{Name: "x", Interval: iv(0.1, math.NaN()), On: OnTest}, "were not compared"},
		"itself":           {Baseline{Name: fullLoop, Interval: iv(0.1, 0.2), On: OnTest}, ""},
	} {
		if got := beats(c.b); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The full loop stands beside its baselines once, and without a score there is no bar.
func TestTheFullLoopIsComparedOnce(t *testing.T) {
	t.Parallel()
	r := run.Result{Final: run.Scores{Selection: f(0.5)}}
	for name, bs := range map[string][]Baseline{"added": {{Name: "no change"}}, "given": {{Name: "no change"}, {Name: fullLoop, Selection: f(0.5)}}} {
		c := compare(r, bs)
		if len(c.Rows) != 2 || !c.Rows[1].Self || c.Rows[0].Scored || !c.Rows[1].Scored || c.Rows[1].Bar != 50 {
			t.Errorf("%s: %+v", name, c.Rows)
		}
	}
	if c := compare(r, nil); len(c.Rows) != 0 {
		t.Errorf("nothing to compare with: %+v", c.Rows)
	}
}

func TestWhatBecameOfAnItem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after *float64
		want          string
	}{{f(0), f(1), "improved"}, {f(1), f(0.5), "regressed"}, {f(1. / 3), f(1 - 2./3), "unchanged"}, {nil, f(1), "unmeasured"}, {f(0), nil, "unmeasured"}, {nil, nil, "unmeasured"}, {f(math.NaN()), f(1), "unmeasured"}} {
		if got, _ := changed(c.before, c.after); got != c.want {
			t.Errorf("%s to %s is %s, not %s", Score(c.before), Score(c.after), got, c.want)
		}
	}
}

// Outcomes differ in shape, looks without a score lie below zero, and no figure leaves the picture.
func TestTheCurve(t *testing.T) {
	t.Parallel()
	shapes := map[string]string{}
	for _, o := range outcomes {
		g := glyph(o, 10, 10)
		if with, taken := shapes[g]; taken {
			t.Errorf("%s looks like %s", o, with)
		}
		shapes[g] = o
	}
	if glyph(shape("something new"), 1, 1) != glyph("empty", 1, 1) {
		t.Error("an outcome that nobody knows has a shape of its own")
	}
	var ps []Point
	for i := range 200 {
		ps = append(ps, Point{Step: i, Parent: f(1), Candidate: f(float64(i%5)*0.9 - 1), Interval: iv(-9, 9), Outcome: outcomes[i%5]})
	}
	ps = append(ps, Point{Candidate: f(math.NaN()), Parent: f(math.NaN()), Interval: iv(math.NaN(), 1)}, Point{})
	c := newCurve(run.Result{}, ps)
	if !c.Wide || len(c.Legend) != 5 {
		t.Errorf("wide: %v, legend %v", c.Wide, c.Legend)
	}
	svg := string(c.SVG)
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error("a figure that is none stands in the picture")
	}
	for _, m := range regexp.MustCompile(`M[\d.]+ (-?[\d.]+)`).FindAllStringSubmatch(svg, -1) {
		var y float64
		if _, err := fmt.Sscan(m[1], &y); err != nil || y < 0 || y > pictureHeight {
			t.Fatalf("a mark at %s", m[1])
		}
	}
	none := string(newCurve(run.Result{}, []Point{{Step: 1, Outcome: "indecisive", Parent: f(0)}}).SVG)
	if !strings.Contains(none, glyph("indecisive", 0, stripY)[len(`<path class="mark" d="M0.0 `):]) || !strings.Contains(none, "candidate -,") {
		t.Errorf("a look without a score:\n%s", none)
	}
}

func TestPathsLoseTheirFolders(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"/home/x/SKILL.md": "SKILL.md", `C:\Users\x\SKILL.md`: "SKILL.md", "SKILL.md": "SKILL.md", "": ""} {
		if got := base(in); got != want {
			t.Errorf("the last element of %q is %q", in, got)
		}
	}
	for path, text := range map[string]string{"/home/x/SKILL.md": "staged as SKILL.md.proposed", "/SKILL.md": "staged as /SKILL.md.proposed", "SKILL.md": "staged as SKILL.md.proposed"} {
		if got := bare(folder(path), "staged as "+path+".proposed"); got != text {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestThousandsAreSetApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s, not %s", n, got, want)
		}
	}
}
