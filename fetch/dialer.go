package fetch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Resolver looks up the addresses of a name; network is ip, ip4 or ip6.
type Resolver func(ctx context.Context, network, host string) ([]netip.Addr, error)

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

const dialTimeout = 10 * time.Second

// contentDialer reaches what pages and results name: public addresses only. It resolves a name once, refuses the whole
// answer if any address in it is not public, and dials the addresses that it checked, so that a second answer of the name
// server is never asked for. allowed holds host:port pairs that the configuration exempts, word for word.
func contentDialer(resolve Resolver, allowed []string, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("%w: %q", errBlocked, address)
		}
		if slices.Contains(allowed, address) {
			return dial(ctx, network, address)
		}
		host = strings.ToLower(host)
		if err := checkHost(host, false); err != nil {
			return nil, err
		}
		var addrs []netip.Addr
		if a, err := netip.ParseAddr(host); err == nil {
			addrs = []netip.Addr{a}
		} else if addrs, err = resolve(ctx, "ip", host); err != nil {
			return nil, err
		}
		if len(addrs) == 0 {
			return nil, fmt.Errorf("%s has no address", host)
		}
		for i, a := range addrs {
			// Resolvers hand IPv4 out in its mapped form; a name server that answers with one in an AAAA record is not told
			// apart from that, and both are judged by the address inside.
			addrs[i] = a.Unmap()
			if !Public(addrs[i]) {
				return nil, fmt.Errorf("%w: %s resolves to %s, which is no public address", errBlocked, host, addrs[i])
			}
		}
		var last error
		for _, a := range addrs {
			conn, err := dial(ctx, network, net.JoinHostPort(a.String(), port))
			if err == nil {
				return conn, nil
			}
			last = err
		}
		return nil, last
	}
}

// configuredDialer reaches one host and port, word for word as configured: an API's base address. For a private wiki it
// reaches nothing but this machine.
func configuredDialer(hostport string, private bool, resolve Resolver, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.EqualFold(address, hostport) {
			return nil, fmt.Errorf("%w: %s is not the configured %s", errBlocked, address, hostport)
		}
		if !private {
			return dial(ctx, network, address)
		}
		return loopbackOnly(ctx, network, address, resolve, dial)
	}
}

// loopbackOnly dials an address of this machine and refuses every other.
func loopbackOnly(ctx context.Context, network, address string, resolve Resolver, dial dialFunc) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", errBlocked, address)
	}
	var addrs []netip.Addr
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = []netip.Addr{a}
	} else if addrs, err = resolve(ctx, "ip", host); err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if !a.Unmap().IsLoopback() {
			return nil, fmt.Errorf("%w: the wiki is private and %s is not this machine", errBlocked, host)
		}
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%s has no address", host)
	}
	return dial(ctx, network, net.JoinHostPort(addrs[0].Unmap().String(), port))
}

// refusingDialer is the content dialer of a private wiki.
func refusingDialer(_ context.Context, _, address string) (net.Conn, error) {
	return nil, fmt.Errorf("%w: the wiki is private: nothing is fetched from %s", errBlocked, address)
}

func plainDial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	return d.DialContext(ctx, network, address)
}

// transport has no proxy: a proxy would be reached in place of what was checked.
func transport(dial dialFunc) *http.Transport {
	return &http.Transport{
		Proxy: nil, DialContext: dial, MaxConnsPerHost: 4, MaxIdleConns: 8, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: 30 * time.Second, MaxResponseHeaderBytes: 256 << 10,
	}
}

// LoopbackTransport is an HTTP transport that reaches this machine only: what a private wiki's model calls go through.
func LoopbackTransport() http.RoundTripper {
	return transport(func(ctx context.Context, network, address string) (net.Conn, error) {
		return loopbackOnly(ctx, network, address, net.DefaultResolver.LookupNetIP, plainDial)
	})
}
