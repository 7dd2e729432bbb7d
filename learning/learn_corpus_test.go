package learning

import (
	"reflect"
	"testing"

	"whetstone/internal/testcorpus"
)

type corpusCase struct {
	ID    string  `json:"id"`
	Note  string  `json:"note"`
	Reply string  `json:"reply"`
	Want  []Block `json:"want"`
}

// The corpora were written before the parser, by someone who has not seen it; the second was kept aside from tuning.
func TestParseReplyAgreesWithTheLabelledCorpus(t *testing.T) {
	for _, path := range []string{"testdata/learn_corpus.jsonl", "testdata/learn_heldout.jsonl"} {
		t.Run(path, func(t *testing.T) {
			var right, got, want int
			for _, c := range testcorpus.Read[corpusCase](t, path) {
				blocks := ParseReply(c.Reply)
				got, want = got+len(blocks), want+len(c.Want)
				for _, w := range c.Want {
					for _, b := range blocks {
						if b == w {
							right++
							break
						}
					}
				}
				if len(blocks)+len(c.Want) > 0 && !reflect.DeepEqual(blocks, c.Want) {
					t.Logf("%s (%s):\n got %+v\nwant %+v\nreply %q", c.ID, c.Note, blocks, c.Want, c.Reply)
				}
			}
			precision, recall := float64(right)/float64(got), float64(right)/float64(want)
			t.Logf("precision %.3f recall %.3f over %d labelled blocks", precision, recall, want)
			if precision < 0.99 || recall < 0.99 {
				t.Errorf("precision %.3f, recall %.3f: both must be at least 0.99", precision, recall)
			}
		})
	}
}
