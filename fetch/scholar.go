package fetch

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"whetstone/source"
)

// semanticscholar asks the Academic Graph API (api.semanticscholar.org/api-docs/graph, as of 2026-11).
type semanticscholar struct{ c *client }

func (s semanticscholar) Declare() source.Declaration { return s.c.decl }

func (s semanticscholar) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	// A hyphenated word finds nothing there.
	words := keywords(strings.ReplaceAll(q.Text, "-", " "), 8)
	if len(words) == 0 {
		return nil, source.Errorf(source.BadQuery, "semanticscholar", "no words to search for in %q", q.Text)
	}
	h := http.Header{}
	if s.c.key != "" {
		h.Set("X-Api-Key", s.c.key)
	}
	got, err := s.c.ask(ctx, http.MethodGet, "/graph/v1/paper/search", url.Values{"query": {strings.Join(words, " ")}, "limit": {strconv.Itoa(min(max(q.Limit, 1), 100))}, "fields": {"title,abstract,year,publicationDate,authors,externalIds,url,openAccessPdf,citationCount"}}, h, nil)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		return nil, s.c.statusError(got, apiMessage(got.body))
	}
	var r struct {
		Total *int `json:"total"`
		Data  []struct {
			PaperID  string `json:"paperId"`
			Title    string `json:"title"`
			Abstract string `json:"abstract"`
			Year     int    `json:"year"`
			Date     string `json:"publicationDate"`
			Authors  []struct {
				Name string `json:"name"`
			} `json:"authors"`
			URL string `json:"url"`
		} `json:"data"`
	}
	if err := s.c.decode(got, &r); err != nil {
		return nil, err
	}
	if r.Total == nil {
		return nil, source.Errorf(source.Malformed, "semanticscholar", "the answer has no total")
	}
	var out []source.Document
	for _, p := range r.Data {
		if strings.TrimSpace(p.Abstract) == "" {
			continue // a title states nothing
		}
		d := source.Document{URL: orElse(p.URL, "https://www.semanticscholar.org/paper/"+p.PaperID), Title: unwrap(p.Title), Text: unwrap(p.Title) + ".\n\n" + unwrap(p.Abstract) + "\n", Published: p.Date, Fetcher: "semanticscholar"}
		if d.Published == "" && p.Year > 0 {
			d.Published = strconv.Itoa(p.Year)
		}
		for _, a := range p.Authors {
			d.Authors = append(d.Authors, a.Name)
		}
		out = append(out, d)
	}
	return out, nil
}

// openalex asks the OpenAlex API (docs.openalex.org/api-entities/works, as of 2026-11): abstracts come as inverted
// indexes, and a day's credits can be spent.
type openalex struct{ c *client }

func (o openalex) Declare() source.Declaration { return o.c.decl }

func (o openalex) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	words := keywords(q.Text, 8)
	if len(words) == 0 {
		return nil, source.Errorf(source.BadQuery, "openalex", "no words to search for in %q", q.Text)
	}
	v := url.Values{"search": {strings.Join(words, " ")}, "per_page": {strconv.Itoa(min(max(q.Limit, 1), 100))}}
	if o.c.key != "" {
		v.Set("api_key", o.c.key)
	}
	got, err := o.c.ask(ctx, http.MethodGet, "/works", v, nil, nil)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		e := o.c.statusError(got, apiMessage(got.body))
		if e.Kind == source.RateLimited && e.RetryAfter > 15*time.Minute {
			e.Kind = source.Quota // the day's credits are spent
		}
		return nil, e
	}
	var r struct {
		Meta    *struct{} `json:"meta"`
		Results []struct {
			ID        string           `json:"id"`
			DOI       string           `json:"doi"`
			Title     string           `json:"title"`
			Date      string           `json:"publication_date"`
			Retracted bool             `json:"is_retracted"`
			Abstract  map[string][]int `json:"abstract_inverted_index"`
			Location  *struct {
				Page string `json:"landing_page_url"`
			} `json:"primary_location"`
			Authorships []struct {
				Author struct {
					Name string `json:"display_name"`
				} `json:"author"`
			} `json:"authorships"`
		} `json:"results"`
	}
	if err := o.c.decode(got, &r); err != nil {
		return nil, err
	}
	if r.Meta == nil {
		return nil, source.Errorf(source.Malformed, "openalex", "the answer has no meta")
	}
	var out []source.Document
	for _, w := range r.Results {
		text := uninvert(w.Abstract)
		if text == "" {
			continue
		}
		d := source.Document{URL: orElse(w.DOI, w.ID), Title: unwrap(w.Title), Text: unwrap(w.Title) + ".\n\n" + text + "\n", Published: w.Date, Fetcher: "openalex", Retracted: w.Retracted}
		if d.URL == "" && w.Location != nil {
			d.URL = w.Location.Page
		}
		for _, a := range w.Authorships {
			d.Authors = append(d.Authors, a.Author.Name)
		}
		out = append(out, d)
	}
	return out, nil
}

// uninvert puts an inverted index back in order. Positions that no sane abstract has are ignored.
func uninvert(index map[string][]int) string {
	const most = 20_000
	last := -1
	for _, ps := range index {
		for _, p := range ps {
			if p >= 0 && p < most {
				last = max(last, p)
			}
		}
	}
	words := make([]string, last+1)
	for w, ps := range index {
		for _, p := range ps {
			if p >= 0 && p < most {
				words[p] = w
			}
		}
	}
	return unwrap(strings.Join(words, " "))
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
