package research

import (
	"path/filepath"
	"testing"

	"whetstone/internal/testcorpus"
)

type pair struct {
	ID, A, B, Kind string
	Contradict     bool
}

func f1(t *testing.T, file string, verbose bool) float64 {
	t.Helper()
	tp, fp, fn := 0, 0, 0
	for _, p := range testcorpus.Read[pair](t, filepath.Join("testdata", "contradictions", file)) {
		got, why := Contradict(Read(p.A), Read(p.B))
		back, _ := Contradict(Read(p.B), Read(p.A))
		if got != back {
			t.Errorf("%s: %v one way and %v the other", p.ID, got, back)
		}
		switch {
		case got && p.Contradict:
			tp++
		case got:
			fp++
		case p.Contradict:
			fn++
		}
		if verbose && got != p.Contradict {
			t.Logf("%s %s: got %v (%s)\n  %s\n  %s", p.ID, p.Kind, got, why, p.A, p.B)
		}
	}
	score := 2 * float64(tp) / float64(2*tp+fp+fn)
	t.Logf("%s: F1 %.3f (%d found, %d wrongly, %d missed)", file, score, tp, fp, fn)
	return score
}

func TestContradictionsAreFoundOnPairsOfTwoAuthors(t *testing.T) {
	if got := f1(t, "dev.jsonl", true); got < 0.7 {
		t.Errorf("F1 %.3f on the pairs it was tuned on, want 0.7", got)
	}
}

// The aside pairs are by somebody who has seen neither the code nor the other pairs, and nothing was tuned on them.
func TestContradictionsAreFoundOnPairsKeptAside(t *testing.T) {
	if got := f1(t, "aside.jsonl", false); got < 0.7 {
		t.Errorf("F1 %.3f on the pairs kept aside, want 0.7", got)
	}
}
