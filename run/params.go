package run

import "slices"

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
	Search     string   `json:"search,omitempty"`       // greedy or pareto; "" is greedy
	Judge2     string   `json:"second_judge,omitempty"` // must agree with what the judge accepts
	Target     string   `json:"target,omitempty"`       // the model that answers in mode rollout; "" is the reflecting one
	Pairwise   bool     `json:"pairwise,omitempty"`     // mode rollout: answers of both sides are compared blind
	Items      string   `json:"items,omitempty"`        // path of a file of items, and the hash of what it held
	ItemsHash  string   `json:"items_hash,omitempty"`
	Commands   bool     `json:"allow_commands,omitempty"` // items of kind command may run
	Review     bool     `json:"review,omitempty"`         // a person decides before anything is delivered
	Rank       bool     `json:"rank,omitempty"`           // the model ranks patches where more are proposed than a step takes
	Baselines  bool     `json:"baselines,omitempty"`      // measure what simpler ways would have reached
	Without    []string `json:"without,omitempty"`        // parts left out: see Parts
	Price      *float64 `json:"price_in,omitempty"`
	PriceOut   *float64 `json:"price_out,omitempty"`
	Night      bool     `json:"night,omitempty"`             // started by a schedule
	NightUSD   *float64 `json:"night_usd_per_day,omitempty"` // dollars that all nights of a day (UTC) may spend together
}

// The parts of the optimizer that a run may leave out, to see what each of them earns.
const (
	PartSlow   = "slow"   // the slow update of a marked block
	PartMeta   = "meta"   // advice to the next epoch
	PartCredit = "credit" // trying the parts of a refused bundle
	PartMemory = "memory" // telling the reflecting model what was refused
)

// Parts lists them.
var Parts = []string{PartSlow, PartMeta, PartCredit, PartMemory}

// OnRequest are the parts that a run of the command line has only where it is asked for them: measured, they did not earn their
// place (docs/optimizer.md, "What each part earns").
var OnRequest = []string{PartSlow}

// Left are the parts to leave out, where a person named some that are wanted and some that are not.
func Left(with, without []string) []string {
	left := slices.Clone(without)
	for _, part := range OnRequest {
		if !slices.Contains(with, part) {
			left = append(left, part)
		}
	}
	slices.Sort(left)
	return slices.Compact(left)
}

// Has tells whether a part is not left out.
func (p Params) Has(part string) bool {
	for _, w := range p.Without {
		if w == part {
			return false
		}
	}
	return true
}
