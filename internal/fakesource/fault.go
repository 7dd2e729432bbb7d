package fakesource

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Fault is what goes wrong with one answer.
type Fault string

// The faults. Those that only some sources have are refused elsewhere: the test fails, because it asks for an answer the
// service never gives. Faults lists what a source has.
const (
	None           Fault = ""
	RateLimited    Fault = "rate_limited"    // the source's own form, see the head of its file
	SecondaryLimit Fault = "secondary_limit" // GitHub: 403 that keeps the primary quota; OpenAlex: too many in one second
	PlanLimit      Fault = "plan_limit"      // Tavily 432, Brave's monthly quota: waiting does not mend it
	SpendLimit     Fault = "spend_limit"     // Tavily 433, the pay-as-you-go limit
	APILimit       Fault = "api_limit"       // Wikipedia: 200 with the error "ratelimited"
	MaxLag         Fault = "max_lag"         // Wikipedia: 200 with the error "maxlag"
	ErrorEntry     Fault = "error_entry"     // arXiv: 200 with one entry titled Error
	Unresponsive   Fault = "unresponsive"    // SearXNG: 200, no results, and the engines that did not answer
	ServerError    Fault = "server_error"    // 500
	BadGateway     Fault = "bad_gateway"     // 502 with a proxy's HTML
	Unavailable    Fault = "unavailable"     // 503 with Retry-After
	Unauthorised   Fault = "unauthorised"    // the source's own form: 401, Brave 422, Semantic Scholar 403
	Forbidden      Fault = "forbidden"       // 403
	NotFound       Fault = "not_found"       // 404
	Truncated      Fault = "truncated"       // the honest answer with its full Content-Length, broken off halfway
	NotJSON        Fault = "not_json"        // 200 with the HTML of a challenge page
	Reset          Fault = "reset"           // the connection is reset before the answer's head is complete
	Hang           Fault = "hang"            // no answer until the client gives up or the test ends
	TooLarge       Fault = "too_large"       // 200 with a body of LargeBody bytes, broken off there
	Empty          Fault = "empty"           // a valid answer that holds nothing
)

// LargeBody is how much TooLarge sends before it gives up on a client that never stops reading.
const LargeBody = 64 << 20

// Faults lists the faults a source can be made to have.
func Faults(source string) []Fault {
	own := map[string][]Fault{
		ArXiv:           {RateLimited, ErrorEntry},
		GitHub:          {RateLimited, SecondaryLimit, Unauthorised},
		Wikipedia:       {RateLimited, APILimit, MaxLag},
		SearXNG:         {RateLimited, Unresponsive},
		Brave:           {RateLimited, PlanLimit, Unauthorised},
		Tavily:          {RateLimited, PlanLimit, SpendLimit, Unauthorised},
		SemanticScholar: {RateLimited, Unauthorised},
		OpenAlex:        {RateLimited, SecondaryLimit, Unauthorised},
		Web:             {RateLimited, Unauthorised},
	}[source]
	return append(own, ServerError, BadGateway, Unavailable, Forbidden, NotFound, Truncated, NotJSON, Reset, Hang, TooLarge, Empty)
}

// fail answers with a fault.
func (s *Server) fail(w http.ResponseWriter, c call, b backend, seen Request) {
	if !slices.Contains(Faults(seen.Source), seen.Fault) {
		s.t.Errorf("fakesource: %s never fails with %q", seen.Source, seen.Fault)
		send(w, b.answer(c))
		return
	}
	if r, ok := b.deny(c, seen.Fault); ok {
		send(w, r)
		return
	}
	switch seen.Fault {
	case ServerError:
		send(w, text(http.StatusInternalServerError, "text/html", plainPage("500 Internal Server Error")))
	case BadGateway:
		send(w, text(http.StatusBadGateway, "text/html", plainPage("502 Bad Gateway")))
	case Unavailable:
		send(w, text(http.StatusServiceUnavailable, "text/html", plainPage("503 Service Temporarily Unavailable")).with("Retry-After", s.retryAfter()))
	case Forbidden:
		send(w, text(http.StatusForbidden, "text/html", plainPage("403 Forbidden")))
	case NotFound:
		send(w, text(http.StatusNotFound, "text/html", plainPage("404 Not Found")))
	case NotJSON:
		send(w, text(http.StatusOK, "text/html; charset=utf-8", challengePage))
	case Empty:
		c.world, c.empty = World{}, true
		send(w, b.answer(c))
	case Truncated:
		truncate(w, b.answer(c))
	case Reset:
		reset(w, c)
	case Hang:
		select {
		case <-c.Context().Done():
		case <-s.done:
			panic(http.ErrAbortHandler) // returning would answer 200
		}
	case TooLarge:
		s.flood(w, c, b.answer(c).header.Get("Content-Type"))
	}
}

// truncate promises the whole answer and breaks off in the middle, as a connection that drops does.
func truncate(w http.ResponseWriter, r reply) {
	for k, v := range r.header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(max(len(r.body), 2)))
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body[:len(r.body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// reset breaks a connection with a TCP reset. On one that served a request before, the status line goes first: a client
// that saw nothing of an answer on a kept connection would ask again by itself, and the test would count two requests.
func reset(w http.ResponseWriter, c call) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if c.kept {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// flood sends a body of the right type that does not come to an end.
func (s *Server) flood(w http.ResponseWriter, c call, contentType string) {
	head := "<!doctype html><html><body><p>"
	switch {
	case strings.Contains(contentType, "json"):
		head = `{"padding": "`
	case strings.Contains(contentType, "xml"):
		head = `<?xml version='1.0' encoding='UTF-8'?><feed xmlns="http://www.w3.org/2005/Atom"><title>`
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, head)
	chunk := bytes.Repeat([]byte("all work and no play "), 1<<11)
	for sent := 0; sent < LargeBody; sent += len(chunk) {
		select {
		case <-c.Context().Done():
			return
		case <-s.done:
			panic(http.ErrAbortHandler)
		default:
		}
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// plainPage is the page web servers and proxies make up by themselves.
func plainPage(title string) string {
	return "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title + "</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
}

const challengePage = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Just a moment...</title><meta name="robots" content="noindex,nofollow"></head>
<body>
<noscript>Enable JavaScript and cookies to continue</noscript>
<div id="challenge">Verifying that you are not a robot. This may take a few seconds.</div>
<script>setTimeout(function () { location.reload(); }, 5000);</script>
</body>
</html>
`
