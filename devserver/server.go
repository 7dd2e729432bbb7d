// Package devserver hosts a whole Temporal server and its Web UI inside this process, on loopback, over one SQLite
// file. It owns the sequence of starting and stopping, the schema stamp, and the one-host-per-home lock (see Host). It
// knows nothing of Whetstone's rooms, never listens beyond this machine and never phones home. A start fails as a
// whole: nothing is left listening.
package devserver

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// Linux hands out 32768 and up, macOS and Windows 49152 and up.
const (
	portsFrom = 20000
	portsTo   = 32000
)

const (
	maxLog      = 5 << 20 // bytes of temporal.log before a start sets it aside
	clusterName = "active"
	clusterID   = "6f0a4c1e-7d0b-4a52-9b35-3d1c5a0e8f27" // any fixed UUID: there is one cluster a file
)

// Options says what to host and where.
type Options struct {
	Config Config
	Dir    string // the folder of the database and of temporal.log
	// PreferPort is tried first when Config.Server.Port is 0, so that clients of a host that went find the next one at
	// the address they know.
	PreferPort int
}

// Server is a running embedded Temporal server.
type Server struct {
	Address string // host:port of the gRPC frontend
	UIURL   string // "" when the UI is off

	srv    temporal.Server
	ui     *webUI
	dbFile string
	log    io.Closer
}

// Start hosts the server and returns when it answers: frontend healthy, namespace readable, visibility countable,
// search attributes and retention as configured.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	c := &o.Config
	attrs, err := c.searchAttributes()
	if err != nil {
		return nil, err
	}
	var undo []func()
	defer func() {
		if err != nil {
			for i := len(undo) - 1; i >= 0; i-- {
				undo[i]()
			}
		}
	}()

	var uiLn net.Listener
	if c.UI.Enabled {
		if uiLn, err = listenUI(ctx, c); err != nil {
			return nil, err
		}
		undo = append(undo, func() { _ = uiLn.Close() })
	}
	file := c.Database.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(o.Dir, file)
	}
	sqlCfg, err := prepareDatabase(ctx, c, file, clusterName, attrs)
	if err != nil {
		return nil, err
	}
	logPath := filepath.Join(o.Dir, "temporal.log")
	if info, err := os.Stat(logPath); err == nil && info.Size() > maxLog {
		_ = os.Rename(logPath, logPath+".old") // one generation is enough to look a failure up
	}
	logFile, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the embedded server's log: %w", err)
	}
	undo = append(undo, func() { _ = logFile.Close() })

	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Server.LogLevel)); err != nil {
		return nil, fmt.Errorf("read server.log_level: %w", err)
	}
	logger := &serverLog{log: slog.New(slog.NewTextHandler(logFile, &slog.HandlerOptions{Level: level}))}
	srv, address, err := launch(ctx, o, sqlCfg, logger)
	if err != nil {
		return nil, err
	}
	undo = append(undo, func() { _ = srv.Stop() })
	if err := waitReady(ctx, c, address, attrs); err != nil {
		return nil, err
	}
	s := &Server{Address: address, srv: srv, dbFile: file, log: logFile}
	if uiLn != nil {
		if s.ui, err = newWebUI(uiLn, address, c.Namespace.Name); err != nil {
			return nil, err
		}
		s.UIURL = s.ui.URL
		s.ui.serve(func(err error) { logger.log.Error("web ui", "error", err) })
	}
	return s, nil
}

// launches is how often a start is tried with other ports. Between choosing a port and binding it another process may take
// it; the server then gives up in the middle of building itself.
const launches = 4

// launch builds and starts the server on free ports.
func launch(ctx context.Context, o Options, sqlCfg *config.SQL, logger *serverLog) (temporal.Server, string, error) {
	c := &o.Config
	dyn := make(dynamicconfig.StaticClient, len(c.DynamicConfig))
	for k, v := range c.DynamicConfig {
		dyn[dynamicconfig.MakeKey(k)] = plainNumber(v)
	}
	var last error
	for try := range launches {
		prefer := o.PreferPort
		if try > 0 {
			prefer = 0
		}
		ports, err := choosePorts(ctx, c.Server.IP, c.Server.Port, prefer, 4)
		if err != nil {
			return nil, "", err
		}
		srv, err := build(serverConfig(c, sqlCfg, ports), dyn, c.Server.IP, ports, logger)
		if err == nil {
			return srv, net.JoinHostPort(c.Server.IP, strconv.Itoa(ports[0])), nil
		}
		last = err
	}
	return nil, "", last
}

// build is one try. What the server panics with while it is being built comes back as an error.
func build(conf *config.Config, dyn dynamicconfig.Client, ip string, ports []int, logger *serverLog) (srv temporal.Server, err error) {
	logger.launching.Store(true)
	defer func() {
		logger.launching.Store(false)
		if p := recover(); p != nil {
			srv, err = nil, fmt.Errorf("start the embedded server: %v", p)
		}
	}()
	authorizer, err := authorization.GetAuthorizerFromConfig(&conf.Global.Authorization)
	if err != nil {
		return nil, fmt.Errorf("configure the embedded server: %w", err)
	}
	claims, err := authorization.GetClaimMapperFromConfig(&conf.Global.Authorization, logger)
	if err != nil {
		return nil, fmt.Errorf("configure the embedded server: %w", err)
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for i, name := range []primitives.ServiceName{primitives.FrontendService, primitives.MatchingService, primitives.HistoryService, primitives.WorkerService} {
		hosts[name] = static.SingleLocalHost(net.JoinHostPort(ip, strconv.Itoa(ports[i])))
	}
	srv, err = temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
		temporal.WithDynamicConfigClient(dyn),
	)
	if err != nil {
		return nil, fmt.Errorf("build the embedded server: %w", err)
	}
	if err := srv.Start(); err != nil {
		return nil, fmt.Errorf("start the embedded server: %w", err)
	}
	return srv, nil
}

// Stop ends the UI, then the server, and folds the write-ahead log into the database file.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if s.ui != nil {
		uiCtx, cancelUI := context.WithTimeout(ctx, 200*time.Millisecond)
		s.ui.close(uiCtx)
		cancelUI()
	}
	err := s.srv.Stop()
	// Best effort: a write-ahead log left behind is replayed at the next start.
	_ = checkpoint(ctx, s.dbFile)
	_ = s.log.Close()
	if err != nil {
		return fmt.Errorf("stop the embedded server: %w", err)
	}
	return nil
}

// plainNumber turns the YAML library's unsigned integers into the int that dynamic configuration understands.
func plainNumber(v any) any {
	switch n := v.(type) {
	case uint64:
		return int(n)
	case int64:
		return int(n)
	}
	return v
}

func serverConfig(c *Config, sqlCfg *config.SQL, ports []int) *config.Config {
	var conf config.Config
	frontend := net.JoinHostPort(c.Server.IP, strconv.Itoa(ports[0]))
	conf.Global.Membership.MaxJoinDuration = 30 * time.Second
	conf.Global.Membership.BroadcastAddress = c.Server.IP
	conf.Persistence.DefaultStore = "sqlite"
	conf.Persistence.VisibilityStore = "sqlite"
	conf.Persistence.NumHistoryShards = 1
	conf.Persistence.DataStores = map[string]config.DataStore{"sqlite": {SQL: sqlCfg}}
	conf.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10,
		MasterClusterName:        clusterName,
		CurrentClusterName:       clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
			Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend, ClusterID: clusterID,
		}},
	}
	conf.DCRedirectionPolicy.Policy = "noop"
	service := func(port int) config.Service {
		var s config.Service
		s.RPC.GRPCPort, s.RPC.BindOnIP = port, c.Server.IP // no HTTP API: nothing here uses it
		return s
	}
	conf.Services = map[string]config.Service{
		"frontend": service(ports[0]),
		"matching": service(ports[1]),
		"history":  service(ports[2]),
		"worker":   service(ports[3]),
	}
	conf.Archival.History.State, conf.Archival.Visibility.State = "disabled", "disabled"
	conf.NamespaceDefaults.Archival.History.State = "disabled"
	conf.NamespaceDefaults.Archival.Visibility.State = "disabled"
	conf.PublicClient.HostPort = frontend
	return &conf
}

// choosePorts returns n distinct free ports. The first is want if that is not 0 (taken: an error), else prefer if it
// is free, else any below the ranges from which systems give ports to outgoing connections: there, between our closing a
// port and the server's binding it, nobody gets it by chance.
func choosePorts(ctx context.Context, ip string, want, prefer, n int) ([]int, error) {
	var open []net.Listener
	var lc net.ListenConfig
	defer func() {
		for _, l := range open {
			_ = l.Close()
		}
	}()
	listen := func(port int) (int, error) {
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
		if err != nil {
			return 0, err
		}
		open = append(open, l)
		return l.Addr().(*net.TCPAddr).Port, nil
	}
	var out []int
	switch {
	case want != 0:
		p, err := listen(want)
		if err != nil {
			return nil, fmt.Errorf("listen on server.port %d: %w (set it to 0 to take a free one)", want, err)
		}
		out = append(out, p)
	case prefer != 0:
		if p, err := listen(prefer); err == nil {
			out = append(out, p)
		}
	}
	for tries := 0; len(out) < n; tries++ {
		port := 0
		if tries < 200 {
			port = portsFrom + rand.IntN(portsTo-portsFrom)
		}
		p, err := listen(port)
		if err != nil {
			if port != 0 {
				continue
			}
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		out = append(out, p)
	}
	return out, nil
}
