package main

import (
	"strings"

	"github.com/spf13/cobra"

	"whetstone/service"
)

func (a *app) importCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Take over what another tool kept", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.importProWorkflowCmd())
	return cmd
}

func (a *app) importProWorkflowCmd() *cobra.Command {
	var approve bool
	var maps []string
	cmd := &cobra.Command{
		Use: "pro-workflow FILE.db", Short: "Take over learnings and wikis of a pro-workflow database; again and again without duplicates", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := service.ProImport{Path: args[0], Approve: approve, Folders: map[string]string{}}
			for _, m := range maps {
				name, dir, ok := strings.Cut(m, "=")
				if !ok || name == "" || dir == "" {
					return usage("--map %s: want NAME=FOLDER", m)
				}
				in.Folders[name] = dir
			}
			return a.with(cmd.Context(), func(s *service.Service) error {
				out, err := s.ImportProWorkflow(cmd.Context(), in)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(out)
				}
				if err := a.print("learnings: %d new, %d there already\n", out.Learnings.New, out.Learnings.Existing); err != nil {
					return err
				}
				for _, w := range out.Wikis {
					what := "there already"
					if w.New {
						what = "new"
					}
					if err := a.print("wiki %s: %s, %d page(s) new, %d left as they are, %d question(s) queued\n", w.Slug, what, w.Pages, w.Existing, w.Seeds); err != nil {
						return err
					}
				}
				for i, x := range out.Skipped {
					if i == 20 {
						a.note("and %d more rows were not taken", len(out.Skipped)-i)
						break
					}
					a.note("not taken: %s %d: %s", x.Table, x.ID, printable(x.Reason))
				}
				if out.Learnings.Redacted > 0 {
					a.note("%d secret(s) were replaced by [redacted:...]", out.Learnings.Redacted)
				}
				if len(out.Unknown) > 0 {
					a.note("projects known by name only, so their learnings reach no agent yet: %s\n  say where they are: --map %s=/path/to/it", printable(strings.Join(out.Unknown, ", ")), printable(out.Unknown[0]))
				}
				if out.Learnings.New > 0 && !approve {
					a.note("the new learnings are pending: look through them with `starter learn review`")
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&approve, "approve", false, "approve the learnings at once")
	cmd.Flags().StringArrayVar(&maps, "map", nil, "NAME=FOLDER: where a project is that is known by name only; can be repeated")
	return cmd
}
