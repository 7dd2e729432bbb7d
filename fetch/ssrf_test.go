package fetch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"

	"whetstone/internal/testcorpus"
)

type ssrfCase struct {
	URL       string
	Resolves  []string
	Rebind    []string
	Redirects []string
	Allow     bool
	Why       string
}

func addrs(t *testing.T, ss []string) []netip.Addr {
	t.Helper()
	var out []netip.Addr
	for _, s := range ss {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// Decimal, octal and mapped addresses, names that resolve to this machine or change their answer, redirects, credentials:
// none of them gets a connection. What is refused and what is not was written down by somebody who has not seen the code.
func TestContentReachesPublicAddressesOnly(t *testing.T) {
	for i, c := range testcorpus.Read[ssrfCase](t, "testdata/ssrf.jsonl") {
		hops := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if hops < len(c.Redirects) {
				hops++
				w.Header()["Location"] = []string{c.Redirects[hops-1]}
				w.WriteHeader(http.StatusFound)
				return
			}
			fmt.Fprint(w, "secret")
		}))
		var mu sync.Mutex
		var dialled []string
		looked := 0
		resolve := func(context.Context, string, string) ([]netip.Addr, error) {
			mu.Lock()
			defer mu.Unlock()
			looked++
			if looked > 1 && c.Rebind != nil {
				return addrs(t, c.Rebind), nil
			}
			return addrs(t, c.Resolves), nil
		}
		dial := func(ctx context.Context, _, address string) (net.Conn, error) {
			mu.Lock()
			dialled = append(dialled, address)
			mu.Unlock()
			var d net.Dialer
			return d.DialContext(ctx, "tcp", srv.Listener.Addr().String())
		}
		d := contentDialer(resolve, nil, dial)
		client := contentClient(d, nil)
		client.Transport.(*http.Transport).DialTLSContext = d // the fake speaks no TLS
		client.Transport.(*http.Transport).DisableKeepAlives = true
		ok := false
		if u, err := checkContent(c.URL, nil); err == nil {
			if resp, err := client.Get(u.String()); err == nil {
				ok = resp.StatusCode == http.StatusOK
				resp.Body.Close()
			}
		}
		srv.Close()
		for _, a := range dialled {
			host, _, _ := net.SplitHostPort(a)
			if ip, err := netip.ParseAddr(host); err != nil || !Public(ip) {
				t.Errorf("%d %s: %s was dialled for %q", i+1, c.Why, a, c.URL)
			}
		}
		plainRebind := !c.Allow && c.Rebind != nil && c.Redirects == nil && len(c.Resolves) == 1 && Public(netip.MustParseAddr(c.Resolves[0]))
		if plainRebind {
			continue // looked up once and dialled as checked: what matters is above
		}
		if ok != c.Allow {
			t.Errorf("%d %s: %q allowed %v, want %v (dialled %v)", i+1, c.Why, c.URL, ok, c.Allow, dialled)
		}
	}
}

func TestAnAPIsKeyDoesNotFollowARedirectToAnotherHost(t *testing.T) {
	stolen := ""
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen = r.Header.Get("Authorization") }))
	defer thief.Close()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL, http.StatusFound)
	}))
	defer api.Close()
	s, err := New(Options{Sources: map[string]Config{"github": {BaseURL: api.URL, Key: "ghp_secretsecretsecretsecretsecretsecret"}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Fetcher("github", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fetch(t.Context(), query("raft")); err == nil {
		t.Error("the redirect was followed")
	}
	if stolen != "" {
		t.Errorf("the other host got %q", stolen)
	}
}
