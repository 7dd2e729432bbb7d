package report

import (
	"slices"
	"strings"

	"whetstone/run"
)

// patchView is one patch as the lines it takes out and puts in.
type patchView struct {
	run.PatchRecord
	Where string
	Lines []diffLine
	Gone  bool // a text of it was forgotten
}

type patchGroup struct {
	State, Reason, Means string
	Patches              []patchView
}

// meanings says what the short reasons of refusal mean.
var meanings = map[string]string{
	"bad_op": "an operation that does not exist", "anchor_missing": "its anchor does not stand in the skill", "anchor_ambiguous": "its anchor stands there more than once",
	"protected": "it would touch a protected region", "fence": "it would move a code fence", "empty_payload": "it has nothing to put in", "no_change": "it changes nothing",
	"already_present": "what it says stands there already", "too_large": "it would make the skill or the step too large", "conflict": "it overlaps a patch with more support",
	"repeat_rejected": "it was refused before, alone, under this very text", "clipped": "the step's budget of edits was used up", "unmatched": "it answers to no correction", "bad_text": "its text can not stand in a file",
}

// sortPatches parts what was accepted from the rest, and groups the rest by state and reason, the largest group first.
func sortPatches(ps []run.PatchRecord, dir string) (accepted []patchView, refused []patchGroup) {
	for _, p := range ps {
		p.Reason = bare(dir, p.Reason)
		v := viewPatch(p)
		if p.State == "accepted" {
			accepted = append(accepted, v)
			continue
		}
		reason, means := reasonOf(p)
		i := slices.IndexFunc(refused, func(g patchGroup) bool { return g.State == p.State && g.Reason == reason })
		if i < 0 {
			refused = append(refused, patchGroup{State: p.State, Reason: reason, Means: means})
			i = len(refused) - 1
		}
		refused[i].Patches = append(refused[i].Patches, v)
	}
	slices.SortStableFunc(refused, func(a, b patchGroup) int { return len(b.Patches) - len(a.Patches) })
	return accepted, refused
}

// reasonOf is what patches are grouped by. The gate's reasons hold figures ("p 0.2130 is above the 0.0042 ..."): their
// figures are left out, or each would be a group of its own.
func reasonOf(p run.PatchRecord) (reason, means string) {
	head, _, _ := strings.Cut(p.Reason, ":")
	if m, ok := meanings[head]; ok {
		return head, m
	}
	if p.Reason == "" {
		return "no reason on file", ""
	}
	fields := strings.Fields(p.Reason)
	for i, w := range fields {
		if strings.ContainsAny(w, "0123456789") {
			fields[i] = "…"
		}
	}
	return strings.Join(fields, " "), ""
}

func viewPatch(p run.PatchRecord) patchView {
	v := patchView{PatchRecord: p}
	lines := func(kind, sign, text string) {
		if text == Withheld {
			v.Gone = true
			v.Lines = append(v.Lines, diffLine{Kind: "note", Text: "withheld: the learning behind it was forgotten"})
			return
		}
		if text == "" {
			return
		}
		for l := range strings.SplitSeq(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") {
			v.Lines = append(v.Lines, diffLine{Kind: kind, Sign: sign, Text: l})
		}
	}
	switch {
	case p.Op == "add" && p.Anchor == "":
		v.Where = "at the end of the body"
		lines("add", "+", p.Payload)
	case p.Op == "add":
		v.Where = "after the anchor"
		lines("ctx", "", p.Anchor)
		lines("add", "+", p.Payload)
	default:
		lines("del", "-", p.Anchor)
		lines("add", "+", p.Payload)
	}
	return v
}
