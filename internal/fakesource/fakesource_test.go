package fakesource_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"whetstone/internal/fakesource"
)

const agent = "whetstone-test/1.0 (https://example.org/whetstone; tests@example.org)"

// start runs the fakes on the default world, with one fault for every request.
func start(t *testing.T, f fakesource.Fault) *fakesource.Server {
	t.Helper()
	return fakesource.Start(t, fakesource.Options{
		World: fakesource.Default(), RetryAfter: 1500 * time.Millisecond, Next: func(fakesource.Request) fakesource.Fault { return f },
	})
}

// answer is a response that was read to its end, or as far as it came.
type answer struct {
	*http.Response
	text string
	err  error // of reading the body
}

func do(t *testing.T, method, address, body string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", agent)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp, string(text), err}
}

func get(t *testing.T, address string, header ...string) answer {
	t.Helper()
	return do(t, http.MethodGet, address, "", header...)
}

// into decodes JSON.
func into[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(a.text), &v); err != nil {
		t.Fatalf("%v in %.200s", err, a.text)
	}
	return v
}

func (a answer) want(t *testing.T, status int, parts ...string) {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("%s: status %d, want %d: %.300s", a.Request.URL, a.StatusCode, status, a.text)
	}
	for _, p := range parts {
		if !strings.Contains(a.text, p) {
			t.Errorf("%s: no %q in %.600s", a.Request.URL, p, a.text)
		}
	}
}

// header checks headers, given as name, value, name, value. "-" says that there is none.
func (a answer) header(t *testing.T, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		want := pairs[i+1]
		if want == "-" {
			want = ""
		}
		if have := a.Header.Get(pairs[i]); have != want {
			t.Errorf("%s: %s is %q, want %q", a.Request.URL, pairs[i], have, want)
		}
	}
}

// plain asks a source for something about Raft in the simplest way.
func plain(t *testing.T, s *fakesource.Server, source string) answer {
	t.Helper()
	base := s.URL(source)
	switch source {
	case fakesource.ArXiv:
		return get(t, base+"/api/query?search_query=all:raft")
	case fakesource.GitHub:
		return get(t, base+"/search/repositories?q=raft")
	case fakesource.Wikipedia:
		return get(t, base+"/w/api.php?action=query&list=search&srsearch=raft&format=json&formatversion=2")
	case fakesource.SearXNG:
		return get(t, base+"/search?q=raft&format=json")
	case fakesource.Brave:
		return get(t, base+"/res/v1/web/search?q=raft")
	case fakesource.Tavily:
		return do(t, http.MethodPost, base+"/search", `{"query": "raft"}`)
	case fakesource.SemanticScholar:
		return get(t, base+"/graph/v1/paper/search?query=raft")
	case fakesource.OpenAlex:
		return get(t, base+"/works?search=raft")
	default:
		return get(t, base+"/raft-overview.html")
	}
}

func TestEverySourceAnswers(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	for _, source := range fakesource.Sources() {
		a := plain(t, s, source)
		a.want(t, http.StatusOK, "Raft")
		if again := plain(t, s, source); source != fakesource.ArXiv && again.text != a.text {
			t.Errorf("%s: the same question has two answers", source)
		}
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	var s *fakesource.Server
	s = fakesource.Start(t, fakesource.Options{World: fakesource.Default(), Next: func(r fakesource.Request) fakesource.Fault {
		if seen := len(s.Requests()); seen != r.N {
			t.Errorf("request %d comes after %d", r.N, seen)
		}
		if r.N == 1 {
			return fakesource.ServerError
		}
		return fakesource.None
	}})
	for range 2 {
		do(t, http.MethodPost, s.URL(fakesource.Tavily)+"/search?x=1", `{"query": "raft"}`, "Authorization", "Bearer k")
	}
	log := s.Requests()
	if len(log) != 2 {
		t.Fatalf("%d requests", len(log))
	}
	r := log[1]
	if r.Source != "tavily" || r.Method != http.MethodPost || r.Path != "/search" || r.Query != "x=1" || r.Body != `{"query": "raft"}` || r.N != 1 ||
		r.Fault != fakesource.ServerError || r.Header.Get("Authorization") != "Bearer k" || r.At.IsZero() || log[0].Fault != fakesource.None {
		t.Errorf("%+v", r)
	}
}

// Every fault of every source looks as it should to a client.
func TestFaults(t *testing.T) {
	t.Parallel()
	status := map[fakesource.Fault]int{
		fakesource.ServerError: 500, fakesource.BadGateway: 502, fakesource.Unavailable: 503, fakesource.Forbidden: 403, fakesource.NotFound: 404,
		fakesource.NotJSON: 200, fakesource.Empty: 200, fakesource.Truncated: 200, fakesource.RateLimited: 429, fakesource.SecondaryLimit: 429,
		fakesource.PlanLimit: 429, fakesource.SpendLimit: 433, fakesource.APILimit: 200, fakesource.MaxLag: 200, fakesource.ErrorEntry: 200,
		fakesource.Unresponsive: 200, fakesource.Unauthorised: 401,
	}
	special := map[string]int{
		"github rate_limited": 403, "github secondary_limit": 403, "tavily plan_limit": 432, "brave unauthorised": 422, "semanticscholar unauthorised": 403,
	}
	for _, source := range fakesource.Sources() {
		for _, f := range fakesource.Faults(source) {
			t.Run(source+"/"+string(f), func(t *testing.T) {
				t.Parallel()
				s := start(t, f)
				switch f {
				case fakesource.Reset, fakesource.Hang, fakesource.TooLarge:
					return // have tests of their own
				}
				a := plain(t, s, source)
				want := status[f]
				if n, ok := special[source+" "+string(f)]; ok {
					want = n
				}
				a.want(t, want)
				if cut := errors.Is(a.err, io.ErrUnexpectedEOF); cut != (f == fakesource.Truncated) {
					t.Errorf("reading the body: %v", a.err)
				}
				switch f {
				case fakesource.Unavailable:
					a.header(t, "Retry-After", "2") // 1.5 seconds, in whole ones
				case fakesource.BadGateway, fakesource.NotJSON:
					a.want(t, want, "<html")
				case fakesource.Empty:
					if strings.Contains(a.text, "Raft") {
						t.Errorf("not empty: %.200s", a.text)
					}
				case fakesource.Truncated:
					if json.Valid([]byte(a.text)) || a.text == "" {
						t.Errorf("whole: %.200s", a.text)
					}
				}
				if log := s.Requests(); len(log) != 1 || log[0].Fault != f {
					t.Errorf("log: %+v", log)
				}
			})
		}
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	s := fakesource.Start(t, fakesource.Options{World: fakesource.Default(), Next: func(r fakesource.Request) fakesource.Fault {
		if r.N == 1 {
			return fakesource.None
		}
		return fakesource.Reset
	}})
	// The first comes on a fresh connection, the last on a kept one. The client must not ask again by itself on either.
	for n, fails := range []bool{true, false, true} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL(fakesource.OpenAlex)+"/works", nil)
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		// net/http loses the errno when the reset comes within the head.
		if broken := errors.Is(err, syscall.ECONNRESET) || n > 0 && errors.Is(err, io.ErrUnexpectedEOF); broken != fails {
			t.Errorf("%d: error %v", n, err)
		}
		if len(s.Requests()) != n+1 {
			t.Errorf("%d requests, want %d", len(s.Requests()), n+1)
		}
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.Hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL(fakesource.Tavily)+"/search", strings.NewReader("{}"))
	resp, err := http.DefaultClient.Do(r)
	if err == nil {
		resp.Body.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.TooLarge)
	for _, source := range []string{fakesource.Brave, fakesource.ArXiv, fakesource.Web} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL(source)+"/raft-overview.html", nil)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.CopyN(io.Discard, resp.Body, 8<<20)
		if n != 8<<20 || err != nil || resp.StatusCode != http.StatusOK || resp.ContentLength != -1 {
			t.Errorf("%s: %d bytes, %v, %s", source, n, err, resp.Status)
		}
		resp.Body.Close()
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for source, ask := range map[string]struct {
		header, value string
		status        int
		refusal       string
	}{
		fakesource.GitHub:          {"Authorization", "Bearer right", 401, `"message":"Bad credentials"`},
		fakesource.Brave:           {"X-Subscription-Token", "right", 422, `"code":"SUBSCRIPTION_TOKEN_INVALID"`},
		fakesource.Tavily:          {"Authorization", "Bearer right", 401, `{"detail":{"error":"Unauthorized: missing or invalid API key."}}`}, //nolint:misspell // as the service spells it
		fakesource.SemanticScholar: {"x-api-key", "right", 403, `{"message":"Forbidden"}`},
		fakesource.OpenAlex:        {"Authorization", "Bearer right", 401, `"error":"Invalid or missing API key"`},
	} {
		s := start(t, fakesource.None)
		s.Unauthorised(source, "right")
		address, method, body := s.URL(source), http.MethodGet, ""
		switch source {
		case fakesource.GitHub:
			address += "/search/repositories?q=raft"
		case fakesource.Brave:
			address += "/res/v1/web/search?q=raft"
		case fakesource.Tavily:
			address, method, body = address+"/search", http.MethodPost, `{"query": "raft"}`
		case fakesource.SemanticScholar:
			address += "/graph/v1/paper/search?query=raft"
		case fakesource.OpenAlex:
			address += "/works?search=raft"
		}
		do(t, method, address, body, ask.header, ask.value).want(t, http.StatusOK, "Raft")
		do(t, method, address, body, ask.header, strings.Replace(ask.value, "right", "wrong", 1)).want(t, ask.status, ask.refusal)
		do(t, method, address, body).want(t, ask.status)
		plain(t, s, fakesource.Web).want(t, http.StatusOK)
	}
	s := start(t, fakesource.None)
	s.Unauthorised(fakesource.OpenAlex, "right")
	get(t, s.URL(fakesource.OpenAlex)+"/works?search=raft&api_key=right").want(t, http.StatusOK)
	s.Unauthorised(fakesource.GitHub, "right")
	get(t, s.URL(fakesource.GitHub)+"/search/repositories?q=raft").want(t, http.StatusUnauthorized, "Requires authentication")
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	var wg sync.WaitGroup
	for range 4 {
		for _, source := range fakesource.Sources() {
			wg.Go(func() { plain(t, s, source) })
		}
	}
	wg.Wait()
	var numbers []int
	for _, r := range s.Requests() {
		if r.Source == fakesource.Brave {
			numbers = append(numbers, r.N)
		}
	}
	if len(s.Requests()) != 36 || !slices.Equal(numbers, []int{0, 1, 2, 3}) {
		t.Errorf("%d requests, %v", len(s.Requests()), numbers)
	}
}

func encode(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return "?" + v.Encode()
}
