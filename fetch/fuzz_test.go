package fetch

import (
	"net/netip"
	"testing"

	"whetstone/internal/testcorpus"
)

// An address that passes names http or https, a host, no credentials, and no address that is not public.
func FuzzCheckURL(f *testing.F) {
	for _, c := range testcorpus.Read[ssrfCase](f, "testdata/ssrf.jsonl") {
		f.Add(c.URL)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := CheckURL(raw)
		if err != nil {
			return
		}
		if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "HTTP" || u.Host == "" || u.User != nil {
			t.Fatalf("%q passed as %+v", raw, u)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && !Public(a) {
			t.Fatalf("%q passed", raw)
		}
	})
}
