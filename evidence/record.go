package evidence

import (
	"whetstone/run"
	"whetstone/validation"
)

// Record is all that is needed to decide a run's steps again without asking a model. Its JSON is what `runs evidence --json`
// prints.
type Record struct {
	RunID       string      `json:"run_id"`
	Skill       string      `json:"skill"`
	Provider    string      `json:"provider"`
	Judge       string      `json:"judge"`
	SecondJudge string      `json:"second_judge,omitempty"`
	Mode        string      `json:"mode"`
	Goal        string      `json:"goal"`
	Pairwise    bool        `json:"pairwise,omitempty"`
	Seed        int64       `json:"seed"`
	Outcome     run.Outcome `json:"outcome"`
	HashBefore  string      `json:"hash_before"`
	HashAfter   string      `json:"hash_after"`
	Reviewed    string      `json:"reviewed,omitempty"` // what took the result back: rejected or stopped
	Gate        run.Gate    `json:"gate"`
	Items       []Item      `json:"items"`
	Steps       []Step      `json:"steps"`
	Patches     []Patch     `json:"patches"`
	Verdicts    []Verdict   `json:"verdicts"`
	// Texts are the skill texts by hash. One that was forgotten is Withheld; one that is gone is not here.
	Texts map[string]string `json:"texts"`
	// Looks is the ledger of alpha: which step and try has which number over the life of the manifest.
	Looks [][3]int `json:"looks"`
	// Result is what the run claims.
	Result run.Result `json:"result"`
}

// Withheld stands in the place of a text that a person had forgotten.
const Withheld = "[withheld]"

// Item is one frozen item, without its words.
type Item struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Side   validation.Side `json:"side"`
	Weight float64         `json:"weight"`
}

// Step is one look as it was recorded.
type Step struct {
	Step        int      `json:"step"`
	Try         int      `json:"try"`
	Epoch       int      `json:"epoch"`
	Kind        string   `json:"kind"`
	Parent      string   `json:"parent"`
	ParentStage string   `json:"parent_stage"`
	Base        string   `json:"base,omitempty"` // the text that the edits changed, where it is not the parent
	Candidate   string   `json:"candidate"`
	Edits       []string `json:"edits"`
	Outcome     string   `json:"outcome"`
	Reason      string   `json:"reason"`
	Stage       string   `json:"stage"`
	Judge       string   `json:"judge,omitempty"` // that made the look in the place of the run's
	Look        *int     `json:"look"`
	ParentScore *float64 `json:"parent_score"`
	Score       *float64 `json:"candidate_score"`
	P           *float64 `json:"p"`
	Alpha       *float64 `json:"alpha"`
	Replayed    bool     `json:"replayed"`
}

// Patch is one proposed edit and the train items it answers to.
type Patch struct {
	Step    int      `json:"step"`
	Key     string   `json:"key"`
	Op      string   `json:"op"`
	Anchor  string   `json:"anchor"`
	Payload string   `json:"payload"`
	Support int      `json:"support"` // equal proposals; what is inserted at one place stands in this order
	Items   []string `json:"items"`
	State   string   `json:"state"`
	Reason  string   `json:"reason"`
	File    string   `json:"file,omitempty"`
}

// Verdict is one recorded verdict and where it belongs.
type Verdict struct {
	Stage string           `json:"stage"`
	Hash  string           `json:"hash"`
	Item  string           `json:"item"`
	Trial int              `json:"trial"`
	State validation.State `json:"state"`
	Judge string           `json:"judge,omitempty"`
}
