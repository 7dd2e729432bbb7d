package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// ProWorkflow is what a database of the pro-workflow plugin holds, in the plugin's own terms.
type ProWorkflow struct {
	Learnings []ProLearning
	Wikis     []ProWiki
	Skipped   []ProSkipped
}

// ProLearning is one of its learnings. Project is the base name of a folder, or whatever somebody wrote; "" is for all.
type ProLearning struct {
	ID                                           int64
	Category, Rule, Mistake, Correction, Project string
	TimesApplied                                 int
	CreatedAt                                    time.Time // zero where it can not be read
	Wiki                                         string
}

// ProWiki is one of its wikis.
type ProWiki struct {
	Slug, Title, Flavor, Scope, Root string
	Private                          bool
	CreatedAt                        time.Time
	Pages                            []ProPage
	Seeds                            []ProSeed
	Sources                          []ProSource
}

// ProPage is a page; Slug is its path below wiki/ without the extension.
type ProPage struct {
	ID                                        int64
	Slug, RelPath, Title, Summary, Type, Body string
}

// ProSeed is a question of a wiki.
type ProSeed struct {
	ID                    int64
	Query, Status, Parent string
	Depth                 int
}

// ProSource is a source of a wiki.
type ProSource struct {
	ID                  int64
	URL, Title, Fetcher string
}

// ProSkipped is a row that was not taken.
type ProSkipped struct {
	Table, Reason string
	ID            int64
}

// maxPro bounds a database that is read, in bytes; maxProPage a page's file.
const (
	maxPro     = 2 << 30
	maxProPage = 4 << 20
)

// ReadProWorkflow reads a pro-workflow database of any released version. The file and its write-ahead log are copied first, so
// that nothing is written beside the original. A version is told by the tables that are there: the plugin stamps none.
func ReadProWorkflow(ctx context.Context, path string) (*ProWorkflow, error) {
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if info.Size() > maxPro {
		return nil, fmt.Errorf("open %s: %d bytes are too many", path, info.Size())
	}
	dir, err := os.MkdirTemp("", "whetstone-import-*")
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", path, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(path+suffix, filepath.Join(dir, "data.db"+suffix)); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return nil, fmt.Errorf("copy %s: %w", path, err)
		}
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "data.db")+"?_pragma=busy_timeout(2000)")
	if err != nil {
		return nil, wrap(err, "open %s", path)
	}
	defer func() { _ = db.Close() }()
	tables, err := collect(ctx, db, "list tables", func(r scanner) (string, error) {
		var n string
		return n, r.Scan(&n)
	}, `SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(tables, "learnings") || slices.Contains(tables, "learning_skills") {
		return nil, fmt.Errorf("open %s: %w: it has not the tables of pro-workflow", path, ErrForeign)
	}
	out := &ProWorkflow{}
	if slices.Contains(tables, "wikis") {
		if err := out.readWikis(ctx, db); err != nil {
			return nil, err
		}
	}
	return out, out.readLearnings(ctx, db, slices.Contains(tables, "learnings_wiki"))
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

func (p *ProWorkflow) skip(table string, id int64, format string, args ...any) {
	p.Skipped = append(p.Skipped, ProSkipped{table, fmt.Sprintf(format, args...), id})
}

// text reads a column of any type; columns of theirs hold what somebody's shell put there.
func proText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

func proInt(v any) int {
	n, err := strconv.ParseFloat(strings.TrimSpace(proText(v)), 64)
	if err != nil || n < 0 || n > 1e9 {
		return 0
	}
	return int(n)
}

var proTimes = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04", "2006-01-02"}

func proTime(v any) time.Time {
	s := strings.TrimSpace(proText(v))
	for _, form := range proTimes {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// rows reads a query whose columns may hold anything.
func proRows(ctx context.Context, db *sql.DB, q string, n int, take func([]any)) error {
	rows, err := db.QueryContext(ctx, q)
	if err != nil {
		return wrap(err, "read the database")
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		vals, dest := make([]any, n), make([]any, n)
		for i := range vals {
			dest[i] = &vals[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return wrap(err, "read the database")
		}
		take(vals)
	}
	return wrap(rows.Err(), "read the database")
}

func proID(v any) int64 {
	n, _ := strconv.ParseInt(proText(v), 10, 64)
	return n
}

func trimmed(v any) string { return strings.TrimFunc(proText(v), unicode.IsSpace) }

func (p *ProWorkflow) readLearnings(ctx context.Context, db *sql.DB, linked bool) error {
	wiki := map[int64]string{}
	var links [][2]any
	if linked {
		if err := proRows(ctx, db, `SELECT learning_id, wiki_slug FROM learnings_wiki ORDER BY rowid`, 2, func(v []any) { links = append(links, [2]any{v[0], v[1]}) }); err != nil {
			return err
		}
	}
	ids := map[int64]bool{}
	fold := cases.Fold()
	first := map[string]int{}
	err := proRows(ctx, db, `SELECT id, category, rule, mistake, correction, project, times_applied, created_at FROM learnings ORDER BY id`, 8, func(v []any) {
		l := ProLearning{ID: proID(v[0]), Category: trimmed(v[1]), Rule: trimmed(v[2]), Mistake: trimmed(v[3]), Correction: trimmed(v[4]), Project: trimmed(v[5]), TimesApplied: proInt(v[6]), CreatedAt: proTime(v[7])}
		ids[l.ID] = true
		switch {
		case !utf8.ValidString(l.Rule):
			p.skip("learnings", l.ID, "rule is not UTF-8")
			return
		case l.Rule == "":
			p.skip("learnings", l.ID, "empty rule")
			return
		}
		for _, f := range []*string{&l.Category, &l.Mistake, &l.Correction, &l.Project} {
			*f = strings.ToValidUTF8(*f, "\ufffd")
		}
		key := l.Project + "\x00" + fold.String(l.Category) + "\x00" + fold.String(l.Rule)
		if i, ok := first[key]; ok {
			p.Learnings[i].TimesApplied += l.TimesApplied
			p.skip("learnings", l.ID, "duplicate of %d", p.Learnings[i].ID)
			return
		}
		first[key] = len(p.Learnings)
		p.Learnings = append(p.Learnings, l)
	})
	if err != nil {
		return err
	}
	for _, l := range links {
		id, slug := proID(l[0]), proText(l[1])
		switch {
		case !ids[id]:
			p.skip("learnings_wiki", id, "no such learning")
		case !slices.ContainsFunc(p.Wikis, func(w ProWiki) bool { return w.Slug == slug }):
			p.skip("learnings_wiki", id, "no such wiki")
		default:
			wiki[id] = slug
		}
	}
	for i := range p.Learnings {
		p.Learnings[i].Wiki = wiki[p.Learnings[i].ID]
	}
	return nil
}

func (p *ProWorkflow) readWikis(ctx context.Context, db *sql.DB) error {
	index := map[string]int{}
	err := proRows(ctx, db, `SELECT slug, title, flavor, root_path, scope, private, created_at FROM wikis ORDER BY rowid`, 7, func(v []any) {
		w := ProWiki{Slug: proText(v[0]), Title: proText(v[1]), Flavor: proText(v[2]), Root: proText(v[3]), Scope: proText(v[4]), Private: proInt(v[5]) != 0, CreatedAt: proTime(v[6])}
		w.Private = w.Private || privateBefore(w.Root)
		index[w.Slug] = len(p.Wikis)
		p.Wikis = append(p.Wikis, w)
	})
	if err != nil {
		return err
	}
	at := func(table string, id int64, slug any) *ProWiki {
		if i, ok := index[proText(slug)]; ok {
			return &p.Wikis[i]
		}
		p.skip(table, id, "no such wiki")
		return nil
	}
	err = proRows(ctx, db, `SELECT id, wiki_slug, rel_path, title, summary, content, page_type FROM wiki_pages ORDER BY id`, 7, func(v []any) {
		pg := ProPage{ID: proID(v[0]), RelPath: proText(v[2]), Title: proText(v[3]), Summary: proText(v[4]), Type: proText(v[6])}
		w := at("wiki_pages", pg.ID, v[1])
		if w == nil {
			return
		}
		rel := strings.ReplaceAll(pg.RelPath, `\`, "/")
		if !filepath.IsLocal(filepath.FromSlash(rel)) || strings.HasPrefix(rel, "/") || len(rel) > 1 && rel[1] == ':' {
			p.skip("wiki_pages", pg.ID, "rel_path leaves the wiki folder")
			return
		}
		pg.Slug = strings.TrimSuffix(strings.TrimPrefix(rel, "wiki/"), ".md")
		if v[5] != nil {
			pg.Body = proText(v[5])
		} else {
			body, ok := readBelow(w.Root, rel)
			if !ok {
				p.skip("wiki_pages", pg.ID, "no content and no file")
				return
			}
			pg.Body = body
		}
		w.Pages = append(w.Pages, pg)
	})
	if err != nil {
		return err
	}
	query := map[int64]string{}
	if err := proRows(ctx, db, `SELECT id, query FROM wiki_seeds`, 2, func(v []any) { query[proID(v[0])] = proText(v[1]) }); err != nil {
		return err
	}
	err = proRows(ctx, db, `SELECT id, wiki_slug, query, status, parent_id, depth FROM wiki_seeds ORDER BY id`, 6, func(v []any) {
		sd := ProSeed{ID: proID(v[0]), Query: proText(v[2]), Status: proText(v[3]), Depth: proInt(v[5])}
		w := at("wiki_seeds", sd.ID, v[1])
		if w == nil {
			return
		}
		if strings.TrimSpace(sd.Query) == "" {
			p.skip("wiki_seeds", sd.ID, "empty query")
			return
		}
		if v[4] != nil {
			sd.Parent = query[proID(v[4])]
		}
		w.Seeds = append(w.Seeds, sd)
	})
	if err != nil {
		return err
	}
	return proRows(ctx, db, `SELECT id, wiki_slug, url, title, fetcher FROM wiki_sources ORDER BY id`, 5, func(v []any) {
		so := ProSource{ID: proID(v[0]), URL: proText(v[2]), Title: proText(v[3]), Fetcher: proText(v[4])}
		w := at("wiki_sources", so.ID, v[1])
		if w == nil {
			return
		}
		if low := strings.ToLower(so.URL); low != "" && !strings.HasPrefix(low, "http://") && !strings.HasPrefix(low, "https://") {
			p.skip("wiki_sources", so.ID, "url is not http or https")
			return
		}
		w.Sources = append(w.Sources, so)
	})
}

// privateBefore reads the flag where the plugin keeps it: in the wiki's own configuration.
func privateBefore(root string) bool {
	text, ok := readBelow(root, "wiki.config.md")
	if !ok {
		return false
	}
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(strings.TrimSpace(line), ":")
		v, _, _ = strings.Cut(v, "#")
		if ok && k == "private" && strings.Trim(strings.TrimSpace(v), `"'`) == "true" {
			return true
		}
	}
	return false
}

// readBelow reads a file of a folder without leaving it, by links neither.
func readBelow(root, rel string) (string, bool) {
	if !filepath.IsAbs(root) {
		return "", false
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return "", false
	}
	defer func() { _ = r.Close() }()
	f, err := r.Open(filepath.FromSlash(rel))
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxProPage {
		return "", false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxProPage))
	return string(b), err == nil
}
