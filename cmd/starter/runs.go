package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"whetstone/model"
	"whetstone/report"
	"whetstone/run"
	"whetstone/service"
	"whetstone/store"
)

func (a *app) runsCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "runs", Short: "List, show and stop runs", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.runsListCmd(), a.runsShowCmd(), a.runsDiffCmd(), a.runsReportCmd(), a.runsWatchCmd(), a.runsStopCmd(), a.runsDecideCmd(), a.runsEvidenceCmd(), a.runsHistoryCmd())
	return cmd
}

// runSummary is a run as `runs list --json` gives it.
type runSummary struct {
	RunID      string      `json:"run_id"`
	WorkflowID string      `json:"workflow_id"`
	Skill      string      `json:"skill"`
	Path       string      `json:"path"`
	Provider   string      `json:"provider"`
	Goal       string      `json:"goal"`
	Outcome    run.Outcome `json:"outcome"`
	StartedAt  string      `json:"started_at"`
	EndedAt    string      `json:"ended_at,omitempty"`
	Result     *run.Result `json:"result"`
}

func summarise(r run.Run) runSummary {
	s := runSummary{RunID: r.ID, WorkflowID: r.WorkflowID, Skill: r.SkillKey, Path: r.SkillPath, Provider: r.Provider, Goal: r.Goal, Outcome: r.Outcome, StartedAt: r.StartedAt.Format("2006-01-02T15:04:05Z07:00"), Result: r.Result}
	if r.EndedAt != nil {
		s.EndedAt = r.EndedAt.Format("2006-01-02T15:04:05Z07:00")
	}
	return s
}

func (a *app) runsListCmd() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, latest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				rs, err := s.Store.Runs(cmd.Context(), limit)
				if err != nil {
					return err
				}
				out := make([]runSummary, len(rs))
				for i, r := range rs {
					out[i] = summarise(r)
				}
				if a.json {
					return a.printJSON(out)
				}
				if len(rs) == 0 {
					return a.print("no runs\n")
				}
				w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
				_, _ = fmt.Fprintln(w, "RUN\tSTARTED\tSKILL\tGOAL\tMODEL\tOUTCOME\tHELD OUT\tSPENT")
				for _, r := range rs {
					scores, spent := "-", "-"
					if r.Result != nil {
						scores = report.Score(r.Result.Baseline.Selection) + " -> " + report.Score(r.Result.Final.Selection)
						spent = fmt.Sprintf("$%.4f", r.Result.SpentUSD)
					}
					_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.StartedAt.Local().Format("2006-01-02 15:04"), r.SkillKey, r.Goal, r.Provider, report.Title(r.Outcome), scores, spent)
				}
				return w.Flush()
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "at most so many (0: all)")
	return cmd
}

// stageSpend is a stage's spend as `runs show --json` gives it.
type stageSpend struct {
	Stage    string  `json:"stage"`
	Calls    int     `json:"calls"`
	SpentUSD float64 `json:"spent_usd"`
	Input    int     `json:"input_tokens"`
	Output   int     `json:"output_tokens"`
	Unknown  int     `json:"unknown"`
	Cached   int     `json:"cached_tokens"`   // part of input_tokens
	Reported float64 `json:"reported_usd"`    // what agents' programs say that it cost; not booked
	Guessed  int     `json:"estimated_calls"` // calls whose usage the provider did not tell
}

func stagesOf(spend []run.Spend) []stageSpend {
	out := make([]stageSpend, len(spend))
	for i, x := range spend {
		out[i] = stageSpend{x.Stage, x.Calls, model.NanoUSD(x.NanoUSD).USD(), x.Input, x.Output, x.Unknown, x.Cached, model.NanoUSD(x.Reported).USD(), x.Estimated}
	}
	return out
}

func (x stageSpend) line() string {
	s := fmt.Sprintf("%-8s %4d call(s)  $%.6f  %d tokens in, %d out, %d of unknown outcome", x.Stage, x.Calls, x.SpentUSD, x.Input, x.Output, x.Unknown)
	if x.Cached > 0 {
		s += fmt.Sprintf(", %d from a cache", x.Cached)
	}
	if x.Guessed > 0 {
		s += fmt.Sprintf(", %d with estimated usage", x.Guessed)
	}
	if x.Reported > 0 {
		s += fmt.Sprintf(", reported by the program: $%.4f", x.Reported)
	}
	return s
}

// stepView is a step as `runs show --json` gives it.
type stepView struct {
	Epoch     int      `json:"epoch"`
	Step      int      `json:"step"`
	Try       int      `json:"try"`
	Parent    string   `json:"parent"`
	Candidate string   `json:"candidate"`
	Outcome   string   `json:"outcome"`
	Reason    string   `json:"reason"`
	Before    *float64 `json:"parent_score"`
	After     *float64 `json:"candidate_score"`
	P         *float64 `json:"p"`
	Alpha     *float64 `json:"alpha"`
	Replayed  bool     `json:"replayed"`
	Kind      string   `json:"kind"`  // step, slow or merge
	Stage     string   `json:"stage"` // of the look in which the word fell
	Look      *int     `json:"look"`  // its number over the life of the manifest; null where it spent no alpha
}

func (a *app) runsShowCmd() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a run: outcome, steps, patches, what was left out, spend by stage", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error { return a.showRun(cmd.Context(), s, args[0]) })
		},
	}
}

func (a *app) showRun(ctx context.Context, s *service.Service, id string) error {
	if done, err := a.showWikiRun(ctx, s, id); done || err != nil {
		return err
	}
	r, err := findRun(ctx, s, id)
	if err != nil {
		return err
	}
	steps, err := s.Store.Steps(ctx, r.ID)
	if err != nil {
		return err
	}
	patches, err := s.Store.Patches(ctx, r.ID, 0)
	if err != nil {
		return err
	}
	spend, err := s.Store.SpendByStage(ctx, r.ID)
	if err != nil {
		return err
	}
	excluded, err := s.Store.RunExcluded(ctx, r.ID)
	if err != nil {
		return err
	}
	stages := stagesOf(spend)
	if a.json {
		views := make([]stepView, len(steps))
		for i, st := range steps {
			views[i] = stepView{st.Epoch, st.Step, st.Try, st.Parent, st.Candidate, st.Outcome, st.Reason, st.Parent01, st.Cand01, st.P, st.Alpha, st.Replayed, st.Kind, st.Stage, st.Look}
		}
		type left struct {
			Learning string `json:"learning"`
			Rule     string `json:"rule"`
			Reason   string `json:"reason"`
			With     string `json:"with,omitempty"`
		}
		outs := make([]left, len(excluded))
		for i, e := range excluded {
			outs[i] = left{e.Learning, e.Rule, e.Reason, e.With}
		}
		return a.printJSON(map[string]any{"run": summarise(r), "steps": views, "patches": patches, "spend": stages, "excluded": outs})
	}
	var b strings.Builder
	if r.Result != nil {
		b.WriteString(report.Markdown(*r.Result, steps))
	} else {
		fmt.Fprintf(&b, "# %s: running\n\nStarted %s.\n", r.SkillKey, r.StartedAt.Local().Format("2006-01-02 15:04:05"))
	}
	a.writePatches(&b, patches)
	for _, e := range excluded {
		if e.With != "" {
			fmt.Fprintf(&b, "\n  left out (%s): %s\n    against: %s", e.Reason, oneLine(e.Rule, 100), oneLine(e.With, 100))
		} else {
			fmt.Fprintf(&b, "\n  left out (%s): %s", e.Reason, oneLine(e.Rule, 100))
		}
	}
	if len(stages) > 0 {
		b.WriteString("\n\n  spend by stage:\n")
		for _, x := range stages {
			fmt.Fprintf(&b, "    %s\n", x.line())
		}
	}
	return a.print("%s\n", strings.TrimRight(b.String(), "\n"))
}

// showWikiRun shows a run of a wiki: research, council or survey. done is false where the id names none.
func (a *app) showWikiRun(ctx context.Context, s *service.Service, id string) (done bool, err error) {
	rs, err := s.Store.ResearchRuns(ctx, "", 0)
	if err != nil {
		return false, err
	}
	for _, r := range rs {
		if r.ID != id && (len(id) < 8 || !strings.HasPrefix(r.ID, id)) {
			continue
		}
		spend, err := s.Store.SpendByStage(ctx, r.ID)
		if err != nil {
			return true, err
		}
		stages := stagesOf(spend)
		if a.json {
			return true, a.printJSON(map[string]any{"run": viewRun(r), "wiki": r.Wiki, "workflow_id": r.WorkflowID, "spend": stages})
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s of wiki %s: %s\n  run %s, workflow %s, started %s\n", r.Kind, r.Wiki, orDash(r.Halted), r.ID, r.WorkflowID, r.StartedAt.Local().Format("2006-01-02 15:04:05"))
		for _, x := range stages {
			fmt.Fprintf(&b, "  %s\n", x.line())
		}
		if r.Result != nil {
			fmt.Fprintf(&b, "  %s\n", r.Result)
		}
		return true, a.print("%s", b.String())
	}
	return false, nil
}

func (a *app) runsDiffCmd() *cobra.Command {
	return &cobra.Command{
		Use: "diff ID", Short: "Show what a run changed in the skill", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				r, err := findRun(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				before, after, err := a.hashesOf(cmd.Context(), s, r)
				if err != nil {
					return err
				}
				diff, err := runDiff(cmd.Context(), s, before, after, r.SkillPath)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"run_id": r.ID, "hash_before": before, "hash_after": after, "diff": diff})
				}
				if diff == "" {
					a.note("the run changed nothing")
					return nil
				}
				return a.print("%s", a.colourDiff(diff))
			})
		},
	}
}

// hashesOf are the texts a run began with and has now. An open run, such as one that waits for review, is asked.
func (a *app) hashesOf(ctx context.Context, s *service.Service, r run.Run) (before, after string, err error) {
	if r.Result != nil {
		return r.Result.HashBefore, r.Result.HashAfter, nil
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	stop, err := c.StartWorker() // the run can be asked where somebody works for it
	if err != nil {
		return "", "", err
	}
	defer stop()
	p, err := c.Progress(ctx, r.WorkflowID)
	if err != nil {
		return "", "", fmt.Errorf("ask run %s how far it is: %w", r.ID, err)
	}
	return p.HashBefore, p.HashAfter, nil
}

func (a *app) runsWatchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch ID", Short: "Follow an open run to its end", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onRun(ctx, args[0], func(s *service.Service, c *service.Connection, r run.Run) error {
				stop, err := c.StartWorker()
				if err != nil {
					return err
				}
				defer stop()
				st := c.Follow(r.WorkflowID, r.ID)
				done := a.watchProgress(ctx, st, true)
				out, err := st.Wait(ctx)
				done()
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(out.Result)
				}
				return a.showResult(ctx, s, out.Result, c.RunURL(r.WorkflowID, r.ID))
			})
		},
	}
}

func (a *app) runsStopCmd() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: "stop ID", Short: "Stop an open run; what was accepted so far is delivered", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onRun(ctx, args[0], func(_ *service.Service, c *service.Connection, r run.Run) error {
				if r.EndedAt != nil {
					return usage("run %s is over already", r.ID)
				}
				if ok, err := c.HasWorker(ctx); err == nil && !ok {
					stop, err := c.StartWorker()
					if err != nil {
						return err
					}
					defer stop()
				}
				if err := c.Stop(ctx, r.WorkflowID, why); err != nil {
					return err
				}
				return a.print("run %s stops after its present look\n", r.ID)
			})
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "the reason, kept with the run")
	return cmd
}

// onRun finds a run and connects to Temporal for it.
func (a *app) onRun(ctx context.Context, id string, f func(*service.Service, *service.Connection, run.Run) error) error {
	return a.with(ctx, func(s *service.Service) error {
		r, err := findRun(ctx, s, id)
		if err != nil {
			return err
		}
		c, err := s.Connect(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		return f(s, c, r)
	})
}

func (a *app) runsHistoryCmd() *cobra.Command {
	return &cobra.Command{
		Use: "history ID", Short: "Print a run's Temporal history as JSON, for replay and for support", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onTemporal(ctx, func(s *service.Service, c *service.Connection) error {
				workflowID, runID, err := historyOf(ctx, s, args[0])
				if err != nil {
					return err
				}
				b, err := c.History(ctx, workflowID, runID)
				if err != nil {
					return err
				}
				return a.print("%s\n", b)
			})
		},
	}
}

// historyOf finds a run of either kind: an optimization, or a wiki's research, council or survey.
func historyOf(ctx context.Context, s *service.Service, id string) (workflowID, runID string, err error) {
	if strings.HasPrefix(id, "research-tick") {
		return id, "", nil // ticks are known by their workflow
	}
	rs, err := s.Store.ResearchRuns(ctx, "", 0)
	if err != nil {
		return "", "", err
	}
	for _, r := range rs {
		if r.ID == id || len(id) >= 8 && strings.HasPrefix(r.ID, id) {
			return r.WorkflowID, r.ID, nil
		}
	}
	r, err := findRun(ctx, s, id)
	return r.WorkflowID, r.ID, err
}

// findRun finds a run by id or the beginning of one.
func findRun(ctx context.Context, s *service.Service, id string) (run.Run, error) {
	r, err := s.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
		return r, usage("%w: see `starter runs list`", err)
	}
	return r, err
}

// finishedRun is findRun for what needs a result.
func finishedRun(ctx context.Context, s *service.Service, id string) (run.Run, error) {
	r, err := findRun(ctx, s, id)
	if err == nil && r.Result == nil {
		err = usage("run %s is not over yet: follow it with `starter runs watch %s`", r.ID, r.ID)
	}
	return r, err
}
