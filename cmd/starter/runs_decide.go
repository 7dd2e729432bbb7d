package main

import (
	"github.com/spf13/cobra"

	"whetstone/run"
	"whetstone/service"
)

func (a *app) runsDecideCmd() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: "decide ID accept|reject", Short: "Decide on a result that waits for review (optimize --review)", Args: cobra.ExactArgs(2),
		Long: "Accepting delivers the result. Rejecting needs --why: nothing is delivered, and the refused edits are kept with these words, which the reflecting model\n" +
			"is told in later runs. `starter runs diff ID` shows what it is about.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			accept := args[1] == "accept"
			if !accept && args[1] != "reject" {
				return usage("decide %s: accept or reject", args[1])
			}
			if !accept && why == "" {
				return usage("a rejection needs a reason: --why TEXT")
			}
			return a.onRun(ctx, args[0], func(_ *service.Service, c *service.Connection, r run.Run) error {
				if r.EndedAt != nil {
					return usage("run %s is over already", r.ID)
				}
				stop, err := c.StartWorker()
				if err != nil {
					return err
				}
				defer stop()
				if err := c.Decide(ctx, r.WorkflowID, accept, why); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"run_id": r.ID, "accepted": accept})
				}
				if accept {
					return a.print("run %s is accepted and delivers its result\n", r.ID)
				}
				return a.print("run %s is rejected; nothing is delivered\n", r.ID)
			})
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "the reason, kept with the refused edits")
	return cmd
}
