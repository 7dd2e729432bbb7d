package fakesource

// The Brave Web Search API, https://api-dashboard.search.brave.com/api-reference/web/search/get, as of 2026-11: GET
// /res/v1/web/search with X-Subscription-Token. count is 1 to 20, offset counts pages and ends at 9, q holds up to 400
// characters and 50 words. Descriptions mark the query with <strong> unless text_decorations is off, and hold entities.
// The section web is missing where nothing was found. Errors are {"type": "ErrorResponse", "error", "time"}: 422 for bad
// parameters and also for a token that is not valid, 429 for the rate (RATE_LIMITED) and for the month's quota
// (QUOTA_LIMITED). X-RateLimit headers hold a value for the second and one for the month; there is no Retry-After.

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	braveQuota     = 2000      // a month
	braveMonthLeft = "1419704" // seconds until the month's quota is whole again
)

type brave struct{ s *Server }

func (*brave) key(c call) string { return c.Header.Get("X-Subscription-Token") }

func (b *brave) deny(c call, f Fault) (reply, bool) {
	limited := func(code, detail string, left int, remaining string) reply {
		return b.error(c, http.StatusTooManyRequests, code, detail, m{
			"plan": "Free", "rate_limit": 1, "rate_current": 1, "quota_limit": braveQuota, "quota_current": braveQuota - left, "component": "rate_limiter",
		}).with("X-Ratelimit-Remaining", remaining, "X-Ratelimit-Reset", b.s.retryAfter()+", "+braveMonthLeft)
	}
	switch f {
	case RateLimited:
		left := braveQuota - c.n - 1
		return limited("RATE_LIMITED", "Request rate limit exceeded for plan.", left, "0, "+strconv.Itoa(left)), true
	case PlanLimit:
		return limited("QUOTA_LIMITED", "Request quota limit exceeded for plan.", 0, "1, 0"), true
	case ServerError:
		return b.error(c, http.StatusInternalServerError, "INTERNAL", "Internal server error", m{}), true
	case Unauthorised:
		return b.error(c, http.StatusUnprocessableEntity, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.", m{"component": "authentication"}), true
	case NotFound:
		return b.error(c, http.StatusNotFound, "SUBSCRIPTION_NOT_FOUND", "No subscription found.", m{"component": "subscriptions"}), true
	}
	return reply{}, false
}

func (b *brave) answer(c call) reply {
	if c.URL.Path != "/res/v1/web/search" || c.Method != http.MethodGet {
		return b.error(c, http.StatusNotFound, "NOT_FOUND", "Not found", m{})
	}
	q := c.query.Get("q")
	switch {
	case !c.query.Has("q"):
		return b.invalid(c, "missing", "q", "Field required", nil)
	case q == "":
		return b.invalid(c, "string_too_short", "q", "String should have at least 1 character", q)
	case utf8.RuneCountInString(q) > 400:
		return b.invalid(c, "string_too_long", "q", "String should have at most 400 characters", q)
	case len(strings.Fields(q)) > 50:
		return b.invalid(c, "value_error", "q", "Value error, Query must have at most 50 words", q)
	}
	size, from := 20, 0
	for _, p := range []struct {
		name       string
		to         *int
		least, top int
	}{{"count", &size, 1, 20}, {"offset", &from, 0, 9}} {
		v := c.query.Get(p.name)
		n, ok := number(v, *p.to)
		switch {
		case !ok:
			return b.invalid(c, "int_parsing", p.name, "Input should be a valid integer, unable to parse string as an integer", v)
		case n < p.least:
			return b.invalid(c, "greater_than_equal", p.name, "Input should be greater than or equal to "+strconv.Itoa(p.least), v)
		case n > p.top:
			return b.invalid(c, "less_than_equal", p.name, "Input should be less than or equal to "+strconv.Itoa(p.top), v)
		}
		*p.to = n
	}
	fresh, ok := freshness(c.query.Get("freshness"), c.at)
	if !ok {
		return b.invalid(c, "value_error", "freshness", "Value error, Freshness must be None, one of FreshnessType values, or a valid date range", c.query.Get("freshness"))
	}
	before, after := "<strong>", "</strong>"
	if v := c.query.Get("text_decorations"); v == "false" || v == "0" {
		before, after = "", ""
	}
	found := slices.DeleteFunc(rank(c.world.of(Web), q, everything, some), func(d Document) bool { return !fresh(d) || !speaks(d, c.query.Get("search_lang")) })
	out := m{"type": "search", "query": m{
		"original": q, "show_strict_warning": false, "is_navigational": false, "is_news_breaking": false, "spellcheck_off": true, "country": "us",
		"bad_results": false, "should_fallback": false, "more_results_available": (from+1)*size < len(found),
	}}
	var results, mixed []m
	for i, d := range page(found, from*size, size) {
		address := b.s.pageURL(d)
		host := strings.TrimPrefix(b.s.URL(Web), "http://")
		results = append(results, m{
			"type": "search_result", "subtype": "generic", "title": d.Title, "url": address, "is_source_local": false, "is_source_both": false,
			"description": mark(snippet(d, q, 240), q, before, after), "language": d.Lang, "family_friendly": true, "is_live": false,
			"page_age": d.published().Format("2006-01-02T15:04:05"), "age": d.published().Format("January 2, 2006"),
			"profile":  m{"name": host, "url": address, "long_name": host, "img": ""},
			"meta_url": m{"scheme": "http", "netloc": host, "hostname": "127.0.0.1", "favicon": "", "path": "› " + d.ID + ".html"},
		})
		mixed = append(mixed, m{"type": "web", "index": i, "all": false})
	}
	if results != nil {
		out["web"] = m{"type": "search", "results": results, "family_friendly": true}
		out["mixed"] = m{"type": "mixed", "main": mixed, "top": []m{}, "side": []m{}}
	}
	return b.limits(c, object(http.StatusOK, out))
}

// freshness reads pd, pw, pm, py and a range of days.
func freshness(v string, now time.Time) (func(Document) bool, bool) {
	since := map[string]time.Time{"pd": now.AddDate(0, 0, -1), "pw": now.AddDate(0, 0, -7), "pm": now.AddDate(0, -1, 0), "py": now.AddDate(-1, 0, 0)}
	if v == "" {
		return func(Document) bool { return true }, true
	}
	if from, ok := since[v]; ok {
		return func(d Document) bool { return !d.published().Before(from) }, true
	}
	from, to, _ := strings.Cut(v, "to")
	_, errFrom := time.Parse(time.DateOnly, from)
	_, errTo := time.Parse(time.DateOnly, to)
	return func(d Document) bool { return from <= d.Published && d.Published <= to }, errFrom == nil && errTo == nil
}

// limits adds the rate limit headers: the second, then the month of thirty days.
func (*brave) limits(c call, r reply) reply {
	month := strconv.Itoa(braveQuota)
	return r.with("X-Ratelimit-Limit", "1, "+month, "X-Ratelimit-Policy", "1;w=1, "+month+";w=2592000",
		"X-Ratelimit-Remaining", "0, "+strconv.Itoa(max(braveQuota-c.n-1, 0)), "X-Ratelimit-Reset", "1, "+braveMonthLeft)
}

func (b *brave) error(c call, status int, code, detail string, meta m) reply {
	return b.limits(c, object(status, m{
		"type": "ErrorResponse", "time": c.at.Unix(),
		"error": m{"id": "5d832250-9396-4f6e-b84a-2a1fe524cd7d", "status": status, "code": code, "detail": detail, "meta": meta},
	}))
}

func (b *brave) invalid(c call, kind, name, message string, input any) reply {
	return b.error(c, http.StatusUnprocessableEntity, "VALIDATION", "Unable to validate request parameter(s)",
		m{"errors": []m{{"type": kind, "loc": []string{"query", name}, "msg": message, "input": input}}})
}
