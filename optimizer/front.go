package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Member is a text of the pool, measured on the held-out items of one manifest.
type Member struct {
	Hash  string
	Rates map[string]float64 // share of passed trials by item id, 0 to 1
}

// Front is the pool's Pareto front over items: the members that are best (ties count) on at least one item, without those
// whose leading items another member leads as well, and more besides. Two members that lead the same items both stay,
// unless one is nowhere worse and somewhere better. A text that is the best anywhere is so kept as a parent even where its
// mean is low, and no item's best rate is lost. After GEPA (Agrawal et al. 2025, arXiv 2507.19457, algorithm 2).
//
// A member without a rate for an item that any other member has one for is never in the front: what was not measured is
// neither better nor worse. The result is sorted by hash, holds each hash once and does not depend on the order of ms.
func Front(ms []Member) []Member {
	ms = complete(ms)
	led := leads(ms)
	var front []Member
	for i, m := range ms {
		if len(led[i]) == 0 {
			continue
		}
		// Being covered is a strict partial order, so whoever is covered is also covered by one that is not; there is no need to
		// remove one after another.
		covered := false
		for j := range ms {
			covered = covered || covers(ms[j], ms[i], led[j], led[i])
		}
		if !covered {
			front = append(front, m)
		}
	}
	return front
}

// Leads counts, for each complete member, the items on which no other has a higher rate. Over Front(ms) it gives the same
// numbers as over ms.
func Leads(ms []Member) map[string]int {
	ms = complete(ms)
	out := make(map[string]int, len(ms))
	for i, led := range leads(ms) {
		out[ms[i].Hash] = len(led)
	}
	return out
}

// SampleParent draws a member's hash with a probability proportional to the number of items that it leads, as GEPA does.
// The seed and the set of members decide; "" where no member leads anything.
func SampleParent(front []Member, seed uint64) string {
	front = complete(front)
	led := leads(front)
	total := 0
	for _, l := range led {
		total += len(l)
	}
	if total == 0 {
		return ""
	}
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	at := rng.IntN(total)
	for i, l := range led {
		if at -= len(l); at < 0 {
			return front[i].Hash
		}
	}
	return ""
}

// Bound keeps at most n members: those that lead the fewest items go first, of equals the one with the lower mean rate, then
// the one with the higher hash. The member keep never goes, so that the present text stays a parent whatever n is. The result
// is sorted by hash.
func Bound(front []Member, n int, keep string) []Member {
	front = unique(front)
	led := Leads(front)
	byWorth := slices.Clone(front)
	slices.SortFunc(byWorth, func(a, b Member) int {
		if (a.Hash == keep) != (b.Hash == keep) {
			if a.Hash == keep {
				return -1
			}
			return 1
		}
		if led[a.Hash] != led[b.Hash] {
			return led[b.Hash] - led[a.Hash]
		}
		if ma, mb := mean(a), mean(b); ma != mb {
			if ma > mb {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Hash, b.Hash)
	})
	n = max(n, 0)
	if len(byWorth) > 0 && byWorth[0].Hash == keep {
		n = max(n, 1)
	}
	byWorth = byWorth[:min(n, len(byWorth))]
	slices.SortFunc(byWorth, func(a, b Member) int { return strings.Compare(a.Hash, b.Hash) })
	return byWorth
}

// unique sorts by hash and keeps one of each. Of two measurements under one hash, which one is kept depends on the numbers
// and not on the order they came in.
func unique(ms []Member) []Member {
	ms = slices.Clone(ms)
	slices.SortFunc(ms, func(a, b Member) int {
		if c := strings.Compare(a.Hash, b.Hash); c != 0 {
			return c
		}
		return strings.Compare(fmt.Sprint(a.Rates), fmt.Sprint(b.Rates)) // fmt sorts the keys of a map
	})
	return slices.CompactFunc(ms, func(a, b Member) bool { return a.Hash == b.Hash })
}

// complete are the unique members with a rate for each item that anyone has a rate for.
func complete(ms []Member) []Member {
	ms = unique(ms)
	items := map[string]bool{}
	for _, m := range ms {
		for id := range m.Rates {
			items[id] = true
		}
	}
	return slices.DeleteFunc(ms, func(m Member) bool {
		for id := range items {
			if r, ok := m.Rates[id]; !ok || math.IsNaN(r) {
				return true
			}
		}
		return false
	})
}

// leads holds, for each of the complete members, the items on which none has a higher rate.
func leads(ms []Member) []map[string]bool {
	out := make([]map[string]bool, len(ms))
	best := map[string]float64{}
	for _, m := range ms {
		for id, r := range m.Rates {
			if b, ok := best[id]; !ok || r > b {
				best[id] = r
			}
		}
	}
	for i, m := range ms {
		out[i] = map[string]bool{}
		for id, r := range m.Rates {
			if r == best[id] {
				out[i][id] = true
			}
		}
	}
	return out
}

// covers reports whether a leads all that b leads and is more than it.
func covers(a, b Member, ledA, ledB map[string]bool) bool {
	for id := range ledB {
		if !ledA[id] {
			return false
		}
	}
	return len(ledA) > len(ledB) || dominates(a, b)
}

// dominates reports whether a is nowhere worse than b and somewhere better.
func dominates(a, b Member) bool {
	better := false
	for id, r := range b.Rates {
		if a.Rates[id] < r {
			return false
		}
		better = better || a.Rates[id] > r
	}
	return better
}

// mean sums in the order of ids, since floating-point sums depend on theirs.
func mean(m Member) float64 {
	ids := make([]string, 0, len(m.Rates))
	for id := range m.Rates {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	sum := 0.0
	for _, id := range ids {
		if r := m.Rates[id]; !math.IsNaN(r) {
			sum += r
		}
	}
	return sum / float64(max(len(ids), 1))
}
