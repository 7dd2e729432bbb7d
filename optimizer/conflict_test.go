package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func times(n int, p Patch) []Patch {
	return slices.Repeat([]Patch{p}, n)
}

// Whatever two edits conflict in, the number of proposals behind them decides which one stays.
func TestSupportDecidesConflicts(t *testing.T) {
	replace := func(payload string) Patch {
		return Patch{Op: Replace, Anchor: "- Mock the database.", Payload: payload}
	}
	add := func(anchor, payload string) Patch { return Patch{Op: Add, Anchor: anchor, Payload: payload} }
	const a, b = "- Close what you open.", "- Close what you open.\n- Release locks in reverse."
	for name, c := range map[string]struct{ most, least Patch }{
		"a replacement, and the same plus more":               {replace(a), replace(b)},
		"a replacement with more, and the same with less":     {replace(b), replace(a)},
		"an addition, and the same plus more":                 {add("Text.", a), add("Text.", b)},
		"an addition with more, and the same with less":       {add("Text.", b), add("Text.", a)},
		"the same plus more at another place":                 {add("- Name things.", a), add("Text.", b)},
		"an addition, and a replacement that adds it as well": {add("Text.", a), replace("- Mock the database.\n" + a)},
		"a replacement, and the deletion of the line":         {replace(a), Patch{Op: Delete, Anchor: "- Mock the database."}},
		"always and never":                                    {add("Text.", "- Always close response bodies."), add("- Name things.", "- Never close response bodies.")},
		"one word":                                            {add("Text.", "Never rebase."), add("- Name things.", "Always rebase.")},
		"do and do not":                                       {add("Text.", "- Do not commit generated files to the repository."), add("- Name things.", "- Commit generated files to the repository.")},
		"an item over two lines":                              {add("Text.", "- Close response\n  bodies."), add("- Name things.", "- Never close\n  response bodies.")},
		"an addition against a replacement in a line":         {Patch{Op: Replace, Anchor: "Mock the", Payload: "Never mock the"}, add("Text.", "- Mock the database.\n- Always mock the database!")},
		"one of several items":                                {add("Text.", "- Write docs first.\n- Never squash commits."), add("- Name things.", "- Always squash commits.\n- Use rebase.")},
		"Chinese":                                             {add("Text.", "- 总是提交锁文件。"), add("- Name things.", "- 绝不提交锁文件。")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, first := range []bool{true, false} {
				ps := slices.Concat(times(1, c.least), times(3, c.most))
				want, other := c.most, c.least
				if !first {
					ps = slices.Concat(times(3, c.least), times(1, c.most))
					want, other = c.least, c.most
				}
				edits, refused := Aggregate(NewDoc(doc), ps)
				if len(edits) != 1 || edits[0].Support != 3 || edits[0].Patch.Payload != want.Payload {
					t.Fatalf("three against one: kept %+v", edits)
				}
				if len(refused) != 1 || refused[0].Reason != Conflict || refused[0].Patch.Payload != other.Payload {
					t.Fatalf("three against one: refused %+v", refused)
				}
			}
			byKey := []Edit{}
			for range 2 {
				edits, refused := Aggregate(NewDoc(doc), []Patch{c.least, c.most})
				if len(edits) != 1 || len(refused) != 1 {
					t.Fatalf("one against one: kept %+v, refused %+v", edits, refused)
				}
				byKey = append(byKey, edits[0])
				c.least, c.most = c.most, c.least
			}
			if byKey[0].Key != byKey[1].Key {
				t.Error("between equals the order of proposals decides")
			}
		})
	}
}

func TestWhatOnlyLooksLikeAConflictIsNone(t *testing.T) {
	for name, ps := range map[string][]Patch{
		"two additions at one place":                  {{Op: Add, Anchor: "Text.", Payload: "- Close files."}, {Op: Add, Anchor: "Text.", Payload: "- Name tests."}},
		"a rule, and an exception to it":              {{Op: Add, Anchor: "Text.", Payload: "- Never mock databases."}, {Op: Add, Anchor: "Text.", Payload: "- Mock the clock."}},
		"the same polarity":                           {{Op: Add, Anchor: "Text.", Payload: "- Never squash commits on main."}, {Op: Add, Anchor: "Text.", Payload: "- Do not squash commits on release branches."}},
		"code that forbids":                           {{Op: Add, Anchor: "Text.", Payload: "```\nnever close response bodies\n```"}, {Op: Add, Anchor: "- Name things.", Payload: "- Close response bodies."}},
		"the old line of a replacement":               {{Op: Replace, Anchor: "- Mock the database.", Payload: "- Use a real database."}, {Op: Add, Anchor: "Text.", Payload: "- Never mock the database."}},
		"a line that a replacement leaves":            {{Op: Replace, Anchor: "- Mock the database.\n- Name things.", Payload: "- Mock the database.\n- Name tests."}, {Op: Add, Anchor: "Text.", Payload: "- Never mock the database."}},
		"two replacements by one word":                {{Op: Replace, Anchor: "database", Payload: "store"}, {Op: Replace, Anchor: "things", Payload: "store"}},
		"lines in common, and others on either side":  {{Op: Add, Anchor: "Text.", Payload: "- A one.\n- B two."}, {Op: Add, Anchor: "Text.", Payload: "- B two.\n- C three."}},
		"an insertion next to a line that is deleted": {{Op: Delete, Anchor: "- Name things."}, {Op: Add, Anchor: "- Mock the database.", Payload: "- New."}},
	} {
		t.Run(name, func(t *testing.T) {
			edits, refused := Aggregate(NewDoc(doc), ps)
			if len(edits) != 2 || len(refused) != 0 {
				t.Errorf("kept %+v, refused %+v", edits, refused)
			}
		})
	}
}

// Three small groups that each contradict the largest: it stays, and what does not contradict it, too.
func TestAggregateOfOpposedEditsDoesNotDependOnTheirOrder(t *testing.T) {
	ps := slices.Concat(
		times(3, Patch{Op: Add, Anchor: "Text.", Payload: "- Never squash commits."}),
		times(2, Patch{Op: Add, Anchor: "Text.", Payload: "- Squash commits."}),
		times(2, Patch{Op: Add, Anchor: "- Name things.", Payload: "- Always squash commits."}),
		times(1, Patch{Op: Replace, Anchor: "Text.", Payload: "Squash all the commits."}),
	)
	rng := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		rng.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
		edits, refused := Aggregate(NewDoc(doc), ps)
		if len(edits) != 1 || edits[0].Support != 3 || len(refused) != 3 {
			t.Fatalf("kept %+v, refused %+v", edits, refused)
		}
	}
}
