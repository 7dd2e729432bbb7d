package optimizer

import (
	"strings"
	"testing"
)

// The tests of this file are named after faults of the reference implementation; docs/faults.md lists them all. They go the way
// of a step: aggregate, select, apply.

func step(t *testing.T, body string, lim Limits, ps ...Patch) (string, []Refused) {
	t.Helper()
	d := NewDoc(body)
	edits, refused := Aggregate(d, ps)
	taken, clipped := Select(d, edits, lim)
	SortEdits(taken)
	out, perr := d.Apply(taken)
	if perr != nil {
		t.Fatal(perr)
	}
	return out, append(refused, clipped...)
}

var wide = Limits{Patches: 9, Adds: 9, Deletes: 9, Replaces: 9}

func TestFaultTwoReplacesOfOneAnchorGarbleText(t *testing.T) {
	body := "# A\n\n- First line.\n- Second line.\n"
	out, refused := step(t, body, wide, Patch{Op: Replace, Anchor: "- First line.", Payload: "- One."}, Patch{Op: Replace, Anchor: "- First line.", Payload: "- Another one, longer than it."})
	if len(refused) != 1 || refused[0].Reason != Conflict {
		t.Errorf("%+v", refused)
	}
	if out != "# A\n\n- One.\n- Second line.\n" && out != "# A\n\n- Another one, longer than it.\n- Second line.\n" {
		t.Errorf("%q", out)
	}
}

func TestFaultFirstOfSeveralAnchorsEdited(t *testing.T) {
	body := "## A\n\n- Run it.\n\n## B\n\n- Run it.\n"
	out, refused := step(t, body, wide, Patch{Op: Replace, Anchor: "- Run it.", Payload: "- Do not."})
	if out != body || len(refused) != 1 || refused[0].Reason != AnchorAmbiguous {
		t.Errorf("%q, %+v", out, refused)
	}
}

func TestFaultBlankLinesInCodeAndLineEndsLost(t *testing.T) {
	lf := "# A\n\n```go\nfunc a() {\n\n\n\n\tb()\n}\n\n\n```\n\n\n\n- Line.\n- Other.\n\n\n"
	for _, eol := range []string{"\n", "\r\n"} {
		body := strings.ReplaceAll(lf, "\n", eol)
		want := strings.ReplaceAll(strings.Replace(lf, "- Line.\n", "- Line.\n- New.\n", 1), "\n", eol)
		if out, refused := step(t, body, wide, Patch{Op: Add, Anchor: "- Line.", Payload: "- New."}); out != want || len(refused) > 0 {
			t.Errorf("%q, %+v, want %q", out, refused, want)
		}
	}
}

// What takes text away counts as a delete, whatever it calls itself.
func TestFaultEmptyPayloadReplaceEvadesTheDeleteCap(t *testing.T) {
	body := "# A\n\n- First line.\n- Second line.\n"
	lim := wide
	lim.Deletes = 0
	for _, payload := range []string{"", " ", "\n", "\t\n ", "\u00a0", "\u200b", "\ufeff"} {
		out, refused := step(t, body, lim, Patch{Op: Replace, Anchor: "- First line.", Payload: payload})
		if out != body || len(refused) != 1 {
			t.Errorf("%q: %q, %+v", payload, out, refused)
		}
	}
}
