package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"whetstone/devserver"
	"whetstone/workflows"
)

// Connection is a way to a Temporal server: the embedded one of this home, hosted here or by another process, or one
// that was given.
type Connection struct {
	Client    client.Client
	Address   string
	Namespace string
	External  bool

	s     *Service
	attrs bool // the search attributes are registered

	mu     sync.Mutex
	host   *devserver.Host // nil for an external server
	cancel context.CancelFunc
	done   chan struct{}
}

// External reports whether the environment names a server, so that none is embedded.
func (s *Service) External() bool {
	return s.o.Getenv("TEMPORAL_ADDRESS") != "" || s.o.Getenv("TEMPORAL_PROFILE") != ""
}

// Connect reaches the given server, or joins the home's embedded one, hosting it if nobody does.
func (s *Service) Connect(ctx context.Context) (*Connection, error) {
	if s.External() {
		return s.connectExternal(ctx)
	}
	cfg, err := s.temporalConfig()
	if err != nil {
		return nil, err
	}
	opts := devserver.Options{Config: cfg, Dir: string(s.Home)}
	h, err := devserver.Join(ctx, opts)
	if err != nil {
		return nil, err
	}
	c := &Connection{Address: h.Address, Namespace: cfg.Namespace.Name, s: s, host: h, attrs: true, done: make(chan struct{})}
	c.Client, err = client.NewLazyClient(client.Options{HostPort: h.Address, Namespace: c.Namespace, Logger: log.NewStructuredLogger(s.Log)})
	if err != nil {
		_ = h.Close()
		return nil, fmt.Errorf("reach the embedded server: %w", err)
	}
	watch, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	go c.survive(watch, opts)
	return c, nil
}

func (s *Service) connectExternal(ctx context.Context) (*Connection, error) {
	opts, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: lookup{s.o.Getenv}})
	if err != nil {
		return nil, fmt.Errorf("read the Temporal configuration: %w", err)
	}
	opts.Logger = log.NewStructuredLogger(s.Log)
	dial, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := client.DialContext(dial, opts)
	if err != nil {
		return nil, fmt.Errorf("reach the Temporal server at %s: %w: check TEMPORAL_ADDRESS, or unset it to use the embedded server", opts.HostPort, err)
	}
	conn := &Connection{Client: c, Address: opts.HostPort, Namespace: opts.Namespace, External: true, s: s}
	if conn.Namespace == "" {
		conn.Namespace = client.DefaultNamespace
	}
	conn.attrs = conn.registerAttributes(ctx) == nil
	return conn, nil
}

// lookup adapts an environment function to envconfig.
type lookup struct{ getenv func(string) string }

func (l lookup) Environ() []string {
	var out []string
	for _, k := range []string{"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE", "TEMPORAL_TLS", "TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_KEY_PATH", "TEMPORAL_TLS_SERVER_CA_CERT_PATH", "TEMPORAL_TLS_SERVER_NAME", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"} {
		if v := l.getenv(k); v != "" {
			out = append(out, k+"="+v)
		}
	}
	return out
}

func (l lookup) LookupEnv(k string) (string, bool) {
	v := l.getenv(k)
	return v, v != ""
}

// registerAttributes adds the search attributes to a given server. Where that is not allowed, runs go without.
func (c *Connection) registerAttributes(ctx context.Context) error {
	want := map[string]enumspb.IndexedValueType{
		"SkillSlug": enumspb.INDEXED_VALUE_TYPE_KEYWORD, "WikiSlug": enumspb.INDEXED_VALUE_TYPE_KEYWORD, "Outcome": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"BestScore": enumspb.INDEXED_VALUE_TYPE_DOUBLE, "SpentUSD": enumspb.INDEXED_VALUE_TYPE_DOUBLE,
	}
	have, err := c.Client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: c.Namespace})
	if err != nil {
		return err
	}
	for name := range have.GetCustomAttributes() {
		delete(want, name)
	}
	if len(want) == 0 {
		return nil
	}
	_, err = c.Client.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: c.Namespace, SearchAttributes: want})
	return err
}

// survive watches the process that hosts the server. When it goes, this process takes the lock and hosts on, at the same
// address if it can, so that client and worker reconnect by themselves.
func (c *Connection) survive(ctx context.Context, opts devserver.Options) {
	defer close(c.done)
	t := time.NewTicker(400 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		c.mu.Lock()
		hosting := c.host.Hosting()
		c.mu.Unlock()
		if hosting || reachable(ctx, c.Address) {
			continue
		}
		h, err := devserver.Join(ctx, opts)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				c.s.Log.Warn("the embedded server's host went away and could not be replaced yet", "error", err)
			}
			continue
		}
		if h.Address != c.Address {
			// The old port is taken: this process cannot go on, but the next command finds the new address.
			c.s.Log.Error("the embedded server moved to another port; run the command again", "address", h.Address)
		}
		c.mu.Lock()
		c.host = h
		c.mu.Unlock()
	}
}

func reachable(ctx context.Context, address string) bool {
	d := net.Dialer{Timeout: 300 * time.Millisecond}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Hosting reports whether this process hosts the embedded server.
func (c *Connection) Hosting() bool {
	if c.host == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host.Hosting()
}

// UIURL is the Web UI's address, "" when nobody that we know of serves it.
func (c *Connection) UIURL() string {
	if c.host == nil {
		return strings.TrimRight(c.s.o.Getenv("TEMPORAL_UI_URL"), "/")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host.UIURL
}

// Close disconnects, and stops the server if this process hosts it.
func (c *Connection) Close() error {
	if c.cancel != nil {
		c.cancel()
		<-c.done
	}
	c.Client.Close()
	if c.host == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host.Close()
}

// StartWorker runs a worker of this home's task queue until the returned function is called.
func (c *Connection) StartWorker() (stop func(), err error) {
	acts, err := c.s.newActivities()
	if err != nil {
		return nil, err
	}
	w := worker.New(c.Client, c.s.TaskQueue(), worker.Options{
		// A killed worker would otherwise hold its runs for five seconds.
		StickyScheduleToStartTimeout: time.Second,
		// Temporal learns of life often enough to notice a death within the heartbeat timeout.
		MaxHeartbeatThrottleInterval:     2 * time.Second,
		DefaultHeartbeatThrottleInterval: time.Second,
		WorkerStopTimeout:                2 * time.Second,
	})
	w.RegisterWorkflowWithOptions(workflows.OptimizeSkill, workflow.RegisterOptions{Name: workflows.OptimizeName})
	w.RegisterWorkflowWithOptions(workflows.ResearchWiki, workflow.RegisterOptions{Name: workflows.ResearchName})
	w.RegisterWorkflowWithOptions(workflows.ResearchTick, workflow.RegisterOptions{Name: workflows.TickName})
	w.RegisterWorkflowWithOptions(workflows.NightlyOptimize, workflow.RegisterOptions{Name: workflows.NightName})
	w.RegisterWorkflowWithOptions(workflows.Council, workflow.RegisterOptions{Name: workflows.CouncilName})
	w.RegisterWorkflowWithOptions(workflows.Survey, workflow.RegisterOptions{Name: workflows.SurveyName})
	w.RegisterActivity(acts)
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	return w.Stop, nil
}

// HasWorker reports whether some process other than this one polls the home's task queue.
func (c *Connection) HasWorker(ctx context.Context) (bool, error) {
	d, err := c.Client.DescribeTaskQueue(ctx, c.s.TaskQueue(), enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return false, fmt.Errorf("look for a worker: %w", err)
	}
	for _, p := range d.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) < 2*time.Minute {
			return true, nil
		}
	}
	return false, nil
}

// describe asks for one workflow's state without needing a worker.
func (c *Connection) describe(ctx context.Context, id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return c.Client.DescribeWorkflowExecution(ctx, id, "")
}
