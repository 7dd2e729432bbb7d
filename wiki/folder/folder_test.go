package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whetstone/claim"
)

func newDir(t *testing.T) *Dir {
	t.Helper()
	d, err := Create(filepath.Join(t.TempDir(), "w"), "w", "W", "research", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

const name = "wiki/concept/raft.md"

func page(generated string) claim.Page { return claim.Page{Path: name, Generated: generated} }

func all(string) bool  { return true }
func none(string) bool { return false }

func TestTheScaffoldIsAWikiAndIsNotMadeTwice(t *testing.T) {
	d := newDir(t)
	if c, err := d.Config(); err != nil || c.Slug != "w" || c.Flavor != "research" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Create(d.Path, "w", "W", "research", false); err == nil {
		t.Error("a second wiki was made over the first")
	}
}

// The reference overwrote what people had written.
func TestAPersonsEditsAreKept(t *testing.T) {
	base := "# Raft\n\nOne.\n\nTwo.\n\nThree.\n"
	next := "# Raft\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n"
	t.Run("a change elsewhere is merged", func(t *testing.T) {
		d := newDir(t)
		mustPlace(t, d, page(""), "", base)
		mine := strings.Replace(base, "One.", "One, by me.", 1)
		write(t, d, mine)
		for range 2 { // the second time is a crash between the file and the record
			got := mustPlace(t, d, page(claim.Hash(base)), base, next)
			text := read(t, d, name)
			if got.State != claim.Live || !strings.Contains(text, "One, by me.") || !strings.Contains(text, "Four.") || got.Generated != claim.Hash(next) || got.Disk != claim.Hash(text) {
				t.Errorf("%+v\n%s", got, text)
			}
		}
	})
	t.Run("a conflict is proposed beside the page", func(t *testing.T) {
		d := newDir(t)
		mustPlace(t, d, page(""), "", base)
		mine := strings.Replace(base, "Three.", "Three, by me.", 1)
		write(t, d, mine)
		got := mustPlace(t, d, page(claim.Hash(base)), base, strings.Replace(base, "Three.", "Three, by research.", 1))
		if got.State != claim.Proposed || got.Generated != claim.Hash(base) || read(t, d, name) != mine {
			t.Errorf("%+v\n%s", got, read(t, d, name))
		}
		if p := read(t, d, name+".proposed"); !strings.Contains(p, "by me") || !strings.Contains(p, "by research") {
			t.Errorf("the proposal:\n%s", p)
		}
	})
	t.Run("a page that was never ours is left alone", func(t *testing.T) {
		d := newDir(t)
		write(t, d, "mine\n")
		if got := mustPlace(t, d, page(""), "", base); got.State != claim.Proposed || read(t, d, name) != "mine\n" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a removed page stays removed", func(t *testing.T) {
		d := newDir(t)
		mustPlace(t, d, page(""), "", base)
		if err := os.Remove(filepath.Join(d.Path, name)); err != nil {
			t.Fatal(err)
		}
		if got := mustPlace(t, d, page(claim.Hash(base)), base, next); got.State != claim.Removed {
			t.Errorf("%+v", got)
		}
		if _, ok, _ := d.Read(name); ok {
			t.Error("it came back")
		}
	})
	t.Run("an edited proposal is kept", func(t *testing.T) {
		d := newDir(t)
		write(t, d, "mine\n")
		mustPlace(t, d, page(""), "", base)
		if err := os.WriteFile(filepath.Join(d.Path, name+".proposed"), []byte("edited"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Place(page(""), "", next, none); err != nil {
			t.Fatal(err)
		}
		kept, _ := filepath.Glob(filepath.Join(d.Path, name+".proposed.edited-*"))
		if len(kept) != 1 {
			t.Errorf("kept %v", kept)
		}
	})
}

func TestNothingOutsideTheFolderIsTouched(t *testing.T) {
	d := newDir(t)
	outside := t.TempDir()
	if err := os.RemoveAll(filepath.Join(d.Path, "wiki", "concept")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(d.Path, "wiki", "concept")); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, p := range []string{name, "../escape.md", "/tmp/escape.md"} {
		if err := d.Write(p, "x"); err == nil {
			t.Errorf("%s was written", p)
		}
	}
	if es, _ := os.ReadDir(outside); len(es) > 0 {
		t.Errorf("%v was made outside", es)
	}
}

func mustPlace(t *testing.T, d *Dir, p claim.Page, base, text string) Placed {
	t.Helper()
	got, err := d.Place(p, base, text, all)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func write(t *testing.T, d *Dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.Path, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, d *Dir, p string) string {
	t.Helper()
	text, ok, err := d.Read(p)
	if err != nil || !ok {
		t.Fatal(p, ok, err)
	}
	return text
}
