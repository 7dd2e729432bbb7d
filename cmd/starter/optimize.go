package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whetstone/activities"
	"whetstone/llm"
	"whetstone/model"
	"whetstone/run"
	"whetstone/service"
	"whetstone/workflows"
)

type optimizeFlags struct {
	skill, importFile, provider, model, judge, price     string
	record, replay                                       string
	fallback                                             []string
	showPrompts                                          bool
	goal, mode                                           string
	epochs, batch, minibatches, lr, minLR, trials        int
	adds, deletes, replaces, maxCalls, patience, maxToks int
	alpha, budget                                        float64
	timeout                                              time.Duration
	seed                                                 int64
	match, pending, plain                                bool
	write, stage, dryRun, watch, detach                  bool
	search, judge2, target, itemsFile, report            string
	pairwise, commands, review, rank, baselines          bool
	with, without                                        []string
}

func (a *app) optimizeCmd() *cobra.Command {
	var o optimizeFlags
	cmd := &cobra.Command{
		Use:   "optimize --skill PATH",
		Short: "Train a skill file with the corrections linked to it",
		Long: "Splits the corrections into train, selection and test, lets a model propose small patches from the train part, and keeps a patch only if the\n" +
			"held-out part does better. Without a key the offline model is used: it measures whether the file states a correction, not what an agent does.\n" +
			"A second start of the same command attaches to the run that is open, so after a crash the same command goes on.",
		Example: "  starter optimize --skill examples/go-testing/SKILL.md --import examples/go-testing/learnings.jsonl --stage\n  starter optimize --skill SKILL.md --goal adopt --write\n  starter optimize --skill SKILL.md --provider openai --model gpt-4o-mini --budget-usd 0.50",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.optimize(cmd.Context(), o) },
	}
	f := cmd.Flags()
	o.bind(cmd)
	f.StringVar(&o.importFile, "import", "", "import learnings from this JSON Lines file first and link them to the skill")
	f.StringVar(&o.replay, "replay", "", "folder to answer model calls from, as --record wrote it: no provider is asked and nothing is paid")
	f.StringVar(&o.report, "report", "", "also write the report to this HTML file")
	f.BoolVar(&o.dryRun, "dry-run", false, "deliver nothing")
	f.BoolVar(&o.showPrompts, "show-prompts", false, "print what would be sent to the provider, and send nothing")
	f.BoolVar(&o.watch, "watch", false, "show progress also where standard error is no terminal")
	f.BoolVar(&o.detach, "detach", false, "start the run and return; needs a running worker")
	cmd.MarkFlagsMutuallyExclusive("write", "stage", "dry-run")
	return cmd
}

// bind declares the flags that need nobody to be there: those of `schedule optimize`, too.
func (o *optimizeFlags) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.skill, "skill", "", "the SKILL.md, its folder, or the name of a skill that was trained before")
	f.StringVar(&o.provider, "provider", "", "the provider of the model: "+strings.Join(llm.Providers(), ", ")+", or one of config.yaml (default: the first of openai, anthropic and gemini whose key is set, else offline)")
	f.StringVar(&o.record, "record", "", "folder to write every model call down in, with its prompt and answer")
	f.StringSliceVar(&o.fallback, "fallback", nil, "provider:model to ask where the first one fails: to reflect with, and to judge a whole comparison; judges are never mixed within one")
	f.StringVar(&o.model, "model", "", "the reflecting model (default the provider's)")
	f.StringVar(&o.judge, "judge-model", "", "the judging model (default the reflecting one)")
	f.StringVar(&o.price, "price", "", "IN,OUT: dollars for a million tokens, for a model that is not in the price table")
	f.StringVar(&o.goal, "goal", "improve", "improve: do better on held-out corrections; adopt: state these very corrections")
	f.StringVar(&o.mode, "mode", "judge", "judge: ask whether the skill would lead to the expected behaviour; rollout: let an agent answer by the skill, and judge its answer")
	f.StringVar(&o.target, "target-model", "", "provider:model that answers in mode rollout (default the reflecting one)")
	f.BoolVar(&o.pairwise, "pairwise", false, "mode rollout: compare the answers of both sides blind, instead of judging each alone")
	f.StringVar(&o.judge2, "second-judge", "", "provider:model that must agree with what the judge accepts")
	f.StringVar(&o.itemsFile, "items", "", "file of evaluation items, YAML or JSON Lines, besides those of the learnings")
	f.BoolVar(&o.commands, "allow-commands", false, "let items of kind command run, in a folder of their own and without a network")
	f.StringVar(&o.search, "search", "greedy", "greedy: each step starts from the best text; pareto: from one that is best on some item")
	f.BoolVar(&o.rank, "rank", false, "let the model rank patches where more are proposed than a step takes (default by support)")
	f.BoolVar(&o.baselines, "baselines", false, "also measure what appending everything and a one-shot rewrite would have reached, within the budget")
	f.BoolVar(&o.review, "review", false, "wait for `starter runs decide` before anything is delivered; needs a running worker")
	f.StringSliceVar(&o.with, "with", nil, "parts of the optimizer that are off otherwise: "+strings.Join(run.OnRequest, ", "))
	f.StringSliceVar(&o.without, "without", nil, "leave parts of the optimizer out, to see what they earn: "+strings.Join(run.Parts, ", "))
	f.IntVar(&o.epochs, "epochs", 3, "passes over the train part")
	f.IntVar(&o.batch, "batch-size", 8, "corrections in a minibatch")
	f.IntVar(&o.minibatches, "minibatches", 2, "minibatches reflected on in parallel in a step")
	f.IntVar(&o.lr, "lr", 4, "patches a step may apply at first")
	f.IntVar(&o.minLR, "min-lr", 2, "patches a step may apply at the end")
	f.IntVar(&o.adds, "max-adds", 3, "additions a step may apply")
	f.IntVar(&o.deletes, "max-deletes", 2, "deletions a step may apply")
	f.IntVar(&o.replaces, "max-replaces", 3, "replacements a step may apply")
	f.IntVar(&o.trials, "trials", 0, "judgements of each item (default 1 offline, 3 with a model)")
	f.Float64Var(&o.alpha, "alpha", 0.05, "chance of ever accepting a candidate that is no better")
	f.Float64Var(&o.budget, "budget-usd", 0.50, "dollars the run may spend; it never spends more")
	f.IntVar(&o.maxCalls, "max-calls", 0, "model calls the run may make (0: no limit; 400 where the model is free by the token)")
	f.DurationVar(&o.timeout, "timeout", 0, "wall clock after which the run stops with its work kept (0: none)")
	f.IntVar(&o.patience, "patience", 5, "steps without improvement after which the run stops")
	f.Int64Var(&o.seed, "seed", 1, "seed of every random choice")
	f.IntVar(&o.maxToks, "max-skill-tokens", 5000, "size the body may have; a larger one may only shrink")
	f.BoolVar(&o.match, "match", false, "also use unlinked learnings that the skill's name, description and headings match")
	f.BoolVar(&o.pending, "include-pending", false, "also use learnings that nobody approved yet")
	f.BoolVar(&o.plain, "plain", false, "accept a file without frontmatter")
	f.BoolVar(&o.write, "write", false, "replace the file, if it is unchanged since the run began")
	f.BoolVar(&o.stage, "stage", false, "write the result beside the file as SKILL.md.proposed")
}

func (a *app) optimize(ctx context.Context, o optimizeFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	return a.with(ctx, func(s *service.Service) error {
		if o.showPrompts {
			return a.showPrompts(ctx, s, o)
		}
		p, ask, err := a.params(ctx, s, o)
		if err != nil {
			return err
		}
		if o.importFile != "" {
			if err := a.importFor(ctx, s, o.importFile, p.SkillKey, false); err != nil {
				return err
			}
		}
		if p.Provider == model.Offline {
			a.note("no key: using the offline model (%s)", model.StatementCoverage)
		}
		c, err := s.Connect(ctx)
		if err != nil {
			return err
		}
		return errors.Join(a.optimizeOn(ctx, s, c, p, o, ask), c.Close())
	})
}

func (o *optimizeFlags) check() error {
	if o.skill == "" {
		return usage("optimize needs --skill PATH")
	}
	for _, x := range []struct {
		flag string
		n    int
		min  int
	}{
		{"epochs", o.epochs, 1},
		{"batch-size", o.batch, 1},
		{"minibatches", o.minibatches, 1},
		{"lr", o.lr, 1},
		{"min-lr", o.minLR, 1},
		{"max-adds", o.adds, 0},
		{"max-deletes", o.deletes, 0},
		{"max-replaces", o.replaces, 0},
		{"trials", o.trials, 0},
		{"max-calls", o.maxCalls, 0},
		{"patience", o.patience, 0},
		{"max-skill-tokens", o.maxToks, 1},
	} {
		if x.n < x.min {
			return usage("--%s %d: at least %d", x.flag, x.n, x.min)
		}
		if x.n > 1_000_000 {
			return usage("--%s %d: that is more than makes sense", x.flag, x.n)
		}
	}
	switch {
	case o.minLR > o.lr:
		return usage("--min-lr %d is above --lr %d", o.minLR, o.lr)
	case o.alpha <= 0 || o.alpha >= 1 || math.IsNaN(o.alpha):
		return usage("--alpha %v: between 0 and 1", o.alpha)
	case o.budget < 0 || math.IsNaN(o.budget) || o.budget > 1e6:
		return usage("--budget-usd %v: a number of dollars, 0 or more", o.budget)
	case o.timeout < 0:
		return usage("--timeout %v: 0 or more", o.timeout)
	case o.goal != "improve" && o.goal != "adopt":
		return usage("--goal %q: improve or adopt", o.goal)
	case o.mode != activities.ModeJudge && o.mode != activities.ModeRollout:
		return usage("--mode %q: judge or rollout", o.mode)
	case o.mode != activities.ModeRollout && (o.pairwise || o.target != ""):
		return usage("--pairwise and --target-model are for --mode rollout")
	case o.search != activities.SearchGreedy && o.search != activities.SearchPareto:
		return usage("--search %q: greedy or pareto", o.search)
	case o.search == activities.SearchPareto && o.goal == "adopt":
		return usage("--search pareto explores for --goal improve; adopting works edit by edit")
	}
	for _, w := range o.with {
		switch {
		case !slices.Contains(run.OnRequest, w):
			return usage("--with %s: want some of %s; the other parts are on unless left out by --without", w, strings.Join(run.OnRequest, ", "))
		case slices.Contains(o.without, w):
			return usage("--with %s and --without %s: want one of them", w, w)
		}
	}
	for _, w := range o.without {
		if !slices.Contains(run.Parts, w) {
			return usage("--without %s: want some of %s", w, strings.Join(run.Parts, ", "))
		}
	}
	return nil
}

// optimizeOn runs the optimization on a connected server and prints its result.
func (a *app) optimizeOn(ctx context.Context, s *service.Service, c *service.Connection, p run.Params, o optimizeFlags, ask bool) error {
	if o.review {
		if err := a.needWorker(ctx, c, "--review"); err != nil {
			return err
		}
	}
	if o.detach {
		return a.detach(ctx, c, p)
	}
	stop, err := c.StartWorker()
	if err != nil {
		return err
	}
	defer stop()
	st, err := c.StartOptimize(ctx, p)
	if err != nil {
		return err
	}
	if st.Attached {
		a.note("a run of %s with the same choices is open: going on with it", p.SkillKey)
	}
	if url := c.RunURL(st.WorkflowID, st.RunID); url != "" {
		a.note("run %s, watch it at %s", st.RunID, url)
	} else {
		a.note("run %s", st.RunID)
	}
	if p.Review {
		a.note("what it accepts waits for a person: `starter runs diff %s`, then `starter runs decide %s accept`, or `reject --why ...`", st.RunID, st.RunID)
	}
	done := a.watchProgress(ctx, st, o.watch)
	waitCtx, cancel := c.WithDisk(ctx)
	out, err := st.Wait(waitCtx)
	cancel()
	done()
	if err != nil {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted: the run stays open, the same command goes on with it")}
		}
		if full := c.DiskFull(); full != nil {
			return full
		}
		if a.json {
			return errors.Join(a.printJSON(failedResult(st, p, err)), err)
		}
		return err
	}
	r := out.Result
	if p.Report != "" {
		if err := a.writeReport(ctx, s, r.RunID, p.Report); err != nil {
			return err
		}
		r.ReportPath = &p.Report
	}
	url := c.RunURL(st.WorkflowID, st.RunID)
	if url != "" && !c.Hosting() {
		r.UIURL = &url // what this process hosts itself is gone when the result is read
	}
	if ask && r.Outcome == run.Accepted && r.Delivered == "staged" {
		if err := a.showResult(ctx, s, r, url); err != nil {
			return err
		}
		return a.askToWrite(ctx, s, p, r)
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		err = a.showResult(ctx, s, r, url)
	}
	if err != nil {
		return err
	}
	return outcomeExit(r, p.Deliver)
}

// failedResult is what --json ends with for a run that failed.
func failedResult(st *service.Started, p run.Params, err error) run.Result {
	return run.Result{
		RunID: st.RunID, WorkflowID: st.WorkflowID, Skill: p.SkillKey, Provider: p.Provider, Mode: p.Mode, Outcome: run.Failed, Why: err.Error(),
		BudgetUSD: p.BudgetUSD, Delivered: "none", Path: p.SkillPath, Goal: p.Goal, Judge: p.Judge,
	}
}

// outcomeExit turns a result into the exit code of cli.md.
func outcomeExit(r run.Result, asked string) error {
	code := exitFailed
	switch r.Outcome {
	case run.Accepted:
		code = exitDone
		if r.Delivered == "none" && asked != "dry-run" {
			code = exitFailed
		}
	case run.NoImprovement:
		code = exitNoImprovement
	case run.Stopped:
		code = exitStopped
	case run.Indecisive:
		code = exitIndecisive
	}
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}

// detach starts the run and leaves it to a worker that stands by.
func (a *app) detach(ctx context.Context, c *service.Connection, p run.Params) error {
	ok := !c.Hosting()
	if ok {
		var err error
		if ok, err = c.HasWorker(ctx); err != nil {
			return err
		}
	}
	if !ok {
		return usage("--detach needs a worker that stays: start one with `worker` in another terminal, or leave --detach out")
	}
	st, err := c.StartOptimize(ctx, p)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"run_id": st.RunID, "workflow_id": st.WorkflowID, "attached": st.Attached})
	}
	return a.print("started run %s; watch it with `starter runs watch %s`\n", st.RunID, st.RunID)
}

// watchProgress shows how far the run is until the returned function is called.
func (a *app) watchProgress(ctx context.Context, st *service.Started, always bool) (stop func()) {
	return a.watchLine(ctx, always, func(ctx context.Context) (string, error) {
		p, err := st.Progress(ctx)
		return progressLine(p), err
	})
}

func progressLine(p workflows.Progress) string {
	score := ""
	if p.Baseline != nil && p.Score != nil {
		score = fmt.Sprintf(", held out %.3f -> %.3f", *p.Baseline, *p.Score)
	}
	return fmt.Sprintf("%s: epoch %d/%d, step %d/%d%s, %d accepted, %d rejected, $%.4f", p.Phase, p.Epoch, p.Epochs, p.Step, p.Steps, score, p.Accepted, p.Rejected, p.SpentUSD)
}

// inputMessage unwraps an activity's input error, which was made for Temporal.
func inputMessage(err error) error {
	var app interface{ Message() string }
	if errors.As(err, &app) {
		return errors.New(app.Message())
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
