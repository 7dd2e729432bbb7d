package fakesource

// The Tavily Search API, https://docs.tavily.com/documentation/api-reference/endpoint/search, as of 2026-11: POST /search
// with a bearer key and a JSON body. Errors are {"detail": {"error"}}: 400 (a query of more than 400 characters, see
// https://docs.tavily.com/documentation/best-practices/best-practices-search), 401, 429 with retry-after, 432 for the
// plan's limit, 433 for the pay-as-you-go limit, 500. A body that does not fit the schema is 422 with a list, as the
// framework behind it answers. answer is null unless asked for, and usage missing unless asked for.

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

type tavily struct{ s *Server }

func (*tavily) key(c call) string {
	token, _ := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer ")
	return token
}

func (t *tavily) deny(_ call, f Fault) (reply, bool) {
	switch f {
	case RateLimited:
		return t.error(http.StatusTooManyRequests, "Your request has been blocked due to excessive requests. Please reduce rate of requests.").with("Retry-After", t.s.retryAfter()), true
	case PlanLimit:
		return t.error(432, "This request exceeds your plan's set usage limit. Please upgrade your plan or contact support@tavily.com"), true
	case SpendLimit:
		return t.error(433, "This request exceeds the pay-as-you-go limit. You can increase your limit on the Tavily dashboard."), true
	case ServerError:
		return t.error(http.StatusInternalServerError, "Internal Server Error"), true
	case Unauthorised:
		return t.error(http.StatusUnauthorized, "Unauthorized: missing or invalid API key."), true //nolint:misspell // as the service spells it
	case NotFound:
		return object(http.StatusNotFound, m{"detail": "Not Found"}), true
	}
	return reply{}, false
}

// tavilyAsk is the request, as far as it changes the answer.
type tavilyAsk struct {
	Query          *string  `json:"query"`
	Depth          string   `json:"search_depth"`
	Topic          string   `json:"topic"`
	TimeRange      string   `json:"time_range"`
	StartDate      string   `json:"start_date"`
	EndDate        string   `json:"end_date"`
	MaxResults     *int     `json:"max_results"`
	IncludeDomains []string `json:"include_domains"`
	ExcludeDomains []string `json:"exclude_domains"`
	IncludeAnswer  any      `json:"include_answer"`
	IncludeRaw     any      `json:"include_raw_content"`
	IncludeUsage   bool     `json:"include_usage"`
}

func (t *tavily) answer(c call) reply {
	switch {
	case c.URL.Path != "/search":
		return object(http.StatusNotFound, m{"detail": "Not Found"})
	case c.Method != http.MethodPost:
		return object(http.StatusMethodNotAllowed, m{"detail": "Method Not Allowed"}).with("Allow", "POST")
	}
	var ask tavilyAsk
	if err := json.Unmarshal(c.body, &ask); err != nil {
		return object(http.StatusUnprocessableEntity, m{"detail": []m{{"type": "json_invalid", "loc": []any{"body", 0}, "msg": "JSON decode error", "input": m{}, "ctx": m{"error": err.Error()}}}})
	}
	if ask.Query == nil {
		return object(http.StatusUnprocessableEntity, m{"detail": []m{{"type": "missing", "loc": []string{"body", "query"}, "msg": "Field required", "input": m{}}}})
	}
	size := 5
	if ask.MaxResults != nil {
		size = *ask.MaxResults
	}
	since, known := map[string]time.Time{
		"": {}, "day": c.at.AddDate(0, 0, -1), "d": c.at.AddDate(0, 0, -1), "week": c.at.AddDate(0, 0, -7), "w": c.at.AddDate(0, 0, -7),
		"month": c.at.AddDate(0, -1, 0), "m": c.at.AddDate(0, -1, 0), "year": c.at.AddDate(-1, 0, 0), "y": c.at.AddDate(-1, 0, 0),
	}[ask.TimeRange]
	switch {
	case strings.TrimSpace(*ask.Query) == "":
		return t.error(http.StatusBadRequest, "Query is missing.")
	case utf8.RuneCountInString(*ask.Query) > 400:
		return t.error(http.StatusBadRequest, "Query is too long. Max query length is 400 characters.")
	case !slices.Contains([]string{"", "general", "news", "finance"}, ask.Topic):
		return t.error(http.StatusBadRequest, "Invalid topic. Must be 'general' or 'news'.")
	case !slices.Contains([]string{"", "basic", "advanced", "fast", "ultra-fast"}, ask.Depth):
		return t.error(http.StatusBadRequest, "Invalid search depth. Must be 'basic', 'advanced', 'fast' or 'ultra-fast'.")
	case size < 0 || size > 20:
		return t.error(http.StatusBadRequest, "Invalid max_results. Must be between 0 and 20.")
	case !known:
		return t.error(http.StatusBadRequest, "Invalid time range. Must be 'day', 'week', 'month' or 'year'.")
	case len(ask.IncludeDomains) > 300 || len(ask.ExcludeDomains) > 150:
		return t.error(http.StatusBadRequest, "Too many domains.")
	}
	host, _ := url.Parse(t.s.URL(Web))
	mine := func(domains []string) bool {
		return slices.Contains(domains, host.Hostname()) || slices.Contains(domains, host.Host)
	}
	found := slices.DeleteFunc(rank(c.world.of(Web), *ask.Query, everything, some), func(d Document) bool {
		return d.published().Before(since) || ask.StartDate != "" && d.Published < ask.StartDate || ask.EndDate != "" && d.Published > ask.EndDate ||
			len(ask.IncludeDomains) > 0 && !mine(ask.IncludeDomains) || mine(ask.ExcludeDomains)
	})
	results := []m{}
	for i, d := range page(found, 0, size) {
		r := m{"title": d.Title, "url": t.s.pageURL(d), "content": t.content(d, ask), "score": 0.97 - 0.043*float64(i) - float64(d.hash("score")%1000)/1e5, "raw_content": nil}
		if wanted(ask.IncludeRaw) {
			r["raw_content"] = d.Title + "\n\n" + d.prose()
		}
		if ask.Topic == "news" {
			r["published_date"] = d.published().Format(http.TimeFormat)
		}
		results = append(results, r)
	}
	out := m{
		"query": *ask.Query, "follow_up_questions": nil, "answer": nil, "images": []string{}, "results": results, "response_time": 0.84,
		"request_id": "123e4567-e89b-12d3-a456-426614174111",
	}
	if wanted(ask.IncludeAnswer) && len(found) > 0 {
		out["answer"] = snippet(found[0], *ask.Query, 200)
	}
	if ask.IncludeUsage {
		out["usage"] = m{"credits": map[bool]int{true: 2, false: 1}[ask.Depth == "advanced"]}
	}
	return object(http.StatusOK, out)
}

// content is a summary, or up to three pieces of the page at the depth that gives pieces.
func (*tavily) content(d Document, ask tavilyAsk) string {
	if ask.Depth != "advanced" && ask.Depth != "fast" {
		return snippet(d, *ask.Query, 500)
	}
	var pieces []string
	for _, p := range page(d.paragraphs(), 0, 5) {
		if !p.Heading && len(pieces) < 3 {
			pieces = append(pieces, clip(p.Text, 500))
		}
	}
	return strings.Join(pieces, " [...] ")
}

// wanted reads a parameter that is a boolean or the name of a kind.
func wanted(v any) bool {
	s, isName := v.(string)
	return v == true || isName && s != ""
}

func (*tavily) error(status int, why string) reply {
	return object(status, m{"detail": m{"error": why}})
}
