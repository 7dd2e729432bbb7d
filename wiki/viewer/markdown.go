package viewer

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"whetstone/claim"
)

// toHTML renders a page and sanitises the result. Links to pages of the wiki become anchors, links to files below raw/
// stay relative to the file, web addresses stay, and everything else loses its target. links lists the pages it leads to.
func toHTML(p claim.Page, md string, pages map[string]string) (out template.HTML, links []string, err error) {
	var linked []string
	rewrite := &rewriter{from: p.Path, pages: pages, found: func(id string) { linked = append(linked, id) }}
	g := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.NewFootnote(extension.WithFootnoteIDPrefix([]byte(anchor(p.ID)+"-")))),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(rewrite, 999))),
	)
	if rest, ok := strings.CutPrefix(strings.ReplaceAll(md, "\r\n", "\n"), "---\n"); ok {
		if _, b, ok := strings.Cut(rest, "\n---\n"); ok {
			md = b
		}
	}
	var b bytes.Buffer
	if err := g.Convert([]byte(md), &b); err != nil {
		return "", nil, fmt.Errorf("render %s: %w", p.Path, err)
	}
	return template.HTML(policy.SanitizeBytes(b.Bytes())), linked, nil //nolint:gosec // sanitised
}

// policy allows what pages are made of, and nothing that runs, loads or submits.
var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del", "sup", "table", "thead", "tbody", "tr", "th", "td", "div")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("id").Matching(identifier).OnElements("li", "sup", "a")
	p.AllowAttrs("class").Matching(bluemonday.SpaceSeparatedTokens).OnElements("a", "div", "code", "sup")
	p.AllowAttrs("role").Matching(bluemonday.SpaceSeparatedTokens).OnElements("a", "div")
	p.AllowURLSchemes("http", "https")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoReferrerOnLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}()

// identifier is what footnotes are known by.
var identifier = regexp.MustCompile(`^[\p{L}\p{N}_:-]+$`)

// plain is what a reader sees of a page: its text without markup, footnotes and marks of footnotes. It is what the search
// looks through.
func plain(h template.HTML) string {
	s := string(h)
	if i := strings.Index(s, `<div class="footnotes"`); i >= 0 {
		s = s[:i]
	}
	s = footnoteMark.ReplaceAllString(s, "")
	s = tag.ReplaceAllString(s, " ")
	return strings.Join(strings.Fields(html.UnescapeString(s)), " ")
}

var (
	footnoteMark = regexp.MustCompile(`<sup id="[^"]*"><a[^>]*>[^<]*</a></sup>`)
	tag          = regexp.MustCompile(`<[^>]*>`)
)

// rewriter gives links their targets within the file.
type rewriter struct {
	from  string
	pages map[string]string
	found func(id string)
}

// Transform visits the links and images of a document.
func (r *rewriter) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch x := n.(type) {
		case *ast.Link:
			x.Destination = []byte(r.target(string(x.Destination)))
			x.Title = nil
		case *ast.Image:
			images = append(images, x)
		}
		return ast.WalkContinue, nil
	})
	// Pictures would be loaded from somewhere: their description stays.
	for _, img := range images {
		parent := img.Parent()
		for c := img.FirstChild(); c != nil; {
			next := c.NextSibling()
			parent.InsertBefore(parent, img, c)
			c = next
		}
		parent.RemoveChild(parent, img)
	}
}

func (r *rewriter) target(dest string) string {
	u, err := url.Parse(strings.TrimSpace(dest))
	if err != nil {
		return "#"
	}
	if u.Scheme != "" || u.Host != "" {
		return follow(dest)
	}
	if u.Path == "" {
		if u.Fragment != "" {
			return "#" + u.Fragment
		}
		return "#"
	}
	to := path.Join(path.Dir(r.from), u.Path)
	if id, ok := r.pages[to]; ok {
		r.found(id)
		return "#" + id
	}
	switch {
	case to == "sources.md":
		return "#sources"
	case to == "index.md":
		return "#top"
	case strings.HasPrefix(to, "raw/"):
		return "../" + (&url.URL{Path: to}).EscapedPath()
	}
	return "#"
}

// follow is an address that a reader may follow, "" for any other.
func follow(raw string) string {
	if rel, ok := strings.CutPrefix(raw, "file:raw/"); ok {
		return "../raw/" + rel
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.String()
	}
	return ""
}
