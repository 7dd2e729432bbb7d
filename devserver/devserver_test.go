package devserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/dynamicconfig"
)

const base = `
server: {ip: 127.0.0.1, port: 0, log_level: error}
ui: {enabled: true, port: 0}
database: {file: temporal.db, synchronous: NORMAL, busy_timeout: 5s}
namespace: {name: default, retention: 720h}
search_attributes: {SkillSlug: Keyword, BestScore: Double}
dynamic_config: {system.forceSearchAttributesCacheRefreshOnRead: true, frontend.enableServerVersionCheck: false}
`

func parse(t *testing.T, override string) Config {
	t.Helper()
	c, err := ParseConfig([]byte(base), []byte(override))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfigIsStrictAndNamesTheKey(t *testing.T) {
	for override, want := range map[string]string{
		"server: {ip: 0.0.0.0}":           "server.ip",
		"server: {ip: example.org}":       "loopback",
		"sever: {ip: 127.0.0.1}":          "sever",
		"ui: {port: 70000}":               "ui.port",
		"database: {synchronous: OFF}":    "database.synchronous",
		"namespace: {retention: 5m}":      "namespace.retention",
		"namespace: {retention: soon}":    "duration",
		"search_attributes: {X: Complex}": "search_attributes.X",
		"server: {log_level: loud}":       "server.log_level",
		"server: [1, 2]":                  "YAML",
		"namespace: {name: ''}":           "namespace.name",
		"database: {busy_timeout: -1s}":   "database.busy_timeout",
		"server: {port: 'x'}":             "YAML",
		"database: {file: ''}":            "database.file",
	} {
		if _, err := ParseConfig([]byte(base), []byte(override)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a word of %s", override, err, want)
		}
	}
	c := parse(t, "namespace: {name: team}")
	if c.Namespace.Name != "team" || time.Duration(c.Namespace.Retention) != 720*time.Hour {
		t.Errorf("a key that is left out must keep its default: %+v", c.Namespace)
	}
}

func join(t *testing.T, dir, override string) *Host {
	t.Helper()
	h, err := Join(t.Context(), Options{Config: parse(t, override), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func get(t *testing.T, url, host string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// One test for what one running server must do: starting one costs half a second and a lot of memory.
func TestServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a home?with#odd%20name")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h := join(t, dir, "")
	if !h.Hosting() {
		t.Fatal("the first to come must host")
	}

	t.Run("listens on loopback only", func(t *testing.T) {
		for _, a := range []string{h.Address, strings.TrimPrefix(h.UIURL, "http://")} {
			host, _, err := net.SplitHostPort(a)
			if err != nil || !net.ParseIP(host).IsLoopback() {
				t.Errorf("%s (%v)", a, err)
			}
		}
	})
	t.Run("keeps its files to itself", func(t *testing.T) {
		for _, f := range []string{"temporal.db", "temporal.db-wal", "temporal.log", "temporal.addr", "temporal.lock"} {
			info, err := os.Stat(filepath.Join(dir, f))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", f, info, err)
			}
		}
	})
	t.Run("serves the Web UI to its own name only", func(t *testing.T) {
		if code, body := get(t, h.UIURL+"/", ""); code != http.StatusOK || !strings.Contains(body, "<html") {
			t.Errorf("%d %.80s", code, body)
		}
		if code, body := get(t, h.UIURL+"/api/v1/namespaces", ""); code != http.StatusOK || !strings.Contains(body, "default") {
			t.Errorf("%d %.200s", code, body)
		}
		for _, foreign := range []string{"evil.example", "evil.example:8233", "127.0.0.1", "localhost.evil.example:1"} {
			if code, _ := get(t, h.UIURL+"/api/v1/namespaces", foreign); code != http.StatusMisdirectedRequest {
				t.Errorf("Host %s was answered with %d", foreign, code)
			}
		}
	})
	t.Run("does not ask for news", func(t *testing.T) {
		_, body := get(t, h.UIURL+"/api/v1/settings", "")
		if !strings.Contains(body, `"DisableNewsFetch":true`) && !strings.Contains(body, `"NotifyOnNewVersion":false`) {
			t.Errorf("settings %s", body)
		}
	})
	t.Run("has namespace, retention and search attributes", func(t *testing.T) {
		c := dial(t, h.Address)
		ns, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
		if err != nil || ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() != 720*time.Hour {
			t.Errorf("%v, %v", ns.GetConfig(), err)
		}
		sa, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
		if err != nil || len(sa.GetCustomAttributes()) < 2 {
			t.Errorf("%v, %v", sa.GetCustomAttributes(), err)
		}
	})
	t.Run("has one host a home", func(t *testing.T) {
		guest := join(t, dir, "")
		if guest.Hosting() || guest.Address != h.Address || guest.UIURL != h.UIURL {
			t.Errorf("%+v", guest.Endpoint)
		}
	})

	address := h.Address
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "temporal.db")); err != nil {
		t.Fatal(err)
	}
	t.Run("comes back at its address with new configuration", func(t *testing.T) {
		again := join(t, dir, "namespace: {retention: 100h}\nsearch_attributes: {SpentUSD: Double}")
		if again.Address != address || !again.Hosting() {
			t.Errorf("%s, was %s", again.Address, address)
		}
		c := dial(t, again.Address)
		ns, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
		if err != nil || ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() != 100*time.Hour {
			t.Errorf("retention was not reconciled: %v, %v", ns.GetConfig(), err)
		}
		sa, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
		if _, ok := sa.GetCustomAttributes()["SpentUSD"]; err != nil || !ok {
			t.Errorf("the new search attribute is missing: %v, %v", sa.GetCustomAttributes(), err)
		}
	})
}

func dial(t *testing.T, address string) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: address, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestAnotherSchemaVersionIsRefusedWithARemedy(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"another version": func(path string) error {
			return script(path, "CREATE TABLE whetstone_schema (version TEXT NOT NULL)", "INSERT INTO whetstone_schema VALUES ('0.1/0.1')")
		},
		"a database that is not ours": func(path string) error { return script(path, "CREATE TABLE theirs (x)") },
		"no database at all":          func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("text ", 100)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "temporal.db")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			_, err := Join(t.Context(), Options{Config: parse(t, "ui: {enabled: false}"), Dir: dir})
			if err == nil {
				t.Fatal("it started")
			}
			if name != "no database at all" && !errors.Is(err, ErrSchemaMismatch) {
				t.Errorf("%v", err)
			}
			if !strings.Contains(err.Error(), "temporal.db") || !strings.Contains(err.Error(), "move") {
				t.Errorf("no remedy: %v", err)
			}
		})
	}
}

func script(path string, stmts ...string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, s := range stmts {
		if _, err := db.Exec(s); err != nil {
			return err
		}
	}
	return nil
}

func TestATakenPortIsToldOrAvoided(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	port := ln.Addr().(*net.TCPAddr).Port
	c := parse(t, fmt.Sprintf("ui: {port: %d}", port))
	free, err := listenUI(t.Context(), &c)
	if err != nil || free.Addr().(*net.TCPAddr).Port == port {
		t.Fatalf("%v", err)
	}
	_ = free.Close()
	c.UI.Strict = true
	if _, err := listenUI(t.Context(), &c); err == nil || !strings.Contains(err.Error(), fmt.Sprint(port)) {
		t.Errorf("%v", err)
	}
	if _, err := choosePorts(t.Context(), "127.0.0.1", port, 0, 5); err == nil || !strings.Contains(err.Error(), "server.port") {
		t.Errorf("%v", err)
	}
	ports, err := choosePorts(t.Context(), "127.0.0.1", 0, port, 5)
	if err != nil || ports[0] == port || len(ports) != 5 {
		t.Errorf("%v, %v", ports, err)
	}
}

func TestALockWithoutAServerIsToldInTheEnd(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := writeEndpoint(dir, Endpoint{Address: "127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	hold := lockFile(t, dir)
	defer hold()
	if _, err := Join(ctx, Options{Config: parse(t, ""), Dir: dir}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func lockFile(t *testing.T, dir string) (release func()) {
	t.Helper()
	l := flock.New(filepath.Join(dir, "temporal.lock"))
	if ok, err := l.TryLock(); err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	return func() { _ = l.Close() }
}

// A port that another process takes between choosing and binding makes the server panic while it builds itself: that must
// come back as an error, and be tried again with other ports.
func TestAStolenPortIsAnErrorAndNotAPanic(t *testing.T) {
	dir := t.TempDir()
	c := parse(t, "ui: {enabled: false}")
	attrs, err := c.searchAttributes()
	if err != nil {
		t.Fatal(err)
	}
	sqlCfg, err := prepareDatabase(t.Context(), &c, filepath.Join(dir, "temporal.db"), clusterName, attrs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		ports, err := choosePorts(t.Context(), "127.0.0.1", 0, 0, 4)
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports[i]))
		if err != nil {
			t.Fatal(err)
		}
		srv, err := build(serverConfig(&c, sqlCfg, ports), dynamicconfig.StaticClient{}, "127.0.0.1", ports, &serverLog{log: slog.New(slog.DiscardHandler)})
		_ = ln.Close()
		if err == nil {
			_ = srv.Stop()
			t.Errorf("port %d of the server was taken, and it started", i)
		}
	}
}
