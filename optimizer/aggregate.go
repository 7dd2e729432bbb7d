package optimizer

import (
	"cmp"
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
// they answer to. Of edits that conflict, the one with the highest support stays, ties by key: edits whose ranges overlap,
// an insertion of lines that another edit inserts as well (the same text elsewhere, or the same and more), and edits of which
// one asks for what the other forbids. What a body line says already is not added again. The result is sorted by support,
// then by key, and does not depend on the order of proposals.
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
			e.Support, e.Patch.Items = same.Support+1, mergeItems(same.Patch.Items, p.Items)
			if e.before(*same) {
				byKey[e.Key] = &e
			} else {
				same.Support, same.Patch.Items = e.Support, e.Patch.Items
			}
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
	var taken []insertion
	for _, e := range all {
		n := insertion{e, e.newLines(d.Body), e.statements(d.Body)}
		detail := ""
		for _, k := range taken {
			if detail = n.conflict(k); detail != "" {
				break
			}
		}
		if detail != "" {
			refused = append(refused, Refused{e.Patch, Conflict, detail})
			continue
		}
		taken = append(taken, n)
		edits = append(edits, e)
	}
	return edits, refused
}

// insertion is an edit with what it brings into the body.
type insertion struct {
	Edit
	lines map[string]bool
	said  []said
}

// conflict says why two edits can not both be taken, "" if they can.
func (n insertion) conflict(k insertion) string {
	switch {
	case (n.Op == Add || k.Op == Add) && (subset(n.lines, k.lines) || subset(k.lines, n.lines)):
		return "the same text, or more or less of it, is inserted by an edit with more support"
	case overlap(k.Edit, n.Edit):
		return "it overlaps an edit with more support"
	case contradicts(k.said, n.said):
		return "it says the opposite of an edit with more support"
	}
	return ""
}

// newLines are the lines of the edit's text that the replaced text does not have, in canonical form.
func (e Edit) newLines(body string) map[string]bool {
	out := map[string]bool{}
	for _, l := range mdblock.SplitLines(e.Text) {
		if t := CanonicalPayload(l.Text); t != "" {
			out[t] = true
		}
	}
	for _, l := range mdblock.SplitLines(body[e.Start:e.End]) {
		delete(out, CanonicalPayload(l.Text))
	}
	return out
}

// subset reports whether all of a, at least one, is in b.
func subset(a, b map[string]bool) bool {
	for t := range a {
		if !b[t] {
			return false
		}
	}
	return len(a) > 0
}

// before decides which of several edits under one key stands for them: their texts can differ in white space and Unicode form,
// their anchors in anything.
func (e Edit) before(o Edit) bool {
	return cmp.Or(
		cmp.Compare(e.Start, o.Start), cmp.Compare(e.End, o.End), strings.Compare(e.Text, o.Text),
		strings.Compare(e.Patch.Anchor, o.Patch.Anchor), strings.Compare(e.Patch.Payload, o.Patch.Payload),
	) < 0
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
