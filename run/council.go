package run

// CouncilParams ask a council of models a question about a wiki.
type CouncilParams struct {
	Wiki      string   `json:"wiki"`
	Question  string   `json:"question"` // hash of its text
	Members   []string `json:"members"`
	Chair     string   `json:"chair"`
	BudgetUSD float64  `json:"budget_usd"`
	MaxCalls  int      `json:"max_calls,omitempty"`
	Price     *float64 `json:"price_in,omitempty"`
	PriceOut  *float64 `json:"price_out,omitempty"`
	Private   bool     `json:"private"`
	Record    string   `json:"record,omitempty"` // folder to write model calls down in
	Replay    string   `json:"replay,omitempty"` // folder to answer model calls from
}

// Member is what one member of a council did.
type Member struct {
	Name   string `json:"name"`
	Failed string `json:"failed"` // "" where it answered
	Ranked bool   `json:"ranked"` // its ranking could be counted
	Points int    `json:"points"` // Borda
	Place  int    `json:"place"`  // from 1; 0 for one that failed
}

// CouncilResult is what `starter wiki council --json` ends with.
type CouncilResult struct {
	RunID      string   `json:"run_id"`
	WorkflowID string   `json:"workflow_id"`
	Wiki       string   `json:"wiki"`
	Members    []Member `json:"members"`
	Chair      string   `json:"chair"` // who wrote the synthesis; "" where nobody could
	Stopped    string   `json:"stopped"`
	Page       string   `json:"page"`
	SpentUSD   float64  `json:"spent_usd"`
	BudgetUSD  float64  `json:"budget_usd"`
	Calls      int      `json:"calls"`
	UIURL      *string  `json:"ui_url"`
}

// SurveyParams ask for a literature survey of a wiki.
type SurveyParams struct {
	Wiki      string   `json:"wiki"`
	Topic     string   `json:"topic"` // hash of its text, "" for the whole wiki
	Provider  string   `json:"provider"`
	BudgetUSD float64  `json:"budget_usd"`
	MaxCalls  int      `json:"max_calls,omitempty"`
	Price     *float64 `json:"price_in,omitempty"`
	PriceOut  *float64 `json:"price_out,omitempty"`
	Private   bool     `json:"private"`
	Record    string   `json:"record,omitempty"` // folder to write model calls down in
	Replay    string   `json:"replay,omitempty"` // folder to answer model calls from
}

// SurveyResult is what `starter wiki survey --json` ends with.
type SurveyResult struct {
	RunID      string  `json:"run_id"`
	WorkflowID string  `json:"workflow_id"`
	Wiki       string  `json:"wiki"`
	Page       string  `json:"page"`
	Sections   int     `json:"sections"`
	Citations  int     `json:"citations"`
	Dropped    int     `json:"dropped"` // paragraphs of a model that cited nothing that exists
	Stopped    string  `json:"stopped"`
	Provider   string  `json:"provider"`
	SpentUSD   float64 `json:"spent_usd"`
	BudgetUSD  float64 `json:"budget_usd"`
	Calls      int     `json:"calls"`
	UIURL      *string `json:"ui_url"`
}
