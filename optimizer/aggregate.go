package optimizer

import (
	"slices"
	"strings"

	"whetstone/internal/mdblock"
)

// Refused is a proposal that was not taken, and why.
type Refused struct {
	Patch  Patch
	Reason Reason
	Detail string
}

// Aggregate resolves the proposals of all minibatches against one body. Equal edits add up their support and the items
// they answer to. Of edits whose ranges overlap, the one with the highest support stays, ties by key; of two insertions
// of the same text at different places likewise. What a body line says already is not added again. The result is sorted
// by support, then by key, and does not depend on the order of proposals.
func Aggregate(d *Doc, proposals []Patch) (edits []Edit, refused []Refused) {
	byKey := map[string]*Edit{}
	have := map[string]bool{}
	for _, l := range d.lines {
		if t := CanonicalPayload(l.Text); t != "" {
			have[t] = true
		}
	}
	for _, p := range proposals {
		e, err := d.Resolve(p)
		if err != nil {
			refused = append(refused, Refused{p, err.Reason, err.Detail})
			continue
		}
		if p.Op == Add && allPresent(have, p.Payload) {
			refused = append(refused, Refused{p, AlreadyPresent, "every line of it stands in the body"})
			continue
		}
		if same, ok := byKey[e.Key]; ok {
			same.Support++
			same.Patch.Items = mergeItems(same.Patch.Items, p.Items)
			continue
		}
		e.Patch.Items = mergeItems(nil, p.Items)
		byKey[e.Key] = &e
	}
	all := make([]Edit, 0, len(byKey))
	for _, e := range byKey {
		all = append(all, *e)
	}
	SortEdits(all)
	texts := map[string]bool{}
	for _, e := range all {
		text := CanonicalPayload(e.Text)
		if e.Op == Add && texts[text] {
			refused = append(refused, Refused{e.Patch, Conflict, "the same text is added elsewhere with more support"})
			continue
		}
		if i := slices.IndexFunc(edits, func(k Edit) bool { return overlap(k, e) }); i >= 0 {
			refused = append(refused, Refused{e.Patch, Conflict, "it overlaps an edit with more support"})
			continue
		}
		if e.Op == Add {
			texts[text] = true
		}
		edits = append(edits, e)
	}
	return edits, refused
}

// SortEdits orders edits by support, highest first, then by key.
func SortEdits(edits []Edit) {
	slices.SortFunc(edits, func(a, b Edit) int {
		if a.Support != b.Support {
			return b.Support - a.Support
		}
		return strings.Compare(a.Key, b.Key)
	})
}

// overlap reports whether two edits touch the same bytes. Insertions at one point do not; one strictly inside the range
// of a change does.
func overlap(a, b Edit) bool {
	if a.Start == a.End && b.Start == b.End {
		return false
	}
	if a.Start == a.End {
		return a.Start > b.Start && a.Start < b.End
	}
	if b.Start == b.End {
		return b.Start > a.Start && b.Start < a.End
	}
	return a.Start < b.End && b.Start < a.End
}

func allPresent(have map[string]bool, payload string) bool {
	for _, l := range mdblock.SplitLines(payload) {
		if t := CanonicalPayload(l.Text); t != "" && !have[t] {
			return false
		}
	}
	return true
}

func mergeItems(a, b []string) []string {
	out := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}
