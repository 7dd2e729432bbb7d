package fakesource

// The search API of SearXNG, https://docs.searxng.org/dev/search_api.html, as of 2026-11: GET or POST /search. A format
// that is not among search.formats of the instance's settings answers 403; only html is there by default, so most public
// instances answer that to json. The JSON itself is not documented; its shape is that of searx/webutils.py. Engines that
// failed are named in unresponsive_engines, sorted, with a message for people. number_of_results is kept and 0, as most
// instances answer: newer releases leave it out. The optional limiter answers 429.

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

type searxng struct{ s *Server }

func (*searxng) key(call) string { return "" }

// Formats sets the output formats of the SearXNG instance, search.formats in its settings. They are html and json at
// first; without json the instance refuses every program.
func (s *Server) Formats(formats ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.formats = formats
}

func (x *searxng) deny(c call, f Fault) (reply, bool) {
	switch f {
	case RateLimited:
		return text(http.StatusTooManyRequests, "text/html; charset=utf-8", flaskPage("429 Too Many Requests", "This user has exceeded an allotted request count. Try again later.")), true
	case Forbidden:
		return formatOff(), true
	case Unresponsive:
		return object(http.StatusOK, x.results(c.query.Get("q"), nil, [][2]string{
			{"brave", "Suspended: too many requests"}, {"duckduckgo", "CAPTCHA"}, {"google", "timeout"},
		})), true
	}
	return reply{}, false
}

func (x *searxng) answer(c call) reply {
	form := c.query
	if c.Method == http.MethodPost {
		posted, _ := url.ParseQuery(string(c.body))
		for k, v := range form {
			if !posted.Has(k) {
				posted[k] = v
			}
		}
		form = posted
	}
	if c.URL.Path != "/search" {
		return text(http.StatusNotFound, "text/html; charset=utf-8", flaskPage("404 Not Found", "The requested URL was not found on the server."))
	}
	format := form.Get("format")
	if !slices.Contains([]string{"html", "json", "csv", "rss"}, format) {
		format = "html"
	}
	x.s.mu.Lock()
	on := slices.Contains(x.s.formats, format)
	x.s.mu.Unlock()
	switch {
	case !on:
		return formatOff()
	case format != "json": // pages, tables and feeds are for somebody else
		return text(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html class=\"no-js theme-auto center-alignment-no\" lang=\"en-EN\">\n<head><title>SearXNG</title></head><body><main id=\"main_results\"></main></body></html>\n")
	}
	q := form.Get("q")
	if q == "" {
		return object(http.StatusBadRequest, m{"error": "No query"})
	}
	at, ok := number(form.Get("pageno"), 1)
	if !ok || at < 1 {
		return invalid("pageno", form.Get("pageno"))
	}
	if safe, ok := number(form.Get("safesearch"), 0); !ok || safe < 0 || safe > 2 {
		return invalid("safesearch", form.Get("safesearch"))
	}
	since, ok := map[string]time.Time{"": {}, "day": c.at.AddDate(0, 0, -1), "week": c.at.AddDate(0, 0, -7), "month": c.at.AddDate(0, -1, 0), "year": c.at.AddDate(-1, 0, 0)}[form.Get("time_range")]
	if !ok {
		return invalid("time_range", form.Get("time_range"))
	}
	language := form.Get("language")
	if language != "" && language != "all" && language != "auto" && !searxngLanguage.MatchString(language) {
		return invalid("language", language)
	}
	var found []Document
	for _, d := range rank(c.world.of(Web), q, everything, some) {
		if d.published().Before(since) || !speaks(d, language) {
			continue
		}
		found = append(found, d)
	}
	return object(http.StatusOK, x.results(q, page(found, (at-1)*10, 10), nil))
}

var searxngLanguage = regexp.MustCompile(`^[a-z]{2,3}(-[a-zA-Z]{2,4})?$`)

// speaks reports whether a document is in a language given as a code, with or without a region.
func speaks(d Document, language string) bool {
	language, _, _ = strings.Cut(language, "-")
	return language == "" || language == "all" || language == "auto" || d.Lang == "" || strings.EqualFold(d.Lang, language)
}

func (x *searxng) results(q string, docs []Document, failed [][2]string) m {
	list := []m{}
	for i, d := range docs {
		engines := [][]string{{"google"}, {"duckduckgo", "brave"}, {"bing"}, {"google", "bing", "startpage"}}[d.hash("engines")%4]
		positions, total := []int{}, 0.0
		for n := range engines {
			positions = append(positions, i+1+n)
			total += float64(len(engines)) / float64(i+1+n)
		}
		address := x.s.pageURL(d)
		u, _ := url.Parse(address)
		list = append(list, m{
			"url": address, "title": d.Title, "content": snippet(d, q, 300), "publishedDate": d.published().Format("2006-01-02T15:04:05"),
			"engine": engines[0], "engines": engines, "positions": positions, "score": total, "category": "general", "template": "default.html",
			"parsed_url": []string{u.Scheme, u.Host, u.Path, "", "", ""}, "thumbnail": "", "img_src": "", "priority": "",
		})
	}
	if failed == nil {
		failed = [][2]string{}
	}
	none := []string{}
	return m{
		"query": q, "number_of_results": 0, "results": list, "answers": none, "corrections": none, "infoboxes": none,
		"suggestions": none, "unresponsive_engines": failed,
	}
}

func invalid(name, value string) reply {
	return object(http.StatusBadRequest, m{"error": `Invalid value "` + value + `" for parameter ` + name})
}

func formatOff() reply {
	return text(http.StatusForbidden, "text/html; charset=utf-8", flaskPage("403 Forbidden",
		"You don't have the permission to access the requested resource. It is either read-protected or not readable by the server."))
}

// flaskPage is the error page of the web framework SearXNG is written with.
func flaskPage(title, why string) string {
	_, name, _ := strings.Cut(title, " ")
	return "<!doctype html>\n<html lang=en>\n<title>" + title + "</title>\n<h1>" + name + "</h1>\n<p>" + why + "</p>\n"
}
