package fakesource

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// Document is one thing that can be found. Only ID, Sources and Title are needed; identifiers that are left out are
// derived from ID, so that they stay the same from run to run.
type Document struct {
	ID        string   `json:"id"`        // also the name of its page: Server.URL("web") + "/" + ID + ".html"
	Sources   []string `json:"sources"`   // which fakes know it: arxiv, github, wikipedia, web, semanticscholar, openalex
	Title     string   `json:"title"`     // on GitHub only the README has it
	Lang      string   `json:"lang"`      // "en", "zh"
	Published string   `json:"published"` // YYYY-MM-DD
	Authors   []string `json:"authors,omitempty"`
	Abstract  string   `json:"abstract,omitempty"` // on GitHub the description, on Wikipedia the lead
	Body      string   `json:"body"`               // paragraphs separated by blank lines; "## " heads a section

	Repo     string   `json:"repo,omitempty"` // GitHub: owner/name
	Stars    int      `json:"stars,omitempty"`
	Code     string   `json:"code,omitempty"` // programming language
	Topics   []string `json:"topics,omitempty"`
	License  string   `json:"license,omitempty"` // SPDX identifier
	Archived bool     `json:"archived,omitempty"`

	ArXiv      string   `json:"arxiv,omitempty"`      // identifier with version, like 2403.01234v2
	Categories []string `json:"categories,omitempty"` // arXiv; the first is the primary one
	Comment    string   `json:"comment,omitempty"`
	Journal    string   `json:"journal,omitempty"`
	DOI        string   `json:"doi,omitempty"`
	Citations  int      `json:"citations,omitempty"`
	Retracted  bool     `json:"retracted,omitempty"`
}

// World is everything the fakes know.
type World struct {
	Documents []Document
}

//go:embed testdata/world.jsonl
var worldJSON []byte

// Default is a world of about sixty documents: a cluster on Raft consensus and replicated logs in English, one on
// distributed caches in Chinese, and unrelated ones on cooking, astronomy and sailing. Some documents of a cluster repeat
// and some contradict each other; see testdata/README.md.
func Default() World {
	var w World
	for d := json.NewDecoder(bytes.NewReader(worldJSON)); d.More(); {
		var doc Document
		if err := d.Decode(&doc); err != nil {
			panic(fmt.Sprintf("fakesource: testdata/world.jsonl: %v", err))
		}
		w.Documents = append(w.Documents, doc)
	}
	return w
}

// Find returns the document with an ID.
func (w World) Find(id string) (Document, bool) {
	i := slices.IndexFunc(w.Documents, func(d Document) bool { return d.ID == id })
	if i < 0 {
		return Document{}, false
	}
	return w.Documents[i], true
}

// of is the part of the world one source knows.
func (w World) of(source string) []Document {
	var known []Document
	for _, d := range w.Documents {
		if d.in(source) {
			known = append(known, d)
		}
	}
	return known
}

func (d Document) in(source string) bool { return slices.Contains(d.Sources, source) }

// hash derives an identifier. The salt keeps the identifiers of different services apart.
func (d Document) hash(salt string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(salt + "\x00" + d.ID))
	return h.Sum64()
}

func (d Document) hex(salt string) string {
	return fmt.Sprintf("%016x%016x%08x", d.hash(salt), d.hash(salt+"+"), uint32(d.hash(salt+"-")))
}

// published is the moment of publication; the time of day is made up.
func (d Document) published() time.Time {
	t, err := time.Parse(time.DateOnly, d.Published)
	if err != nil {
		t = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return t.Add(time.Duration(d.hash("time")%86400) * time.Second)
}

// updated is a while later for every second document.
func (d Document) updated() time.Time {
	return d.published().AddDate(0, 0, int(d.hash("updated")%2)*int(d.hash("days")%90))
}

// version splits an arXiv identifier, making one up where the document has none.
func (d Document) version() (id, version string) {
	full := d.ArXiv
	if full == "" {
		full = fmt.Sprintf("%s.%05dv1", d.published().Format("0601"), d.hash("arxiv")%100000)
	}
	id, version, ok := strings.Cut(full, "v")
	if !ok {
		version = "1"
	}
	return id, version
}

func (d Document) doi() string {
	if d.DOI != "" {
		return d.DOI
	}
	return fmt.Sprintf("10.5555/fake.%d", d.hash("doi")%10000000)
}

func (d Document) repo() string {
	if d.Repo != "" {
		return d.Repo
	}
	return "example-labs/" + d.ID
}

// paragraph is one block of a body.
type paragraph struct {
	Heading bool
	Text    string
}

func (d Document) paragraphs() []paragraph {
	var all []paragraph
	for _, p := range strings.Split(d.Body, "\n\n") {
		p = strings.TrimSpace(p)
		if h, ok := strings.CutPrefix(p, "## "); ok {
			all = append(all, paragraph{true, h})
		} else if p != "" {
			all = append(all, paragraph{false, p})
		}
	}
	return all
}

// prose is the body without its headings.
func (d Document) prose() string {
	var b strings.Builder
	for _, p := range d.paragraphs() {
		if !p.Heading {
			b.WriteString(p.Text + "\n\n")
		}
	}
	return strings.TrimSpace(b.String())
}
