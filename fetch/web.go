package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"whetstone/source"
)

// web reads the pages that search engines, people and documents name, and extracts their articles. It asks robots.txt
// first, follows at most five redirects, takes text types of at most 4 MiB, and reaches public addresses only.
type web struct {
	set    *Set
	config Config
	decl   source.Declaration
	http   *http.Client
	denied bool // a private wiki fetches no content at all
}

const (
	pagesPerSeed = 5
	maxRedirects = 5
)

func (s *Set) web(c Config, private bool) source.Fetcher {
	dial := contentDialer(s.o.Resolve, c.Hosts, plainDial)
	if private {
		dial = refusingDialer
	}
	w := &web{set: s, config: c, decl: c.declare(source.Declaration{Name: "web", Remote: true}), denied: private}
	w.http = contentClient(dial, c.Hosts)
	return w
}

// contentClient checks each address before it is asked, the first and every one that a redirect names.
func contentClient(dial dialFunc, exempt []string) *http.Client {
	return &http.Client{
		Timeout:   askTimeout,
		Transport: transport(dial),
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("%w: more than %d redirects", errBlocked, maxRedirects)
			}
			r.Header.Del("Referer")
			_, err := checkContent(r.URL.String(), exempt)
			return err
		},
	}
}

// checkContent is CheckURL, but for hosts that the configuration exempts.
func checkContent(raw string, exempt []string) (*url.URL, error) {
	if u, err := url.Parse(raw); err == nil && u.User == nil && (u.Scheme == "http" || u.Scheme == "https") {
		for _, h := range exempt {
			if strings.EqualFold(hostPort(raw), h) {
				return u, nil
			}
		}
	}
	return CheckURL(raw)
}

func (w *web) Declare() source.Declaration { return w.decl }

// Fetch reads q.URLs. Where some pages fail and others do not, it returns both the documents and the first error.
func (w *web) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	var out []source.Document
	var first error
	tried := 0
	for _, raw := range q.URLs {
		if tried == pagesPerSeed || q.Limit > 0 && len(out) >= q.Limit {
			break
		}
		tried++
		d, err := w.page(ctx, raw)
		if err != nil {
			if ctx.Err() != nil {
				return out, err
			}
			if first == nil {
				first = err
			}
			continue
		}
		out = append(out, d)
	}
	return out, first
}

func (w *web) page(ctx context.Context, raw string) (source.Document, error) {
	if w.denied {
		return source.Document{}, source.Errorf(source.Blocked, "web", "the wiki is private: no page is fetched")
	}
	u, err := checkContent(raw, w.config.Hosts)
	if err != nil {
		return source.Document{}, source.Errorf(source.Blocked, "web", "%s: %w", short(raw, 80), err)
	}
	if err := w.mayRead(ctx, u); err != nil {
		return source.Document{}, err
	}
	got, final, err := w.get(ctx, u.String(), "text/html,application/xhtml+xml,text/plain,text/markdown;q=0.9")
	if err != nil {
		return source.Document{}, err
	}
	if final.Host != u.Host {
		// Redirected to another site: its rules count, too.
		if err := w.mayRead(ctx, final); err != nil {
			return source.Document{}, err
		}
	}
	kind, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if err != nil && got.header.Get("Content-Type") != "" {
		kind = "?"
	}
	d := source.Document{URL: Canonical(final.String()), Fetcher: "web"}
	switch kind {
	case "text/html", "application/xhtml+xml", "":
		a, err := readArticle(got.body, got.header.Get("Content-Type"), final)
		if err != nil {
			return d, source.Errorf(source.Malformed, "web", "%s: the page can not be read", short(raw, 80))
		}
		d.Title, d.Text, d.Published = a.title, a.text, a.published
		if a.byline != "" {
			d.Authors = []string{a.byline}
		}
	case "text/plain", "text/markdown", "text/x-markdown":
		d.Text = strings.ToValidUTF8(string(got.body), "\ufffd")
		d.Title = final.Path
	default:
		return d, source.Errorf(source.Blocked, "web", "%s: %s is no text", short(raw, 80), short(got.header.Get("Content-Type"), 60))
	}
	if strings.TrimSpace(d.Text) == "" {
		return d, source.Errorf(source.NotFound, "web", "%s: the page holds no text", short(raw, 80))
	}
	return d, nil
}

// mayRead asks robots.txt (RFC 9309): unavailable by the client's fault means that everything is allowed, by the server's
// that nothing is.
func (w *web) mayRead(ctx context.Context, u *url.URL) error {
	origin := u.Scheme + "://" + u.Host
	e, ok := w.set.robots.get(origin)
	if !ok {
		got, _, err := w.get(ctx, origin+"/robots.txt", "text/plain")
		se, isSource := source.AsError(err)
		switch {
		case err == nil:
			e = robotsEntry{text: string(got.body)}
		case isSource && (se.Kind == source.NotFound || se.Kind == source.Unauthorised || se.Kind == source.BadQuery || se.Kind == source.TooLarge):
			e = robotsEntry{}
		case isSource && se.Status >= 500:
			e = robotsEntry{deny: true}
		default:
			return err
		}
		if !e.deny {
			w.set.robots.put(origin, e)
		}
	}
	if e.deny {
		err := source.Errorf(source.Unavailable, "web", "%s: its robots.txt can not be read now", u.Host)
		return err
	}
	path := u.EscapedPath()
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if !allowed(e.text, product, path) {
		return source.Errorf(source.Blocked, "web", "%s: its robots.txt forbids %s", u.Host, short(path, 80))
	}
	return nil
}

func (w *web) get(ctx context.Context, u, accept string) (answer, *url.URL, error) {
	c := &client{name: "web", now: w.set.o.Now}
	interval := w.decl.Interval
	done, err := w.set.limits.wait(ctx, hostPort(u), interval)
	if err != nil {
		return answer{}, nil, source.Errorf(source.Timeout, "web", "wait for its turn: %w", err)
	}
	defer done()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return answer{}, nil, source.Errorf(source.Blocked, "web", "%s is no address", short(u, 80))
	}
	r.Header.Set("User-Agent", w.set.agent())
	r.Header.Set("Accept", accept)
	resp, err := w.http.Do(r)
	if err != nil {
		return answer{}, nil, netError(ctx, "web", err, "")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return answer{}, nil, c.statusError(answer{status: resp.StatusCode, header: resp.Header}, u)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return answer{}, nil, netError(ctx, "web", err, "")
	}
	if len(b) > maxBody {
		return answer{}, nil, &source.Error{Kind: source.TooLarge, Fetcher: "web", Status: resp.StatusCode, Err: errors.New("the page is larger than 4 MiB")}
	}
	return answer{resp.StatusCode, resp.Header, b}, resp.Request.URL, nil
}
