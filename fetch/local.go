package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"whetstone/internal/words"
	"whetstone/source"
)

// local reads files: Markdown, text, HTML, and PDF where pdftotext is installed. Query.Paths names what may be read, the
// first of them the wiki's own folder, of which only raw/ is read. It follows no symbolic link out of a named path.
type local struct{}

const (
	maxFiles    = 5000
	pdfTimeout  = 30 * time.Second
	localLimits = 8 << 20
)

func (local) Declare() source.Declaration { return source.Declaration{Name: "local"} }

func (local) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	type scored struct {
		doc   source.Document
		score float64
	}
	want := words.Content(q.Text)
	var all []scored
	var first error
	files := 0
	for i, p := range q.Paths {
		prefix, root := "file:", p
		if i == 0 {
			prefix, root = "file:raw/", filepath.Join(p, "raw")
		}
		docs, n, err := readTree(ctx, root, prefix, i > 0, maxFiles-files)
		files += n
		if err != nil && first == nil {
			first = err
		}
		for _, d := range docs {
			score := overlap(want, d)
			if len(want) == 0 || score > 0 {
				all = append(all, scored{d, score})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc.URL, b.doc.URL))
	})
	var out []source.Document
	for _, s := range all {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		out = append(out, s.doc)
	}
	return out, first
}

// overlap is the share of the question's words that a document has, those in its title twice.
func overlap(want map[string]bool, d source.Document) float64 {
	if len(want) == 0 {
		return 0
	}
	body, title := words.Content(d.Text), words.Content(d.Title)
	n := 0.0
	for t := range want {
		if body[t] {
			n++
		}
		if title[t] {
			n++
		}
	}
	// One common word of a long question is no answer to it.
	if n < 2 && len(want) >= 3 {
		return 0
	}
	return n / float64(len(want))
}

func readTree(ctx context.Context, root, prefix string, outside bool, most int) ([]source.Document, int, error) {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		if outside {
			return nil, 0, source.Errorf(source.NotFound, "local", "%s is not there", filepath.Base(root))
		}
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, source.Errorf(source.Unavailable, "local", "%s can not be read", filepath.Base(root))
	}
	if !info.IsDir() {
		dir, err := os.OpenRoot(filepath.Dir(root))
		if err != nil {
			return nil, 0, source.Errorf(source.Unavailable, "local", "%s can not be read", filepath.Base(root))
		}
		defer func() { _ = dir.Close() }()
		d, ok := readFile(ctx, dir, filepath.Base(root), prefix)
		if !ok {
			return nil, 1, source.Errorf(source.Malformed, "local", "%s is no text that can be read", filepath.Base(root))
		}
		return []source.Document{d}, 1, nil
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, 0, source.Errorf(source.Unavailable, "local", "%s can not be read", filepath.Base(root))
	}
	defer func() { _ = dir.Close() }()
	if outside {
		prefix += url.PathEscape(filepath.Base(root)) + "/"
	}
	var out []source.Document
	n := 0
	err = fs.WalkDir(dir.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		name := e.Name()
		if strings.HasPrefix(name, ".") && path != "." || name == "node_modules" || name == "vendor" && e.IsDir() {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		if n++; n > most {
			return fs.SkipAll
		}
		if d, ok := readFile(ctx, dir, path, prefix); ok {
			out = append(out, d)
		}
		return nil
	})
	if err != nil {
		return out, n, source.Errorf(source.Unavailable, "local", "not all of %s can be read", filepath.Base(root))
	}
	return out, n, nil
}

func readFile(ctx context.Context, dir *os.Root, path, prefix string) (source.Document, bool) {
	d := source.Document{URL: prefix + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), Title: filepath.Base(path), Fetcher: "local"}
	ext := strings.ToLower(filepath.Ext(path))
	switch ext {
	case ".md", ".markdown", ".txt", ".text", ".rst", ".adoc", ".org", ".html", ".htm", ".pdf", "":
	default:
		return d, false
	}
	f, err := dir.Open(path)
	if err != nil {
		return d, false
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, localLimits+1))
	if err != nil || len(b) > localLimits {
		return d, false
	}
	switch ext {
	case ".html", ".htm":
		a, err := readArticle(b, "text/html", &url.URL{Scheme: "http", Host: "localhost", Path: "/"})
		if err != nil {
			return d, false
		}
		d.Text = a.text
		d.Title = orElse(a.title, d.Title)
	case ".pdf":
		text, err := pdfText(ctx, b)
		if err != nil {
			return d, false
		}
		d.Text = text
	default:
		if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			return d, false
		}
		d.Text = strings.TrimPrefix(string(b), "\ufeff")
		if t := firstHeading(d.Text); t != "" {
			d.Title = t
		}
	}
	return d, strings.TrimSpace(d.Text) != ""
}

func firstHeading(text string) string {
	for _, l := range strings.SplitN(text, "\n", 12) {
		if t, ok := strings.CutPrefix(l, "# "); ok {
			return unwrap(t)
		}
	}
	return ""
}

// pdfText runs pdftotext where it is installed.
func pdfText(ctx context.Context, pdf []byte) (string, error) {
	bin, err := exec.LookPath("pdftotext")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, pdfTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-q", "-enc", "UTF-8", "-", "-")
	cmd.Stdin = bytes.NewReader(pdf)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil || len(out) > localLimits {
		return "", errors.New("the PDF can not be read")
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(out), "\f", "\n\n"), "\ufffd"), nil
}
