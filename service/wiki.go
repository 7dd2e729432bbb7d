package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"whetstone/activities"
	"whetstone/claim"
	"whetstone/internal/words"
	"whetstone/model"
	"whetstone/store"
	"whetstone/wiki"
	"whetstone/wiki/folder"
	"whetstone/wiki/viewer"
)

// NewWiki says what wiki to make.
type NewWiki struct {
	Slug, Title, Flavor string
	Project             string // a project's folder; "" puts the wiki into the home
	Private             bool
}

// InitWiki makes a wiki's folder and registers it. A folder that holds a wiki already, as a cloned project does, is taken
// as it is; adopted tells.
func (s *Service) InitWiki(ctx context.Context, n NewWiki) (w claim.Wiki, adopted bool, err error) {
	if !wiki.ValidSlug(n.Slug) {
		return w, false, inputError(fmt.Sprintf("%q can not name a wiki: want lower-case letters, digits and hyphens, at most 64, not a hyphen first", n.Slug))
	}
	if n.Flavor == "" {
		n.Flavor = wiki.Flavors()[0]
	}
	if !slices.Contains(wiki.Flavors(), n.Flavor) {
		return w, false, inputError(fmt.Sprintf("flavor %q: want one of %s", n.Flavor, strings.Join(wiki.Flavors(), ", ")))
	}
	if strings.TrimSpace(n.Title) == "" {
		n.Title = n.Slug
	}
	root := filepath.Join(s.Home.Wikis(), n.Slug)
	if n.Project != "" {
		project, err := filepath.Abs(n.Project)
		if err != nil {
			return w, false, inputError(err.Error())
		}
		if info, err := os.Stat(project); err != nil || !info.IsDir() {
			return w, false, inputError(fmt.Sprintf("project %s is no folder", project))
		}
		root = filepath.Join(project, projectFolder(project), "wikis", n.Slug)
		n.Project = project
	}
	if _, err := s.Store.Wiki(ctx, n.Slug); err == nil {
		return w, false, inputError(fmt.Sprintf("wiki %s exists already: see `starter wiki show %s`", n.Slug, n.Slug))
	}
	w = claim.Wiki{Slug: n.Slug, Title: n.Title, Flavor: n.Flavor, Root: root, Project: n.Project, Private: n.Private, CreatedAt: s.Store.Now()}
	d, err := folder.Create(root, n.Slug, n.Title, n.Flavor, n.Private)
	if errors.Is(err, fs.ErrExist) {
		if d, err = folder.Open(root); err != nil {
			return w, false, err
		}
		cfg, cerr := d.Config()
		if cerr != nil {
			_ = d.Close()
			return w, false, inputError(cerr.Error())
		}
		w.Title, w.Private, adopted = cfg.Title, cfg.Private, true
		if cfg.Flavor != "" {
			w.Flavor = cfg.Flavor
		}
	}
	if err != nil {
		return w, false, err
	}
	defer func() { _ = d.Close() }()
	if err := s.Store.AddWiki(ctx, w); err != nil {
		if errors.Is(err, store.ErrState) {
			return w, false, inputError(err.Error())
		}
		return w, false, err
	}
	if adopted {
		err = s.shelf().SyncPages(ctx, d, w.Slug)
	}
	return w, adopted, err
}

// projectFolder is where agents look in a project: .agents where that is there and .claude is not, else .claude.
func projectFolder(project string) string {
	if _, err := os.Stat(filepath.Join(project, ".claude")); err == nil {
		return ".claude"
	}
	if info, err := os.Stat(filepath.Join(project, ".agents")); err == nil && info.IsDir() {
		return ".agents"
	}
	return ".claude"
}

func (s *Service) shelf() *activities.Shelf { return activities.NewShelf(s.Store, s.Store.Now) }

// OpenWiki finds a wiki, opens its folder and reads its configuration, and takes note of what people changed. The caller
// closes the folder.
func (s *Service) OpenWiki(ctx context.Context, slug string) (claim.Wiki, *folder.Dir, wiki.Config, error) {
	w, err := s.Store.Wiki(ctx, slug)
	if err != nil {
		return w, nil, wiki.Config{}, err
	}
	d, err := folder.Open(w.Root)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return w, nil, wiki.Config{}, inputError(fmt.Sprintf("the folder of wiki %s is gone: %s: put it back, or forget the wiki with `starter wiki delete %s --yes`", slug, w.Root, slug))
		}
		return w, nil, wiki.Config{}, err
	}
	cfg, err := d.Config()
	if err != nil {
		_ = d.Close()
		return w, nil, cfg, inputError(err.Error())
	}
	if cfg.Slug != "" && cfg.Slug != slug {
		_ = d.Close()
		return w, nil, cfg, inputError(fmt.Sprintf("%s says slug: %s, but the wiki is known as %s: put it back, or forget the wiki and make it under the new name", filepath.Join(w.Root, wiki.ConfigFile), cfg.Slug, slug))
	}
	if err := s.shelf().SyncPages(ctx, d, slug); err != nil {
		_ = d.Close()
		var app *temporal.ApplicationError
		if errors.As(err, &app) {
			return w, nil, cfg, inputError(app.Message())
		}
		return w, nil, cfg, err
	}
	w.Title, w.Private = cfg.Title, cfg.Private
	if cfg.Flavor != "" {
		w.Flavor = cfg.Flavor
	}
	return w, d, cfg, nil
}

// DeleteWiki forgets a wiki; files tells whether its folder goes, too.
func (s *Service) DeleteWiki(ctx context.Context, slug string, files bool) error {
	w, err := s.Store.Wiki(ctx, slug)
	if err != nil {
		return err
	}
	if files {
		if err := folder.Remove(w.Root); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.Store.DeleteWiki(ctx, slug)
}

// StaleAfter is when a claim of a wiki counts as old.
func StaleAfter(cfg wiki.Config) time.Duration {
	if cfg.Research.StaleAfter > 0 {
		return cfg.Research.StaleAfter
	}
	return 720 * time.Hour
}

// Ask searches the wikis. Where the one asked has an embedding model and vectors, its question becomes a vector, too.
func (s *Service) Ask(ctx context.Context, q store.WikiQuery) ([]claim.Hit, error) {
	if q.Wiki != "" {
		w, d, cfg, err := s.OpenWiki(ctx, q.Wiki)
		if err != nil {
			return nil, err
		}
		_ = d.Close()
		if cfg.Embedding != "" {
			if err := s.vector(ctx, w, cfg, &q); err != nil {
				s.Log.Warn("the question has no vector; the search goes by words alone", "error", err)
			}
		}
	}
	hits, err := s.Store.SearchWikis(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.onDisk(ctx, hits), nil
}

// onDisk leaves out what is on a page that somebody removed since the last look.
func (s *Service) onDisk(ctx context.Context, hits []claim.Hit) []claim.Hit {
	roots := map[string]string{}
	return slices.DeleteFunc(hits, func(h claim.Hit) bool {
		if _, known := roots[h.Wiki]; !known {
			if w, err := s.Store.Wiki(ctx, h.Wiki); err == nil {
				roots[h.Wiki] = w.Root
			}
		}
		_, err := os.Lstat(filepath.Join(roots[h.Wiki], filepath.FromSlash(h.Path)))
		return errors.Is(err, fs.ErrNotExist)
	})
}

// Related finds pages that are about similar things, in all wikis: by the page's title first, then by what introduces it,
// where more than a word is shared.
func (s *Service) Related(ctx context.Context, p claim.Page, limit int) ([]claim.Hit, error) {
	out, err := s.Store.SearchWikis(ctx, store.WikiQuery{Text: p.Title, What: "page", Limit: limit, Except: p.ID})
	if err != nil {
		return nil, err
	}
	more, err := s.Store.SearchWikis(ctx, store.WikiQuery{Text: p.Summary, What: "page", Limit: 2 * limit, Except: p.ID})
	if err != nil {
		return nil, err
	}
	mine := words.Content(p.Summary)
	for _, h := range more {
		shared := 0
		for t := range words.Content(h.Title + " " + h.Summary + " " + h.Text) {
			if mine[t] {
				shared++
			}
		}
		if shared >= 3 && len(out) < limit && !slices.ContainsFunc(out, func(o claim.Hit) bool { return o.Ref == h.Ref }) {
			out = append(out, h)
		}
	}
	return s.onDisk(ctx, out), nil
}

// vector embeds a question. The same question is not paid for twice.
func (s *Service) vector(ctx context.Context, w claim.Wiki, cfg wiki.Config, q *store.WikiQuery) error {
	ref, err := model.ParseRef(cfg.Embedding)
	if err != nil {
		return err
	}
	if _, embedded, err := s.Store.VectorCounts(ctx, w.Slug, ref.String()); err != nil || embedded == 0 {
		return err
	}
	hash := claim.Hash("question\x00" + q.Text)
	v, err := s.Store.Vector(ctx, ref.String(), hash)
	if errors.Is(err, store.ErrNotFound) {
		models := s.Models
		if w.Private {
			models = s.private
		}
		var e model.Embedder
		if e, err = models.Embedder(ref); err != nil {
			return err
		}
		if err = s.payVector(ctx, w.Slug, ref, e, hash, q.Text); err != nil {
			return err
		}
		v, err = s.Store.Vector(ctx, ref.String(), hash)
	}
	if err != nil {
		return err
	}
	q.Vector, q.Model = v, ref.String()
	return nil
}

// askBudget is what questions to one wiki may cost in a day, in dollars: some two million words at the usual price.
const askBudget = 0.05

// payVector embeds one question through the ledger, under a run of its own for each wiki and day.
func (s *Service) payVector(ctx context.Context, slug string, ref model.Ref, e model.Embedder, hash, text string) error {
	price, err := s.Models.Price(ref)
	if err != nil {
		return err
	}
	most := model.MostEmbedded([]string{text})
	key := claim.Hash("ask\x00" + ref.String() + "\x00" + hash)
	booked, err := s.Store.Reserve(ctx, model.Booking{
		Key: key, RunID: "ask/" + slug + "/" + s.Store.Now().Format("2006-01-02"), Stage: "embed", Ref: ref,
		Reserve: price.Cost(model.Usage{Input: most}), Tokens: most, Budget: model.FromUSD(askBudget),
	})
	if err != nil || booked.Reply != nil {
		return err
	}
	reply, err := e.Embed(ctx, model.EmbedRequest{Ref: ref, Texts: []string{text}})
	if err != nil {
		return errors.Join(err, s.Store.Release(ctx, key, booked.Attempt, true, err.Error()))
	}
	if err := s.Store.PutVectors(ctx, ref.String(), []string{hash}, reply.Vectors); err != nil {
		return err
	}
	return s.Store.Settle(ctx, key, booked.Attempt, price.Cost(reply.Usage), model.Reply{Finish: "stop", Usage: reply.Usage})
}

// Verify puts a check of a page's claims, or of a wiki's old ones, into the queue, and returns how many claims it covers.
func (s *Service) Verify(ctx context.Context, slug, page string, stale bool) (claims int, err error) {
	_, d, cfg, err := s.OpenWiki(ctx, slug) // edited claims are queued by this
	if err != nil {
		return 0, err
	}
	defer func() { _ = d.Close() }()
	f := claim.Filter{Wiki: slug}
	if page != "" {
		p, err := s.FindPage(ctx, slug, page)
		if err != nil {
			return 0, err
		}
		f.PageID = p.ID
	}
	if stale {
		t := s.Store.Now().Add(-StaleAfter(cfg))
		f.StaleBefore = &t
	}
	cs, err := s.Store.Claims(ctx, f)
	if err != nil {
		return 0, err
	}
	byPage := map[string][]claim.Target{}
	var order []string
	for _, c := range cs {
		if byPage[c.PageID] == nil {
			order = append(order, c.PageID)
		}
		byPage[c.PageID] = append(byPage[c.PageID], claim.Target{ID: c.ID})
	}
	day := s.Store.Now().UTC().Format("2006-01-02")
	for _, id := range order {
		p, err := s.Store.Page(ctx, id)
		if err != nil {
			return claims, err
		}
		seed := claim.Seed{ID: claim.ID(slug, "verify", id, day), Wiki: slug, Text: p.Title, Kind: claim.Verify, Origin: "stale", PageID: id, Claims: byPage[id]}
		if _, err := s.Store.AddSeeds(ctx, []claim.Seed{seed}); err != nil {
			return claims, err
		}
		claims += len(byPage[id])
	}
	return claims, nil
}

// FindPage finds a page by its path, its file's name without .md, its title, or its id.
func (s *Service) FindPage(ctx context.Context, slug, name string) (claim.Page, error) {
	pages, err := s.Store.Pages(ctx, slug)
	if err != nil {
		return claim.Page{}, err
	}
	key := claim.Key(name)
	var found []claim.Page
	for _, p := range pages {
		if p.State == claim.Removed {
			continue
		}
		file := strings.TrimSuffix(filepath.Base(p.Path), ".md")
		if p.Path == name || p.ID == name {
			return p, nil
		}
		if file == strings.TrimSuffix(name, ".md") || claim.Key(p.Title) == key {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return claim.Page{}, inputError(fmt.Sprintf("wiki %s has no page %q: see `starter wiki page %s`", slug, name, slug))
	}
	var paths []string
	for _, p := range found {
		paths = append(paths, p.Path)
	}
	return claim.Page{}, inputError(fmt.Sprintf("%q is the name of several pages: give one of %s", name, strings.Join(paths, ", ")))
}

// View renders a wiki's viewer into derived/viewer.html and returns its path.
func (s *Service) View(ctx context.Context, slug string) (string, error) {
	w, d, _, err := s.OpenWiki(ctx, slug)
	if err != nil {
		return "", err
	}
	defer func() { _ = d.Close() }()
	in := viewer.Input{Slug: w.Slug, Title: w.Title, Flavor: w.Flavor, Private: w.Private}
	pages, err := s.Store.Pages(ctx, slug)
	if err != nil {
		return "", err
	}
	for _, p := range pages {
		if p.State == claim.Removed {
			continue
		}
		text, ok, err := d.Read(p.Path)
		if err != nil || !ok {
			continue
		}
		cs, err := s.Store.Claims(ctx, claim.Filter{Wiki: slug, PageID: p.ID})
		if err != nil {
			return "", err
		}
		in.Pages = append(in.Pages, viewer.Page{Page: p, Markdown: text, Claims: cs})
	}
	if in.Sources, err = s.Store.Sources(ctx, slug); err != nil {
		return "", err
	}
	if in.Seeds, err = s.Store.Seeds(ctx, slug, "", 2000); err != nil {
		return "", err
	}
	if in.Contradictions, err = s.Store.Contradictions(ctx, slug, ""); err != nil {
		return "", err
	}
	html, err := viewer.Render(in)
	if err != nil {
		return "", err
	}
	return filepath.Join(w.Root, "derived", "viewer.html"), d.Write("derived/viewer.html", string(html))
}
