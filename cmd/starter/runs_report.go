package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"whetstone/activities"
	"whetstone/report"
	"whetstone/service"
)

func (a *app) runsReportCmd() *cobra.Command {
	var html string
	cmd := &cobra.Command{
		Use: "report ID", Short: "Print a run's report as Markdown, or write it as one HTML file", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(s *service.Service) error {
				r, err := finishedRun(ctx, s, args[0])
				if err != nil {
					return err
				}
				if html != "" {
					path, err := filepath.Abs(html)
					if err == nil {
						err = a.writeReport(ctx, s, r.ID, path)
					}
					if err != nil {
						return err
					}
					if a.json {
						return a.printJSON(map[string]any{"run_id": r.ID, "report_path": path})
					}
					return a.print("wrote %s\n", path)
				}
				steps, err := s.Store.Steps(ctx, r.ID)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"run_id": r.ID, "markdown": report.Markdown(*r.Result, steps)})
				}
				return a.print("%s", report.Markdown(*r.Result, steps))
			})
		},
	}
	cmd.Flags().StringVar(&html, "html", "", "write one self-contained HTML file to this path instead")
	return cmd
}

// writeReport writes a run's report as HTML, in one step.
func (a *app) writeReport(ctx context.Context, s *service.Service, runID, path string) error {
	r, err := s.Store.Run(ctx, runID)
	if err != nil {
		return err
	}
	d, err := s.Report(ctx, r, buildVersion())
	if err != nil {
		return err
	}
	b, err := report.HTML(d)
	if err != nil {
		return err
	}
	return activities.WriteAtomic(path, string(b))
}
