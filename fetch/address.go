package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// errBlocked is the cause of every refusal by policy.
var errBlocked = errors.New("refused by policy")

// refused are the networks that content may never name: this machine, private and carrier networks, what is reserved, what
// is for documentation or benchmarks, and the IPv6 forms that embed IPv4 addresses (IANA special-purpose registries, RFC
// 6890).
var refused = func() []netip.Prefix {
	var out []netip.Prefix
	for _, p := range strings.Fields(`
		0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16
		192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
		168.63.129.16/32
		::/96 ::/128 ::1/128 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8`) {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}()

// Public reports whether content may be fetched from an address.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is4In6() {
		return false
	}
	for _, p := range refused {
		if p.Contains(a) {
			return false
		}
	}
	if a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	return a.IsGlobalUnicast()
}

var globalUnicast = netip.MustParsePrefix("2000::/3")

// metadata are names by which clouds answer with secrets.
var metadata = map[string]bool{"metadata": true, "metadata.google.internal": true, "instance-data": true, "metadata.azure.internal": true, "metadata.packet.net": true, "metadata.platformequinix.com": true}

// localSuffixes name this machine or its network.
var localSuffixes = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa", "localdomain", "ec2.internal", "test", "invalid", "example", "onion"}

// CheckURL refuses addresses that content must not name, before anything is looked up: other schemes, credentials, hosts
// written so that readers of URLs disagree about them, and local names. What a name resolves to is checked when it is
// dialled.
func CheckURL(raw string) (*url.URL, error) {
	for _, r := range raw {
		if r <= ' ' || r == 0x7f || r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return nil, fmt.Errorf("%w: the address holds a control character, a space or a backslash", errBlocked)
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: not an address", errBlocked)
	}
	if s := strings.ToLower(u.Scheme); s != "http" && s != "https" || u.Opaque != "" {
		return nil, fmt.Errorf("%w: only http and https are fetched", errBlocked)
	}
	if u.User != nil || strings.Contains(u.Host, "@") {
		return nil, fmt.Errorf("%w: the address carries credentials", errBlocked)
	}
	if strings.Contains(u.Host, "%") {
		return nil, fmt.Errorf("%w: a zone or an escaped host", errBlocked)
	}
	host := strings.ToLower(u.Hostname())
	if p := u.Port(); strings.HasSuffix(u.Host, ":") || p != "" && !validPort(p) {
		return nil, fmt.Errorf("%w: no such port", errBlocked)
	}
	if err := checkHost(host, strings.HasPrefix(u.Host, "[")); err != nil {
		return nil, err
	}
	return u, nil
}

func validPort(p string) bool {
	n, err := strconv.ParseUint(p, 10, 16)
	return err == nil && n > 0
}

func checkHost(host string, bracketed bool) error {
	switch {
	case host == "":
		return fmt.Errorf("%w: no host", errBlocked)
	case strings.HasSuffix(host, "."), strings.HasPrefix(host, "."), strings.Contains(host, ".."):
		return fmt.Errorf("%w: the host has a dot too many", errBlocked)
	}
	if bracketed || strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil || !Public(a) {
			return fmt.Errorf("%w: %s is no public address", errBlocked, host)
		}
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if !Public(a) {
			return fmt.Errorf("%w: %s is no public address", errBlocked, host)
		}
		return nil
	}
	labels := strings.Split(host, ".")
	if last := labels[len(labels)-1]; numeric(last) {
		// 2130706433, 0x7f.1, 0177.0.0.1: some resolvers read these as addresses.
		return fmt.Errorf("%w: %s is an address in disguise", errBlocked, host)
	}
	for _, r := range host {
		// Full-width and enclosed forms are letters and dots to some readers and not to others. Names in other scripts have
		// an ASCII form, too, but are commonly written as they are.
		if r >= 0x80 && (unicode.Is(unicode.Nd, r) || unicode.Is(unicode.No, r) || r >= 0xff00 && r <= 0xffef || r >= 0x2460 && r <= 0x24ff || r == '。' || r == '．' || r == '｡' || !unicode.IsLetter(r) && !unicode.IsMark(r)) {
			return fmt.Errorf("%w: the host is written in characters that are not what they look like", errBlocked)
		}
		if r < 0x80 && !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_') {
			return fmt.Errorf("%w: the host holds %q", errBlocked, r)
		}
	}
	if metadata[host] || len(labels) == 1 {
		return fmt.Errorf("%w: %s is a local name", errBlocked, host)
	}
	for _, s := range localSuffixes {
		if host == s || strings.HasSuffix(host, "."+s) {
			return fmt.Errorf("%w: %s is a local name", errBlocked, host)
		}
	}
	return nil
}

func numeric(label string) bool {
	if strings.HasPrefix(label, "0x") {
		return strings.Trim(label[2:], "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}
