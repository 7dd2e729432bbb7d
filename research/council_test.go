package research

import (
	"errors"
	"slices"
	"testing"
)

func TestRankingsAreReadWholeOrNotAtAll(t *testing.T) {
	for _, c := range []struct {
		reply string
		n     int
		want  []int
	}{
		{`{"ranking": ["B", "A", "C"], "why": "x"}`, 3, []int{1, 0, 2}},
		{"Sure!\n```json\n{\"ranking\": [\"b\", \"a\"],}\n```", 2, []int{1, 0}},
		{`{"ranking": ["A", "B"]}`, 3, nil},
		{`{"ranking": ["A", "A", "B"]}`, 3, nil},
		{`{"ranking": ["A", "D", "B"]}`, 3, nil},
		{`the model is overloaded`, 2, nil},
		{``, 1, nil},
	} {
		got, err := ParseRanking(c.reply, c.n)
		if !slices.Equal(got, c.want) || (c.want == nil) != errors.Is(err, ErrReply) {
			t.Errorf("%q: %v, %v", c.reply, got, err)
		}
	}
}

func TestBordaCountsPoints(t *testing.T) {
	points, order := Borda(3, [][]int{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}})
	if !slices.Equal(points, []int{3, 5, 1}) || !slices.Equal(order, []int{1, 0, 2}) {
		t.Errorf("%v %v", points, order)
	}
	if _, order := Borda(2, nil); !slices.Equal(order, []int{0, 1}) {
		t.Errorf("without rankings: %v", order)
	}
}

func TestEveryRankerSeesAnOrderOfItsOwn(t *testing.T) {
	if !slices.Equal(Shuffle(5, "run", "a"), Shuffle(5, "run", "a")) {
		t.Error("a repeated call is another call")
	}
	seen := map[int]bool{}
	for _, m := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		seen[Shuffle(5, "run", m)[0]] = true
	}
	if len(seen) < 2 {
		t.Error("one answer is first for everybody")
	}
	if got := Labels(28); got[0] != "A" || got[25] != "Z" || got[26] != "AA" || got[27] != "AB" {
		t.Errorf("%v", got)
	}
}
