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

// wikipedia asks the MediaWiki action API (mediawiki.org/wiki/API:Search and Extension:TextExtracts, as of 2026-11): a
// search, then the plain text of what it found. A Chinese question goes to the Chinese Wikipedia.
type wikipedia struct {
	set     *Set
	config  Config
	private bool
}

func (w wikipedia) client(lang string) *client {
	return w.set.api("wikipedia", w.config, "https://"+lang+".wikipedia.org", time.Second, w.private)
}

func (w wikipedia) Declare() source.Declaration { return w.client("en").decl }

func (w wikipedia) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	lang := "en"
	if chinese(q.Text) {
		lang = "zh"
	}
	c := w.client(lang)
	words := keywords(q.Text, 8)
	if len(words) == 0 {
		return nil, source.Errorf(source.BadQuery, "wikipedia", "no words to search for in %q", q.Text)
	}
	var found struct {
		Query *struct {
			Search []struct {
				Title     string `json:"title"`
				PageID    int    `json:"pageid"`
				Timestamp string `json:"timestamp"`
			} `json:"search"`
		} `json:"query"`
	}
	if err := w.get(ctx, c, url.Values{"list": {"search"}, "srsearch": {short(strings.Join(words, " "), 290)}, "srlimit": {strconv.Itoa(min(max(q.Limit, 1), 5))}}, &found); err != nil {
		return nil, err
	}
	if found.Query == nil {
		return nil, source.Errorf(source.Malformed, "wikipedia", "the answer has no query")
	}
	var out []source.Document
	for _, hit := range found.Query.Search {
		var page struct {
			Query struct {
				Pages []struct {
					Title   string `json:"title"`
					PageID  int    `json:"pageid"`
					Extract string `json:"extract"`
				} `json:"pages"`
			} `json:"query"`
		}
		// Whole texts come one page at a time.
		if err := w.get(ctx, c, url.Values{"prop": {"extracts"}, "explaintext": {"1"}, "exlimit": {"1"}, "exsectionformat": {"wiki"}, "titles": {hit.Title}}, &page); err != nil {
			return out, err
		}
		for _, p := range page.Query.Pages {
			if strings.TrimSpace(p.Extract) == "" {
				continue
			}
			d := source.Document{URL: "https://" + lang + ".wikipedia.org/wiki/" + strings.ReplaceAll(url.PathEscape(strings.ReplaceAll(p.Title, " ", "_")), "%2F", "/"), Title: p.Title, Text: headings(p.Extract), Fetcher: "wikipedia"}
			if len(hit.Timestamp) >= 10 {
				d.Published = hit.Timestamp[:10]
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// headings turns "== History ==" into Markdown, so that headings are not taken for sentences.
func headings(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if n := len(t) - len(strings.TrimLeft(t, "=")); n > 1 && strings.HasSuffix(t, "==") {
			lines[i] = "\n" + strings.Repeat("#", min(n, 6)) + " " + strings.Trim(t, "= ") + "\n"
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n")) + "\n"
}

func (w wikipedia) get(ctx context.Context, c *client, q url.Values, into any) error {
	q.Set("action", "query")
	q.Set("format", "json")
	q.Set("formatversion", "2")
	q.Set("maxlag", "5")
	got, err := c.ask(ctx, http.MethodGet, "/w/api.php", q, nil, nil)
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return c.statusError(got, apiMessage(got.body))
	}
	// Errors of the API come with status 200.
	var refusal struct {
		Error *struct {
			Code string `json:"code"`
			Info string `json:"info"`
		} `json:"error"`
	}
	if err := c.decode(got, &refusal); err != nil {
		return err
	}
	if e := refusal.Error; e != nil {
		kind, wait := source.BadQuery, retryAfter(got.header, c.now())
		switch e.Code {
		case "ratelimited":
			kind = source.RateLimited
		case "maxlag", "readonly", "internal_api_error":
			kind = source.Unavailable
		}
		if kind != source.BadQuery && wait == 0 {
			wait = 5 * time.Second
		}
		err := source.Errorf(kind, "wikipedia", "%s", scrub(e.Code+": "+e.Info, ""))
		err.Status, err.RetryAfter = got.status, wait
		return err
	}
	return c.decode(got, into)
}
