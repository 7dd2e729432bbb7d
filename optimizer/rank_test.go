package optimizer

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRankPromptIsTheGoldenOne(t *testing.T) {
	golden(t, "testdata/rank_prompt.golden", RankMessages("---\nname: x\n---\n- One.\n", []Edit{
		{Op: Add, Support: 2, Patch: Patch{Op: Add, Anchor: "- One.", Payload: "- Two.\n- Three."}},
		{Op: Delete, Support: 1, Patch: Patch{Op: Delete, Anchor: "- One."}},
		{Op: Add, Support: 1, Patch: Patch{Op: Add, Payload: strings.Repeat("数", 300)}},
	}, 2))
}

func TestParseRankIsStrict(t *testing.T) {
	for reply, want := range map[string][]int{
		`{"order": [3, 1, 2]}`:                 {3, 1, 2},
		`{"order": [2]}`:                       {2},
		"```\n{\"order\": [2, 3,]}\n```":       {2, 3},
		`I choose {"order": [1]} because {x}.`: {1},
		`{"order": [1, 2]`:                     {1, 2},
	} {
		if got, err := ParseRank(reply, 3); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", reply, got, err)
		}
	}
	for _, reply := range []string{"", "3, 1, 2", "{}", `{"order": []}`, `{"order": null}`, `{"order": [1, 1]}`, `{"order": [0]}`, `{"order": [4]}`, `{"order": [-1]}`, `{"order": [1.5]}`, `{"order": ["1"]}`, `{"order": [null]}`, `{"order": [1, 2`, `{"order": [1], "order": []}`} {
		if got, err := ParseRank(reply, 3); !errors.Is(err, ErrReply) {
			t.Errorf("%s: got %v, %v", reply, got, err)
		}
	}
	if got, err := ParseRank(`{"order": []}`, 0); err != nil || len(got) != 0 {
		t.Errorf("nothing to rank: %v, %v", got, err)
	}
}

func TestReorderKeepsEveryEdit(t *testing.T) {
	edits := []Edit{{Key: "a"}, {Key: "b"}, {Key: "c"}, {Key: "d"}}
	for _, c := range []struct {
		order []int
		want  string
	}{{nil, "abcd"}, {[]int{3, 1}, "cabd"}, {[]int{4, 3, 2, 1}, "dcba"}, {[]int{9, 2, 2, 0, -1}, "bacd"}} {
		got := ""
		for _, e := range Reorder(edits, c.order) {
			got += e.Key
		}
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.order, got, c.want)
		}
	}
}
