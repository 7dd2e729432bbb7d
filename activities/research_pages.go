package activities

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"whetstone/claim"
	"whetstone/research"
	"whetstone/wiki"
	"whetstone/wiki/folder"
)

// Shelf keeps a wiki's pages and their shadows in step: what people did to the files is taken note of, what the evidence
// says is rendered and placed.
type Shelf struct {
	store Store
	now   func() time.Time
}

// NewShelf joins the store and a clock.
func NewShelf(store Store, now func() time.Time) *Shelf { return &Shelf{store, now} }

// SyncPages takes note of what people did to a wiki's files since the last look: pages they wrote are indexed, pages they
// changed are indexed anew and their changed claims queued for a check, pages they removed stay removed.
func (s *Shelf) SyncPages(ctx context.Context, d *folder.Dir, slug string) error {
	files, err := d.Pages()
	if err != nil {
		return fileError(err)
	}
	pages, err := s.store.Pages(ctx, slug)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range pages {
		known[p.Path] = true
		if slices.Contains(files, p.Path) {
			if _, err := d.Changed(ctx, s.store, slug, p.Path); err != nil {
				return err
			}
			continue
		}
		switch {
		case p.Origin == claim.ByPerson:
			if err := s.store.DropPage(ctx, p.ID); err != nil {
				return err
			}
		case p.Generated != "" && p.State != claim.Removed:
			if err := s.store.RemovePage(ctx, p.ID); err != nil {
				return err
			}
		}
	}
	for _, f := range files {
		if known[f] {
			continue
		}
		text, ok, err := d.Read(f)
		if err != nil || !ok {
			continue // too large or not readable: not ours to judge
		}
		p := claim.Page{ID: claim.ID(slug, "file", f), Wiki: slug, Path: f, Kind: path.Base(path.Dir(f)), Title: pageTitle(text, f), Key: s.keyOf(ctx, slug, text, f), Origin: claim.ByPerson, State: claim.Live, Disk: claim.Hash(text)}
		p.Summary = firstParagraph(text)
		p.UpdatedAt = s.now()
		if err := s.store.PutPage(ctx, p); err != nil {
			return err
		}
		if err := s.store.PlacedPage(ctx, p, text); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the topic of a page that is found in the folder: one that research made elsewhere, as in a cloned project, keeps
// its topic, so that it has no twin; a person's own page is known by its file.
func (s *Shelf) keyOf(ctx context.Context, slug, text, file string) string {
	if head, _, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n"); ok && strings.Contains("\n"+head+"\n", "\norigin: research\n") {
		key := claim.Key(pageTitle(text, file))
		if _, taken, err := s.store.PageByKey(ctx, slug, key); err == nil && !taken && key != "" {
			return key
		}
	}
	return "file:" + file
}

func pageTitle(text, file string) string {
	for _, l := range strings.Split(text, "\n") {
		if t, ok := strings.CutPrefix(l, "# "); ok {
			return oneLine(t, 200)
		}
	}
	return strings.TrimSuffix(path.Base(file), ".md")
}

func firstParagraph(text string) string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			text = body
		}
	}
	for _, first := range research.Sentences(text) {
		return first.Text
	}
	return ""
}

// RenderDirty renders every page whose evidence changed. It can be repeated: a page is a function of the evidence, and
// placing it twice does nothing more.
func (s *Shelf) RenderDirty(ctx context.Context, d *folder.Dir, w claim.Wiki) error {
	dirty, err := s.store.DirtyPages(ctx, w.Slug)
	if err != nil {
		return err
	}
	for _, p := range dirty {
		if err := s.render(ctx, d, w, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *Shelf) render(ctx context.Context, d *folder.Dir, w claim.Wiki, p claim.Page) error {
	if p.Origin != claim.ByResearch {
		return s.store.PlacedPage(ctx, p, s.onDisk(d, p))
	}
	e, err := s.Evidence(ctx, w, p)
	if err != nil {
		return err
	}
	f := wiki.FlavorOf(w.Flavor)
	return s.Place(ctx, d, p, wiki.Summary(f, e), wiki.Render(f, e))
}

func (s *Shelf) onDisk(d *folder.Dir, p claim.Page) string {
	text, _, err := d.Read(p.Path)
	if err != nil {
		return ""
	}
	return text
}

// Place brings a page's text to its file and takes note of how it stands.
func (s *Shelf) Place(ctx context.Context, d *folder.Dir, p claim.Page, summary, text string) error {
	if err := s.store.WantPage(ctx, p.ID, summary, text); err != nil {
		return err
	}
	p.Summary = summary
	base := ""
	if p.Generated != "" {
		var err error
		if base, err = s.store.Text(ctx, p.Generated); err != nil {
			return err
		}
	}
	var lookup error
	placed, err := d.Place(p, base, text, func(hash string) bool {
		ok, err := s.store.HasText(ctx, hash)
		if err != nil {
			lookup = err
		}
		return ok
	})
	if err != nil {
		return fileError(err)
	}
	if lookup != nil {
		return lookup
	}
	p.State, p.Generated, p.Disk = placed.State, placed.Generated, placed.Disk
	now := s.onDisk(d, p)
	if placed.State != claim.Removed {
		// What stands on disk is what is searched, and its text is kept: a later merge may need it, and a proposal is known as
		// ours by it.
		if _, err := s.store.PutText(ctx, now); err != nil {
			return err
		}
	}
	if proposal, ok, err := d.Read(p.Path + ".proposed"); err == nil && ok && placed.State == claim.Proposed {
		if _, err := s.store.PutText(ctx, proposal); err != nil {
			return err
		}
	}
	return s.store.PlacedPage(ctx, p, now)
}

// fileError says that a person has to mend something in the wiki's folder: trying again helps only where the disk is full.
func fileError(err error) error {
	if err == nil || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return InputError("%w: put that right and run the command again; nothing is lost", err)
}

// Evidence gathers all that a page is rendered from.
func (s *Shelf) Evidence(ctx context.Context, w claim.Wiki, p claim.Page) (wiki.Evidence, error) {
	e := wiki.Evidence{Page: p, Sources: map[string]claim.Source{}}
	var err error
	if e.Claims, err = s.store.Claims(ctx, claim.Filter{Wiki: w.Slug, PageID: p.ID}); err != nil {
		return e, err
	}
	pairs, err := s.store.Contradictions(ctx, w.Slug, p.ID)
	if err != nil {
		return e, err
	}
	mine := map[string]bool{}
	for _, c := range e.Claims {
		mine[c.ID] = true
	}
	var spans []claim.Span
	for _, pair := range pairs {
		own, other := pair.A, pair.B
		if !mine[own] {
			own, other = other, own
		}
		cs, err := s.store.ClaimsByID(ctx, []string{other})
		if err != nil || len(cs) == 0 {
			return e, err
		}
		if cs[0].Unsupported {
			continue
		}
		x := wiki.Conflict{ClaimID: own, Why: pair.Why, OtherText: cs[0].Text, OtherSpan: cs[0].Span}
		if cs[0].PageID != p.ID {
			op, err := s.store.Page(ctx, cs[0].PageID)
			if err != nil {
				return e, err
			}
			if op.State != claim.Removed {
				x.OtherPage = wiki.Link{Title: op.Title, Path: op.Path}
			}
		}
		spans = append(spans, cs[0].Span)
		e.Conflicts = append(e.Conflicts, x)
	}
	for _, c := range e.Claims {
		spans = append(append(spans, c.Span), c.Supports...)
	}
	for _, sp := range spans {
		if _, known := e.Sources[sp.SourceID]; known {
			continue
		}
		if e.Sources[sp.SourceID], err = s.store.Source(ctx, sp.SourceID); err != nil {
			return e, err
		}
	}
	e.Related, err = s.related(ctx, w.Slug, p, e.Claims)
	return e, err
}

const mostRelated = 12

// related finds the pages whose topics a page's claims mention. The work depends on the page, not on the wiki.
func (s *Shelf) related(ctx context.Context, slug string, p claim.Page, claims []claim.Claim) ([]wiki.Link, error) {
	var out []wiki.Link
	seen := map[string]bool{p.Key: true}
	for _, c := range claims {
		for _, key := range research.Topics(c.Text) {
			if seen[key] || len(out) == mostRelated {
				continue
			}
			seen[key] = true
			other, found, err := s.store.PageByKey(ctx, slug, key)
			if err != nil {
				return nil, err
			}
			if !found || other.ID == p.ID || other.State == claim.Removed || slices.ContainsFunc(out, func(l wiki.Link) bool { return l.Path == other.Path }) {
				continue
			}
			out = append(out, wiki.Link{Title: other.Title, Path: other.Path})
		}
	}
	return out, nil
}
