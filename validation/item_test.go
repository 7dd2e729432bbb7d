package validation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"whetstone/learning"
)

func learn(rules ...string) []learning.Learning {
	var out []learning.Learning
	for _, r := range rules {
		out = append(out, learning.Learning{ID: learning.Identity("", r), Category: "c", Rule: r})
	}
	return out
}

func TestFromLearningsTakesTheCorrectionElseTheRule(t *testing.T) {
	items, excluded := FromLearnings([]learning.Learning{
		{ID: "l_1", Category: "go", Rule: "close files that tests open", Mistake: "left them open", Correction: "Register t.Cleanup in every helper", TimesApplied: 3},
		{ID: "l_2", Category: "go", Rule: "run the race detector nightly"},
	})
	if len(excluded) != 0 || len(items) != 2 {
		t.Fatalf("items %+v, excluded %+v", items, excluded)
	}
	for _, it := range items {
		switch it.Learning[0] {
		case "l_1":
			if it.Prompt != "left them open" || it.Expected != "Register t.Cleanup in every helper" || it.Weight != 3 {
				t.Errorf("%+v", it)
			}
		case "l_2":
			if it.Expected != "run the race detector nightly" || it.Weight != 1 || !strings.Contains(it.Prompt, "go") {
				t.Errorf("%+v", it)
			}
		}
	}
}

func TestFromLearningsLeavesJunkAndContradictionsOut(t *testing.T) {
	ls := learn("be careful", "ok", "fix it", "更仔细一点", "use testify require for assertions in new test files", "do not use testify require for assertions in new test files, stdlib only",
		"迁移脚本里使用 ORM 模型读写数据", "迁移脚本里不要使用 ORM 模型读写数据", "golden files live in testdata and are regenerated with the update flag")
	items, excluded := FromLearnings(ls)
	by := map[string]int{}
	for _, e := range excluded {
		by[e.Reason]++
	}
	if by[ReasonJunk] < 3 || by[ReasonContradiction] != 4 {
		t.Errorf("excluded %+v", excluded)
	}
	if len(items) > 2 {
		t.Errorf("items %+v", items)
	}
	for _, e := range excluded {
		if e.Reason == ReasonContradiction && e.With == "" {
			t.Errorf("a contradiction does not name the other rule: %+v", e)
		}
	}
}

func randomRules(rng *rand.Rand, n int) []string {
	words := strings.Fields("test golden file channel goroutine commit rebase branch index lock timeout migration schema cache header retry deadline context logger parser token fuzz seed table column")
	var out []string
	for i := range n {
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		out = append(out, fmt.Sprintf("always %s the %s with %s and %s %d", words[0], words[1], words[2], words[3], i))
		if rng.IntN(4) == 0 {
			out = append(out, out[len(out)-1]+" please")
		}
	}
	return out
}

// Over data sets that grow: a side is assigned once, clusters stay whole, no item is lost without being told, the order of
// the input does not matter.
func TestDealIsStableOverGrowingDataSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for range 60 {
		rules := randomRules(rng, 60)
		before := map[string]Side{}
		for n := 10; n <= len(rules); n += 1 + rng.IntN(20) {
			items, _ := FromLearnings(learn(rules[:n]...))
			dealt, left := Deal(items, before)
			shuffled := slices.Clone(items)
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			again, _ := Deal(shuffled, before)
			for i := range dealt {
				if dealt[i].ID != again[i].ID || dealt[i].Side != again[i].Side {
					t.Fatal("the order of the input decides sides")
				}
			}
			if len(dealt)+len(left) != len(items) {
				t.Fatalf("%d dealt and %d left of %d", len(dealt), len(left), len(items))
			}
			sides := map[string]Side{}
			for _, it := range dealt {
				if s, ok := before[it.ID]; ok && s != it.Side {
					t.Fatalf("%s moved from %s to %s", it.ID, s, it.Side)
				}
				if s, ok := sides[it.Cluster]; ok && s != it.Side {
					if _, old := before[it.ID]; !old {
						t.Fatalf("newcomer %s joined a cluster on two sides", it.ID)
					}
				}
				sides[it.Cluster] = it.Side
			}
			for _, it := range dealt {
				before[it.ID] = it.Side
			}
		}
	}
}

func TestDealFollowsItsQuotas(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	items, _ := FromLearnings(learn(randomRules(rng, 80)...))
	dealt, _ := Deal(items, nil)
	n := float64(len(dealt))
	for side, want := range map[Side]float64{Train: .5, Selection: .3, Test: .2} {
		if got := float64(len(Of(dealt, side))) / n; got < want-.06 || got > want+.06 {
			t.Errorf("%s got %.2f of the items, want about %.2f", side, got, want)
		}
	}
	few, _ := FromLearnings(learn(randomRules(rng, 9)...))
	dealt, _ = Deal(few, nil)
	if len(Of(dealt, Test)) != 0 || len(Of(dealt, Selection)) < 3 {
		t.Errorf("with few items the test side goes first: %d selection, %d test", len(Of(dealt, Selection)), len(Of(dealt, Test)))
	}
}

func TestNearDuplicatesShareACluster(t *testing.T) {
	items, _ := FromLearnings(learn("Run go test -race locally on every package that starts goroutines", "Run go test -race locally on every package which starts goroutines", "运行迁移之前先在副本上演练一遍并记录耗时", "运行迁移之前先在副本上演练一遍并记录时间", "keep commits small and focused"))
	clusters := map[string]int{}
	for _, it := range items {
		clusters[it.Cluster]++
	}
	if len(clusters) != 3 {
		t.Errorf("clusters %v of %d items", clusters, len(items))
	}
}
