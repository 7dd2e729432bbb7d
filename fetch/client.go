package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"whetstone/learning"
	"whetstone/source"
)

const (
	maxBody    = 4 << 20
	askTimeout = 30 * time.Second
)

// limits paces requests, by host, for everything in the process.
type limits struct {
	mu     sync.Mutex
	byHost map[string]*pace
}

type pace struct {
	limiter *rate.Limiter
	one     chan struct{} // one request at a time
}

func newLimits() *limits { return &limits{byHost: map[string]*pace{}} }

// wait takes the host's turn; done gives it back.
func (l *limits) wait(ctx context.Context, host string, interval time.Duration) (done func(), err error) {
	l.mu.Lock()
	p := l.byHost[host]
	if p == nil {
		p = &pace{limiter: rate.NewLimiter(rate.Inf, 1), one: make(chan struct{}, 1)}
		if interval > 0 {
			p.limiter = rate.NewLimiter(rate.Every(interval), 1)
		}
		l.byHost[host] = p
	}
	l.mu.Unlock()
	select {
	case p.one <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := p.limiter.Wait(ctx); err != nil {
		<-p.one
		return nil, err
	}
	return func() { <-p.one }, nil
}

// client asks one API.
type client struct {
	name     string
	base     string
	key      string
	decl     source.Declaration
	http     *http.Client
	limits   *limits
	agent    string
	now      func() time.Time
	interval time.Duration
}

// api makes the client of an API at its configured address, or at base.
func (s *Set) api(name string, c Config, base string, interval time.Duration, private bool) *client {
	if c.BaseURL != "" {
		base = c.BaseURL
	}
	base = strings.TrimRight(base, "/")
	d := c.declare(source.Declaration{Name: name, Remote: !loopbackURL(base), Interval: interval})
	cl := &client{name: name, base: base, key: c.Key, decl: d, limits: s.limits, agent: s.agent(), now: s.o.Now, interval: d.Interval}
	cl.http = &http.Client{
		Timeout:   askTimeout,
		Transport: transport(configuredDialer(hostPort(base), private, s.o.Resolve, plainDial)),
		// A key never follows a redirect to another host; the dialer would refuse it, too.
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 3 || r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
				return fmt.Errorf("%w: the API redirects to %s", errBlocked, r.URL.Host)
			}
			return nil
		},
	}
	return cl
}

// agent says who asks, and how to reach whoever runs this: several services ask for that.
func (s *Set) agent() string {
	contact := s.o.Contact
	if contact == "" {
		contact = "https://github.com/whetstone"
	}
	return "whetstone/0.1 (" + contact + ")"
}

// hostPort is what a dialer is asked for when base is fetched.
func hostPort(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
		if port == "" {
			port = "80"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// loopbackURL reports whether an address is certainly on this machine.
func loopbackURL(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback() || u.Hostname() == "localhost"
}

// answer is a response as read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask makes one request and returns whatever came back with a status; what did not come back is a *source.Error.
func (c *client) ask(ctx context.Context, method, path string, query url.Values, header http.Header, body any) (answer, error) {
	u := c.base + path
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	return c.askURL(ctx, method, u, header, body)
}

func (c *client) askURL(ctx context.Context, method, u string, header http.Header, body any) (answer, error) {
	if c.base == "" {
		return answer{}, source.Errorf(source.Unauthorised, c.name, "no address is configured for it: set sources.%s.base_url in config.yaml or %s_BASE_URL", c.name, strings.ToUpper(c.name))
	}
	done, err := c.limits.wait(ctx, hostPort(u), c.interval)
	if err != nil {
		return answer{}, source.Errorf(source.Timeout, c.name, "wait for its turn: %w", err)
	}
	defer done()
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return answer{}, fmt.Errorf("%s: encode the question: %w", c.name, err)
		}
		payload = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, u, payload)
	if err != nil {
		return answer{}, source.Errorf(source.BadQuery, c.name, "make the request: %s", scrub(err.Error(), c.key))
	}
	for k, vs := range header {
		r.Header[k] = vs
	}
	r.Header.Set("User-Agent", c.agent)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return answer{}, c.netError(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return answer{}, c.netError(ctx, err)
	}
	if len(b) > maxBody {
		return answer{}, &source.Error{Kind: source.TooLarge, Fetcher: c.name, Status: resp.StatusCode, Err: errors.New("the answer is larger than 4 MiB")}
	}
	return answer{resp.StatusCode, resp.Header, b}, nil
}

// netError sorts what kept an answer from coming.
func (c *client) netError(ctx context.Context, err error) error {
	return netError(ctx, c.name, err, c.key)
}

func netError(ctx context.Context, name string, err error, key string) error {
	e := &source.Error{Fetcher: name, Kind: source.Unavailable}
	var ne net.Error
	switch {
	case errors.Is(err, errBlocked):
		e.Kind = source.Blocked
		e.Err = errors.New(scrub(innermost(err), key))
		return e
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout():
		e.Kind, e.Err = source.Timeout, errors.New("no answer in time")
		return e
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		e.Err = errors.New("the connection broke before the answer was whole")
		return e
	}
	e.Err = errors.New(scrub(innermost(err), key))
	return e
}

// innermost leaves out the address that net/http puts before an error: it may hold a key.
func innermost(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return err.Error()
}

// scrub takes a key and whatever looks like one out of a message, and keeps it short.
func scrub(s, key string) string {
	if len(key) > 3 {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	s, _ = learning.Redact(strings.Join(strings.Fields(learning.Clean(s)), " "))
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// statusError sorts an answer that is no success. message is what the API says about it.
func (c *client) statusError(a answer, message string) *source.Error {
	e := &source.Error{Fetcher: c.name, Status: a.status, RetryAfter: retryAfter(a.header, c.now())}
	if message == "" {
		message = http.StatusText(a.status)
	}
	e.Err = errors.New(scrub(message, c.key))
	switch {
	case a.status == http.StatusTooManyRequests:
		e.Kind = source.RateLimited
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden || a.status == http.StatusPaymentRequired:
		e.Kind = source.Unauthorised
	case a.status == http.StatusNotFound || a.status == http.StatusGone:
		e.Kind = source.NotFound
	case a.status == http.StatusRequestTimeout || a.status == http.StatusGatewayTimeout:
		e.Kind = source.Timeout
	case a.status == http.StatusServiceUnavailable && e.RetryAfter > 0:
		e.Kind = source.RateLimited
	case a.status >= 500:
		e.Kind = source.Unavailable
	case a.status >= 400:
		e.Kind = source.BadQuery
	default:
		e.Kind = source.Malformed
	}
	return e
}

// decode reads JSON, or says that the answer is malformed.
func (c *client) decode(a answer, into any) error {
	if err := json.Unmarshal(a.body, into); err != nil {
		return &source.Error{Kind: source.Malformed, Fetcher: c.name, Status: a.status, Err: errors.New("the answer is not the documented JSON")}
	}
	return nil
}

// retryAfter reads Retry-After, in seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 && n < 1e8 {
		return time.Duration(n * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

// apiMessage finds an error's text in the usual places.
func apiMessage(body []byte) string {
	var m struct {
		Message string `json:"message"`
		Error   any    `json:"error"`
		Detail  any    `json:"detail"`
	}
	if json.Unmarshal(body, &m) != nil {
		return ""
	}
	if m.Message != "" {
		return m.Message
	}
	for _, v := range []any{m.Error, m.Detail} {
		switch x := v.(type) {
		case string:
			return x
		case map[string]any:
			for _, k := range []string{"message", "error", "detail", "info", "code"} {
				if s, ok := x[k].(string); ok {
					return s
				}
			}
		}
	}
	return ""
}
