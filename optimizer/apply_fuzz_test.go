package optimizer

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"whetstone/internal/mdblock"
	"whetstone/skill"
)

// No byte outside a patch changes; line ends, kept regions and fences stay; what the anchor says decides what goes. One patch
// is resolved and applied alone; then it goes with more of them through Aggregate, Select and Apply. Each three bytes of more
// are a further patch: what it does and with what text, where its anchor begins, how long that is.
func FuzzApply(f *testing.F) {
	bodies := []string{
		"# T\n\n- one\n- two\n\n```go\nx := 1\n\n```\nend", "a\r\nb\r\n\r\n- c\r\n", "<!-- whetstone:keep -->\nk\n<!-- /whetstone:keep -->\nfree\n", "x\rlone\ry", "~~~\n```\n~~~\ntext\n", "- a\n  ```\n  b\n  ```\n- c\n",
		"\ufeff# BOM\n\ntext\n", "---\nname: x\n---\nkey: value\nlist:\n  - a\n", "- same\n- same\n- other\n- same", "caf\u00e9\ncafe\u0301\n- \u00e9\n", "a\n\n" + SlowOpen + "\n- s\n" + SlowClose + "\n", "a\r\n```\r\nb\r\n```\r\nc",
	}
	for i, b := range bodies {
		for op := range 3 {
			more := []byte{byte(op), 3, 7, byte(op + 1), 9, 12, byte(3*i + op), 20, 5, 0, 0, 0}
			f.Add(b, op, 2, 5, "- new\n", more)
			f.Add(b, op, 0, 1, "```\n", more)
			f.Add(b, op, 0, 0, "x", []byte{})
		}
	}
	f.Fuzz(func(t *testing.T, body string, op, from, length int, payload string, more []byte) {
		if len(body) > 4000 || len(payload) > 2000 || len(more) > 60 {
			return
		}
		from, length = abs(from)%(len(body)+1), abs(length)
		anchor := body[from:min(from+length%60, len(body))]
		p := Patch{Op: []Op{Add, Delete, Replace}[abs(op)%3], Anchor: anchor, Payload: payload}
		d := NewDoc(body)
		checkOne(t, d, p)
		patches := []Patch{p}
		texts := append([]string{payload, payload + "\n" + payload}, oddLines...)
		for ; len(more) >= 3; more = more[3:] {
			at := int(more[1]) * (len(body) + 1) / 256
			patches = append(patches, Patch{
				Op: []Op{Add, Delete, Replace}[more[0]%3], Payload: texts[int(more[0]/3)%len(texts)],
				Anchor: body[at:min(at+int(more[2]%40), len(body))],
			})
		}
		checkBundle(t, d, patches)
	})
}

func checkOne(t *testing.T, d *Doc, p Patch) {
	t.Helper()
	body := d.Body
	e, refusal := d.Resolve(p)
	if refusal != nil {
		return
	}
	out, refusal := d.Apply([]Edit{e})
	if refusal != nil {
		t.Fatalf("an edit that resolves does not apply: %q by %+v: %v", body, e, refusal)
	}
	if out != body[:e.Start]+e.Text+body[e.End:] {
		t.Fatalf("bytes outside the edit changed: %q -> %q by %+v", body, out, e)
	}
	if p.Op == Add && e.Start != e.End {
		t.Fatalf("an addition removes %q", body[e.Start:e.End])
	}
	if p.Op == Delete && e.Text != "" {
		t.Fatalf("a deletion inserts %q", e.Text)
	}
	if p.Op == Add && e.Start > 0 && e.Start < len(body) && !endsInEOL(body[:e.Start]) {
		t.Fatalf("an addition in the middle of a line: %q at %d", body, e.Start)
	}
	if p.Op != Add && strings.Count(unify(body), unify(p.Anchor)) != 1 {
		t.Fatalf("anchor %q of %q is not unique", p.Anchor, body)
	}
	checkAround(t, body, out, []Edit{e})
	if !strings.Contains(body, "\n") || strings.Contains(body, "\r") {
		return
	}
	if p.Op == Add && strings.HasSuffix(body, "\n") != strings.HasSuffix(out, "\n") && len(body) > 0 {
		t.Fatalf("the final newline changed: %q -> %q", body, out)
	}
}

// checkBundle runs the patches through the whole pipeline, twice in different orders.
func checkBundle(t *testing.T, d *Doc, patches []Patch) {
	t.Helper()
	limits := Limits{Patches: 4, Bytes: 3000, Adds: 3, Deletes: 2, Replaces: 3}
	edits, refused := Aggregate(d, patches)
	taken, clipped := Select(d, edits, limits)
	if len(taken)+len(clipped) != len(edits) || len(taken) > limits.Patches {
		t.Fatalf("%d edits, took %d, clipped %d", len(edits), len(taken), len(clipped))
	}
	out, refusal := d.Apply(taken)
	rng := rand.New(rand.NewPCG(1, uint64(len(d.Body))))
	rng.Shuffle(len(patches), func(i, j int) { patches[i], patches[j] = patches[j], patches[i] })
	again, refusedAgain := Aggregate(d, patches)
	takenAgain, _ := Select(d, again, limits)
	rng.Shuffle(len(takenAgain), func(i, j int) { takenAgain[i], takenAgain[j] = takenAgain[j], takenAgain[i] })
	outAgain, refusalAgain := d.Apply(takenAgain)
	if out != outAgain || len(refused) != len(refusedAgain) || (refusal == nil) != (refusalAgain == nil) {
		t.Fatalf("order matters: %q by %+v: %q (%v) or %q (%v)", d.Body, patches, out, refusal, outAgain, refusalAgain)
	}
	if refusal == nil {
		checkAround(t, d.Body, out, taken)
	}
}

// checkAround rebuilds the result from the edits' ranges by another way than Apply, and compares what the lines and regions
// are that no edit touches.
func checkAround(t *testing.T, body, out string, edits []Edit) {
	t.Helper()
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b Edit) int {
		// From the end of the text on: of those at one place the change before the insertions, and the last insertion first.
		return cmp.Or(cmp.Compare(b.Start, a.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Support, b.Support), strings.Compare(b.Key, a.Key))
	})
	rebuilt := body
	for _, e := range edits {
		rebuilt = rebuilt[:e.Start] + e.Text + rebuilt[e.End:]
	}
	if rebuilt != out {
		t.Fatalf("bytes outside the edits changed: %q -> %q, want %q, by %+v", body, out, rebuilt, edits)
	}
	var was, is []string
	for _, r := range skill.Regions(body) {
		was = append(was, body[r.Start:r.End])
	}
	for _, r := range skill.Regions(out) {
		is = append(is, out[r.Start:r.End])
	}
	if !slices.Equal(was, is) {
		t.Fatalf("the kept regions changed: %q -> %q", body, out)
	}
	_, _, slowWas, okWas := SlowBlock(body)
	if _, _, slowIs, okIs := SlowBlock(out); slowWas != slowIs || okWas != okIs {
		t.Fatalf("the slow block changed: %q -> %q", body, out)
	}
	// A fence in a list item ends with the item, so what counts is where a paragraph after the text would stand.
	if follower(body) != follower(out) {
		t.Fatalf("the end of the text moved into or out of a fence: %q -> %q", body, out)
	}
	now := map[int]mdblock.Line{}
	for _, l := range mdblock.Scan(out) {
		now[l.Start] = l
	}
	for _, l := range mdblock.Scan(body) {
		at, touched := l.Start, false
		for _, e := range edits {
			if e.End <= l.Start {
				at += len(e.Text) - (e.End - e.Start)
			}
			touched = touched || e.Start < l.End && e.End > l.Start
		}
		n, ok := now[at]
		if touched || !ok { // !ok: an edit before it left no line ending
			continue
		}
		if n.Text != l.Text || n.InFence != l.InFence || state(n) != state(l) {
			t.Fatalf("line %q was %v and is %v: %q -> %q by %+v", l.Text, l.Kind, n.Kind, body, out, edits)
		}
	}
}

// state tells whether a line is read as code in a fence, as a comment, or as neither.
func state(l mdblock.Line) string {
	switch l.Kind {
	case mdblock.FenceOpen, mdblock.FenceInside, mdblock.FenceClose:
		return "code"
	case mdblock.Comment:
		return "comment"
	}
	return "text"
}

// follower tells whether a paragraph after the text would be text, code or comment.
func follower(text string) string {
	lines := mdblock.Scan(text + "\n\nfollower\n")
	switch lines[len(lines)-1].Kind {
	case mdblock.Text:
		return "text"
	case mdblock.Comment:
		return "comment"
	}
	return "code"
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}
