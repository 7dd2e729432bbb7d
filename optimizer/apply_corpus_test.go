package optimizer

import (
	"testing"

	"whetstone/internal/testcorpus"
	"whetstone/skill"
)

type applyCase struct {
	ID    string `json:"id"`
	Note  string `json:"note"`
	Doc   string `json:"doc"`
	Patch Patch  `json:"patch"`
	Want  string `json:"want"`
	Error string `json:"error"`
}

// The corpus was written before the code, by someone who has not seen it.
func TestApplyAgreesWithTheLabelledCorpus(t *testing.T) {
	for _, c := range testcorpus.Read[applyCase](t, "testdata/apply_corpus.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
			f, err := skill.Parse([]byte(c.Doc), skill.Options{})
			if err != nil {
				t.Fatalf("%s: %v", c.Note, err)
			}
			body, perr := ApplyOne(f.Body, c.Patch)
			switch {
			case c.Error != "" && perr == nil:
				t.Fatalf("%s: applied, want %s\n doc %q\npatch %+v\n got %q", c.Note, c.Error, c.Doc, c.Patch, body)
			case c.Error != "":
				if string(perr.Reason) != c.Error {
					t.Fatalf("%s: %v, want %s", c.Note, perr, c.Error)
				}
			case perr != nil:
				t.Fatalf("%s: %v\n doc %q\npatch %+v", c.Note, perr, c.Doc, c.Patch)
			case f.WithBody(body) != c.Want:
				t.Fatalf("%s:\n doc %q\npatch %+v\n got %q\nwant %q", c.Note, c.Doc, c.Patch, f.WithBody(body), c.Want)
			}
		})
	}
}
