package run

// Params are the choices of one optimization, as given on the command line. They name what is to be done and never hold
// a text: they travel through Temporal. Attaching to an open run compares them field by field.
type Params struct {
	SkillPath  string   `json:"skill_path"`
	SkillKey   string   `json:"skill_key"`
	SkillName  string   `json:"skill_name"`
	Home       string   `json:"home"` // the home's id, not its path
	Provider   string   `json:"provider"`
	Judge      string   `json:"judge"`
	Goal       string   `json:"goal"`
	Mode       string   `json:"mode"`
	Epochs     int      `json:"epochs"`
	BatchSize  int      `json:"batch_size"`
	Minibatch  int      `json:"minibatches"`
	LR         int      `json:"lr"`
	MinLR      int      `json:"min_lr"`
	MaxAdds    int      `json:"max_adds"`
	MaxDeletes int      `json:"max_deletes"`
	MaxReplace int      `json:"max_replaces"`
	Trials     int      `json:"trials"`
	Alpha      float64  `json:"alpha"`
	BudgetUSD  float64  `json:"budget_usd"`
	MaxCalls   int      `json:"max_calls"`
	TimeoutSec int      `json:"timeout_sec"`
	Patience   int      `json:"patience"`
	Seed       int64    `json:"seed"`
	MaxTokens  int      `json:"max_skill_tokens"`
	Match      bool     `json:"match"`
	Pending    bool     `json:"include_pending"`
	Plain      bool     `json:"plain"`
	Deliver    string   `json:"deliver"` // write, stage, dry-run or ask
	Report     string   `json:"report,omitempty"`
	Record     string   `json:"record,omitempty"` // folder to write model calls down in
	Replay     string   `json:"replay,omitempty"` // folder to answer model calls from
	Fallback   []string `json:"fallback,omitempty"`
	Price      *float64 `json:"price_in,omitempty"`
	PriceOut   *float64 `json:"price_out,omitempty"`
}
