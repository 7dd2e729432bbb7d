package optimizer

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"whetstone/model"
)

func shrinkable() ReflectInput {
	in := ReflectInput{Skill: "s", Advice: "a", MaxPatches: 3}
	for i := range 5 {
		in.Rejections = append(in.Rejections, Rejection{Reason: fmt.Sprint(i)})
	}
	for i, support := range []int{1, 3, 1, 2, 1} {
		in.Train = append(in.Train, model.Trajectory{ID: fmt.Sprintf("i%d", 4-i), Support: support})
	}
	return in
}

func TestShrinkDropsByLevel(t *testing.T) {
	for level, c := range []struct {
		rejections, train string
		ok, dropped       bool
	}{
		{"0 1 2 3 4", "i4 i3 i2 i1 i0", true, false},
		{"0 1", "i4 i3 i2 i1 i0", true, true},
		{"", "i4 i3 i2 i1 i0", true, true},
		{"", "i3 i1 i0", true, true},
		{"0 1 2 3 4", "i4 i3 i2 i1 i0", false, false},
		{"0 1 2 3 4", "i4 i3 i2 i1 i0", false, false},
	} {
		in := shrinkable()
		got, dropped, ok := Shrink(in, level)
		var rs, ts []string
		for _, r := range got.Rejections {
			rs = append(rs, r.Reason)
		}
		for _, x := range got.Train {
			ts = append(ts, x.ID)
		}
		if strings.Join(rs, " ") != c.rejections || strings.Join(ts, " ") != c.train || ok != c.ok || (dropped != "") != c.dropped {
			t.Errorf("level %d: rejections %v, train %v, dropped %q, %v", level, rs, ts, dropped, ok)
		}
		if !reflect.DeepEqual(in, shrinkable()) {
			t.Errorf("level %d changed what it was given", level)
		}
	}
}

func TestShrinkSaysWhereALevelTakesNothing(t *testing.T) {
	one := ReflectInput{Train: []model.Trajectory{{ID: "i"}}, Rejections: []Rejection{{Reason: "r"}}}
	for level, want := range []bool{false, true, false, false} {
		got, dropped, ok := Shrink(one, level)
		if !ok || (dropped != "") != want || len(got.Train) != 1 {
			t.Errorf("level %d: dropped %q, %d corrections, %v", level, dropped, len(got.Train), ok)
		}
	}
	// Every level makes the prompt no longer than the one before it.
	last := 1 << 30
	for level := range 4 {
		got, _, _ := Shrink(shrinkable(), level)
		n := len(ReflectMessages(got)[1].Content)
		if n > last {
			t.Errorf("level %d has %d bytes, the one before it %d", level, n, last)
		}
		last = n
	}
}

func TestBudgetBoundsEachLayer(t *testing.T) {
	in := shrinkable()
	in.Skill, in.Advice = strings.Repeat("rule\n", 100), strings.Repeat("advice\n", 100)
	whole := ReflectMessages(in)[1].Content
	in.Budget = DefaultBudget()
	if ReflectMessages(in)[1].Content != whole {
		t.Error("the default budget is not the one of no budget")
	}
	in.Budget = Budget{Skill: 52, Trajectories: 120, Rejections: 30, Advice: 13}
	got := ReflectMessages(in)[1].Content
	for text, want := range map[string]int{"rule\n": 10, "- id": 2, "refused because": 1, "advice\n": 1, "[the file goes on]": 1} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%q is %d times in the prompt, want %d:\n%s", text, n, want, got)
		}
	}
}
