// Package viewer renders a wiki as one HTML file that needs nothing else: pages, claims with their spans, sources, seeds,
// contradictions, a graph of links and a search. What comes from pages and sources is sanitised, and a content security
// policy lets no script run but the viewer's own, by its hash. The file holds no absolute path and no time, so the same
// wiki makes the same file.
package viewer

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"whetstone/claim"
)

//go:embed viewer.html.tmpl
var document string

//go:embed viewer.css
var style string

//go:embed viewer.js
var script string

// Page is one page of the wiki with what it rests on.
type Page struct {
	claim.Page
	Markdown string // as it stands on disk
	Claims   []claim.Claim
}

// Input is all that is shown.
type Input struct {
	Slug, Title, Flavor string
	Private             bool
	Pages               []Page
	Sources             []claim.Source
	Seeds               []claim.Seed
	Contradictions      []claim.Contradiction
}

type pageView struct {
	ID, Title, Kind, Summary, Origin, State string
	HTML                                    template.HTML
	Claims                                  []claimView
}

type claimView struct {
	ID, Text, Quote, Source, SourceID string
	Confidence                        int // percent
	Verified                          string
	Sources                           int
	Contradicted                      bool
	Unsupported                       bool
}

type sourceView struct {
	ID, Title, Fetcher, Authors, Published, Snapshot string
	N                                                int
	URL                                              string // "" where it can not be followed
	Retracted                                        bool
}

type conflictView struct {
	A, B         claimView
	APage, BPage string // ids
	ATitle       string
	BTitle       string
	Why          string
}

type group struct {
	Kind  string
	Pages []pageView
}

type view struct {
	Input     Input
	Groups    []group
	Pages     []pageView
	Sources   []sourceView
	Seeds     []claim.Seed
	Conflicts []conflictView
	Graph     template.HTML
	Index     string // JSON for the search
	Style     template.CSS
	Script    template.JS
	Policy    string
	NClaims   int
}

// doc is one entry of the search, see viewer.js.
type doc struct {
	Page  string `json:"p"`
	Claim string `json:"c,omitempty"`
	Title string `json:"t"`
	Text  string `json:"x"`
}

// Render writes the file.
func Render(in Input) ([]byte, error) {
	v := view{Input: in, Style: template.CSS(style), Script: template.JS(script)} //nolint:gosec // both are files of this package
	sum := sha256.Sum256([]byte(script))
	v.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
	sources := map[string]claim.Source{}
	for _, s := range in.Sources {
		sources[s.ID] = s
		v.Sources = append(v.Sources, viewSource(s))
	}
	ids := map[string]string{} // path -> id
	titles := map[string]string{}
	for _, p := range in.Pages {
		ids[p.Path] = anchor(p.ID)
		titles[p.ID] = p.Title
	}
	claims := map[string]claimView{}
	onPage := map[string]string{}
	var docs []doc
	edges := map[[2]string]bool{}
	for _, p := range in.Pages {
		html, links, err := toHTML(p.Page, p.Markdown, ids)
		if err != nil {
			return nil, err
		}
		pv := pageView{ID: anchor(p.ID), Title: p.Title, Kind: p.Kind, Summary: p.Summary, Origin: string(p.Origin), State: string(p.State), HTML: html}
		for _, c := range p.Claims {
			cv := viewClaim(c, sources)
			pv.Claims = append(pv.Claims, cv)
			claims[c.ID], onPage[c.ID] = cv, p.ID
			docs = append(docs, doc{Page: pv.ID, Claim: cv.ID, Title: p.Title, Text: c.Text})
		}
		docs = append(docs, doc{Page: pv.ID, Title: p.Title, Text: plain(html)})
		for _, to := range links {
			if to != pv.ID {
				edges[[2]string{pv.ID, to}] = true
			}
		}
		v.Pages = append(v.Pages, pv)
		v.NClaims += len(p.Claims)
	}
	for _, p := range v.Pages {
		i := slices.IndexFunc(v.Groups, func(g group) bool { return g.Kind == p.Kind })
		if i < 0 {
			v.Groups = append(v.Groups, group{Kind: p.Kind})
			i = len(v.Groups) - 1
		}
		v.Groups[i].Pages = append(v.Groups[i].Pages, p)
	}
	for _, x := range in.Contradictions {
		a, oka := claims[x.A]
		b, okb := claims[x.B]
		if oka && okb {
			v.Conflicts = append(v.Conflicts, conflictView{A: a, B: b, APage: anchor(onPage[x.A]), BPage: anchor(onPage[x.B]), ATitle: titles[onPage[x.A]], BTitle: titles[onPage[x.B]], Why: x.Why})
		}
	}
	v.Seeds = in.Seeds
	v.Graph = graph(v.Pages, edges)
	index, err := json.Marshal(docs) // escapes <, > and & as an element of script needs it
	if err != nil {
		return nil, fmt.Errorf("render the viewer: %w", err)
	}
	v.Index = string(index)
	t, err := template.New("viewer").Funcs(template.FuncMap{"json": func(s string) template.JS { return template.JS(s) }}).Parse(document) //nolint:gosec // marshalled above
	if err != nil {
		return nil, fmt.Errorf("render the viewer: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("render the viewer: %w", err)
	}
	return b.Bytes(), nil
}

func anchor(id string) string { return "p-" + id }

func viewSource(s claim.Source) sourceView {
	v := sourceView{ID: "s-" + s.ID, N: s.N, Title: s.Title, Fetcher: s.Fetcher, Authors: strings.Join(s.Authors, ", "), Published: s.Published, Retracted: s.Retracted}
	if v.Title == "" {
		v.Title = s.URL
	}
	if len(s.Snapshot) > 12 {
		v.Snapshot = s.Snapshot[:12]
	}
	v.URL = follow(s.URL)
	return v
}

func viewClaim(c claim.Claim, sources map[string]claim.Source) claimView {
	v := claimView{ID: "c-" + c.ID, Text: c.Text, Quote: strings.Join(strings.Fields(c.Span.Quote), " "), SourceID: "s-" + c.Span.SourceID, Confidence: int(c.Confidence*100 + 0.5), Sources: 1 + len(c.Supports), Contradicted: len(c.Contradicts) > 0, Unsupported: c.Unsupported}
	if s, ok := sources[c.Span.SourceID]; ok {
		v.Source = viewSource(s).Title
	}
	if c.VerifiedAt != nil {
		v.Verified = c.VerifiedAt.UTC().Format("2006-01-02")
	}
	return v
}
