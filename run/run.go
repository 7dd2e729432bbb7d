// Package run holds the records of an optimization run as they are kept, shown and reported: the run, its steps, its
// patches, its spend. It is data with names; it decides nothing and stores nothing.
package run

import "time"

// Outcome is how a run ended.
type Outcome string

// The outcomes of a run.
const (
	Accepted      Outcome = "accepted"
	NoImprovement Outcome = "no_improvement"
	Indecisive    Outcome = "indecisive"
	Stopped       Outcome = "stopped"
	Failed        Outcome = "failed"
	Running       Outcome = "running"
	Calibrated    Outcome = "calibrated" // not an optimization: a judge's noise was measured
)

// Run is one optimization of one skill.
type Run struct {
	ID         string
	WorkflowID string
	SkillKey   string
	SkillName  string
	SkillPath  string
	Provider   string // reflecting model, provider:model
	Judge      string // judging model
	Mode       string // judge or rollout
	Goal       string // improve or adopt
	Seed       int64
	HashBefore string
	Manifest   string // hash of the frozen selection manifest
	Outcome    Outcome
	StartedAt  time.Time
	EndedAt    *time.Time
	Result     *Result
}

// Counts are learnings by side of the split.
type Counts struct {
	Train     int `json:"train"`
	Selection int `json:"selection"`
	Test      int `json:"test"`
}

// Scores are weighted pass rates between 0 and 1; nil where there is no score, which is not a score of zero.
type Scores struct {
	Selection *float64 `json:"selection"`
	Test      *float64 `json:"test"`
}

// PatchCounts tells what became of the proposed patches.
type PatchCounts struct {
	Proposed int `json:"proposed"`
	Applied  int `json:"applied"`
	Refused  int `json:"refused"`
}

// Result is the object that `optimize --json` ends with. Its JSON is a contract.
type Result struct {
	RunID         string      `json:"run_id"`
	WorkflowID    string      `json:"workflow_id"`
	Skill         string      `json:"skill"`
	Provider      string      `json:"provider"`
	Mode          string      `json:"mode"`
	Outcome       Outcome     `json:"outcome"`
	StoppedReason string      `json:"stopped_reason"`
	Learnings     Counts      `json:"learnings"`
	Baseline      Scores      `json:"baseline"`
	Final         Scores      `json:"final"`
	Interval      *[2]float64 `json:"interval"`
	Epochs        int         `json:"epochs"`
	Steps         int         `json:"steps"`
	Accepted      int         `json:"accepted"`
	Rejected      int         `json:"rejected"`
	Indecisive    int         `json:"indecisive"`
	Patches       PatchCounts `json:"patches"`
	Calls         int         `json:"calls"`
	SpentUSD      float64     `json:"spent_usd"`
	BudgetUSD     float64     `json:"budget_usd"`
	HashBefore    string      `json:"hash_before"`
	HashAfter     string      `json:"hash_after"`
	Delivered     string      `json:"delivered"`
	Path          string      `json:"path"`
	ProposalPath  *string     `json:"proposal_path"`
	ReportPath    *string     `json:"report_path"`
	UIURL         *string     `json:"ui_url"`

	// Additions to the contract.
	Goal     string   `json:"goal"`
	Judge    string   `json:"judge"`
	Files    []string `json:"files,omitempty"`    // that it changed, from the skill's folder on
	Why      string   `json:"why"`                // one sentence for a person
	Notes    []string `json:"notes,omitempty"`    // what the person should know
	Measures string   `json:"measures,omitempty"` // what the scores measure
	// Params are the choices the run was made with.
	Params *Params `json:"params,omitempty"`
	// Reviewed is a person's word where the run waited for one: accepted, rejected, or stopped before anybody decided; "" without.
	Reviewed string `json:"reviewed,omitempty"`
	// Gate is what decided, so that a step can be decided again.
	Gate *Gate `json:"gate,omitempty"`
	// EstimateUSD is what the run was expected to cost before it began: the 50th and 95th percentile.
	EstimateUSD []float64 `json:"estimate_usd,omitempty"`
	// TestInterval is the 95 % interval of the paired change on the sealed test; nil where it was not measured. Only this
	// one supports a claim of improvement: the selection items chose the candidates, so their interval is flattered.
	TestInterval *[2]float64 `json:"test_interval"`
}

// Gate is the design of a run's looks.
type Gate struct {
	Trials        int     `json:"trials"`
	Alpha         float64 `json:"alpha"`         // for the life of the skill's selection manifest
	PlannedLooks  int     `json:"planned_looks"` // in a block, see validation.AlphaFor
	Deterministic bool    `json:"deterministic"`
	Manifest      string  `json:"manifest"`
	SecondJudge   string  `json:"second_judge,omitempty"`
}

// What a review of a result ended with.
const (
	ReviewAccepted = "accepted"
	ReviewRejected = "rejected"
	ReviewStopped  = "stopped"
)

// Step is one look at one candidate.
type Step struct {
	RunID     string
	Epoch     int
	Step      int // counted over the whole run, from 1
	Try       int // 0 the whole bundle, then the parts that credit assignment tries
	Parent    string
	Candidate string // "" when no candidate came about
	Outcome   string // accepted, rejected, indecisive, empty
	Reason    string
	Parent01  *float64 // the parent's score on the selection items
	Cand01    *float64
	P         *float64
	Alpha     *float64
	Replayed  bool   // decided from the rejections on file, unpaid
	Stage     string // of the look in which the word fell: triage, main, strict, adopt or second; "" where nothing was measured
	Look      *int   // its number over the life of the manifest; nil where it spent no alpha
	Kind      string // step, slow, merge or credit
	// ParentStage is where the verdicts are that told triage which items the parent fails.
	ParentStage string
	// Judge is who made the look in the place of the run's judge, which gave no answer; "" is the run's.
	Judge string
}

// The kinds of steps.
const (
	KindStep  = "step"
	KindSlow  = "slow"
	KindMerge = "merge"
)

// Advice is what a slow or a meta update wrote. Its text is stored under the hash.
type Advice struct {
	RunID string
	Epoch int
	Kind  string // slow or meta
	Hash  string
}

// Harmful is an edit that credit assignment found to do harm: it is not tried again for this skill.
type Harmful struct {
	SkillKey, Edit, Parent, Manifest, Judge, RunID, Reason string
}

// Baseline is a text that a simpler way than the full loop would have made.
type Baseline struct {
	RunID string
	Name  string
	Hash  string
	Note  string // why there is none, where there is none
}

// Attestation says that a run delivered a file with this hash at this path.
type Attestation struct {
	Hash     string    `json:"hash"`
	Path     string    `json:"path"`
	SkillKey string    `json:"skill"`
	RunID    string    `json:"run_id"`
	At       time.Time `json:"at"`
}

// Candidate is a text that a step built.
type Candidate struct {
	Step, Try int
	Hash      string
	Parent    string // the text that the edits changed
	Bundle    string // the key under which a refusal is found again
	Edits     []string
}

// PatchRecord is what became of one proposed patch.
type PatchRecord struct {
	RunID   string   `json:"run_id"`
	Step    int      `json:"step"`
	Key     string   `json:"key"`
	Op      string   `json:"op"`
	Anchor  string   `json:"anchor"`
	Payload string   `json:"payload"`
	Support int      `json:"support"`
	Items   []string `json:"items"` // the train items it answers to
	State   string   `json:"state"` // selected, refused, clipped, then accepted or rejected
	Reason  string   `json:"reason"`
	File    string   `json:"file,omitempty"` // of the skill's package; "" is the SKILL.md
}

// Spend sums the ledger of a run by stage.
type Spend struct {
	Stage    string
	Calls    int
	NanoUSD  int64
	Input    int
	Output   int
	Unknown  int // calls whose outcome is unknown and that count as spent
	Reserved int // calls in flight
	Cached   int // part of Input that came from the provider's cache
	// Reported is what agents' programs say that their calls cost, in nanodollars; nothing of it is booked.
	Reported  int64
	Estimated int // calls whose usage the provider did not tell
}

// Rejection is a refused bundle as it is kept across runs.
type Rejection struct {
	Bundle         string // see optimizer.BundleKey
	SkillKey       string
	Parent         string
	Manifest       string
	Judge          string
	Reason         string
	Patches        []PatchRecord
	Divisible      bool // a part of the bundle may be good
	Unproven       bool // refused for want of evidence alone: nothing is known against it
	RunID          string
	ParentScore    *float64
	CandidateScore *float64
}

// Version is one kept version of a skill file.
type Version struct {
	N      int       `json:"n"`
	Skill  string    `json:"skill"`
	Hash   string    `json:"hash"`
	Parent string    `json:"parent"` // what it takes the place of; of a staged merge, what it was merged with
	RunID  string    `json:"run_id"`
	Path   string    `json:"path"`
	How    string    `json:"how"` // found, written, staged, adopted or rolled_back
	At     time.Time `json:"at"`
}
