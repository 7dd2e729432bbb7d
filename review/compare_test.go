package review

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"whetstone/learning"
)

// The pairs were labelled apart from the code; every third was kept aside from tuning. The bounds are low: rules are short, words
// for one thing are many, and what is found is only shown to a person beside each other.
func TestRulesThatSayTheSameOrTheOppositeAreFound(t *testing.T) {
	f, err := os.Open("../learning/testdata/alike.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	type counts struct{ tp, fp, fn int }
	got := map[bool]map[Relation]*counts{false: {Duplicate: {}, Contradicts: {}}, true: {Duplicate: {}, Contradicts: {}}}
	n := 0
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var p struct {
			ID, A, B string
			Relation Relation
			Aside    bool
		}
		if err := json.Unmarshal(sc.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		n++
		r := Compare(p.A, p.B)
		if r2 := Compare(p.B, p.A); r2 != r {
			t.Errorf("%s: %s one way, %s the other", p.ID, r, r2)
		}
		for rel, c := range got[p.Aside] {
			switch {
			case r == rel && p.Relation == rel:
				c.tp++
			case r == rel:
				c.fp++
			case p.Relation == rel:
				c.fn++
			}
		}
		if os.Getenv("SHOW") != "" && !p.Aside && r != p.Relation {
			t.Logf("%s: %s, want %s: %q / %q", p.ID, r, p.Relation, p.A, p.B)
		}
	}
	if n < 120 {
		t.Fatalf("%d pairs", n)
	}
	for aside, m := range got {
		for rel, c := range m {
			precision, recall := float64(c.tp)/float64(max(1, c.tp+c.fp)), float64(c.tp)/float64(c.tp+c.fn)
			t.Logf("%s, aside %v: precision %.2f, recall %.2f", rel, aside, precision, recall)
			if precision < 0.5 || recall < 0.3 {
				t.Errorf("%s, aside %v: precision %.2f, recall %.2f", rel, aside, precision, recall)
			}
		}
	}
}

func TestTheQueueShowsNearDuplicatesTogether(t *testing.T) {
	l := func(id string, st learning.Status, rule string) learning.Learning {
		return learning.Learning{ID: id, Status: st, Category: "c", Rule: rule}
	}
	all := []learning.Learning{
		l("1", learning.Pending, "never sleep in tests"), l("2", learning.Pending, "write dates in UTC"), l("3", learning.Approved, "use tabs in Python files"),
		l("4", learning.Pending, "tests never sleep"), l("5", learning.Rejected, "never sleep in the tests"), l("6", learning.Pending, "use spaces in Python files"),
	}
	q := Queue(all, []learning.Note{{ID: "n", Status: "open"}, {ID: "m", Status: "turned"}})
	var order string
	for _, it := range q {
		if it.Note != nil {
			order += it.Note.ID
			continue
		}
		order += it.Learning.ID
	}
	if order != "1426n" {
		t.Errorf("order %s", order)
	}
	for _, it := range q {
		if it.Learning != nil && it.Learning.ID == "6" && (len(it.Neighbours) != 1 || it.Neighbours[0].Relation != Contradicts || it.Neighbours[0].Learning.ID != "3") {
			t.Errorf("%+v", it.Neighbours)
		}
	}
}
