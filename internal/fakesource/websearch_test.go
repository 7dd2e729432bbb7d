package fakesource_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"whetstone/internal/fakesource"
)

type result struct {
	URL, Title, Content, Description, Engine string
	Engines                                  []string
	Positions                                []int
	Score                                    float64
	RawContent                               *string `json:"raw_content"`
	PageAge                                  string  `json:"page_age"`
}

// follow fetches what a result points at.
func follow(t *testing.T, r result) {
	t.Helper()
	a := get(t, r.URL)
	a.want(t, http.StatusOK, "<article>")
}

func TestSearXNG(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	search := func(pairs ...string) answer {
		return get(t, s.URL(fakesource.SearXNG)+"/search"+encode(append([]string{"format", "json"}, pairs...)...))
	}
	type found struct {
		Query        string
		Results      []result
		Unresponsive [][2]string `json:"unresponsive_engines"`
	}
	one := into[found](t, search("q", "raft leader"))
	if one.Query != "raft leader" || len(one.Results) != 10 || one.Results[0].Engine != one.Results[0].Engines[0] || len(one.Results[0].Positions) != len(one.Results[0].Engines) || len(one.Unresponsive) != 0 {
		t.Errorf("%+v", one)
	}
	follow(t, one.Results[0])
	two := into[found](t, search("q", "raft leader", "pageno", "2"))
	if len(two.Results) == 0 || two.Results[0].URL == one.Results[0].URL {
		t.Errorf("%+v", two)
	}
	for _, r := range into[found](t, search("q", "缓存雪崩", "language", "zh-CN")).Results {
		if !strings.Contains(r.Title+r.Content, "缓存") {
			t.Errorf("%+v", r)
		}
	}
	if old := into[found](t, search("q", "raft", "time_range", "day")); len(old.Results) != 0 {
		t.Errorf("%+v", old)
	}
	do(t, http.MethodPost, s.URL(fakesource.SearXNG)+"/search", "q=raft&format=json", "Content-Type", "application/x-www-form-urlencoded").want(t, http.StatusOK, "Raft")

	search("q", "").want(t, http.StatusBadRequest, `{"error":"No query"}`)
	search("q", "raft", "time_range", "decade").want(t, http.StatusBadRequest, `Invalid value \"decade\" for parameter time_range`)
	search("q", "raft", "pageno", "0").want(t, http.StatusBadRequest, "pageno")
	get(t, s.URL(fakesource.SearXNG)+"/search?q=raft").want(t, http.StatusOK, "<!DOCTYPE html>")
	s.Formats("html")
	search("q", "raft").want(t, http.StatusForbidden, "<title>403 Forbidden</title>")

	dead := into[found](t, plain(t, start(t, fakesource.Unresponsive), fakesource.SearXNG))
	if len(dead.Results) != 0 || len(dead.Unresponsive) != 3 || dead.Unresponsive[2] != [2]string{"google", "timeout"} {
		t.Errorf("%+v", dead)
	}
	plain(t, start(t, fakesource.RateLimited), fakesource.SearXNG).header(t, "Retry-After", "-")
}

func TestBrave(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	search := func(pairs ...string) answer {
		return get(t, s.URL(fakesource.Brave)+"/res/v1/web/search"+encode(pairs...))
	}
	type found struct {
		Type  string
		Query struct {
			Original string
			More     bool `json:"more_results_available"`
		}
		Web *struct{ Results []result }
	}
	a := search("q", "raft leader", "count", "5")
	one := into[found](t, a)
	if one.Type != "search" || one.Query.Original != "raft leader" || !one.Query.More || len(one.Web.Results) != 5 || !strings.Contains(one.Web.Results[0].Description, "<strong>Raft</strong>") {
		t.Errorf("%+v", one)
	}
	a.header(t, "X-RateLimit-Limit", "1, 2000", "X-RateLimit-Policy", "1;w=1, 2000;w=2592000", "X-RateLimit-Remaining", "0, 1999", "X-RateLimit-Reset", "1, 1419704")
	follow(t, one.Web.Results[0])
	two := into[found](t, search("q", "raft leader", "count", "5", "offset", "1", "text_decorations", "false"))
	if two.Web.Results[0].URL == one.Web.Results[4].URL || strings.Contains(fmt.Sprint(two), "<strong>") {
		t.Errorf("%+v", two)
	}
	for _, r := range into[found](t, search("q", "raft", "freshness", "2025-01-01to2025-12-31")).Web.Results {
		if !strings.HasPrefix(r.PageAge, "2025") {
			t.Errorf("%+v", r)
		}
	}
	if none := into[found](t, search("q", "zeppelin")); none.Web != nil {
		t.Errorf("%+v", none)
	}
	for _, bad := range [][]string{{"q", "raft", "count", "21"}, {"q", "raft", "count", "x"}, {"q", "raft", "offset", "10"}, {"q", strings.Repeat("a", 401)}, {"count", "3"}, {"q", "raft", "freshness", "soon"}} {
		search(bad...).want(t, http.StatusUnprocessableEntity, `"type":"ErrorResponse"`, `"code":"VALIDATION"`, `"loc":["query",`)
	}
	search("q", "raft", "count", "21").want(t, http.StatusUnprocessableEntity, "Input should be less than or equal to 20")

	limited := plain(t, start(t, fakesource.RateLimited), fakesource.Brave)
	limited.want(t, http.StatusTooManyRequests, `"code":"RATE_LIMITED"`, `"component":"rate_limiter"`, `"rate_limit":1`, `"time":`)
	limited.header(t, "X-RateLimit-Remaining", "0, 1999", "X-RateLimit-Reset", "2, 1419704", "Retry-After", "-")
	quota := plain(t, start(t, fakesource.PlanLimit), fakesource.Brave)
	quota.want(t, http.StatusTooManyRequests, `"code":"QUOTA_LIMITED"`)
	quota.header(t, "X-RateLimit-Remaining", "1, 0")
}

func TestTavily(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	search := func(body string) answer { return do(t, http.MethodPost, s.URL(fakesource.Tavily)+"/search", body) }
	type found struct {
		Query     string
		Answer    *string
		Results   []result
		Usage     *struct{ Credits int }
		RequestID string `json:"request_id"`
	}
	one := into[found](t, search(`{"query": "raft leases"}`))
	if one.Query != "raft leases" || one.Answer != nil || len(one.Results) != 5 || one.Results[0].Score <= one.Results[1].Score || one.Results[0].RawContent != nil || one.Usage != nil || one.RequestID == "" {
		t.Errorf("%+v", one)
	}
	follow(t, one.Results[0])
	two := into[found](t, search(`{"query": "raft leases", "search_depth": "advanced", "max_results": 2, "include_raw_content": true, "include_answer": "basic", "include_usage": true}`))
	if len(two.Results) != 2 || two.Answer == nil || two.Usage == nil || two.Usage.Credits != 2 || two.Results[0].RawContent == nil || !strings.Contains(two.Results[0].Content, " [...] ") {
		t.Errorf("%+v", two)
	}
	search(`{"query": "raft", "exclude_domains": ["127.0.0.1"]}`).want(t, http.StatusOK, `"results":[]`)
	search(`{"query": "raft", "include_domains": ["127.0.0.1"]}`).want(t, http.StatusOK, "Raft")
	search(`{"query": "`+strings.Repeat("缓", 400)+`"}`).want(t, http.StatusOK)

	search(`{"query": "`+strings.Repeat("缓", 401)+`"}`).want(t, http.StatusBadRequest, `{"detail":{"error":"Query is too long. Max query length is 400 characters."}}`)
	search(`{"query": "raft", "topic": "gossip"}`).want(t, http.StatusBadRequest, "Invalid topic.")
	search(`{"query": "raft", "max_results": 21}`).want(t, http.StatusBadRequest, `{"detail":{"error":`)
	search(`{}`).want(t, http.StatusUnprocessableEntity, `"loc":["body","query"]`)
	get(t, s.URL(fakesource.Tavily)+"/search").want(t, http.StatusMethodNotAllowed)

	limited := plain(t, start(t, fakesource.RateLimited), fakesource.Tavily)
	limited.want(t, http.StatusTooManyRequests, `{"detail":{"error":"Your request has been blocked due to excessive requests.`)
	limited.header(t, "Retry-After", "2")
	plain(t, start(t, fakesource.PlanLimit), fakesource.Tavily).want(t, 432, "exceeds your plan's set usage limit")
	plain(t, start(t, fakesource.SpendLimit), fakesource.Tavily).want(t, 433, "pay-as-you-go limit")
}
