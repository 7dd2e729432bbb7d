// Package fetch asks the sources of research: files, scholarly and code indexes, search engines, web pages, and
// executables of the person's own. Everything it sends goes through one of two dialers: the content dialer for what a page
// or a result names, which reaches public addresses only, and the configured dialer, which reaches the exact host and port
// of the configuration and nothing else. A private wiki's fetchers can reach this machine only. Every failure is a
// *source.Error; an empty answer means that the source knows nothing. Nothing is retried here: Temporal does that.
package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"whetstone/source"
)

// Config is what a person says about one source.
type Config struct {
	BaseURL  string
	Key      string         // never stored or logged
	Interval *time.Duration // between two requests; nil is the source's own
	CostUSD  *float64       // of one request; nil is the source's own
	Hosts    []string       // host:port pairs that the web source may reach although they are not public
}

// Options says what to ask and how.
type Options struct {
	Sources map[string]Config
	Custom  string // the folder of executables; "" for none
	Contact string // in the User-Agent: an address at which the person who runs this can be reached
	Now     func() time.Time
	// Resolve looks names up; the system's resolver by default.
	Resolve Resolver
}

// Set holds all sources of a process: rate limits are shared by everything that asks through it.
type Set struct {
	o      Options
	limits *limits
	robots *robotsCache
}

// Names lists the built-in sources in the order in which they are asked. Search engines come before the web source, which
// reads what they found.
func Names() []string {
	return []string{"local", "arxiv", "wikipedia", "github", "semanticscholar", "openalex", "searxng", "brave", "tavily", "web"}
}

// New checks the configuration.
func New(o Options) (*Set, error) {
	for name, c := range o.Sources {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("configure the sources: %q is none: want one of %s", name, strings.Join(Names(), ", "))
		}
		if c.BaseURL != "" {
			u, err := url.Parse(c.BaseURL)
			if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil {
				return nil, fmt.Errorf("configure the sources: %s: %q is not an http or https address", name, c.BaseURL)
			}
		}
		for _, h := range c.Hosts {
			if _, _, err := net.SplitHostPort(h); err != nil {
				return nil, fmt.Errorf("configure the sources: %s: host %q: want host:port", name, h)
			}
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Resolve == nil {
		o.Resolve = net.DefaultResolver.LookupNetIP
	}
	return &Set{o: o, limits: newLimits(), robots: newRobotsCache(o.Now)}, nil
}

// ErrUnknown is returned for a source that neither is built in nor lies in the folder of executables.
var ErrUnknown = errors.New("no such source")

// Fetcher returns one source. private limits what it can reach to this machine, in the dialer.
func (s *Set) Fetcher(name string, private bool) (source.Fetcher, error) {
	c := s.o.Sources[name]
	api := func(base string, interval time.Duration) *client { return s.api(name, c, base, interval, private) }
	switch name {
	case "local":
		return local{}, nil
	case "arxiv":
		return arxiv{api("https://export.arxiv.org", 3*time.Second)}, nil
	case "wikipedia":
		return wikipedia{s, c, private}, nil
	case "github":
		interval := 7 * time.Second // the search allows 10 requests a minute without a token, 30 with one
		if c.Key != "" {
			interval = 2 * time.Second
		}
		return github{api("https://api.github.com", interval)}, nil
	case "semanticscholar":
		interval := 3 * time.Second // a pool shared with everybody
		if c.Key != "" {
			interval = time.Second
		}
		return semanticscholar{api("https://api.semanticscholar.org", interval)}, nil
	case "openalex":
		return openalex{api("https://api.openalex.org", 100*time.Millisecond)}, nil
	case "searxng":
		return searxng{api("", 200*time.Millisecond)}, nil
	case "brave":
		return brave{api("https://api.search.brave.com", time.Second)}, nil
	case "tavily":
		return tavily{api("https://api.tavily.com", 100*time.Millisecond)}, nil
	case "web":
		return s.web(c, private), nil
	}
	if x, ok := s.custom(name, private); ok {
		return x, nil
	}
	return nil, fmt.Errorf("%w: %q: want one of %s, or an executable in the fetchers folder", ErrUnknown, name, strings.Join(Names(), ", "))
}

// All lists every source there is, the executables last.
func (s *Set) All(private bool) []source.Declaration {
	var out []source.Declaration
	for _, n := range append(Names(), s.customNames()...) {
		if f, err := s.Fetcher(n, private); err == nil {
			out = append(out, f.Declare())
		}
	}
	return out
}

// declare fills in what the configuration says differently.
func (c Config) declare(d source.Declaration) source.Declaration {
	if c.Interval != nil {
		d.Interval = *c.Interval
	}
	if c.CostUSD != nil {
		d.CostUSD = *c.CostUSD
	}
	return d
}
