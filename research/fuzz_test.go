package research

import (
	"strings"
	"testing"

	"whetstone/internal/fakesource"
)

// Whatever a document holds, every sentence and every claim is found where it says, and the decisions about pairs do not
// depend on their order.
func FuzzExtraction(f *testing.F) {
	for i, d := range fakesource.Default().Documents {
		if i < 8 {
			f.Add(d.Title, d.Body)
		}
	}
	f.Add("a", "```\nx\n```\n- a. b\n> c.\n\n| t |\nÄ… 。！？”")
	f.Fuzz(func(t *testing.T, query, doc string) {
		if len(doc) > 4000 {
			return
		}
		last := 0
		for _, s := range Sentences(doc) {
			if s.Start < last || s.End > len(doc) || s.Start >= s.End {
				t.Fatalf("sentence %d..%d after %d of %d", s.Start, s.End, last, len(doc))
			}
			last = s.Start
		}
		var texts []string
		for _, c := range Select(query, []Text{{SourceID: "s", Body: doc}}, DefaultLimits) {
			if !c.Span.In(doc) || strings.TrimSpace(c.Text) == "" {
				t.Fatalf("%+v", c)
			}
			texts = append(texts, c.Text)
		}
		FollowUps(query, texts, func(string) bool { return false }, 4)
		for i := 1; i < len(texts); i++ {
			a, b := Read(texts[i-1]), Read(texts[i])
			x, _ := Contradict(a, b)
			y, _ := Contradict(b, a)
			if x != y || Duplicate(texts[i-1], texts[i]) != Duplicate(texts[i], texts[i-1]) {
				t.Fatalf("the order decides about\n%q\n%q", texts[i-1], texts[i])
			}
		}
	})
}

// A model's reply never makes a claim whose span is not in the document.
func FuzzParseExtract(f *testing.F) {
	doc := Text{SourceID: "s", Body: "Raft elects one leader for each term by a majority of votes. It has 3 phases."}
	f.Add(`{"claims": [{"source": "S1", "quote": "Raft elects one leader", "claim": "x"}], "questions": ["q"]}`)
	f.Fuzz(func(t *testing.T, reply string) {
		found, _, _, err := ParseExtract(reply, []Text{doc}, 5)
		if err != nil {
			return
		}
		for _, c := range found {
			if !c.Span.In(doc.Body) || c.Text == "" {
				t.Fatalf("%+v", c)
			}
		}
	})
}
