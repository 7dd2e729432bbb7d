package fetch

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mmcdole/gofeed"

	"whetstone/source"
)

// arxiv asks the arXiv API (info.arxiv.org/help/api/user-manual.html, as of 2026-11): Atom, one request in three seconds,
// an entry titled Error where a parameter is bad.
type arxiv struct{ c *client }

func (a arxiv) Declare() source.Declaration { return a.c.decl }

func (a arxiv) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	words := keywords(q.Text, 8)
	if len(words) == 0 {
		return nil, source.Errorf(source.BadQuery, "arxiv", "no words to search for in %q", q.Text)
	}
	if len(words) <= 4 {
		out, err := a.search(ctx, `all:"`+strings.Join(words, " ")+`"`, q.Limit)
		if err != nil || len(out) > 0 || len(words) == 1 {
			return out, err
		}
	}
	// Nobody writes a question word for word; its words together find what answers it.
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = `all:"` + w + `"`
	}
	return a.search(ctx, strings.Join(parts, " AND "), q.Limit)
}

func (a arxiv) search(ctx context.Context, query string, limit int) ([]source.Document, error) {
	got, err := a.c.ask(ctx, http.MethodGet, "/api/query", url.Values{"search_query": {query}, "start": {"0"}, "max_results": {strconv.Itoa(max(limit, 1))}, "sortBy": {"relevance"}, "sortOrder": {"descending"}}, nil, nil)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		e := a.c.statusError(got, strings.TrimSpace(short(string(got.body), 120)))
		return nil, e
	}
	feed, err := gofeed.NewParser().Parse(bytes.NewReader(got.body))
	if err != nil {
		return nil, source.Errorf(source.Malformed, "arxiv", "the answer is not the documented Atom feed")
	}
	var out []source.Document
	for _, it := range feed.Items {
		if strings.EqualFold(strings.TrimSpace(it.Title), "Error") && strings.Contains(it.GUID, "api/errors") {
			return nil, source.Errorf(source.BadQuery, "arxiv", "%s", scrub(it.Description, ""))
		}
		id := it.GUID
		if i := strings.Index(id, "/abs/"); i >= 0 {
			id = "https://arxiv.org" + id[i:]
		}
		d := source.Document{URL: id, Title: unwrap(it.Title), Fetcher: "arxiv"}
		for _, au := range it.Authors {
			d.Authors = append(d.Authors, au.Name)
		}
		if it.PublishedParsed != nil {
			d.Published = it.PublishedParsed.UTC().Format("2006-01-02")
		}
		d.Text = d.Title + ".\n\n" + unwrap(it.Description) + "\n"
		if strings.Contains(strings.ToLower(it.Description), "has been withdrawn") {
			d.Retracted = true
		}
		out = append(out, d)
	}
	return out, nil
}
