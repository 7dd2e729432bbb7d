package optimizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const doc = `# Rules

- Keep tests small.
- Mock the database.
- Name things.

## More

Text.
`

func TestAggregateAddsUpEqualProposals(t *testing.T) {
	d := NewDoc(doc)
	edits, refused := Aggregate(d, []Patch{
		{Op: Add, Anchor: "- Name things.", Payload: "- Close what you open.", Items: []string{"i2"}},
		{Op: Add, Anchor: "- Name things.", Payload: "-  Close what  you open.\n", Items: []string{"i1"}},
		{Op: Replace, Anchor: "- Mock the database.", Payload: "- Do not mock the database."},
	})
	if len(refused) != 0 || len(edits) != 2 {
		t.Fatalf("edits %+v, refused %+v", edits, refused)
	}
	if edits[0].Support != 2 || !slices.Equal(edits[0].Patch.Items, []string{"i1", "i2"}) {
		t.Errorf("equal proposals did not add up: %+v", edits[0])
	}
}

func TestAggregateRefusesWhatDoesNotFit(t *testing.T) {
	d := NewDoc(doc)
	for name, c := range map[string]struct {
		patches []Patch
		want    Reason
	}{
		"an anchor that is not there":          {[]Patch{{Op: Add, Anchor: "- Nowhere.", Payload: "- x"}}, AnchorMissing},
		"an anchor that is there twice":        {[]Patch{{Op: Delete, Anchor: "- "}}, AnchorAmbiguous},
		"a replacement by nothing":             {[]Patch{{Op: Replace, Anchor: "Text.", Payload: " "}}, EmptyPayload},
		"an operation nobody knows":            {[]Patch{{Op: "move", Anchor: "Text.", Payload: "x"}}, BadOp},
		"a line that is there already":         {[]Patch{{Op: Add, Anchor: "Text.", Payload: "- Keep tests  small."}}, AlreadyPresent},
		"two replaces of one anchor":           {[]Patch{{Op: Replace, Anchor: "- Name things.", Payload: "- A."}, {Op: Replace, Anchor: "- Name things.", Payload: "- B."}}, Conflict},
		"overlapping ranges":                   {[]Patch{{Op: Delete, Anchor: "- Mock the database.\n- Name things."}, {Op: Replace, Anchor: "Name things", Payload: "Name them"}}, Conflict},
		"one text added at two places":         {[]Patch{{Op: Add, Anchor: "Text.", Payload: "- New."}, {Op: Add, Anchor: "- Name things.", Payload: "- New."}}, Conflict},
		"a payload larger than an edit may be": {[]Patch{{Op: Add, Anchor: "Text.", Payload: strings.Repeat("x", MaxPayload+1)}}, TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			_, refused := Aggregate(d, c.patches)
			if len(refused) != 1 || refused[0].Reason != c.want {
				t.Errorf("refused %+v, want one %s", refused, c.want)
			}
		})
	}
}

func TestAggregateAndApplyDoNotDependOnTheOrderOfProposals(t *testing.T) {
	d := NewDoc(doc)
	ps := []Patch{
		{Op: Add, Anchor: "- Name things.", Payload: "- A."},
		{Op: Add, Anchor: "- Name things.", Payload: "- B."},
		{Op: Replace, Anchor: "Text.", Payload: "Other."},
		{Op: Delete, Anchor: "- Keep tests small."},
		{Op: Add, Payload: "tail"},
		{Op: Replace, Anchor: "Text.", Payload: "Third."},
		{Op: Add, Anchor: "- Name things.", Payload: "- B."},
	}
	want := ""
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		rng.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
		edits, _ := Aggregate(d, ps)
		out, refusal := d.Apply(edits)
		if refusal != nil {
			t.Fatal(refusal)
		}
		if want == "" {
			want = out
		}
		if out != want {
			t.Fatalf("order matters:\n%s\nand\n%s", want, out)
		}
	}
}

// Proposals that differ in what is folded for comparison count as one. Which spelling is written is then nobody's last word.
func TestAggregateWritesOneOfEqualProposalsInAnyOrder(t *testing.T) {
	ps := []Patch{{Op: Add, Payload: "- caf\u00e9"}, {Op: Add, Payload: "- cafe\u0301"}, {Op: Add, Anchor: "Text.", Payload: "-  caf\u00e9"}}
	var want string
	for range 3 {
		edits, refused := Aggregate(NewDoc(doc), ps)
		if len(edits) != 1 || edits[0].Support != 3 || len(refused) != 0 {
			t.Fatalf("edits %+v, refused %+v", edits, refused)
		}
		if want == "" {
			want = edits[0].Text
		}
		if edits[0].Text != want {
			t.Errorf("wrote %q and %q", want, edits[0].Text)
		}
		ps = append(ps[1:], ps[0])
	}
}

// Bundles of odd edits to odd texts, as in FuzzApply: in any order the same, and around them nothing changes.
func TestBundleInvariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for range 4000 {
		body := oddText(rng)
		var ps []Patch
		for range 1 + rng.IntN(5) {
			at := rng.IntN(len(body) + 1)
			ps = append(ps, Patch{Op: []Op{Add, Delete, Replace}[rng.IntN(3)], Anchor: body[at:min(at+rng.IntN(20), len(body))], Payload: oddLines[rng.IntN(len(oddLines))]})
		}
		checkBundle(t, NewDoc(body), ps)
	}
}

func TestSelectHoldsItsLimits(t *testing.T) {
	d := NewDoc(doc)
	edits, _ := Aggregate(d, []Patch{
		{Op: Add, Anchor: "Text.", Payload: "- one"},
		{Op: Add, Anchor: "Text.", Payload: "- two"},
		{Op: Add, Anchor: "Text.", Payload: "- three"},
		{Op: Delete, Anchor: "- Keep tests small."},
		{Op: Delete, Anchor: "- Name things."},
		{Op: Replace, Anchor: "- Mock the database.", Payload: "- Do not."},
	})
	count := func(es []Edit, op Op) (n int) {
		for _, e := range es {
			if e.Op == op {
				n++
			}
		}
		return n
	}
	taken, clipped := Select(d, edits, Limits{Patches: 10, Adds: 2, Deletes: 1, Replaces: 0})
	if count(taken, Add) != 2 || count(taken, Delete) != 1 || count(taken, Replace) != 0 || len(taken)+len(clipped) != len(edits) {
		t.Errorf("per-op caps: took %d adds, %d deletes, %d replaces", count(taken, Add), count(taken, Delete), count(taken, Replace))
	}
	if taken, _ = Select(d, edits, Limits{Patches: 2, Adds: 9, Deletes: 9, Replaces: 9}); len(taken) != 2 {
		t.Errorf("took %d of at most 2", len(taken))
	}
	taken, clipped = Select(d, edits, Limits{Patches: 9, Adds: 9, Deletes: 9, Replaces: 9, MaxBody: 1})
	for _, e := range taken {
		if len(e.Text) > e.End-e.Start {
			t.Errorf("a body over its size grows by %+v", e)
		}
	}
	if count(taken, Delete) != 2 || len(clipped) != 3 || clipped[0].Reason != TooLarge {
		t.Errorf("over size: took %d deletes, clipped %+v", count(taken, Delete), clipped)
	}
}

func TestEditBudgetFallsAlongACosine(t *testing.T) {
	var got []int
	for step := range 7 {
		got = append(got, EditBudget(step, 6, 4, 2))
	}
	if want := []int{4, 4, 4, 3, 3, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if EditBudget(3, 0, 4, 4) != 4 || EditBudget(0, 1, 1, 1) != 1 {
		t.Error("degenerate schedules")
	}
}

// The whole train set, without replacement, in an order that seed and epoch alone decide.
func TestMinibatchesCutTheWholeTrainSet(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	first := Minibatches(ids, 4, 1, 1)
	var all []string
	for _, b := range first {
		all = append(all, b...)
	}
	slices.Sort(all)
	if !slices.Equal(all, ids) || len(first) != 3 {
		t.Errorf("batches %v", first)
	}
	reversed := slices.Clone(ids)
	slices.Reverse(reversed)
	if got := Minibatches(reversed, 4, 1, 1); !equal(got, first) {
		t.Error("the order of the input matters")
	}
	if equal(Minibatches(ids, 4, 1, 2), first) || equal(Minibatches(ids, 4, 2, 1), first) {
		t.Error("another epoch or seed gives the same order")
	}
	if StepsPerEpoch(10, 4, 2) != 2 || StepsPerEpoch(8, 8, 2) != 1 || StepsPerEpoch(1, 8, 1) != 1 {
		t.Error("steps per epoch")
	}
}

func equal(a, b [][]string) bool { return slices.EqualFunc(a, b, slices.Equal[[]string]) }

func TestBundleKeyIsOfTheSetOfEdits(t *testing.T) {
	k := BundleKey("p", []string{"a", "b"}, "m", "j")
	if k != BundleKey("p", []string{"b", "a"}, "m", "j") {
		t.Error("the order of edits matters")
	}
	for _, other := range []string{BundleKey("q", []string{"a", "b"}, "m", "j"), BundleKey("p", []string{"a"}, "m", "j"), BundleKey("p", []string{"a", "b"}, "n", "j"), BundleKey("p", []string{"a", "b"}, "m", "k")} {
		if other == k {
			t.Error("another parent, bundle, manifest or judge has the same key")
		}
	}
}
