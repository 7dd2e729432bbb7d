package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whetstone/service"
)

// run returns the exit code: 0 after a stop by signal, 1 for a failure, 2 for bad usage.
func run(ctx context.Context, e env) int {
	var address, config, home string
	var uiPort int
	var once, verbose bool
	usage := true
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Host the embedded Temporal server and run this home's workers",
		Long: "Hosts the home's Temporal server and its Web UI on loopback, and runs the workers, until it is stopped.\n" +
			"With --address or TEMPORAL_ADDRESS it hosts nothing and works for that server.",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			usage = false
			getenv := func(k string) string {
				if k == "TEMPORAL_ADDRESS" && address != "" {
					return address
				}
				return e.getenv(k)
			}
			log := slog.New(slog.DiscardHandler)
			if verbose {
				log = slog.New(slog.NewTextHandler(e.stderr, nil))
			}
			return work(cmd.Context(), e, service.Options{Home: home, Getenv: getenv, Log: log, ConfigFile: config, UIPort: uiPort}, once)
		},
	}
	f := cmd.Flags()
	f.StringVar(&address, "address", "", "HOST:PORT of a Temporal server to work for (default $TEMPORAL_ADDRESS, else the embedded one)")
	f.IntVar(&uiPort, "ui-port", 0, "port of the Web UI (default the configuration's, or a free one)")
	f.StringVar(&config, "config", "", "a temporal-dev.yaml for the embedded server")
	f.StringVar(&home, "home", "", "home folder (default $WHETSTONE_HOME or ~/.whetstone)")
	f.BoolVar(&once, "once", false, "come up, report, and stop again")
	f.BoolVar(&verbose, "verbose", false, "log what goes on to standard error")
	cmd.SetArgs(e.args)
	cmd.SetOut(e.stdout)
	cmd.SetErr(e.stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(e.stderr, "worker: %v\n", err)
	if usage && !strings.Contains(err.Error(), "panic") {
		fmt.Fprintln(e.stderr, "hint: see worker --help")
		return 2
	}
	return 1
}

// work stands by until the context ends.
func work(ctx context.Context, e env, o service.Options, once bool) (err error) {
	s, err := service.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	stop, err := c.StartWorker()
	if err != nil {
		return err
	}
	defer stop()
	switch {
	case c.External:
		_, _ = fmt.Fprintf(e.stdout, "working for the Temporal server at %s, task queue %s\n", c.Address, s.TaskQueue())
	case c.Hosting():
		_, _ = fmt.Fprintf(e.stdout, "hosting Temporal at %s, task queue %s\nWeb UI: %s\n", c.Address, s.TaskQueue(), c.UIURL())
	default:
		_, _ = fmt.Fprintf(e.stdout, "working for the server at %s, which another process of this home hosts; Web UI: %s\n", c.Address, c.UIURL())
	}
	if once {
		return nil
	}
	_, _ = fmt.Fprintln(e.stdout, "stop with Ctrl-C; open runs go on at the next start")
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if _, err := s.DrainSpool(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("captures stay in the spool for now", "error", err)
			}
		}
	}
}
