package optimizer

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSlowBlockIsFoundByMarkersOnLinesOfTheirOwn(t *testing.T) {
	block := SlowOpen + "\n- x\n" + SlowClose
	for name, c := range map[string]struct {
		body, text string
		ok         bool
	}{
		"at the end":                       {"a\n\n" + block + "\n", "- x", true},
		"without a final newline":          {"a\n\n" + block, "- x", true},
		"with Windows line ends":           {"a\r\n" + strings.ReplaceAll(block, "\n", "\r\n") + "\r\n", "- x", true},
		"an empty one":                     {SlowOpen + "\n" + SlowClose + "\n", "", true},
		"below a list":                     {"- a\n" + block + "\n", "- x", true},
		"spaces after a marker":            {"a\n" + SlowOpen + "  \n- x\n" + SlowClose + " \n", "- x", true},
		"none":                             {"a\n", "", false},
		"in a fence":                       {"```\n" + block + "\n```\n", "", false},
		"in a comment":                     {"<!-- a\n" + block + "\n", "", false},
		"in a line with other text":        {"a " + SlowOpen + "\n- x\n" + SlowClose + "\n", "", false},
		"in a list item":                   {"- a\n\n  " + SlowOpen + "\n\n  " + SlowClose + "\n", "", false},
		"in a kept region":                 {"<!-- whetstone:keep -->\n" + block + "\n<!-- /whetstone:keep -->\n", "", false},
		"left open":                        {"a\n" + SlowOpen + "\n- x\n", "", false},
		"closed before it opens":           {SlowClose + "\n- x\n" + SlowOpen + "\n", "", false},
		"two of them":                      {block + "\n" + block + "\n", "", false},
		"one, and one that a fence quotes": {"```\n" + block + "\n```\n" + block + "\n", "- x", true},
	} {
		t.Run(name, func(t *testing.T) {
			start, end, text, ok := SlowBlock(c.body)
			if ok != c.ok || text != c.text {
				t.Fatalf("got %q, %v, want %q, %v", text, ok, c.text, c.ok)
			}
			if ok && (!strings.HasPrefix(c.body[start:], SlowOpen) || !strings.HasSuffix(c.body[:end], SlowClose)) {
				t.Errorf("bytes %d to %d are not the block", start, end)
			}
		})
	}
}

func applySlow(t *testing.T, body, text string) string {
	t.Helper()
	p, err := SlowPatch(body, text)
	if err != nil {
		t.Fatalf("%q in %q: %v", text, body, err)
	}
	d := NewSlowDoc(body)
	edits, refused := Aggregate(d, []Patch{p})
	if len(refused) > 0 || len(edits) != 1 {
		t.Fatalf("the patch is no ordinary one: %+v", refused)
	}
	out, refusal := d.Apply(edits)
	if refusal != nil {
		t.Fatal(refusal)
	}
	return out
}

func TestSlowPatchAddsReplacesAndRemoves(t *testing.T) {
	for name, c := range map[string]struct{ body, text, want string }{
		"added below a blank line":            {"a\n", "- x\n- y\n", "a\n\n" + SlowOpen + "\n- x\n- y\n" + SlowClose + "\n"},
		"added where a blank line ends it":    {"a\n\n", "- x", "a\n\n" + SlowOpen + "\n- x\n" + SlowClose + "\n"},
		"added to a body without a newline":   {"a", "- x", "a\n\n" + SlowOpen + "\n- x\n" + SlowClose},
		"added to nothing":                    {"", "- x", SlowOpen + "\n- x\n" + SlowClose + "\n"},
		"added with Windows line ends":        {"a\r\n", "- x\n- y", "a\r\n\r\n" + SlowOpen + "\r\n- x\r\n- y\r\n" + SlowClose + "\r\n"},
		"replaced":                            {"a\n\n" + SlowOpen + "\n- x\n" + SlowClose + "\n", "- y", "a\n\n" + SlowOpen + "\n- y\n" + SlowClose + "\n"},
		"replaced where it stands":            {"a\n\n" + SlowOpen + "\n- x\n" + SlowClose + "\n\nb\n", "- y", "a\n\n" + SlowOpen + "\n- y\n" + SlowClose + "\n\nb\n"},
		"removed with the blank line above":   {"a\n\n" + SlowOpen + "\n- x\n" + SlowClose + "\n", "", "a\n"},
		"removed from a body without newline": {"a\n\n" + SlowOpen + "\n- x\n" + SlowClose, " \n", "a"},
		"removed where there is nothing else": {SlowOpen + "\n- x\n" + SlowClose + "\n", "", ""},
		"a smaller heading and a whole fence": {"a\n", "## H\n\n```\n# x\n```", "a\n\n" + SlowOpen + "\n## H\n\n```\n# x\n```\n" + SlowClose + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := applySlow(t, c.body, c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSlowPatchRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		body, text string
		reason     Reason // "" for ErrSlowText
	}{
		"more than it may hold":          {"a\n", strings.Repeat("x", MaxSlow+1), ""},
		"a marker of its own":            {"a\n", "x\n" + SlowClose + "\ny", ""},
		"a marker of a kept region":      {"a\n", "<!-- whetstone:keep -->", ""},
		"a fence left open":              {"a\n", "```\nx", ""},
		"a comment left open":            {"a\n", "<!-- x", ""},
		"a heading of level 1":           {"a\n", "# x", ""},
		"an underlined heading":          {"a\n", "x\n===", ""},
		"what it says already":           {SlowOpen + "\n- x\n" + SlowClose + "\n", "- x\n", NoChange},
		"a removal where there is none":  {"a\n", "", NoChange},
		"a body with two":                {SlowOpen + "\n" + SlowOpen + "\n" + SlowClose + "\n", "- x", AnchorAmbiguous},
		"a body that ends in a fence":    {"```\na\n", "- x", FenceChange},
		"a body that ends in a region":   {"<!-- whetstone:keep -->\na\n", "- x", Protected},
		"text with a control character":  {"a\n", "x\x07", BadText},
		"a block that is quoted as well": {"```\n" + SlowOpen + "\n- x\n" + SlowClose + "\n```\n" + SlowOpen + "\n- x\n" + SlowClose + "\n", "- y", AnchorAmbiguous},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := SlowPatch(c.body, c.text)
			var refusal *PatchError
			switch {
			case c.reason == "" && !errors.Is(err, ErrSlowText):
				t.Errorf("got %v, want ErrSlowText", err)
			case c.reason != "" && (!errors.As(err, &refusal) || refusal.Reason != c.reason):
				t.Errorf("got %v, want %s", err, c.reason)
			}
		})
	}
}

// What the slow update wrote is not for a reflection to change, and no reflection may make a block of its own.
func TestOrdinaryPatchesDoNotTouchTheSlowBlock(t *testing.T) {
	body := "- a\n\n" + SlowOpen + "\n- x\n" + SlowClose + "\n"
	for name, p := range map[string]Patch{
		"its text":             {Op: Replace, Anchor: "- x", Payload: "- y"},
		"a line added to it":   {Op: Add, Anchor: "- x", Payload: "- y"},
		"its first line":       {Op: Add, Anchor: SlowOpen, Payload: "- y"},
		"its markers":          {Op: Delete, Anchor: SlowOpen},
		"all of it":            {Op: Delete, Anchor: SlowOpen + "\n- x\n" + SlowClose},
		"text behind a marker": {Op: Replace, Anchor: "- a\n\n", Payload: "- a\n\nb "},
		"a second block":       {Op: Add, Anchor: "- a", Payload: SlowOpen + "\n- y\n" + SlowClose},
		"a fence around it":    {Op: Add, Anchor: "- a", Payload: "<!--"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewDoc(body).Resolve(p)
			if err == nil || err.Reason != Protected && name != "a fence around it" {
				t.Errorf("got %v, want %s", err, Protected)
			}
		})
	}
	got, err := ApplyOne(body, Patch{Op: Add, Payload: "- b"})
	if want := "- a\n- b\n\n" + SlowOpen + "\n- x\n" + SlowClose + "\n"; err != nil || got != want {
		t.Errorf("an append gives %q (%v), want %q", got, err, want)
	}
	if _, err := NewSlowDoc(body).Resolve(Patch{Op: Replace, Anchor: "- x", Payload: "- y"}); err != nil {
		t.Errorf("the slow update may not touch its own block: %v", err)
	}
}

// checkSlow holds for a body without markers and any text: a text that is taken comes out again, is protected from other
// patches, and leaves what was there when it is taken away.
func checkSlow(t *testing.T, body, text string) (taken bool) {
	t.Helper()
	p, err := SlowPatch(body, text)
	if err != nil {
		return false
	}
	d := NewSlowDoc(body)
	e, refusal := d.Resolve(p)
	if refusal != nil {
		t.Fatalf("%q in %q: %v", text, body, refusal)
	}
	with, refusal := d.Apply([]Edit{e})
	if refusal != nil {
		t.Fatalf("%q in %q: %v", text, body, refusal)
	}
	start, end, got, ok := SlowBlock(with)
	if !ok || unify(got) != strings.Trim(unify(text), "\n") {
		t.Fatalf("%q in %q became %q", text, body, with)
	}
	if _, refusal := NewDoc(with).Resolve(Patch{Op: Delete, Anchor: with[start:end]}); refusal == nil || refusal.Reason != Protected {
		t.Fatalf("the block of %q is not protected: %v", with, refusal)
	}
	if without := applySlow(t, with, ""); strings.TrimSpace(without) != strings.TrimSpace(body) {
		t.Fatalf("%q, with %q and without again, is %q", body, text, without)
	}
	return true
}

func TestSlowPatchInvariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	taken := 0
	for range 4000 {
		if checkSlow(t, oddText(rng), oddText(rng)) {
			taken++
		}
	}
	if taken < 200 {
		t.Errorf("only %d texts were taken", taken)
	}
}

func FuzzSlowPatch(f *testing.F) {
	rng := rand.New(rand.NewPCG(12, 12))
	for range 40 {
		f.Add(oddText(rng), oddText(rng))
	}
	f.Fuzz(func(t *testing.T, body, text string) {
		if len(body) < 3000 && len(text) < 3000 && !strings.Contains(body, "whetstone:slow") {
			checkSlow(t, body, text)
		}
	})
}
