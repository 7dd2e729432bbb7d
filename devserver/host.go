package devserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"
)

// Endpoint says where the server of a home can be reached. It is kept in temporal.addr.
type Endpoint struct {
	Address string `json:"address"` // host:port of the gRPC frontend
	UIURL   string `json:"ui_url"`  // "" when nobody serves it
	PID     int    `json:"pid"`
}

// Host is this process's part in a home's embedded server: the host itself, or a guest of the process that is.
type Host struct {
	Endpoint
	srv  *Server
	lock *flock.Flock
	dir  string
}

// Hosting reports whether this process runs the server.
func (h *Host) Hosting() bool { return h.srv != nil }

// Join hosts the home's server if nobody does, and otherwise returns the address of the process that does. One host
// a home: the lock on temporal.lock decides, and the operating system drops it with the process, however that ends.
func Join(ctx context.Context, o Options) (*Host, error) {
	lock := flock.New(filepath.Join(o.Dir, "temporal.lock"), flock.SetPermissions(0o600))
	deadline := time.Now().Add(30 * time.Second)
	for {
		got, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock the home's Temporal server: %w", err)
		}
		if got {
			return host(ctx, o, lock)
		}
		// Somebody hosts, or is about to: its address counts once something answers there.
		if ep, err := readEndpoint(o.Dir); err == nil && answers(ctx, ep.Address) {
			_ = lock.Close()
			return &Host{Endpoint: ep, dir: o.Dir}, nil
		}
		if time.Now().After(deadline) {
			_ = lock.Close()
			return nil, errors.New("another process holds temporal.lock but its server does not answer: end that process, or set TEMPORAL_ADDRESS")
		}
		select {
		case <-ctx.Done():
			_ = lock.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func host(ctx context.Context, o Options, lock *flock.Flock) (*Host, error) {
	if ep, err := readEndpoint(o.Dir); err == nil {
		if _, port, err := net.SplitHostPort(ep.Address); err == nil {
			o.PreferPort, _ = strconv.Atoi(port)
		}
	}
	srv, err := Start(ctx, o)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	h := &Host{Endpoint: Endpoint{Address: srv.Address, UIURL: srv.UIURL, PID: os.Getpid()}, srv: srv, lock: lock, dir: o.Dir}
	if err := writeEndpoint(o.Dir, h.Endpoint); err != nil {
		_ = h.Close()
		return nil, err
	}
	return h, nil
}

// Close stops the server if this process hosts it, then gives the lock up. The address stays on file: the next host
// takes the same port when it can, so that guests reconnect by themselves.
func (h *Host) Close() error {
	if h.srv == nil {
		return nil
	}
	err := h.srv.Stop()
	h.srv = nil
	h.UIURL = ""
	if werr := writeEndpoint(h.dir, Endpoint{Address: h.Address}); err == nil {
		err = werr
	}
	if uerr := h.lock.Close(); err == nil && uerr != nil {
		err = fmt.Errorf("unlock the home's Temporal server: %w", uerr)
	}
	return err
}

// ReadEndpoint returns the last known address of the home's server, whether or not it still runs.
func ReadEndpoint(dir string) (Endpoint, error) { return readEndpoint(dir) }

func readEndpoint(dir string) (Endpoint, error) {
	b, err := os.ReadFile(filepath.Join(dir, "temporal.addr"))
	if err != nil {
		return Endpoint{}, fmt.Errorf("read temporal.addr: %w", err)
	}
	var ep Endpoint
	if err := json.Unmarshal(b, &ep); err != nil {
		return Endpoint{}, fmt.Errorf("read temporal.addr: %w", err)
	}
	return ep, nil
}

func writeEndpoint(dir string, ep Endpoint) error {
	b, err := json.Marshal(ep)
	if err != nil {
		return fmt.Errorf("write temporal.addr: %w", err)
	}
	tmp, err := os.CreateTemp(dir, "temporal.addr.*")
	if err != nil {
		return fmt.Errorf("write temporal.addr: %w", err)
	}
	_, err = tmp.Write(append(b, '\n'))
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, "temporal.addr"))
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write temporal.addr: %w", err)
	}
	return nil
}

func answers(ctx context.Context, address string) bool {
	d := net.Dialer{Timeout: 200 * time.Millisecond}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
