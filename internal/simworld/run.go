package simworld

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/run"
	"whetstone/store"
	"whetstone/validation"
	"whetstone/workflows"
)

// StandingBudget is every variant's, in dollars. It was set on seeds from 10000 so that the budget, and not the number of
// epochs, ends most runs.
const StandingBudget = 0.25

// Outcome is what came of a run, in true values.
type Outcome struct {
	Seed                     uint64
	SelectionBefore          float64
	SelectionAfter           float64
	TestBefore, TestAfter    float64
	Looks                    int // decided with a test that spent alpha
	Accepted, FalseAccepts   int // false: true mean on the selection items not above the parent's
	SlowAccepted             int
	MergeAccepted            int
	GoodRefused              int // good edits in bundles that were refused as a whole
	GoodRecovered            int // of those, in a text that was accepted later in the same step
	Judgements, Calls, Steps int
	USD                      float64
	HarmInFinal              bool
	Stopped                  string
	Final                    string // hash
}

// Params are a run's in a world, before they are changed.
func Params(seed uint64, path string) run.Params {
	return run.Params{
		SkillPath: path, SkillKey: skillName, SkillName: skillName, Provider: Reflector, Judge: Judge, Goal: "improve", Mode: activities.ModeJudge,
		Epochs: 5, BatchSize: 8, Minibatch: 2, LR: 4, MinLR: 2, MaxAdds: 3, MaxDeletes: 2, MaxReplace: 3, Alpha: 0.05,
		BudgetUSD: StandingBudget, Seed: int64(seed), MaxTokens: 5000, Deliver: "dry-run", Search: activities.SearchGreedy,
	}
}

// Run drives a whole run of the real workflow with the real activities over a real store in the standing world of a seed.
func Run(ctx context.Context, seed uint64, change func(*run.Params)) (Outcome, error) {
	return RunIn(ctx, New(seed, Standing), change)
}

// RunIn is Run in a world of one's own.
func RunIn(ctx context.Context, w *World, change func(*run.Params)) (Outcome, error) {
	return runIn(ctx, w, &Models{World: w}, change, nil)
}

// runIn lets a test answer in the models' place, and look into the store before it is gone.
func runIn(ctx context.Context, w *World, models models, change func(*run.Params), look func(*store.Store, run.Result) error) (out Outcome, err error) {
	dir, err := os.MkdirTemp(fastDir(), "simworld-")
	if err != nil {
		return out, fmt.Errorf("make a world's folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	st, err := store.Open(ctx, store.Options{Path: filepath.Join(dir, "data.db")})
	if err != nil {
		return out, err
	}
	defer func() { _ = st.Close() }()
	path := filepath.Join(dir, "SKILL.md")
	if err := os.WriteFile(path, []byte(w.Text), 0o600); err != nil {
		return out, fmt.Errorf("write a world's skill: %w", err)
	}
	if _, err := st.AddLearnings(ctx, slices.Clone(w.Learnings)); err != nil {
		return out, err
	}
	acts, err := activities.New(activities.Options{Store: st, Models: models})
	if err != nil {
		return out, err
	}
	p := Params(w.Seed, path)
	if change != nil {
		change(&p)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	e := suite.NewTestWorkflowEnvironment()
	e.SetTestTimeout(10 * time.Minute)
	e.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	e.RegisterWorkflowWithOptions(workflows.OptimizeSkill, workflow.RegisterOptions{Name: workflows.OptimizeName})
	e.RegisterActivity(acts)
	e.ExecuteWorkflow(workflows.OptimizeName, workflows.OptimizeInput{Params: p})
	if err := e.GetWorkflowError(); err != nil {
		return out, fmt.Errorf("run the world of seed %d: %w", w.Seed, err)
	}
	var res workflows.OptimizeOutput
	if err := e.GetWorkflowResult(&res); err != nil {
		return out, fmt.Errorf("read the result of seed %d: %w", w.Seed, err)
	}
	r := res.Result
	out = Outcome{Seed: w.Seed, Judgements: models.Judgements(), Calls: r.Calls, USD: r.SpentUSD, Stopped: r.StoppedReason, Final: r.HashAfter, Steps: r.Steps}
	if look != nil {
		if err := look(st, r); err != nil {
			return out, err
		}
	}
	return out, w.account(ctx, st, r, &out)
}

// models are Models, or a test's.
type models interface {
	activities.Models
	Judgements() int
}

func fastDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// account reads a run's record with the world's eyes.
func (w *World) account(ctx context.Context, st *store.Store, r run.Result, out *Outcome) error {
	body := func(hash string) (string, error) {
		text, err := st.Text(ctx, hash)
		return bodyOf(text), err
	}
	before, err := body(r.HashBefore)
	if err != nil {
		return err
	}
	after, err := body(r.HashAfter)
	if err != nil {
		return err
	}
	out.SelectionBefore, out.SelectionAfter = w.TrueScore(before, validation.Selection), w.TrueScore(after, validation.Selection)
	out.TestBefore, out.TestAfter = w.TrueScore(before, validation.Test), w.TrueScore(after, validation.Test)
	out.HarmInFinal = w.Harmful(after)
	steps, err := st.Steps(ctx, r.RunID)
	if err != nil {
		return err
	}
	candidates, err := st.RunCandidates(ctx, r.RunID)
	if err != nil {
		return err
	}
	refused := map[int][]string{} // payloads of good edits in a refused bundle, by step
	for _, s := range steps {
		if s.Look != nil {
			out.Looks++
		}
		switch {
		case s.Outcome == validation.Rejected && s.Try == 0 && s.Kind != run.KindSlow && s.Kind != run.KindMerge:
			patches, err := st.Patches(ctx, r.RunID, s.Step)
			if err != nil {
				return err
			}
			parent, err := body(s.Parent)
			if err != nil {
				return err
			}
			for _, c := range candidates {
				if c.Step != s.Step || c.Try != 0 || len(c.Edits) < 2 {
					continue
				}
				for _, p := range patches {
					if slices.Contains(c.Edits, p.Key) && p.Key != "" && w.good(parent, p.Payload) {
						refused[s.Step] = append(refused[s.Step], p.Payload)
						out.GoodRefused++
					}
				}
			}
		case s.Outcome == validation.Accepted:
			out.Accepted++
			parent, err := body(s.Parent)
			if err != nil {
				return err
			}
			cand, err := body(s.Candidate)
			if err != nil {
				return err
			}
			if w.TrueScore(cand, validation.Selection) <= w.TrueScore(parent, validation.Selection)+1e-12 {
				out.FalseAccepts++
			}
			switch s.Kind {
			case run.KindSlow:
				out.SlowAccepted++
			case run.KindMerge:
				out.MergeAccepted++
			}
			for _, payload := range refused[s.Step] {
				if s.Try > 0 && strings.Contains(cand, payload) {
					out.GoodRecovered++
				}
			}
		}
	}
	return nil
}

// good reports whether a line raises a topic that the parent does not raise.
func (w *World) good(parent, line string) bool {
	was, is := w.read(parent), w.read(line)
	for t, raised := range is.raised {
		if raised && !was.raised[t] {
			return true
		}
	}
	return false
}
