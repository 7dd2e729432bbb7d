package fetch

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"whetstone/source"
)

// The search engines find pages. What they say about a page is an excerpt; the web source reads the page itself.

// searxng asks an instance of the person's own (docs.searxng.org/dev/search_api.html, as of 2026-11).
type searxng struct{ c *client }

func (s searxng) Declare() source.Declaration {
	d := s.c.decl
	d.Searches = true
	if s.c.base == "" {
		d.Remote, d.Missing = true, "set sources.searxng.base_url in config.yaml, or SEARXNG_BASE_URL"
	}
	return d
}

func (s searxng) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	got, err := s.c.ask(ctx, http.MethodGet, "/search", url.Values{"q": {short(q.Text, 400)}, "format": {"json"}, "pageno": {"1"}}, nil, nil)
	if err != nil {
		return nil, err
	}
	if got.status == http.StatusForbidden {
		e := s.c.statusError(got, "JSON is not among the instance's formats: add it to search.formats in its settings.yml")
		return nil, e
	}
	if got.status != http.StatusOK {
		return nil, s.c.statusError(got, "")
	}
	var r struct {
		Results []struct {
			URL       string `json:"url"`
			Title     string `json:"title"`
			Content   string `json:"content"`
			Published string `json:"publishedDate"`
		} `json:"results"`
		Unresponsive [][]string `json:"unresponsive_engines"`
		Query        *string    `json:"query"`
	}
	if err := s.c.decode(got, &r); err != nil {
		return nil, err
	}
	if r.Query == nil {
		return nil, source.Errorf(source.Malformed, "searxng", "the answer has no query")
	}
	if len(r.Results) == 0 && len(r.Unresponsive) > 0 {
		var who []string
		for _, u := range r.Unresponsive {
			who = append(who, strings.Join(u, " "))
		}
		return nil, source.Errorf(source.Unavailable, "searxng", "no engine answered: %s", scrub(strings.Join(who, ", "), ""))
	}
	var out []source.Document
	for _, x := range r.Results {
		out = appendExcerpt(out, q.Limit, "searxng", x.URL, x.Title, x.Content, x.Published)
	}
	return out, nil
}

// brave asks the Brave Search API (api-dashboard.search.brave.com/app/documentation/web-search, as of 2026-11).
type brave struct{ c *client }

func (b brave) Declare() source.Declaration {
	d := b.c.decl
	d.Searches = true
	if d.CostUSD == 0 {
		d.CostUSD = 0.005
	}
	if b.c.key == "" {
		d.Missing = "set BRAVE_API_KEY"
	}
	return d
}

func (b brave) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	if b.c.key == "" {
		return nil, source.Errorf(source.Unauthorised, "brave", "no key: set BRAVE_API_KEY")
	}
	// Documented limits: 400 characters and 50 words.
	words := strings.Fields(short(q.Text, 400))
	if len(words) > 50 {
		words = words[:50]
	}
	got, err := b.c.ask(ctx, http.MethodGet, "/res/v1/web/search", url.Values{"q": {strings.Join(words, " ")}, "count": {strconv.Itoa(min(max(q.Limit, 1), 20))}}, http.Header{"X-Subscription-Token": {b.c.key}, "Accept": {"application/json"}}, nil)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		var r struct {
			Error struct {
				Code   string `json:"code"`
				Detail string `json:"detail"`
				Meta   struct {
					QuotaLimit   *float64 `json:"quota_limit"`
					QuotaCurrent *float64 `json:"quota_current"`
				} `json:"meta"`
			} `json:"error"`
		}
		message := ""
		if b.c.decode(got, &r) == nil {
			message = r.Error.Code + " " + r.Error.Detail
		}
		e := b.c.statusError(got, message)
		switch {
		case r.Error.Code == "SUBSCRIPTION_TOKEN_INVALID":
			e.Kind = source.Unauthorised
		case got.status == http.StatusTooManyRequests && (strings.HasPrefix(r.Error.Code, "QUOTA") || r.Error.Meta.QuotaLimit != nil && r.Error.Meta.QuotaCurrent != nil && *r.Error.Meta.QuotaLimit > 0 && *r.Error.Meta.QuotaCurrent >= *r.Error.Meta.QuotaLimit):
			e.Kind = source.Quota
		case got.status == http.StatusTooManyRequests && e.RetryAfter == 0:
			e.RetryAfter = firstSeconds(got.header.Get("X-Ratelimit-Reset"))
		}
		return nil, e
	}
	var r struct {
		Type string `json:"type"`
		Web  struct {
			Results []struct {
				URL         string `json:"url"`
				Title       string `json:"title"`
				Description string `json:"description"`
				PageAge     string `json:"page_age"`
			} `json:"results"`
		} `json:"web"`
	}
	if err := b.c.decode(got, &r); err != nil {
		return nil, err
	}
	if r.Type != "search" {
		return nil, source.Errorf(source.Malformed, "brave", "the answer is of type %q", short(r.Type, 30))
	}
	var out []source.Document
	for _, x := range r.Web.Results {
		out = appendExcerpt(out, q.Limit, "brave", x.URL, x.Title, x.Description, x.PageAge)
	}
	return out, nil
}

// firstSeconds reads the first of "1, 1419704".
func firstSeconds(h string) time.Duration {
	first, _, _ := strings.Cut(h, ",")
	n, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// tavily asks the Tavily API (docs.tavily.com/documentation/api-reference/endpoint/search, as of 2026-11).
type tavily struct{ c *client }

func (t tavily) Declare() source.Declaration {
	d := t.c.decl
	d.Searches = true
	if d.CostUSD == 0 {
		d.CostUSD = 0.008 // one credit
	}
	if t.c.key == "" {
		d.Missing = "set TAVILY_API_KEY"
	}
	return d
}

func (t tavily) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	if t.c.key == "" {
		return nil, source.Errorf(source.Unauthorised, "tavily", "no key: set TAVILY_API_KEY")
	}
	got, err := t.c.ask(ctx, http.MethodPost, "/search", nil, http.Header{"Authorization": {"Bearer " + t.c.key}}, map[string]any{"query": short(q.Text, 400), "search_depth": "basic", "max_results": min(max(q.Limit, 1), 20), "include_raw_content": false})
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		e := t.c.statusError(got, apiMessage(got.body))
		if got.status == 432 || got.status == 433 {
			e.Kind = source.Quota
		}
		return nil, e
	}
	var r struct {
		Query   *string `json:"query"`
		Results []struct {
			URL       string `json:"url"`
			Title     string `json:"title"`
			Content   string `json:"content"`
			Published string `json:"published_date"`
		} `json:"results"`
	}
	if err := t.c.decode(got, &r); err != nil {
		return nil, err
	}
	if r.Query == nil {
		return nil, source.Errorf(source.Malformed, "tavily", "the answer has no query")
	}
	var out []source.Document
	for _, x := range r.Results {
		out = appendExcerpt(out, q.Limit, "tavily", x.URL, x.Title, x.Content, x.Published)
	}
	return out, nil
}

// appendExcerpt adds a result, unless the limit is reached or it names nothing that can be fetched.
func appendExcerpt(out []source.Document, limit int, fetcher, u, title, text, published string) []source.Document {
	u = Canonical(u)
	if u == "" || limit > 0 && len(out) >= limit {
		return out
	}
	if !dateRE.MatchString(published) {
		published = ""
	} else {
		published = published[:10]
	}
	return append(out, source.Document{URL: u, Title: plainText(title), Text: plainText(text) + "\n", Published: published, Fetcher: fetcher, Snippet: true})
}

var (
	dateRE = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)
	tagRE  = regexp.MustCompile(`<[^<>]{1,80}>`)
)

// plainText takes the marks of a search engine off a text: tags and entities.
func plainText(s string) string {
	return unwrap(html.UnescapeString(tagRE.ReplaceAllString(s, "")))
}

// Canonical is an address as a source is known by: scheme and host in lower case, without fragment, default port or the
// parameters that only count visitors. "" for what is no http or https address.
func Canonical(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return ""
	}
	u.Scheme, u.Host, u.Fragment = strings.ToLower(u.Scheme), strings.ToLower(u.Host), ""
	if u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	if u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":80")
	} else {
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	q := u.Query()
	for k := range q {
		if strings.HasPrefix(k, "utm_") || k == "fbclid" || k == "gclid" {
			q.Del(k)
		}
	}
	if len(q) > 0 || u.RawQuery != "" {
		u.RawQuery = q.Encode()
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
