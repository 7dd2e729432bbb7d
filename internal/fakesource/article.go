package fakesource

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed article.html.tmpl
var articleHTML string

var articlePage = template.Must(template.New("article").Parse(articleHTML))

// articleData is what a page shows around and in its article.
type articleData struct {
	Document
	URL, Home, Site, Language string
	Blocks                    []articleBlock
	Related                   []articleLink
}

// articleBlock is a paragraph with its first word apart: pages put markup inside sentences, and a reader has to join them
// again.
type articleBlock struct {
	Heading     bool
	First, Rest string
}

type articleLink struct{ Title, URL string }

// article is the page of a document: the text inside <article>, and around it what sites put around texts.
func (s *Server) article(d Document) string {
	site := []string{"Quorum Notes", "The Replica", "Northgate Engineering", "Field & Stack"}[d.hash("site")%4]
	data := articleData{Document: d, URL: s.pageURL(d), Home: s.URL(Web), Site: site, Language: d.Lang}
	if d.Lang == "zh" {
		data.Language = "zh-CN"
	}
	for i, p := range d.paragraphs() {
		block := articleBlock{Heading: p.Heading, Rest: p.Text}
		if first, rest, ok := strings.Cut(p.Text, " "); ok && i == 0 && !p.Heading && d.Lang != "zh" {
			block.First, block.Rest = first, " "+rest
		}
		data.Blocks = append(data.Blocks, block)
	}
	on := s.opts.World.of(Web)
	for i := range min(len(on)-1, 4) {
		other := on[(int(d.hash("related")%uint64(len(on)))+i*7)%len(on)]
		if other.ID != d.ID {
			data.Related = append(data.Related, articleLink{other.Title, s.pageURL(other)})
		}
	}
	var b strings.Builder
	if err := articlePage.Execute(&b, data); err != nil {
		return err.Error()
	}
	return b.String()
}
