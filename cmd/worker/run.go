package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"whetstone/service"
)

// run returns the exit code: 0 after a stop by signal, 1 for a failure, 2 for bad usage.
func run(ctx context.Context, e env) int {
	var address, config, home string
	var uiPort int
	var once, verbose, quiet, asJSON bool
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
			return work(cmd.Context(), service.Options{Home: home, Getenv: getenv, Log: log, ConfigFile: config, UIPort: uiPort}, announcer{out: e.stdout, quiet: quiet, json: asJSON}, once)
		},
	}
	f := cmd.Flags()
	f.StringVar(&address, "address", "", "HOST:PORT of a Temporal server to work for (default $TEMPORAL_ADDRESS, else the embedded one)")
	f.IntVar(&uiPort, "ui-port", 0, "port of the Web UI (default the configuration's, or a free one)")
	f.StringVar(&config, "config", "", "a temporal-dev.yaml for the embedded server")
	f.StringVar(&home, "home", "", "home folder (default $WHETSTONE_HOME or ~/.whetstone)")
	f.BoolVar(&once, "once", false, "come up, report, and stop again")
	f.BoolVar(&verbose, "verbose", false, "log what goes on to standard error")
	f.BoolVar(&quiet, "quiet", false, "print nothing")
	f.BoolVar(&asJSON, "json", false, "print where it works as one JSON object")
	cmd.SetArgs(e.args)
	cmd.SetOut(e.stdout)
	cmd.SetErr(e.stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(e.stderr, "worker: %v\n", err)
	switch {
	case usage:
		fmt.Fprintln(e.stderr, "hint: see worker --help")
		return 2
	case errors.Is(err, service.ErrConfig):
		return 2
	}
	return 1
}

// work stands by until the context ends.
func work(ctx context.Context, o service.Options, say announcer, once bool) (err error) {
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
	if err := say.where(s, c); err != nil || once {
		return err
	}
	say.line("stop with Ctrl-C; open runs go on at the next start")
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

// announcer tells where the worker works.
type announcer struct {
	out         io.Writer
	quiet, json bool
}

func (a announcer) line(format string, args ...any) {
	if !a.quiet && !a.json {
		fmt.Fprintf(a.out, format+"\n", args...)
	}
}

func (a announcer) where(s *service.Service, c *service.Connection) error {
	if a.json {
		b, err := json.Marshal(map[string]any{"address": c.Address, "namespace": c.Namespace, "task_queue": s.TaskQueue(), "hosting": c.Hosting(), "external": c.External, "ui_url": c.UIURL()})
		if err == nil {
			_, err = fmt.Fprintf(a.out, "%s\n", b)
		}
		if err != nil {
			return fmt.Errorf("tell where the worker works: %w", err)
		}
		return nil
	}
	switch {
	case c.External:
		a.line("working for the Temporal server at %s, task queue %s", c.Address, s.TaskQueue())
	case c.Hosting():
		a.line("hosting Temporal at %s, task queue %s\nWeb UI: %s", c.Address, s.TaskQueue(), c.UIURL())
	default:
		a.line("working for the server at %s, which another process of this home hosts; Web UI: %s", c.Address, c.UIURL())
	}
	return nil
}
