package fakesource

// The MediaWiki action API as Wikipedia runs it, https://www.mediawiki.org/wiki/API:Search,
// https://www.mediawiki.org/wiki/Extension:TextExtracts#API and https://www.mediawiki.org/wiki/API:Errors_and_warnings, as
// of 2026-11: GET /w/api.php. Errors of the API come with status 200 and the header MediaWiki-API-Error. A User-Agent is
// needed, and one that says how to reach whoever runs the client
// (https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy); without it the edge answers 403
// in plain text, and 429 in plain text with Retry-After to a client that is too fast. maxlag follows
// https://www.mediawiki.org/wiki/Manual:Maxlag_parameter.

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

type wikipedia struct{ s *Server }

func (*wikipedia) key(call) string { return "" }

func (w *wikipedia) deny(c call, f Fault) (reply, bool) {
	switch f {
	case RateLimited:
		return text(http.StatusTooManyRequests, "text/plain", "You are making too many requests. Please respect our robot policy https://w.wiki/4wJS.\n").with("Retry-After", w.s.retryAfter()), true
	case APILimit:
		return w.error("ratelimited", "You've exceeded your rate limit. Please wait some time and try again.", nil), true
	case MaxLag:
		return w.lagged(), true
	case Forbidden:
		return text(http.StatusForbidden, "text/plain", "Please respect our robot policy https://w.wiki/4wJS.\n"), true
	}
	return reply{}, false
}

func (w *wikipedia) answer(c call) reply {
	agent := c.UserAgent()
	if own := c.Header.Get("Api-User-Agent"); own != "" {
		agent = own
	}
	if agent == "" || slices.ContainsFunc(genericAgents, func(g string) bool { return strings.HasPrefix(agent, g) }) {
		return text(http.StatusForbidden, "text/plain", "Please set a user-agent and respect our robot policy https://w.wiki/4wJS. See also T400119.\n")
	}
	if !strings.Contains(agent, "@") && !strings.Contains(agent, "://") {
		return text(http.StatusForbidden, "text/plain", "Please respect our robot policy https://w.wiki/4wJS.\n")
	}
	q := c.query
	switch {
	case c.URL.Path != "/w/api.php":
		return text(http.StatusNotFound, "text/html", plainPage("404 Not Found"))
	case q.Get("action") == "" || q.Get("format") != "json":
		return text(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html><head><title>MediaWiki API result</title></head><body><p>This is the HTML representation of the JSON format.</p></body></html>\n")
	}
	if lag, err := strconv.Atoi(q.Get("maxlag")); err == nil && lag < 0 {
		return w.lagged() // no server is less than no time behind: the documented way to see the error
	}
	if action := q.Get("action"); action != "query" {
		return w.error("badvalue", fmt.Sprintf("Unrecognized value for parameter \"action\": %s.", action), nil) //nolint:misspell // as the service spells it
	}
	switch {
	case q.Get("list") == "search":
		return w.search(c)
	case q.Get("generator") == "search":
		found, r, ok := w.find(c, "gsr")
		if !ok {
			return r
		}
		return w.pages(c, found.page, found.from, found.more, nil)
	case q.Has("titles") || q.Has("pageids"):
		return w.named(c)
	}
	return w.json(m{"batchcomplete": w.flag(c)})
}

var genericAgents = []string{"Go-http-client", "python-requests", "Python-urllib", "curl/", "Wget", "okhttp", "Java/", "axios", "node"}

// hits is one page of what a search finds.
type hits struct {
	page        []Document
	total, from int
	more        bool
	query       string
}

// find searches by the parameters of a list module (sr) or of the generator of the same name (gsr).
func (w *wikipedia) find(c call, prefix string) (hits, reply, bool) {
	query := c.query.Get(prefix + "search")
	if query == "" {
		return hits{}, w.error("missingparam", fmt.Sprintf("The %q parameter must be set.", prefix+"search"), nil), false
	}
	if n := utf8.RuneCountInString(query); n > 300 {
		return hits{}, w.error("cirrussearch-query-too-long", fmt.Sprintf("Search request is longer than the maximum allowed length. (%d > 300)", n), nil), false
	}
	size, from := 10, 0
	for name, to := range map[string]*int{"limit": &size, "offset": &from} {
		v := c.query.Get(prefix + name)
		if v == "max" && name == "limit" {
			v = "500"
		}
		n, ok := number(v, *to)
		if !ok {
			return hits{}, w.error("badinteger", fmt.Sprintf("Invalid value %q for integer parameter %q.", v, prefix+name), nil), false
		}
		*to = n
	}
	size = min(max(size, 1), 500) // out of range is a warning, not an error
	found := rank(c.world.of(Wikipedia), query, everything, every)
	return hits{page(found, from, size), len(found), from, from+size < len(found), query}, reply{}, true
}

func (w *wikipedia) search(c call) reply {
	found, r, ok := w.find(c, "sr")
	if !ok {
		return r
	}
	list := []m{}
	for _, d := range found.page {
		list = append(list, m{
			"ns": 0, "title": d.Title, "pageid": pageID(d), "size": len(d.Abstract) + len(d.Body), "wordcount": len(tokens(d.Abstract + " " + d.Body)),
			"snippet":   mark(strings.TrimSuffix(snippet(d, found.query, 160), "..."), found.query, `<span class="searchmatch">`, "</span>"),
			"timestamp": d.updated().Format(time.RFC3339),
		})
	}
	out := m{"batchcomplete": w.flag(c), "query": m{"searchinfo": m{"totalhits": found.total}, "search": list}}
	if found.more {
		out["continue"] = m{"sroffset": found.from + len(found.page), "continue": "-||"}
	}
	return w.json(out)
}

// named answers for pages asked for by title or number.
func (w *wikipedia) named(c call) reply {
	var docs []Document
	var missing, renamed []m
	add := func(matches func(Document) bool, absent m) {
		known := c.world.of(Wikipedia)
		i := slices.IndexFunc(known, matches)
		if i < 0 {
			missing = append(missing, absent)
			return
		}
		docs = append(docs, known[i])
	}
	for _, t := range strings.Split(c.query.Get("titles"), "|") {
		if t == "" {
			continue
		}
		title := strings.TrimSpace(strings.ReplaceAll(t, "_", " "))
		if r, n := utf8.DecodeRuneInString(title); n > 0 {
			title = string(unicode.ToUpper(r)) + title[n:]
		}
		if title != t {
			renamed = append(renamed, m{"fromencoded": false, "from": t, "to": title})
		}
		add(func(d Document) bool { return d.Title == title }, m{"ns": 0, "title": title, "missing": true})
	}
	for _, id := range strings.Split(c.query.Get("pageids"), "|") {
		if id == "" {
			continue
		}
		n, _ := strconv.ParseUint(id, 10, 64)
		add(func(d Document) bool { return pageID(d) == n }, m{"pageid": n, "missing": true})
	}
	return w.pages(c, docs, -1, false, m{"missing": missing, "renamed": renamed})
}

// pages lists pages with what prop asks for. from is the rank of the first one where a search generated them.
func (w *wikipedia) pages(c call, docs []Document, from int, more bool, extra m) reply {
	props := strings.Split(c.query.Get("prop"), "|")
	list := []m{}
	for i, d := range docs {
		p := m{"pageid": pageID(d), "ns": 0, "title": d.Title}
		if from >= 0 {
			p["index"] = from + i + 1
		}
		// Whole texts are given one at a time, leads of twenty pages at once.
		if slices.Contains(props, "extracts") && (i == 0 || c.query.Has("exintro") && i < 20) {
			p["extract"] = extract(d, c.query.Has("exintro"), c.query.Has("explaintext"))
		}
		if slices.Contains(props, "info") {
			p["lastrevid"], p["touched"], p["pagelanguage"] = d.hash("rev")%1000000000, d.updated().Format(time.RFC3339), d.Lang
			if strings.Contains(c.query.Get("inprop"), "url") {
				p["fullurl"] = w.s.URL(Wikipedia) + "/wiki/" + strings.ReplaceAll(d.Title, " ", "_")
			}
		}
		list = append(list, p)
	}
	if gone, _ := extra["missing"].([]m); gone != nil {
		list = append(list, gone...)
	}
	query := m{"pages": list}
	if c.query.Get("formatversion") != "2" {
		byID := m{}
		for i, p := range list {
			id := fmt.Sprint(p["pageid"])
			if p["missing"] != nil {
				id, p["missing"] = strconv.Itoa(-i-1), ""
			}
			byID[id] = p
		}
		query["pages"] = byID
	}
	if changed, _ := extra["renamed"].([]m); changed != nil {
		query["normalized"] = changed //nolint:misspell // as the service spells it
	}
	out := m{"batchcomplete": w.flag(c), "query": query}
	if more {
		out["continue"] = m{"gsroffset": from + len(docs), "continue": "gsroffset||"}
	}
	return w.json(out)
}

func extract(d Document, intro, plain bool) string {
	var b strings.Builder
	add := func(heading bool, s string) {
		switch {
		case plain && heading:
			fmt.Fprintf(&b, "\n\n== %s ==\n", s)
		case plain:
			b.WriteString(s + "\n")
		case heading:
			fmt.Fprintf(&b, "<h2><span id=%q>%s</span></h2>\n", strings.ReplaceAll(s, " ", "_"), html.EscapeString(s))
		default:
			fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(s))
		}
	}
	if d.Abstract != "" {
		add(false, d.Abstract)
	}
	if !intro {
		for _, p := range d.paragraphs() {
			add(p.Heading, p.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

func pageID(d Document) uint64 { return 1000 + d.hash("page")%79999999 }

// flag is how the two versions of the format say yes.
func (*wikipedia) flag(c call) any {
	if c.query.Get("formatversion") == "2" {
		return true
	}
	return ""
}

func (*wikipedia) json(v m) reply {
	return object(http.StatusOK, v).with("Content-Type", "application/json; charset=utf-8")
}

func (w *wikipedia) error(code, info string, extra m) reply {
	e := m{"code": code, "info": info, "docref": "See https://en.wikipedia.org/w/api.php for API usage. Subscribe to the mediawiki-api-announce mailing list at " +
		"&lt;https://lists.wikimedia.org/postorius/lists/mediawiki-api-announce.lists.wikimedia.org/&gt; for notice of API deprecations and breaking changes."}
	for k, v := range extra {
		e[k] = v
	}
	return w.json(m{"error": e, "servedby": "mw-api-ext.eqiad.main-fake"}).with("MediaWiki-API-Error", code)
}

func (w *wikipedia) lagged() reply {
	return w.error("maxlag", "Waiting for 10.64.16.7: 7.5 seconds lagged.", m{"host": "10.64.16.7", "lag": 7.5, "type": "db"}).
		with("Retry-After", w.s.retryAfter(), "X-Database-Lag", "7")
}
