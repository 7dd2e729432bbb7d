package optimizer

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func member(hash string, rates ...float64) Member {
	m := Member{Hash: hash, Rates: map[string]float64{}}
	for i, r := range rates {
		m.Rates[fmt.Sprintf("i%d", i)] = r
	}
	return m
}

func hashes(ms []Member) []string {
	out := []string{}
	for _, m := range ms {
		out = append(out, m.Hash)
	}
	return out
}

func TestFront(t *testing.T) {
	for name, c := range map[string]struct {
		pool []Member
		want []string
	}{
		"nothing is of nothing":                          {nil, []string{}},
		"the best on one item stays, whatever its mean":  {[]Member{member("a", .9, .9, .1), member("b", 0, 0, 1)}, []string{"a", "b"}},
		"one that leads nothing goes":                    {[]Member{member("a", 1, 0), member("b", 0, 1), member("c", .9, .9)}, []string{"a", "b"}},
		"one whose items another leads, and more, goes":  {[]Member{member("a", 1, 1, 0), member("b", 1, .5, .5), member("c", 0, 0, 1)}, []string{"a", "c"}},
		"two that lead the same and differ elsewhere":    {[]Member{member("a", 1, .2, .4), member("b", 1, .4, .2), member("c", 0, 1, 1)}, []string{"a", "b", "c"}},
		"equal texts by measure both stay":               {[]Member{member("a", 1, 0), member("b", 1, 0)}, []string{"a", "b"}},
		"of two that lead the same a dominated one goes": {[]Member{member("a", 1, .2, .4), member("b", 1, .4, .4), member("c", 0, 1, 1)}, []string{"b", "c"}},
		"a missing rate keeps a member out":              {[]Member{member("a", .1, .1), member("b", 1)}, []string{"a"}},
		"a rate that is no number is missing":            {[]Member{member("a", .1, .1), member("b", 1, math.NaN())}, []string{"a"}},
		"one hash is one member":                         {[]Member{member("a", 1), member("a", 1)}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hashes(Front(c.pool)); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func randomPool(rng *rand.Rand) []Member {
	items := 1 + rng.IntN(6)
	var pool []Member
	for i := range 1 + rng.IntN(8) {
		rates := make([]float64, items)
		for j := range rates {
			rates[j] = float64(rng.IntN(4)) / 3
		}
		m := member(fmt.Sprintf("h%d", i), rates...)
		if rng.IntN(10) == 0 {
			delete(m.Rates, fmt.Sprintf("i%d", rng.IntN(items)))
		}
		pool = append(pool, m)
	}
	return pool
}

// Whatever the pool: the front is the same in any order and of itself, loses no item's best rate, holds nobody that another
// of it covers, and leaves out nobody without a reason.
func TestFrontInvariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 3000 {
		pool := randomPool(rng)
		front := Front(pool)
		shuffled := slices.Clone(pool)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if !reflect.DeepEqual(Front(shuffled), front) {
			t.Fatalf("order matters: %v", pool)
		}
		if !reflect.DeepEqual(Front(front), front) {
			t.Fatalf("the front of the front differs: %v", pool)
		}
		whole := complete(pool)
		all, of := Leads(pool), Leads(front)
		in := map[string]bool{}
		for _, m := range front {
			in[m.Hash] = true
			if all[m.Hash] == 0 || all[m.Hash] != of[m.Hash] {
				t.Fatalf("%s leads %d in the pool and %d in the front", m.Hash, all[m.Hash], of[m.Hash])
			}
		}
		led := leads(whole)
		for i, m := range whole {
			reason := len(led[i]) == 0
			for j, other := range whole {
				reason = reason || in[other.Hash] && covers(other, m, led[j], led[i])
			}
			if in[m.Hash] == reason {
				t.Fatalf("%s: in the front %v, a reason to leave it out %v: %v", m.Hash, in[m.Hash], reason, pool)
			}
			for id, r := range m.Rates {
				if !slices.ContainsFunc(front, func(f Member) bool { return f.Rates[id] >= r }) {
					t.Fatalf("the best rate of %s is lost: %v", id, pool)
				}
			}
		}
	}
}

func TestSampleParentIsProportionalToLeads(t *testing.T) {
	front := []Member{member("a", 1, 1, 1, 0), member("b", 0, 0, 0, 1)}
	seen := map[string]int{}
	for seed := range uint64(4000) {
		h := SampleParent(front, seed)
		seen[h]++
		if h != SampleParent([]Member{front[1], front[0]}, seed) {
			t.Fatal("the order of members matters")
		}
	}
	if got := float64(seen["a"]) / 4000; math.Abs(got-.75) > .03 {
		t.Errorf("drew the one with three leads of four in %.3f of draws", got)
	}
	if SampleParent(nil, 1) != "" {
		t.Error("drew from nobody")
	}
}

func TestBoundDropsTheFewestLeadsFirst(t *testing.T) {
	front := []Member{member("a", 1, 1, 1, 0, 0, 0), member("b", 0, 0, 0, 1, 1, 0), member("c", 0, 0, 0, 0, 0, 1), member("d", .9, 0, 0, 0, 0, 1)}
	for name, c := range map[string]struct {
		n    int
		keep string
		want []string
	}{
		"room for all":                       {9, "", []string{"a", "b", "c", "d"}},
		"of equals the lower mean goes":      {3, "", []string{"a", "b", "d"}},
		"the one to keep stays":              {2, "c", []string{"a", "c"}},
		"the one to keep stays alone":        {0, "c", []string{"c"}},
		"nobody where there is none to keep": {0, "x", []string{}},
		"one to keep that is not there":      {1, "x", []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hashes(Bound(front, c.n, c.keep)); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		front := Front(randomPool(rng))
		if len(front) == 0 {
			continue
		}
		keep, n := front[rng.IntN(len(front))].Hash, rng.IntN(5)
		before := maps.Clone(Leads(front))
		kept := Bound(front, n, keep)
		if len(kept) > max(n, 1) || !slices.Contains(hashes(kept), keep) {
			t.Fatalf("kept %v of %v, at most %d with %s", hashes(kept), hashes(front), n, keep)
		}
		for _, m := range front {
			if slices.Contains(hashes(kept), m.Hash) {
				continue
			}
			for _, k := range kept {
				if k.Hash != keep && before[k.Hash] < before[m.Hash] {
					t.Fatalf("%s went and %s with fewer leads stayed", m.Hash, k.Hash)
				}
			}
		}
	}
}
