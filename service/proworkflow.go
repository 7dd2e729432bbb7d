package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"whetstone/claim"
	"whetstone/learning"
	"whetstone/project"
	"whetstone/store"
	"whetstone/wiki"
	"whetstone/wiki/folder"
)

// ProImport says how a pro-workflow database is taken over.
type ProImport struct {
	Path    string
	Approve bool              // the learnings are approved at once
	Folders map[string]string // project's name there -> its folder here
}

// ProImported tells what was taken over.
type ProImported struct {
	Learnings struct {
		New      int `json:"new"`
		Existing int `json:"existing"`
		Redacted int `json:"redacted"`
	} `json:"learnings"`
	Wikis   []ProImportedWiki `json:"wikis"`
	Skipped []ProSkipped      `json:"skipped"`
	Unknown []string          `json:"unknown_projects"` // known by name only; map them to folders
}

// ProImportedWiki is one wiki that was taken over.
type ProImportedWiki struct {
	Slug     string `json:"slug"`
	From     string `json:"from"` // its name there
	New      bool   `json:"new"`
	Pages    int    `json:"pages"`    // new here
	Existing int    `json:"existing"` // pages that were here already and were left alone
	Seeds    int    `json:"seeds"`    // new here
}

// ProSkipped is a row that was not taken.
type ProSkipped struct {
	Table  string `json:"table"`
	ID     int64  `json:"id"`
	Reason string `json:"reason"`
}

// ImportProWorkflow takes learnings and wikis of a pro-workflow database. Doing it again adds what is new since and doubles
// nothing. Claims are not taken, since they lead to no span of a source; pages come as a person's own.
func (s *Service) ImportProWorkflow(ctx context.Context, in ProImport) (ProImported, error) {
	out := ProImported{Wikis: []ProImportedWiki{}, Skipped: []ProSkipped{}, Unknown: []string{}}
	db, err := store.ReadProWorkflow(ctx, in.Path)
	if err != nil {
		if errors.Is(err, store.ErrForeign) || errors.Is(err, store.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
			return out, inputError(err.Error())
		}
		return out, err
	}
	skip := func(table string, id int64, format string, args ...any) {
		out.Skipped = append(out.Skipped, ProSkipped{table, id, fmt.Sprintf(format, args...)})
	}
	for _, x := range db.Skipped {
		skip(x.Table, x.ID, "%s", x.Reason)
	}
	slugs := map[string]string{}
	for _, w := range db.Wikis {
		got, err := s.importWiki(ctx, w, skip)
		if err != nil {
			return out, err
		}
		slugs[w.Slug] = got.Slug
		out.Wikis = append(out.Wikis, got)
	}
	projects := map[string]string{}
	var ls []learning.Learning
	for _, x := range db.Learnings {
		l := learning.Learning{
			Status: learning.Pending, Category: x.Category, Rule: x.Rule, Mistake: x.Mistake, Correction: x.Correction, Wiki: slugs[x.Wiki],
			Host: "pro-workflow", Observations: 1, TimesApplied: x.TimesApplied, CreatedAt: x.CreatedAt,
		}
		if in.Approve {
			l.Status = learning.Approved
		}
		if l.CreatedAt.IsZero() {
			l.CreatedAt = s.Store.Now()
		}
		l.ValidFrom = l.CreatedAt
		if l.Category == "" {
			l.Category = "general"
		}
		for _, f := range []*string{&l.Category, &l.Rule, &l.Mistake, &l.Correction} {
			clean, counts := learning.Redact(learning.Clean(*f))
			*f = clean
			for _, n := range counts {
				out.Learnings.Redacted += n
			}
		}
		l.Rule = strings.Join(strings.Fields(l.Rule), " ")
		pid, known := projects[x.Project]
		if !known {
			if pid, err = s.projectOf(ctx, x.Project, in.Folders); err != nil {
				return out, err
			}
			projects[x.Project] = pid
			if pid == x.Project && pid != "" {
				out.Unknown = append(out.Unknown, pid)
			}
		}
		l.Project = pid
		if err := l.Validate(); err != nil {
			skip("learnings", x.ID, "%v", err)
			continue
		}
		ls = append(ls, l)
	}
	if len(ls) > 0 {
		added, err := s.Store.AddLearnings(ctx, ls)
		if err != nil {
			return out, err
		}
		out.Learnings.New, out.Learnings.Existing = added.New, added.Existing
	}
	slices.Sort(out.Unknown)
	return out, nil
}

// projectOf finds the project here that a name there means. A bare name says too little, since two folders can share one: it
// stays a name, which matches no project, until it is mapped to a folder.
func (s *Service) projectOf(ctx context.Context, name string, folders map[string]string) (string, error) {
	dir := folders[name]
	if dir == "" && filepath.IsAbs(name) {
		if _, err := project.Exists(name); err == nil {
			dir = name
		}
	}
	if dir == "" {
		return name, nil
	}
	id := project.Find(dir)
	pid, err := s.Store.AddProject(ctx, id.Keys, id.Name)
	if err != nil {
		return "", err
	}
	// An earlier import knew it by its name.
	_, err = s.Store.MoveLearnings(ctx, name, pid)
	return pid, err
}

func (s *Service) importWiki(ctx context.Context, w store.ProWiki, skip func(string, int64, string, ...any)) (ProImportedWiki, error) {
	got := ProImportedWiki{Slug: w.Slug, From: w.Slug}
	if !wiki.ValidSlug(got.Slug) {
		got.Slug = wiki.Slug(w.Slug)
	}
	if !slices.Contains(wiki.Flavors(), w.Flavor) {
		w.Flavor = ""
	}
	title, _ := learning.Redact(learning.Clean(w.Title))
	if _, err := s.Store.Wiki(ctx, got.Slug); errors.Is(err, store.ErrNotFound) {
		if _, _, err := s.InitWiki(ctx, NewWiki{Slug: got.Slug, Title: strings.Join(strings.Fields(title), " "), Flavor: w.Flavor, Private: w.Private}); err != nil {
			return got, err
		}
		got.New = true
	} else if err != nil {
		return got, err
	}
	rec, d, _, err := s.OpenWiki(ctx, got.Slug)
	if err != nil {
		return got, err
	}
	defer func() { _ = d.Close() }()
	for _, p := range w.Pages {
		name := "wiki/" + p.Slug + ".md"
		if strings.HasPrefix(filepath.Base(name), ".") || !utf8.ValidString(name) {
			skip("wiki_pages", p.ID, "its name can not be used")
			continue
		}
		fresh, err := importPage(d, name, p)
		if err != nil {
			skip("wiki_pages", p.ID, "%v", err)
			continue
		}
		if fresh {
			got.Pages++
		} else {
			got.Existing++
		}
	}
	if text := sourceList(w); text != "" {
		if _, ok, err := d.Read("wiki/imported-sources.md"); err == nil && !ok {
			if err := d.Write("wiki/imported-sources.md", text); err != nil {
				return got, err
			}
		}
	}
	if err := s.shelf().SyncPages(ctx, d, rec.Slug); err != nil {
		return got, err
	}
	var seeds []claim.Seed
	for _, x := range w.Seeds {
		if x.Status == "done" || x.Status == "failed" || strings.HasPrefix(x.Query, "verify edits in ") {
			continue // what they asked and answered; our own checks of edits are made here
		}
		text, _ := learning.Redact(learning.Clean(x.Query))
		if text = strings.Join(strings.Fields(text), " "); claim.Key(text) == "" || len(text) > 500 {
			skip("wiki_seeds", x.ID, "its text can not be looked into")
			continue
		}
		seeds = append(seeds, claim.Seed{Wiki: got.Slug, Text: text, Kind: claim.Topic, Origin: "person"})
	}
	if len(seeds) > 0 {
		if got.Seeds, err = s.Store.AddSeeds(ctx, seeds); err != nil {
			return got, err
		}
	}
	return got, nil
}

// importPage writes a page that is not there yet. The text is data: secrets are taken out of it, nothing else.
func importPage(d *folder.Dir, name string, p store.ProPage) (bool, error) {
	if _, ok, err := d.Read(name); err != nil || ok {
		return false, err
	}
	body, _ := learning.Redact(strings.ToValidUTF8(p.Body, "\ufffd"))
	if strings.TrimSpace(body) == "" {
		body = "# " + strings.Join(strings.Fields(learning.Clean(p.Title)), " ") + "\n"
	}
	return true, d.Write(name, body)
}

// sourceList keeps the addresses that a wiki named, as a page; research fetches them only if they are asked for.
func sourceList(w store.ProWiki) string {
	var b strings.Builder
	for _, x := range w.Sources {
		if x.URL != "" {
			fmt.Fprintf(&b, "- %s <%s>\n", strings.Join(strings.Fields(learning.Clean(x.Title)), " "), strings.Join(strings.Fields(learning.Clean(x.URL)), "%20"))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "# Sources of the wiki before it was imported\n\n" + b.String()
}
