// Package fakesource holds local stand-ins, over real HTTP on loopback, for the nine network sources research is fetched
// from: arXiv, GitHub, Wikipedia, SearXNG, Brave, Tavily, Semantic Scholar, OpenAlex and plain web pages. Each fake keeps
// to the wire format its service documents (the head of its file says which, and as of when), refuses what the service
// refuses, and fails on demand as the service fails. All of them know the same small World of documents.
package fakesource

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The sources, as Server.URL, Request.Source and Document.Sources name them. SearXNG, Brave and Tavily find what is on
// Web, so a document is never listed under them.
const (
	ArXiv           = "arxiv"
	GitHub          = "github"
	Wikipedia       = "wikipedia"
	SearXNG         = "searxng"
	Brave           = "brave"
	Tavily          = "tavily"
	SemanticScholar = "semanticscholar"
	OpenAlex        = "openalex"
	Web             = "web"
)

// Sources lists every source, in a fixed order.
func Sources() []string {
	return []string{ArXiv, GitHub, Wikipedia, SearXNG, Brave, Tavily, SemanticScholar, OpenAlex, Web}
}

// Request is one request as a fake saw it.
type Request struct {
	Source string
	Method string
	Path   string
	Query  string // raw, without the question mark
	Header http.Header
	Body   string
	N      int   // the n-th request to this source, from 0
	Fault  Fault // what was made to go wrong; None for an honest answer
	At     time.Time
}

// Options says what the fakes know and how they fail.
type Options struct {
	World World
	// Next chooses the fault of a request, whose Fault is still None; nil never fails. It is called for one request at
	// a time, and may call Server.Requests.
	Next func(Request) Fault
	// RetryAfter is what rate limits and unavailable services ask a client to wait, rounded up to whole seconds because
	// the header has no smaller unit; 0 asks to retry at once. OpenAlex's spent budget asks for hours all the same.
	RetryAfter time.Duration
}

// Server is the nine fakes.
type Server struct {
	t    testing.TB
	opts Options
	urls map[string]string
	done chan struct{} // closed when the test ends, to let go of hanging requests

	turn sync.Mutex // numbers requests and asks Options.Next in one order; apart from mu so that Next may look at the log

	mu       sync.Mutex
	requests []Request
	count    map[string]int
	keys     map[string]string
	formats  []string // output formats of the SearXNG instance
	site     site     // what tests planted on the web fake
}

// Start runs one server per source until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{
		t: t, opts: o, urls: map[string]string{}, done: make(chan struct{}),
		count: map[string]int{}, keys: map[string]string{}, formats: []string{"html", "json"}, site: newSite(),
	}
	var servers []*httptest.Server
	for _, name := range Sources() {
		h := httptest.NewUnstartedServer(s.handler(name, s.backend(name)))
		h.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, served{}, new(atomic.Int32))
		}
		h.Start()
		servers, s.urls[name] = append(servers, h), h.URL
	}
	t.Cleanup(func() {
		close(s.done)
		for _, h := range servers {
			h.CloseClientConnections()
			h.Close()
		}
	})
	return s
}

// URL is what a client takes as the base URL of a source's API, for example "http://127.0.0.1:1234". The documented paths
// are under it.
func (s *Server) URL(source string) string {
	u, ok := s.urls[source]
	if !ok {
		s.t.Errorf("fakesource: no source %q", source)
	}
	return u
}

// Requests returns what was asked so far, in the order it was asked.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Unauthorised makes a source refuse, in its documented way, every request that does not carry this key. Only GitHub,
// Brave, Tavily, Semantic Scholar and OpenAlex have keys.
func (s *Server) Unauthorised(source, key string) {
	switch source {
	case GitHub, Brave, Tavily, SemanticScholar, OpenAlex:
	default:
		s.t.Errorf("fakesource: %s has no keys", source)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[source] = key
}

// call is one request on its way through a fake.
type call struct {
	*http.Request
	query url.Values
	body  []byte
	n     int
	at    time.Time
	world World
	empty bool // the answer is to be valid and to hold nothing
	kept  bool // the connection served a request before
}

// served is the context key of the number of requests a connection has served.
type served struct{}

// reply is an answer not yet sent, so that it can still be cut short.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// backend is one source.
type backend interface {
	// answer is what the service says when nothing is wrong with it. It refuses what the service refuses.
	answer(c call) reply
	// deny is the service's own form of a fault; false leaves it to the form any web server has.
	deny(c call, f Fault) (reply, bool)
	// key is the credential a request carries.
	key(c call) string
}

func (s *Server) backend(source string) backend {
	switch source {
	case ArXiv:
		return &arxiv{s}
	case GitHub:
		return &github{s}
	case Wikipedia:
		return &wikipedia{s}
	case SearXNG:
		return &searxng{s}
	case Brave:
		return &brave{s}
	case Tavily:
		return &tavily{s}
	case SemanticScholar:
		return &semanticScholar{s}
	case OpenAlex:
		return &openAlex{s}
	default:
		return &web{s}
	}
}

func (s *Server) handler(source string, b backend) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The body has to be read to its end, or the server would not notice a client that gives up.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		seen := s.record(source, r, body)
		c := call{Request: r, query: r.URL.Query(), body: body, n: seen.N, at: seen.At, world: s.opts.World}
		if n, ok := r.Context().Value(served{}).(*atomic.Int32); ok {
			c.kept = n.Add(1) > 1
		}
		if seen.Fault != None {
			s.fail(w, c, b, seen)
			return
		}
		if key := s.required(source); key != "" && b.key(c) != key {
			refusal, _ := b.deny(c, Unauthorised)
			send(w, refusal)
			return
		}
		send(w, b.answer(c))
	}
}

func (s *Server) record(source string, r *http.Request, body []byte) Request {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	seen := Request{
		Source: source, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(),
		Body: string(body), N: s.count[source], At: time.Now(),
	}
	s.count[source]++
	s.mu.Unlock()
	if s.opts.Next != nil {
		seen.Fault = s.opts.Next(seen)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, seen)
	return seen
}

func (s *Server) required(source string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[source]
}

// waitSeconds is Options.RetryAfter in the unit of the Retry-After header.
func (s *Server) waitSeconds() int { return int(math.Ceil(s.opts.RetryAfter.Seconds())) }

func (s *Server) retryAfter() string { return strconv.Itoa(s.waitSeconds()) }
