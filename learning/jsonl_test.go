package learning

import (
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestReadJSONLKeepsGoodLinesAndNumbersBadOnes(t *testing.T) {
	in := "\ufeff" + `{"category": "a", "rule": "one two three"}` + "\n\n" +
		`{"category": "a"}` + "\n" +
		`not json` + "\n" +
		`{"category": "b", "rule": "r", "rules": "misspelt"}` + "\r\n" +
		`{"category": "b", "rule": "four", "status": "pending", "times_applied": 2, "created_at": "2026-01-01T00:00:00Z"}` + "\n" +
		`{"category": "b", "rule": "five", "status": "maybe"}` + "\n" +
		"{\"category\": \"b\", \"rule\": \"\xff\"}\n" +
		`{"category": "b", "rule": "` + strings.Repeat("x", MaxField+1) + `"}` + "\n" +
		`{"category": "b", "rule": "six"} {"category": "b", "rule": "seven"}` + "\n" +
		`{"category": "z", "rule": "last, no newline"}`
	ls, bad, err := ReadJSONL(strings.NewReader(in), noon)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, l := range ls {
		rules = append(rules, l.Rule)
	}
	if got, want := strings.Join(rules, "|"), "one two three|four|last, no newline"; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	var lines []int
	for _, e := range bad {
		lines = append(lines, e.Line)
	}
	want := []int{3, 4, 5, 7, 8, 9, 10}
	if len(lines) != len(want) {
		t.Fatalf("bad lines %v, want %v", lines, want)
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("bad lines %v, want %v", lines, want)
		}
	}
	if ls[0].Status != Approved || !ls[0].CreatedAt.Equal(noon) || ls[0].Observations != 1 {
		t.Errorf("defaults: %+v", ls[0])
	}
	if ls[1].Status != Pending || ls[1].TimesApplied != 2 || !ls[1].ValidFrom.Equal(ls[1].CreatedAt) {
		t.Errorf("given fields: %+v", ls[1])
	}
}

func TestReadJSONLSkipsALineThatIsTooLongAndGoesOn(t *testing.T) {
	in := strings.Repeat("x", maxLine+10) + "\n" + `{"category": "a", "rule": "after it"}` + "\n"
	ls, bad, err := ReadJSONL(strings.NewReader(in), noon)
	if err != nil || len(ls) != 1 || len(bad) != 1 || bad[0].Line != 1 {
		t.Fatalf("learnings %v, bad %v, err %v", ls, bad, err)
	}
}

func TestIdentityIgnoresWhatDoesNotTellRulesApart(t *testing.T) {
	a := Identity("p", "Never sleep  in tests.")
	for _, same := range []string{"never sleep in tests", "NEVER SLEEP IN TESTS!", "Never sleep in ｔests"} {
		if Identity("p", same) != a {
			t.Errorf("%q has another identity", same)
		}
	}
	for _, other := range []string{"never sleep in test", "always sleep in tests"} {
		if Identity("p", other) == a {
			t.Errorf("%q has the same identity", other)
		}
	}
	if Identity("q", "Never sleep in tests") == a {
		t.Error("two projects share a learning")
	}
}
