package statement

import (
	"testing"

	"whetstone/internal/testcorpus"
)

type pair struct {
	ID       string `json:"id"`
	Body     string `json:"body"`
	Expected string `json:"expected"`
	States   bool   `json:"states"`
	Kind     string `json:"kind"`
	Lang     string `json:"lang"`
}

// Both sets were labelled before the judge was written, by two people who have not seen it; heldout.jsonl was kept aside
// from tuning.
func TestJudgeAgreesWithLabelledPairs(t *testing.T) {
	for _, set := range []struct {
		path string
		show bool
	}{{"../testdata/judge/pairs.jsonl", true}, {"../testdata/judge/tuning2.jsonl", true}, {"../testdata/judge/aside.jsonl", false}} {
		t.Run(set.path, func(t *testing.T) {
			var tp, fp, fn, tn int
			for _, p := range testcorpus.Read[pair](t, set.path) {
				v := Judge(p.Body, p.Expected)
				switch {
				case v.Stated && p.States:
					tp++
				case v.Stated:
					fp++
				case p.States:
					fn++
				default:
					tn++
				}
				if set.show && v.Stated != p.States {
					t.Logf("%s %s/%s want %v: %s\n  expected: %s\n  passage: %s\n  body: %q", p.ID, p.Kind, p.Lang, p.States, v.Why, p.Expected, v.Passage, p.Body)
				}
			}
			f1 := 2 * float64(tp) / float64(2*tp+fp+fn)
			t.Logf("F1 %.3f: %d true positives, %d false positives, %d false negatives, %d true negatives", f1, tp, fp, fn, tn)
			if f1 < 0.85 {
				t.Errorf("F1 %.3f is below 0.85", f1)
			}
		})
	}
}
