package skill

import (
	"encoding/base64"
	"errors"
	"testing"

	"whetstone/internal/testcorpus"
)

type frontmatterCase struct {
	ID          string  `json:"id"`
	Note        string  `json:"note"`
	Text        string  `json:"text"`
	Base64      string  `json:"text_base64"`
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Body        string  `json:"body"`
	Error       string  `json:"error"`
}

func TestParseAgreesWithTheLabelledCorpus(t *testing.T) {
	reasons := map[string]error{"no_frontmatter": ErrNoFrontmatter, "unclosed": ErrUnclosed, "bad_yaml": ErrYAML, "not_utf8": ErrNotUTF8, "nul": ErrNUL}
	for _, c := range testcorpus.Read[frontmatterCase](t, "testdata/frontmatter_corpus.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
			data := []byte(c.Text)
			if c.Base64 != "" {
				var err error
				if data, err = base64.StdEncoding.DecodeString(c.Base64); err != nil {
					t.Fatal(err)
				}
			}
			f, err := Parse(data, Options{})
			if c.Error != "" {
				if !errors.Is(err, reasons[c.Error]) {
					t.Fatalf("%s: got %v, want %s", c.Note, err, c.Error)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.Note, err)
			}
			if f.Text() != string(data) {
				t.Errorf("%s: head and body together are not the file", c.Note)
			}
			if f.Body != c.Body {
				t.Errorf("%s: body %q, want %q", c.Note, f.Body, c.Body)
			}
			if c.Name != nil && f.Name != *c.Name {
				t.Errorf("%s: name %q, want %q", c.Note, f.Name, *c.Name)
			}
			if c.Description != nil && f.Description != *c.Description {
				t.Errorf("%s: description %q, want %q", c.Note, f.Description, *c.Description)
			}
		})
	}
}
