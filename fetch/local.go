package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
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
	var docs []source.Document
	var first error
	skipped := &skips{}
	files := 0
	for i, p := range q.Paths {
		prefix, root := "file:", p
		if i == 0 {
			prefix, root = "file:raw/", filepath.Join(p, "raw")
		}
		got, n, err := readTree(ctx, root, prefix, i > 0, maxFiles-files, skipped)
		files += n
		if err != nil && first == nil {
			first = err
		}
		docs = append(docs, got...)
	}
	if first == nil {
		first = skipped.err()
	}
	return best(q, docs), first
}

// best ranks documents by BM25 over their text, titles counted four times: in a folder about one subject it is the rare word
// of a question that tells.
func best(q source.Query, docs []source.Document) []source.Document {
	want := words.Content(q.Text)
	type scored struct {
		doc   source.Document
		score float64
	}
	tf := make([]map[string]int, len(docs))
	df := map[string]int{}
	total := 0
	length := make([]int, len(docs))
	for i, d := range docs {
		tf[i] = map[string]int{}
		for _, t := range words.Tokens(d.Text) {
			length[i]++
			if want[t] {
				tf[i][t]++
			}
		}
		for _, t := range words.Tokens(d.Title) {
			if want[t] {
				tf[i][t] += 4
			}
		}
		for t := range tf[i] {
			df[t]++
		}
		total += length[i]
	}
	average := math.Max(float64(total)/math.Max(float64(len(docs)), 1), 1)
	terms := slices.Sorted(maps.Keys(want)) // in order: sums of fractions depend on it
	var all []scored
	for i, d := range docs {
		score, met := 0.0, 0
		for _, t := range terms {
			n := float64(tf[i][t])
			if n == 0 {
				continue
			}
			met++
			idf := math.Log(1 + (float64(len(docs))-float64(df[t])+0.5)/(float64(df[t])+0.5))
			score += idf * n * 2.2 / (n + 1.2*(0.25+0.75*float64(length[i])/average))
		}
		// One common word of a long question is no answer to it.
		if len(want) == 0 || met > 0 && (met > 1 || len(want) < 3) {
			all = append(all, scored{d, score})
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
	return out
}

// skips are the files that could not be read, with why: what a person put into raw/ is never passed over in silence.
type skips struct {
	names []string
	big   bool
}

func (s *skips) add(name, why string, big bool) {
	if len(s.names) < 5 {
		s.names = append(s.names, name+" ("+why+")")
	} else if len(s.names) == 5 {
		s.names = append(s.names, "and more")
	}
	s.big = s.big || big
}

func (s *skips) err() error {
	if len(s.names) == 0 {
		return nil
	}
	kind := source.Malformed
	if s.big {
		kind = source.TooLarge
	}
	e := source.Errorf(kind, "local", "left out: %s", strings.Join(s.names, ", "))
	e.Final = true
	return e
}

func readTree(ctx context.Context, root, prefix string, outside bool, most int, skipped *skips) ([]source.Document, int, error) {
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
		d, ok := readFile(ctx, dir, filepath.Base(root), prefix, skipped)
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
		if e.Type()&fs.ModeSymlink != 0 {
			skipped.add(path, "a symbolic link", false)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		if n++; n > most {
			return fs.SkipAll
		}
		if d, ok := readFile(ctx, dir, path, prefix, skipped); ok {
			out = append(out, d)
		}
		return nil
	})
	if err != nil {
		return out, n, source.Errorf(source.Unavailable, "local", "not all of %s can be read", filepath.Base(root))
	}
	return out, n, nil
}

func readFile(ctx context.Context, dir *os.Root, path, prefix string, skipped *skips) (source.Document, bool) {
	d := source.Document{URL: prefix + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), Title: filepath.Base(path), Fetcher: "local"}
	ext := strings.ToLower(filepath.Ext(path))
	switch ext {
	case ".md", ".markdown", ".txt", ".text", ".rst", ".adoc", ".org", ".html", ".htm", ".pdf", "":
	default:
		return d, false
	}
	f, err := dir.Open(path)
	if err != nil {
		skipped.add(path, "it can not be opened", false)
		return d, false
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, localLimits+1))
	if err != nil || len(b) > localLimits {
		skipped.add(path, "larger than 8 MiB", true)
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
			skipped.add(path, "a PDF that pdftotext does not read, or there is no pdftotext", false)
			return d, false
		}
		d.Text = text
	default:
		if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			if ext != "" {
				skipped.add(path, "not UTF-8 text", false)
			}
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
