package validation

import (
	"slices"
	"strings"
)

// SealedTestFrom is the number of items from which a test side is dealt at all: with fewer, every item is worth more in
// training and selection, and the sealed test is given up first.
const SealedTestFrom = 20

// Quota is the share of items each side should get.
type Quota struct{ Train, Selection, Test float64 }

// QuotaFor is the default split for n items.
func QuotaFor(n int) Quota {
	if n < SealedTestFrom {
		return Quota{Train: 0.6, Selection: 0.4}
	}
	return Quota{Train: 0.5, Selection: 0.3, Test: 0.2}
}

// Deal gives every item a side. Sides that were assigned before (by item id) stay; a newcomer joins the side of its
// cluster; one whose cluster holds items of two sides is left out, since on either side it would leak. An item that comes
// with a side was fixed there by a person, and its near-duplicates follow it; it is left out if it, or a near-duplicate,
// was given another side (text that has been trained on can not be sealed afterwards). The other
// clusters are dealt whole, in the order of their hash, each to the side that is furthest below its quota. The result
// depends on contents and earlier sides only.
func Deal(items []Item, before map[string]Side) (dealt []Item, left []Excluded) {
	clusters := map[string][]int{}
	for i, it := range items {
		clusters[it.Cluster] = append(clusters[it.Cluster], i)
	}
	keys := make([]string, 0, len(clusters))
	for k := range clusters {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return strings.Compare(hashParts("deal", a), hashParts("deal", b)) })

	q := QuotaFor(len(items))
	want := map[Side]float64{Train: q.Train, Selection: q.Selection, Test: q.Test}
	have := map[Side]int{}
	for _, it := range items {
		if s, ok := before[it.ID]; ok {
			have[s]++
		} else if it.Side != "" {
			have[it.Side]++
		}
	}
	total := len(items)
	for _, k := range keys {
		members := clusters[k]
		sides := sidesOf(members, items, before)
		if len(sides) == 0 {
			s := neediest(want, have, total)
			sides[s] = true
		}
		for _, i := range members {
			it := items[i]
			s, stored := before[it.ID]
			switch {
			case stored && it.Side != "" && it.Side != s:
				left = append(left, leftOut(it, ReasonMoved))
				continue
			case stored:
			case len(sides) > 1 || it.Side != "" && !sides[it.Side]:
				left = append(left, leftOut(it, ReasonBridge))
				continue
			default:
				for only := range sides {
					s = only
				}
				if it.Side == "" {
					have[s]++
				}
			}
			it.Side = s
			dealt = append(dealt, it)
		}
	}
	slices.SortFunc(dealt, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	return dealt, left
}

// sidesOf are the sides that a cluster is bound to: those its members were given before, else those persons fixed.
func sidesOf(members []int, items []Item, before map[string]Side) map[Side]bool {
	given, fixed := map[Side]bool{}, map[Side]bool{}
	for _, i := range members {
		if s, ok := before[items[i].ID]; ok {
			given[s] = true
		} else if s := items[i].Side; s != "" {
			fixed[s] = true
		}
	}
	if len(given) > 0 {
		return given
	}
	return fixed
}

func leftOut(it Item, reason string) Excluded {
	e := Excluded{Rule: strings.TrimSpace(subject(it)), Reason: reason}
	if len(it.Learning) > 0 {
		e.Learning = it.Learning[0]
	}
	return e
}

func neediest(want map[Side]float64, have map[Side]int, total int) Side {
	best, gap := Train, -1e9
	for _, s := range []Side{Train, Selection, Test} {
		if want[s] == 0 {
			continue
		}
		if g := want[s]*float64(total) - float64(have[s]); g > gap {
			best, gap = s, g
		}
	}
	return best
}

// Of returns the items of one side.
func Of(items []Item, side Side) []Item {
	var out []Item
	for _, it := range items {
		if it.Side == side {
			out = append(out, it)
		}
	}
	return out
}

// Manifest is the hash of a set of items: their ids, which are hashes of their contents, and their weights' order of
// evaluation. Two runs that measure on the same items share it, and share the alpha that is spent on it.
func Manifest(items []Item) string {
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	slices.Sort(ids)
	return "m_" + hashParts(ids...)[:24]
}

// Related counts the selection items that share a content word pattern with a train item: an item nothing in training
// is related to can only improve by luck.
func Related(train, selection []Item) int {
	sets := make([]map[string]bool, len(train))
	for i, it := range train {
		sets[i] = contentOf(it)
	}
	n := 0
	for _, s := range selection {
		c := contentOf(s)
		for _, t := range sets {
			if overlap(c, t) >= 0.34 {
				n++
				break
			}
		}
	}
	return n
}
