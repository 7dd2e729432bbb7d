package validation

import (
	"slices"
	"testing"
)

// Sides and spent alpha are stored under the ids of llm items: they are pinned here as they were before there were other
// kinds.
func TestIdentityOfModelItemsNeverChanges(t *testing.T) {
	for want, it := range map[string]Item{
		"i_f6c38fb104bc10a2": {Kind: KindLLM, Prompt: "left them open", Expected: "Register t.Cleanup in every helper"},
		"i_74cce39c463a0a07": {Kind: KindLLM, Prompt: "a", Expected: "b", Category: "c", Weight: 3, Side: Test, Label: "d", TimeoutSec: 20},
	} {
		if got := identity(it); got != want {
			t.Errorf("%+v: %s, want %s", it, got, want)
		}
	}
}

func TestIdentityCoversWhatAKindAsks(t *testing.T) {
	seen := map[string]Item{}
	for _, it := range []Item{
		{Kind: KindContains, Pattern: "x"},
		{Kind: KindContains, Pattern: "x", FoldCase: true},
		{Kind: KindContains, Pattern: "x", Prompt: "p"},
		{Kind: KindContains, Pattern: "x", Expected: "p"},
		{Kind: KindNotContains, Pattern: "x"},
		{Kind: KindRegex, Pattern: "x"},
		{Kind: KindSection, Section: "x"},
		{Kind: KindSection, Section: "# x"},
		{Kind: KindSection, Section: "x", FoldCase: true},
		{Kind: KindCommand, Command: []string{"x"}},
		{Kind: KindCommand, Command: []string{"x"}, TimeoutSec: 20},
		{Kind: KindCommand, Command: []string{"a", "b"}},
		{Kind: KindCommand, Command: []string{"ab"}},
		{Kind: KindCommand, Command: []string{"a b"}},
	} {
		id := identity(it)
		if other, ok := seen[id]; ok {
			t.Errorf("%+v and %+v are both %s", it, other, id)
		}
		seen[id] = it
	}
}

func fileItem(kind, expected, pattern string, side Side) Item {
	it := Item{Kind: kind, Expected: expected, Pattern: pattern, Weight: 1, Side: side}
	it.ID, it.text = identity(it), subject(it)
	return it
}

func TestCombineClustersAcrossOrigins(t *testing.T) {
	ls, _ := FromLearnings(learn("golden files live in testdata and are regenerated"))
	near := fileItem(KindContains, "golden files live in testdata and are regenerated", "golden", "")
	other := fileItem(KindContains, "", "errors wrap with percent w", "")
	twin := ls[0]
	twin.Learning, twin.Weight, twin.Side, twin.Label = nil, 3, Test, "golden"
	got := Combine(ls, []Item{near, other, twin})
	if len(got) != 3 || !slices.IsSortedFunc(got, func(a, b Item) int { return slices.Compare([]string{a.ID}, []string{b.ID}) }) {
		t.Fatalf("%+v", got)
	}
	clusters := map[string]string{}
	for _, it := range got {
		clusters[it.ID] = it.Cluster
		if it.ID == ls[0].ID && (it.Weight != 3 || it.Side != Test || it.Label != "golden" || len(it.Learning) != 1) {
			t.Errorf("one id from two origins became %+v", it)
		}
	}
	if clusters[near.ID] != clusters[ls[0].ID] || clusters[other.ID] == clusters[near.ID] {
		t.Errorf("clusters %v", clusters)
	}
}

func TestDealKeepsFixedSides(t *testing.T) {
	sealed := fileItem(KindContains, "", "alpha beta gamma", Test)
	twin := fileItem(KindNotContains, "", "alpha beta gamma", "")
	free := fileItem(KindContains, "", "delta epsilon", "")
	sides := func(items []Item, before map[string]Side) (map[string]Side, []Excluded) {
		dealt, left := Deal(Combine(items), before)
		out := map[string]Side{}
		for _, it := range dealt {
			out[it.ID] = it.Side
		}
		return out, left
	}
	t.Run("a near-duplicate follows", func(t *testing.T) {
		got, left := sides([]Item{sealed, twin, free}, nil)
		if got[sealed.ID] != Test || got[twin.ID] != Test || got[free.ID] == "" || len(left) != 0 {
			t.Errorf("%v, left %v", got, left)
		}
	})
	t.Run("what was trained on can not be sealed", func(t *testing.T) {
		got, left := sides([]Item{sealed, free}, map[string]Side{sealed.ID: Train})
		if _, ok := got[sealed.ID]; ok || len(left) != 1 || left[0].Reason != ReasonMoved || left[0].Rule == "" {
			t.Errorf("%v, left %v", got, left)
		}
	})
	t.Run("nor can its near-duplicate", func(t *testing.T) {
		got, left := sides([]Item{sealed, twin}, map[string]Side{twin.ID: Train})
		if got[twin.ID] != Train || len(left) != 1 || left[0].Reason != ReasonBridge {
			t.Errorf("%v, left %v", got, left)
		}
	})
	t.Run("near-duplicates fixed on two sides are both left out", func(t *testing.T) {
		trained := twin
		trained.Side = Train
		got, left := sides([]Item{sealed, trained}, nil)
		if len(got) != 0 || len(left) != 2 {
			t.Errorf("%v, left %v", got, left)
		}
	})
}
