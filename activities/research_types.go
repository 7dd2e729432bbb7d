package activities

import (
	"time"

	"whetstone/run"
)

// ResearchJob names the research run an activity works for.
type ResearchJob struct {
	RunID      string
	WorkflowID string
	Wiki       string
	Settings   run.ResearchSettings
}

// job is the same run as the ledger knows it.
func (j ResearchJob) job() Job {
	return Job{RunID: j.RunID, WorkflowID: j.WorkflowID, Params: run.Params{BudgetUSD: j.Settings.BudgetUSD, MaxCalls: j.Settings.MaxCalls, Price: j.Settings.Price, PriceOut: j.Settings.PriceOut, Record: j.Settings.Record, Replay: j.Settings.Replay}}
}

// OpenResearchIn starts a run.
type OpenResearchIn struct {
	RunID      string
	WorkflowID string
	Params     run.ResearchParams
	StartedAt  time.Time
}

// OpenResearchOut is the run's choices, or why it may not begin.
type OpenResearchOut struct {
	Settings run.ResearchSettings
	Halted   string
	Why      string
}

// ClaimSeedsIn asks for the next batch.
type ClaimSeedsIn struct {
	Job   ResearchJob
	Batch int
	Most  int
}

// SeedRef is a leased seed.
type SeedRef struct {
	ID       string
	Verify   bool
	Depth    int
	Attempts int
}

// ClaimSeedsOut is a batch of one depth, or why there is none.
type ClaimSeedsOut struct {
	Seeds   []SeedRef
	WaitFor time.Duration // until the first delayed seed; 0 if none waits
	Deeper  int           // seeds below the depth limit
	Stopped string
}

// FetchSeedIn asks one source about one seed.
type FetchSeedIn struct {
	Job     ResearchJob
	SeedID  string
	Fetcher string
	Verify  bool
}

// FetchSeedOut tells what came of it. A failure that stays is a value: the run goes on with the other sources.
type FetchSeedOut struct {
	Docs       int
	Kind       string // of the error, "" for none
	RetryAfter time.Duration
	Retryable  bool // the source may answer later
	Stopped    string
}

// ExtractClaimsIn looks for claims in what the sources said to a seed.
type ExtractClaimsIn struct {
	Job    ResearchJob
	SeedID string
}

// ExtractClaimsOut tells what was found.
type ExtractClaimsOut struct {
	Found   int
	Stopped string
}

// SettleSeedIn compares what was found with the wiki and writes it down.
type SettleSeedIn struct {
	Job    ResearchJob
	SeedID string
	Verify bool
}

// SettleSeedOut tells what a seed changed.
type SettleSeedOut struct {
	Page    bool // a page was made or amended
	Found   int
	New     int
	Novelty float64
	Failed  bool
	Spent   float64
	Calls   int
}

// ReturnSeedsIn puts leased seeds back.
type ReturnSeedsIn struct {
	Job       ResearchJob
	SeedIDs   []string
	Why       string
	Delay     time.Duration
	Uncounted bool // the run was halted; the seeds did not fail
	// Attempts is how often the seed was tried; at the limit it fails for good.
	Attempts int
}

// ReturnSeedsOut tells whether the seeds are back in the queue.
type ReturnSeedsOut struct{ Returned int }

// EmbedPagesIn brings the vectors of a wiki up to date.
type EmbedPagesIn struct{ Job ResearchJob }

// EmbedPagesOut tells how much was embedded.
type EmbedPagesOut struct {
	Pages    int `json:"pages"`
	Chunks   int `json:"chunks"`
	Embedded int `json:"embedded"` // chunks that had no vector before
	Calls    int `json:"calls"`
	Stopped  string
}

// FinishResearchIn closes a run.
type FinishResearchIn struct {
	Job    ResearchJob
	Result run.ResearchResult
}

// FinishResearchOut is the whole result.
type FinishResearchOut struct {
	Result   run.ResearchResult
	Markdown string
}
