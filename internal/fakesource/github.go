package fakesource

// The GitHub REST API, https://docs.github.com/en/rest/search/search#search-repositories and
// https://docs.github.com/en/rest/repos/contents#get-a-repository-readme, as of 2026-11 (API version 2022-11-28): without
// an in: qualifier a search looks at name, description and topics only; more than 256 characters or five operators are
// refused with 422; only the first 1,000 results can be had. A README comes as base64 broken over lines, or raw by the
// Accept header. Limits follow https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api: 10 and 30
// searches a minute, 60 and 5,000 requests an hour, without and with a token; the primary limit answers 403 with remaining
// 0, the secondary one 403 with quota left. A request without User-Agent is refused.

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	githubDocs  = "https://docs.github.com/rest"
	githubAgent = "\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent header " +
		"(https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check https://developer.github.com for other possible causes.\r\n"
)

type github struct{ s *Server }

func (*github) key(c call) string {
	scheme, token, _ := strings.Cut(c.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "token") {
		return token
	}
	return ""
}

func (g *github) deny(c call, f Fault) (reply, bool) {
	switch f {
	case RateLimited:
		message := "API rate limit exceeded for 203.0.113.7. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)"
		if g.key(c) != "" {
			message = "API rate limit exceeded for user ID 583231. If you reach out to GitHub Support for help, please include the request ID."
		}
		r := g.error(c, http.StatusForbidden, message, "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api")
		return r.with("X-Ratelimit-Remaining", "0", "X-Ratelimit-Used", r.header.Get("X-Ratelimit-Limit")), true
	case SecondaryLimit:
		r := g.error(c, http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
			"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits")
		if g.s.opts.RetryAfter > 0 { // the header may be missing, and then a client has to wait a minute
			r.with("Retry-After", g.s.retryAfter())
		}
		return r, true
	case ServerError:
		return g.error(c, http.StatusInternalServerError, "Server Error", githubDocs), true
	case Unauthorised:
		if g.key(c) == "" {
			return g.error(c, http.StatusUnauthorized, "Requires authentication", githubDocs), true
		}
		return g.error(c, http.StatusUnauthorized, "Bad credentials", githubDocs), true
	case Forbidden:
		return g.error(c, http.StatusForbidden, "Resource not accessible by personal access token", githubDocs), true
	case NotFound:
		return g.error(c, http.StatusNotFound, "Not Found", githubDocs), true
	}
	return reply{}, false
}

func (g *github) answer(c call) reply {
	if c.UserAgent() == "" {
		return text(http.StatusForbidden, "text/html; charset=utf-8", githubAgent)
	}
	parts := strings.Split(strings.Trim(c.URL.Path, "/"), "/")
	switch {
	case c.Method != http.MethodGet && c.Method != http.MethodHead:
	case c.URL.Path == "/search/repositories":
		return g.search(c)
	case len(parts) == 4 && parts[0] == "repos" && parts[3] == "readme":
		return g.readme(c, parts[1]+"/"+parts[2])
	}
	return g.error(c, http.StatusNotFound, "Not Found", githubDocs)
}

func (g *github) search(c call) reply {
	q := c.query.Get("q")
	if strings.TrimSpace(q) == "" {
		return g.invalid(c, m{"resource": "Search", "field": "q", "code": "missing"})
	}
	if len([]rune(q)) > 256 {
		return g.invalid(c, m{"message": "The search is longer than 256 characters.", "resource": "Search", "field": "q", "code": "invalid"})
	}
	ask := parseGitHub(q)
	if ask.operators > 5 {
		return g.invalid(c, m{"message": "More than five AND / OR / NOT operators were used.", "resource": "Search", "field": "q", "code": "invalid"})
	}
	size, ok := number(c.query.Get("per_page"), 30)
	if !ok || size < 1 {
		size = 30
	}
	size = min(size, 100)
	at, ok := number(c.query.Get("page"), 1)
	if !ok || at < 1 {
		at = 1
	}
	if at*size > 1000 {
		return g.error(c, http.StatusUnprocessableEntity, "Only the first 1000 search results are available", "https://docs.github.com/v3/search/")
	}
	found := rank(c.world.of(GitHub), ask.words, ask.fields, func(matched, of int) bool { return matched == of })
	found = slices.DeleteFunc(found, func(d Document) bool { return !ask.accepts(d) })
	by := map[string]func(a, b Document) int{
		"stars":   func(a, b Document) int { return b.Stars - a.Stars },
		"forks":   func(a, b Document) int { return b.Stars/7 - a.Stars/7 },
		"updated": func(a, b Document) int { return b.updated().Compare(a.updated()) },
	}[c.query.Get("sort")]
	if by != nil {
		slices.SortStableFunc(found, by)
		if c.query.Get("order") == "asc" {
			slices.Reverse(found)
		}
	}
	items := []m{}
	for _, d := range page(found, (at-1)*size, size) {
		items = append(items, repository(d))
	}
	r := object(http.StatusOK, m{"total_count": len(found), "incomplete_results": false, "items": items})
	if last := (min(len(found), 1000) + size - 1) / size; at < last {
		link := func(n int, rel string) string {
			v := c.URL.Query()
			v.Set("page", strconv.Itoa(n))
			return fmt.Sprintf("<%s/search/repositories?%s>; rel=%q", g.s.URL(GitHub), v.Encode(), rel)
		}
		r.with("Link", link(at+1, "next")+", "+link(last, "last"))
	}
	return g.limits(c, r)
}

func (g *github) readme(c call, name string) reply {
	docs := c.world.of(GitHub)
	if c.empty {
		docs = g.s.opts.World.of(GitHub)
	}
	i := slices.IndexFunc(docs, func(d Document) bool { return strings.EqualFold(d.repo(), name) })
	if i < 0 || docs[i].Body == "" {
		return g.error(c, http.StatusNotFound, "Not Found", "https://docs.github.com/rest/repos/contents#get-a-repository-readme")
	}
	d := docs[i]
	markdown := readme(d)
	if c.empty {
		markdown = ""
	}
	accept := c.Header.Get("Accept")
	if strings.Contains(accept, "application/vnd.github") && strings.Contains(accept, "raw") {
		return g.limits(c, text(http.StatusOK, "application/vnd.github.raw+json; charset=utf-8", markdown))
	}
	api, sha := g.s.URL(GitHub)+"/repos/"+d.repo(), d.hex("readme")
	web := "https://github.com/" + d.repo()
	content := ""
	for encoded := base64.StdEncoding.EncodeToString([]byte(markdown)); encoded != ""; {
		line := encoded[:min(60, len(encoded))]
		content, encoded = content+line+"\n", encoded[len(line):]
	}
	return g.limits(c, object(http.StatusOK, m{
		"name": "README.md", "path": "README.md", "sha": sha, "size": len(markdown), "type": "file",
		"content": content, "encoding": "base64",
		"url": api + "/contents/README.md?ref=main", "html_url": web + "/blob/main/README.md", "git_url": api + "/git/blobs/" + sha,
		"download_url": "https://raw.githubusercontent.com/" + d.repo() + "/main/README.md",
		"_links":       m{"self": api + "/contents/README.md?ref=main", "git": api + "/git/blobs/" + sha, "html": web + "/blob/main/README.md"},
	}))
}

// limits adds the rate limit headers. The count starts again when it is used up: the fake refuses only when told to.
func (g *github) limits(c call, r reply) reply {
	resource, limit := "core", 60
	if g.key(c) != "" {
		limit = 5000
	}
	if strings.HasPrefix(c.URL.Path, "/search/") {
		resource, limit = "search", 10
		if g.key(c) != "" {
			limit = 30
		}
	}
	used := c.n%limit + 1
	if r.header.Get("Content-Type") == "application/json" {
		r.with("Content-Type", "application/json; charset=utf-8")
	}
	return r.with("X-Ratelimit-Limit", strconv.Itoa(limit), "X-Ratelimit-Remaining", strconv.Itoa(limit-used), "X-Ratelimit-Used", strconv.Itoa(used),
		"X-Ratelimit-Reset", strconv.FormatInt(c.at.Add(time.Duration(g.s.waitSeconds())*time.Second).Unix(), 10), "X-Ratelimit-Resource", resource,
		"X-Github-Media-Type", "github.v3; format=json")
}

func (g *github) error(c call, status int, message, docs string) reply {
	return g.limits(c, object(status, m{"message": message, "documentation_url": docs, "status": strconv.Itoa(status)}))
}

func (g *github) invalid(c call, why m) reply {
	return g.limits(c, object(http.StatusUnprocessableEntity, m{
		"message": "Validation Failed", "errors": []m{why}, "documentation_url": "https://docs.github.com/v3/search", "status": "422",
	}))
}

func repository(d Document) m {
	owner, name, _ := strings.Cut(d.repo(), "/")
	web := "https://github.com/" + d.repo()
	orNil := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	var license any
	if d.License != "" {
		key := strings.ToLower(d.License)
		license = m{"key": key, "name": d.License + " License", "spdx_id": d.License, "url": "https://api.github.com/licenses/" + key}
	}
	topics := d.Topics
	if topics == nil {
		topics = []string{}
	}
	return m{
		"id": d.hash("repo") % 900000000, "node_id": "R_" + d.hex("node")[:12], "name": name, "full_name": d.repo(), "private": false,
		"owner":    m{"login": owner, "id": d.hash("owner") % 90000000, "type": "Organization", "html_url": "https://github.com/" + owner},
		"html_url": web, "description": orNil(d.Abstract), "fork": false, "url": "https://api.github.com/repos/" + d.repo(),
		"created_at": d.published().AddDate(-2, 0, 0).Format(time.RFC3339), "updated_at": d.updated().Format(time.RFC3339), "pushed_at": d.published().Format(time.RFC3339),
		"homepage": nil, "size": len(d.Body), "stargazers_count": d.Stars, "watchers_count": d.Stars, "language": orNil(d.Code),
		"forks_count": d.Stars / 7, "open_issues_count": d.Stars % 40, "license": license, "topics": topics,
		"archived": d.Archived, "disabled": false, "visibility": "public", "default_branch": "main", "score": 1.0,
	}
}
