package optimizer

import (
	"strings"
	"testing"

	"whetstone/internal/mdblock"
	"whetstone/skill"
)

// No byte outside a patch changes; line ends, kept regions and fences stay; what the anchor says decides what goes.
func FuzzApply(f *testing.F) {
	bodies := []string{
		"# T\n\n- one\n- two\n\n```go\nx := 1\n\n```\nend", "a\r\nb\r\n\r\n- c\r\n", "<!-- whetstone:keep -->\nk\n<!-- /whetstone:keep -->\nfree\n", "x\rlone\ry", "~~~\n```\n~~~\ntext\n", "- a\n  ```\n  b\n  ```\n- c\n",
	}
	for _, b := range bodies {
		for op := range 3 {
			f.Add(b, op, 2, 5, "- new\n")
			f.Add(b, op, 0, 1, "```\n")
			f.Add(b, op, 0, 0, "x")
		}
	}
	f.Fuzz(func(t *testing.T, body string, op, from, length int, payload string) {
		if len(body) > 4000 || len(payload) > 2000 {
			return
		}
		from, length = abs(from)%(len(body)+1), abs(length)
		anchor := body[from:min(from+length%60, len(body))]
		p := Patch{Op: []Op{Add, Delete, Replace}[abs(op)%3], Anchor: anchor, Payload: payload}
		d := NewDoc(body)
		e, refusal := d.Resolve(p)
		if refusal != nil {
			return
		}
		out, refusal := d.Apply([]Edit{e})
		if refusal != nil {
			return
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
		if p.Op != Add && strings.Count(unify(body), unify(anchor)) != 1 {
			t.Fatalf("anchor %q of %q is not unique", anchor, body)
		}
		for _, r := range skill.Regions(body) {
			if !strings.Contains(out, body[r.Start:r.End]) {
				t.Fatalf("a kept region changed: %q -> %q", body, out)
			}
		}
		// A fence in a list item ends with the item, so what counts is where a paragraph after the text would stand.
		if follower(body) != follower(out) {
			t.Fatalf("the end of the text moved into or out of a fence: %q -> %q", body, out)
		}
		if !strings.Contains(body, "\n") || strings.Contains(body, "\r") {
			return
		}
		if p.Op == Add && strings.HasSuffix(body, "\n") != strings.HasSuffix(out, "\n") && len(body) > 0 {
			t.Fatalf("the final newline changed: %q -> %q", body, out)
		}
	})
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
