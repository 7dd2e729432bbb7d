package run

// ResearchParams are a person's choices for one research run; what is nil or empty comes from the wiki's configuration.
type ResearchParams struct {
	Wiki      string   `json:"wiki"`
	MaxPages  *int     `json:"max_pages,omitempty"`
	MaxDepth  *int     `json:"max_depth,omitempty"`
	BudgetUSD *float64 `json:"budget_usd,omitempty"`
	Fetchers  []string `json:"fetchers,omitempty"`
	Parallel  *int     `json:"parallel,omitempty"`
	Force     bool     `json:"force,omitempty"` // run although auto_research.enabled is false
	Provider  string   `json:"provider,omitempty"`
	Price     *float64 `json:"price_in,omitempty"` // dollars for a million tokens, for a model the table does not know
	PriceOut  *float64 `json:"price_out,omitempty"`
	MaxCalls  int      `json:"max_calls,omitempty"`
	Timeout   int      `json:"timeout_s,omitempty"` // seconds of wall clock, 0 is none
	Tick      bool     `json:"tick,omitempty"`      // started by a schedule
	Record    string   `json:"record,omitempty"`    // folder to write what models and sources answer down in
	Replay    string   `json:"replay,omitempty"`    // folder to answer in their place from
}

// ResearchResult is what `starter wiki research --json` ends with.
type ResearchResult struct {
	RunID      string       `json:"run_id"`
	Wiki       string       `json:"wiki"`
	Halted     string       `json:"halted"`
	Pages      int          `json:"pages"`  // made or amended by this run
	Claims     int          `json:"claims"` // new in this run
	Seeds      SeedCounts   `json:"seeds"`  // of the whole wiki, at the end
	SpentUSD   float64      `json:"spent_usd"`
	BudgetUSD  float64      `json:"budget_usd"`
	Errors     []FetchError `json:"errors"`
	WorkflowID string       `json:"workflow_id"`
	Why        string       `json:"why"`
	Provider   string       `json:"provider"`
	Fetchers   []string     `json:"fetchers"`
	Supports   int          `json:"supports"`       // claims that were known already and found in a further source
	Conflicts  int          `json:"contradictions"` // found by this run
	Calls      int          `json:"calls"`
	UIURL      *string      `json:"ui_url"`
}

// SeedCounts counts a wiki's seeds by where they stand; active ones count as pending.
type SeedCounts struct {
	Done    int `json:"done"`
	Pending int `json:"pending"`
	Failed  int `json:"failed"`
}

// FetchError is one failed fetch of a run.
type FetchError struct {
	Fetcher string `json:"fetcher"`
	Kind    string `json:"kind"`
	Seed    string `json:"seed"`
	Error   string `json:"error,omitempty"`
}

// ResearchSettings are a run's choices after the wiki's configuration has filled in what the person left open.
type ResearchSettings struct {
	Private    bool     `json:"private"`
	MaxPages   int      `json:"max_pages"`
	MaxDepth   int      `json:"max_depth"`
	Parallel   int      `json:"parallel"`
	BudgetUSD  float64  `json:"budget_usd"`
	MaxCalls   int      `json:"max_calls"`
	Timeout    int      `json:"timeout_s"`
	Fetchers   []string `json:"fetchers"` // in the order in which they are asked; those that read what others find come last
	Readers    []string `json:"readers"`  // of them, those that read what others find
	Provider   string   `json:"provider"`
	Price      *float64 `json:"price_in,omitempty"`
	PriceOut   *float64 `json:"price_out,omitempty"`
	Embedding  string   `json:"embedding"`
	StaleAfter int      `json:"stale_after_s"`
	Record     string   `json:"record,omitempty"`
	Replay     string   `json:"replay,omitempty"`
}
