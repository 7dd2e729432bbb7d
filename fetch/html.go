package fetch

import (
	"bytes"
	"io"
	"net/url"
	"regexp"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// article is what a page says, without what stands around it.
type article struct {
	title, text, byline, published string
}

// maxNodes bounds the work on one page.
const maxNodes = 200_000

// readArticle extracts the article of an HTML page: readability finds it, then it is written as Markdown, so that headings,
// lists and code are told apart from sentences.
func readArticle(body []byte, contentType string, at *url.URL) (article, error) {
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return article{}, err
	}
	utf8Body, err := io.ReadAll(io.LimitReader(r, 2*maxBody))
	if err != nil {
		return article{}, err
	}
	p := readability.NewParser()
	p.MaxElemsToParse = maxNodes
	a, err := p.Parse(bytes.NewReader(utf8Body), at)
	if err != nil {
		return article{}, err
	}
	out := article{title: unwrap(a.Title()), byline: unwrap(a.Byline())}
	if t, err := a.PublishedTime(); err == nil {
		out.published = t.UTC().Format("2006-01-02")
	}
	if a.Node != nil {
		out.text = markdown(a.Node)
	}
	if len(strings.Fields(out.text)) < 20 && !chinese(out.text) {
		// Too little for an article: take the page's body as it is.
		if doc, err := html.Parse(bytes.NewReader(utf8Body)); err == nil {
			if whole := markdown(doc); len(whole) > len(out.text) {
				out.text = whole
			}
		}
	}
	return out, nil
}

// markdown writes the readable content of a tree.
func markdown(n *html.Node) string {
	var b strings.Builder
	walk(&b, n, 0)
	return strings.TrimSpace(blankLines.ReplaceAllString(b.String(), "\n\n")) + "\n"
}

var blankLines = regexp.MustCompile(`\n[ \t]*\n\s*\n+`)

func walk(b *strings.Builder, n *html.Node, depth int) {
	if depth > 400 {
		return
	}
	children := func() {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(b, c, depth+1)
		}
	}
	switch n.Type {
	case html.TextNode:
		text := n.Data
		lead, tail := strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n"), strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\n")
		text = unwrap(text)
		if text == "" {
			if lead {
				space(b)
			}
			return
		}
		if lead {
			space(b)
		}
		b.WriteString(text)
		if tail {
			b.WriteByte(' ')
		}
		return
	case html.ElementNode:
	default:
		children()
		return
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Form, atom.Button, atom.Nav, atom.Footer, atom.Aside, atom.Head, atom.Select, atom.Textarea, atom.Object, atom.Embed, atom.Canvas, atom.Audio, atom.Video:
		return
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		b.WriteString("\n\n" + strings.Repeat("#", int(n.Data[1]-'0')) + " ")
		children()
		b.WriteString("\n\n")
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Figure, atom.Figcaption, atom.Dl, atom.Dt, atom.Dd, atom.Ul, atom.Ol, atom.Table, atom.Details, atom.Summary, atom.Header:
		b.WriteString("\n\n")
		children()
		b.WriteString("\n\n")
	case atom.Blockquote:
		b.WriteString("\n\n> ")
		children()
		b.WriteString("\n\n")
	case atom.Li:
		b.WriteString("\n- ")
		children()
		b.WriteString("\n")
	case atom.Tr:
		b.WriteString("\n| ")
		children()
	case atom.Td, atom.Th:
		children()
		b.WriteString(" | ")
	case atom.Br:
		b.WriteString("\n")
	case atom.Pre:
		b.WriteString("\n\n```\n")
		code(b, n, depth)
		b.WriteString("\n```\n\n")
	case atom.Code:
		b.WriteString("`")
		code(b, n, depth)
		b.WriteString("`")
	case atom.Sup:
		// A reference mark would become part of the last word.
	default:
		children()
	}
}

func code(b *strings.Builder, n *html.Node, depth int) {
	if depth > 400 {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(strings.ReplaceAll(c.Data, "`", "'"))
			continue
		}
		code(b, c, depth+1)
	}
}

func space(b *strings.Builder) {
	if s := b.String(); s != "" && !strings.HasSuffix(s, " ") && !strings.HasSuffix(s, "\n") {
		b.WriteByte(' ')
	}
}
