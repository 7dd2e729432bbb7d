package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/research"
	"whetstone/run"
	"whetstone/source"
)

// Names of the research workflow and of its updates. They are wire names.
const (
	ResearchName = "ResearchWiki"
	PauseUpdate  = "pause"
	ResumeUpdate = "resume"
)

// ResearchInput starts a research run. Carry is set by continue-as-new only.
type ResearchInput struct {
	Params           run.ResearchParams
	SearchAttributes bool
	// RunID names the run in the store; "" is Temporal's first run id, which a test environment does not have.
	RunID string
	Carry *ResearchState
}

// ResearchOutput is the run's result, with the Markdown that lets it be read in the Web UI.
type ResearchOutput struct {
	Result   run.ResearchResult
	Markdown string
}

// ResearchState is what a run knows between batches: counters and choices, never a text or a list that grows.
type ResearchState struct {
	Started   time.Time
	Settings  run.ResearchSettings
	Batch     int
	Pages     int
	Claims    int
	Seeds     int // settled
	Failures  int // fetches that failed for good
	Novelties []float64
	Outages   []Outage // of sources, in a row
	SpentUSD  float64
	Calls     int
	Halted    research.Halt
	Why       string
	Last      string
	Paused    bool
	Hops      int
}

// Outage counts how often in a row a source could not be reached.
type Outage struct {
	Fetcher string
	Seeds   int
}

// givenUpAt is the number of seeds in a row for which a source could not be reached, after which the run goes on without
// it: a machine without a network would wait for every seed otherwise.
const givenUpAt = 3

// givenUp reports whether a run goes on without a source.
func (r *researching) givenUp(fetcher string) bool {
	for _, o := range r.Outages {
		if o.Fetcher == fetcher {
			return o.Seeds >= givenUpAt
		}
	}
	return false
}

// heard notes whether a source could be reached for a seed.
func (r *researching) heard(fetcher string, reached bool) {
	for i := range r.Outages {
		if r.Outages[i].Fetcher != fetcher {
			continue
		}
		if reached {
			r.Outages[i].Seeds = 0
		} else {
			r.Outages[i].Seeds++
		}
		return
	}
	if !reached {
		r.Outages = append(r.Outages, Outage{fetcher, 1})
	}
}

// batchesPerHistory bounds a history: with sixteen seeds side by side and ten sources each, a batch has some 700 events.
const batchesPerHistory = 60

// longestWait is how long a run waits for a seed that a source has delayed; for longer it ends, and the seed stays.
const longestWait = 10 * time.Minute

// researching is one execution of the workflow.
type researching struct {
	ResearchState
	in       ResearchInput
	job      activities.ResearchJob
	phase    string
	finished bool
	person   bool
}

// ResearchWiki grows a wiki breadth first: lease the shallowest oldest seeds, fetch, extract, settle one after the other in
// the order of the queue, until something halts it. Fetching and extracting of a batch go side by side; what a seed changes
// in the wiki does not depend on which was faster.
func ResearchWiki(ctx workflow.Context, in ResearchInput) (ResearchOutput, error) {
	info := workflow.GetInfo(ctx)
	r := &researching{in: in, phase: "opening"}
	if in.RunID == "" {
		in.RunID = info.FirstRunID
	}
	r.in.RunID = in.RunID
	r.job = activities.ResearchJob{RunID: in.RunID, WorkflowID: info.WorkflowExecution.ID, Wiki: in.Params.Wiki}
	if err := r.listen(ctx); err != nil {
		return ResearchOutput{}, err
	}
	if in.Carry != nil {
		r.ResearchState = *in.Carry
		r.job.Settings = r.Settings
	} else if err := r.open(ctx); err != nil {
		return ResearchOutput{}, err
	}
	r.phase = "researching"
	r.show(ctx)
	first := r.Batch
	for r.Halted == "" {
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() || r.Batch-first >= batchesPerHistory {
			return ResearchOutput{}, r.continueAsNew(ctx)
		}
		if err := r.batch(ctx); err != nil {
			return r.fail(ctx, err)
		}
		r.show(ctx)
	}
	return r.end(ctx)
}

func (r *researching) open(ctx workflow.Context) error {
	r.Started = workflow.Now(ctx)
	out, err := callOpenResearch(ctx, activities.OpenResearchIn{RunID: r.job.RunID, WorkflowID: r.job.WorkflowID, Params: r.in.Params, StartedAt: r.Started})
	if err != nil {
		return err
	}
	r.Settings, r.Halted, r.Why = out.Settings, research.Halt(out.Halted), out.Why
	r.job.Settings = r.Settings
	return nil
}

// checkHalts sets the halt where there is a reason not to take another seed.
func (r *researching) checkHalts(ctx workflow.Context) {
	s := r.Settings
	switch {
	case r.Halted != "":
	case r.person:
		r.Halted = research.Stopped
	case r.Pages >= s.MaxPages:
		r.Halted = research.MaxPages
	case research.HasConverged(r.Novelties):
		r.Halted = research.Converged
	case s.Timeout > 0 && workflow.Now(ctx).Sub(r.Started) >= time.Duration(s.Timeout)*time.Second:
		r.Halted = research.WallClock
	}
}

// batch takes the next seeds and settles them.
func (r *researching) batch(ctx workflow.Context) error {
	if r.Paused {
		r.phase = "paused"
		r.show(ctx)
		if err := workflow.Await(ctx, func() bool { return !r.Paused || r.person }); err != nil {
			return err
		}
		r.phase = "researching"
	}
	if r.checkHalts(ctx); r.Halted != "" {
		return nil
	}
	r.Batch++
	got, err := callClaimSeeds(ctx, activities.ClaimSeedsIn{Job: r.job, Batch: r.Batch, Most: min(r.Settings.Parallel, r.Settings.MaxPages-r.Pages)})
	if err != nil {
		return err
	}
	if len(got.Seeds) == 0 {
		return r.wait(ctx, got)
	}
	outs := make([]gathered, len(got.Seeds))
	wg := workflow.NewWaitGroup(ctx)
	for i, s := range got.Seeds {
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			outs[i] = r.gather(ctx, s)
		})
	}
	wg.Wait(ctx)
	for i, s := range got.Seeds {
		if err := r.settle(ctx, s, outs[i]); err != nil {
			return err
		}
	}
	return nil
}

// wait handles a queue that has nothing to take now.
func (r *researching) wait(ctx workflow.Context, got activities.ClaimSeedsOut) error {
	switch {
	case got.Stopped != "":
		r.halt(research.Halt(got.Stopped), "")
	case got.WaitFor > longestWait:
		r.halt(research.Delayed, "the first of them in "+got.WaitFor.Round(time.Minute).String())
	case got.WaitFor > 0:
		r.Last = fmt.Sprintf("waiting %s for a source", got.WaitFor.Round(time.Second))
		r.show(ctx)
		_, err := workflow.AwaitWithTimeout(ctx, got.WaitFor, func() bool { return r.person || r.Paused })
		return err
	case got.Deeper > 0:
		r.halt(research.MaxDepth, fmt.Sprintf("%d deeper seed(s) stay in the queue", got.Deeper))
	default:
		r.halt(research.QueueEmpty, "")
	}
	return nil
}

func (r *researching) halt(h research.Halt, why string) {
	if r.Halted == "" {
		r.Halted, r.Why = h, why
	}
}

// gathered is what fetching and extracting brought for one seed.
type gathered struct {
	stopped string
	docs    int
	found   int
	passing bool // a source that failed may answer later
	delay   time.Duration
	failed  int
	why     string
	err     error
	silent  []string // sources that could not be reached
	spoke   []string // sources that could
	skipped int      // sources that the run had given up before
}

// gather asks the sources about a seed, those that read what others find after them, and looks for claims.
func (r *researching) gather(ctx workflow.Context, s activities.SeedRef) gathered {
	var g gathered
	ask := func(all []string) bool {
		var going []fetching
		var names []string
		for _, n := range all {
			if r.givenUp(n) {
				g.skipped++
				continue
			}
			names = append(names, n)
			going = append(going, startFetchSeed(ctx, activities.FetchSeedIn{Job: r.job, SeedID: s.ID, Fetcher: n, Verify: s.Verify}))
		}
		for i, f := range going {
			out, err := f.get(ctx)
			switch {
			case err != nil && g.err == nil:
				g.err = err
			case out.Stopped != "":
				g.stopped = out.Stopped
			case out.Kind != "":
				g.failed++
				g.why = names[i] + ": " + out.Kind
				if out.Kind == string(source.Unavailable) || out.Kind == string(source.Timeout) {
					g.silent = append(g.silent, names[i])
				}
				if out.Retryable {
					g.passing = true
					g.delay = max(g.delay, out.RetryAfter)
				}
			default:
				g.spoke = append(g.spoke, names[i])
			}
			g.docs += out.Docs
		}
		return g.err == nil && g.stopped == ""
	}
	finders, readers := r.split()
	if !ask(finders) || !ask(readers) {
		return g
	}
	if s.Verify || g.docs == 0 && g.passing {
		return g
	}
	out, err := callExtractClaims(ctx, activities.ExtractClaimsIn{Job: r.job, SeedID: s.ID})
	g.found, g.err = out.Found, err
	if out.Stopped != "" {
		g.stopped = out.Stopped
	}
	return g
}

func (r *researching) split() (finders, readers []string) {
	for _, f := range r.Settings.Fetchers {
		reader := false
		for _, x := range r.Settings.Readers {
			reader = reader || x == f
		}
		if reader {
			readers = append(readers, f)
		} else {
			finders = append(finders, f)
		}
	}
	return finders, readers
}

// leastWaitUnreached is how long a seed waits whose sources a run has given up: longer than the run does.
const leastWaitUnreached = longestWait + time.Minute

// least and longest delay of a seed whose sources all failed.
const (
	leastDelay = 2 * time.Second
	mostDelay  = 6 * time.Hour
)

// settle writes one seed down, or puts it back: where the run has halted meanwhile, and where every source failed in a way
// that may pass.
func (r *researching) settle(ctx workflow.Context, s activities.SeedRef, g gathered) error {
	r.Failures += g.failed
	for _, f := range g.spoke {
		r.heard(f, true)
	}
	for _, f := range g.silent {
		r.heard(f, false)
	}
	if g.stopped != "" {
		r.halt(research.Halt(g.stopped), "")
	}
	r.checkHalts(ctx)
	if g.err != nil && r.Halted == "" {
		if err := callReturnSeeds(ctx, activities.ReturnSeedsIn{Job: r.job, SeedIDs: []string{s.ID}, Why: message(g.err), Delay: leastDelay, Attempts: s.Attempts}); err != nil {
			return err
		}
		if isInput(g.err) {
			return g.err
		}
		r.Last = "a seed goes back: " + message(g.err)
		return nil
	}
	switch {
	case r.Halted != "":
		err := callReturnSeeds(ctx, activities.ReturnSeedsIn{Job: r.job, SeedIDs: []string{s.ID}, Why: "", Uncounted: true})
		return err
	case g.docs == 0 && (g.passing || g.skipped > 0):
		// Nothing was heard, and a source that was not asked may know: the seed waits.
		if g.why == "" {
			g.why, g.delay = "its sources could not be reached in this run", leastWaitUnreached
		}
		delay := min(max(g.delay, leastDelay<<min(s.Attempts, 6)), mostDelay)
		err := callReturnSeeds(ctx, activities.ReturnSeedsIn{Job: r.job, SeedIDs: []string{s.ID}, Why: g.why, Delay: delay, Attempts: s.Attempts})
		r.Last = "a seed is delayed: " + g.why
		return err
	}
	out, err := callSettleSeed(ctx, activities.SettleSeedIn{Job: r.job, SeedID: s.ID, Verify: s.Verify})
	if err != nil {
		return err
	}
	r.Seeds++
	r.SpentUSD, r.Calls = out.Spent, out.Calls
	r.Claims += out.New
	if out.Page {
		r.Pages++
	}
	if out.Found > 0 && !s.Verify {
		r.Novelties = append(r.Novelties, out.Novelty)
		if n := len(r.Novelties); n > research.ConvergedPages {
			r.Novelties = r.Novelties[n-research.ConvergedPages:]
		}
	}
	r.Last = fmt.Sprintf("settled a seed of depth %d: %d claim(s) found, %d new", s.Depth, out.Found, out.New)
	return nil
}

// continueAsNew starts a fresh history with the counters, after letting messages finish.
func (r *researching) continueAsNew(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	if r.person {
		r.Halted = research.Stopped
	}
	r.Hops++
	next := r.in
	state := r.ResearchState
	next.Carry = &state
	return workflow.NewContinueAsNewError(ctx, ResearchName, next)
}
