package fakesource

// Plain web pages over HTTP/1.1 (RFC 9110) with a robots.txt (RFC 9309), as of 2026-11: a page for every document on the
// web at /<id>.html, written the way sites write articles, plus whatever a test plants.

import (
	"net/http"
	"strconv"
	"strings"
)

// site is what the web fake serves beside the documents.
type site struct {
	pages     map[string]reply
	redirects map[string]string
	robots    string
}

func newSite() site {
	return site{pages: map[string]reply{}, redirects: map[string]string{}, robots: "User-agent: *\nDisallow: /admin/\n"}
}

// Redirect makes the web fake answer 302 for a path. to is a path on the fake or a whole URL.
func (s *Server) Redirect(path, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.site.redirects[path] = to
}

// Page makes the web fake answer a path with a body of any type and size.
func (s *Server) Page(path, contentType string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.site.pages[path] = text(http.StatusOK, contentType, string(body))
}

// Robots sets the robots.txt of the web fake, which at first forbids /admin/ only.
func (s *Server) Robots(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.site.robots = text
}

// pageURL is where the web fake has a document.
func (s *Server) pageURL(d Document) string { return s.URL(Web) + "/" + d.ID + ".html" }

type web struct{ s *Server }

func (*web) key(call) string { return "" }

func (w *web) deny(_ call, f Fault) (reply, bool) {
	switch f {
	case RateLimited:
		return text(http.StatusTooManyRequests, "text/html", plainPage("429 Too Many Requests")).with("Retry-After", w.s.retryAfter()), true
	case Unauthorised:
		return text(http.StatusUnauthorized, "text/html", plainPage("401 Authorization Required")).with("WWW-Authenticate", `Basic realm="members"`), true
	}
	return reply{}, false
}

func (w *web) answer(c call) reply {
	path := c.URL.Path
	w.s.mu.Lock()
	planted, isPage := w.s.site.pages[path]
	to, isRedirect := w.s.site.redirects[path]
	robots := w.s.site.robots
	w.s.mu.Unlock()
	switch {
	case c.Method != http.MethodGet && c.Method != http.MethodHead:
		return text(http.StatusMethodNotAllowed, "text/html", plainPage("405 Not Allowed")).with("Allow", "GET, HEAD")
	case c.empty:
		return text(http.StatusOK, "text/html; charset=utf-8", "")
	case isRedirect:
		return text(http.StatusFound, "text/html", plainPage("302 Found")).with("Location", to)
	case isPage:
		return reply{planted.status, planted.header.Clone(), planted.body}
	case path == "/robots.txt":
		return text(http.StatusOK, "text/plain; charset=utf-8", robots)
	}
	id, _ := strings.CutSuffix(strings.TrimPrefix(path, "/"), ".html")
	d, ok := c.world.Find(id)
	if !ok || !d.in(Web) || !strings.HasSuffix(path, ".html") {
		return text(http.StatusNotFound, "text/html", plainPage("404 Not Found"))
	}
	return text(http.StatusOK, "text/html; charset=utf-8", w.s.article(d)).
		with("Last-Modified", d.updated().Format(http.TimeFormat), "Etag", strconv.Quote(d.hex("etag")[:16]))
}
