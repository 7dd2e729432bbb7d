package activities

import (
	"time"

	"whetstone/run"
	"whetstone/validation"
)

// Reasons for which a run stops before its epochs are through. They are values of stopped_reason.
const (
	StopBudget   = "budget"
	StopCalls    = "max_calls"
	StopCap      = "cap_" // and which: cap_run, cap_day, cap_month, cap_night
	StopKillFile = "kill_file"
	StopTimeout  = "timeout"
	StopPerson   = "person"
	StopBreaker  = "breaker"
	StopPatience = "patience"
	StopAllPass  = "all_pass"
	StopEpochs   = "epochs"
	StopBaseline = "no_baseline"
)

// Job names the run an activity works for. It travels in every input; it is small and holds no text.
type Job struct {
	RunID      string
	WorkflowID string
	Params     run.Params
}

// PreflightIn starts a run.
type PreflightIn struct {
	Job       Job
	StartedAt time.Time
}

// PreflightOut is what the workflow needs to know of the frozen run.
type PreflightOut struct {
	Hash         string // of the whole skill file
	TestManifest string
	Counts       run.Counts // learnings by side
	TrainItems   int
	Gate         run.Gate
	Notes        []string
	Estimate     []float64 // of the cost in dollars: 50th and 95th percentile; nil where nothing costs anything
	Measures     string
	Updates      bool // the reflecting model can write slow and meta updates

	// What runs that were open before version 0.3 knew of their gate, see GateOf.
	Manifest      string `json:",omitempty"`
	Deterministic bool   `json:",omitempty"`
	Trials        int    `json:",omitempty"`
	PlannedLooks  int    `json:",omitempty"`
}

// GateOf is the run's gate, also where an older version's preflight told of it.
func (p PreflightOut) GateOf(alpha float64) run.Gate {
	if p.Gate.Trials > 0 || p.Trials == 0 {
		return p.Gate
	}
	return run.Gate{Trials: p.Trials, Alpha: alpha, PlannedLooks: p.PlannedLooks, Deterministic: p.Deterministic, Manifest: p.Manifest}
}

// EvaluateIn measures one text on one side.
type EvaluateIn struct {
	Job    Job
	Stage  string
	Step   int
	Hash   string
	Side   validation.Side
	Trials int
}

// EvaluateOut is its score; nil where a verdict is missing.
type EvaluateOut struct {
	Score   *float64
	Missing int
	Stopped string
}

// ReflectIn asks for patches from one minibatch.
type ReflectIn struct {
	Job   Job
	Hash  string
	Epoch int
	Step  int
	Batch int // index among the epoch's minibatches
	// Advice is the hash of what the meta update of the epoch before advises; "" without.
	Advice string
}

// ReflectOut counts them. Failed tells why there are none for good.
type ReflectOut struct {
	Patches int
	Failed  string
	Stopped string
}

// ProposeIn aggregates and selects what a step's minibatches proposed.
type ProposeIn struct {
	Job     Job
	Hash    string
	Step    int
	Patches int // the step's edit budget
}

// ProposeOut names the selected edits.
type ProposeOut struct {
	Keys     []string
	Proposed int
	Refused  int
	Stopped  string
}

// BuildIn makes a candidate of a parent and edits.
type BuildIn struct {
	Job     Job
	Hash    string // the text that the edits change
	Against string // the text that the candidate will be compared with
	Kind    string // of step, see run.Step
	Step    int
	Try     int
	Epoch   int
	Keys    []string
}

// BuildOut is the candidate. Replayed is the reason of a refusal on file; then nothing has to be measured.
type BuildOut struct {
	Hash     string
	Bundle   string
	Replayed string
	Refused  string // no candidate came about, and why
}

// ValidateIn measures parent and candidate together.
type ValidateIn struct {
	Job         Job
	Step        int
	Try         int
	Parent      string
	ParentStage string // where the verdicts are that say which items the parent fails
	Candidate   string
	Keys        []string
	Gate        run.Gate
	By          string // the judge of the whole comparison, where the run's gives no answer; "" is the run's
}

// ValidateOut tells how that went.
type ValidateOut struct {
	Stopped string
}

// DecideIn asks the gate.
type DecideIn struct {
	Job         Job
	Epoch       int
	Step        int
	Try         int
	Kind        string // of step, see run.Step
	Parent      string
	ParentStage string
	Candidate   string
	Bundle      string
	Keys        []string
	Gate        run.Gate
	By          string // see ValidateIn
	Missing     string // why nothing could be measured; the outcome is indecisive then
	Replayed    string // a refusal on file that is repeated
	Empty       string // why the step has no candidate at all
	ParentScore *float64
}

// DecideOut is its word.
type DecideOut struct {
	Outcome   string
	Reason    string
	Parent    *float64
	Candidate *float64
	Divisible bool    // refused, but a part of it may be good
	Whole     bool    // every held-out item of the candidate was measured, so that it can join a pool
	SpentUSD  float64 // by the run so far
	Calls     int
}

// DeliverIn delivers a result.
type DeliverIn struct {
	Job    Job
	Before string
	After  string
}

// DeliverOut tells where it went.
type DeliverOut struct {
	Delivered    string // written, staged or none
	ProposalPath string
	Why          string // for a person, where it did not go as asked
}

// FinishIn closes a run's record.
type FinishIn struct {
	Job    Job
	Result run.Result
	// SelectionStage and SelectionHash are where the final text's verdicts on the selection items are; the baseline's are
	// at the stage "baseline".
	SelectionStage string
	Before         string
}

// FinishOut is the completed result and its Markdown.
type FinishOut struct {
	Result   run.Result
	Markdown string
}

// OpenTestIn opens the sealed test.
type OpenTestIn struct {
	Job      Job
	Manifest string
	Before   string
	After    string
	Trials   int
}

// OpenTestOut are the two scores, and how many runs have read this test so far.
type OpenTestOut struct {
	Before *float64
	After  *float64
	// Interval is the 95 % interval of the paired change; nil where a verdict is missing.
	Interval *[2]float64
	Reads    int
	Stopped  string
}

// ScreenIn asks whether a part of a refused bundle is worth keeping, from one trial of the items that triage looks at. It may
// keep or drop an edit, never accept one.
type ScreenIn struct {
	Job         Job
	Step        int
	Try         int // of the bundle
	Parent      string
	ParentStage string
	Candidate   string // the refused bundle's text
	Keys        []string
	Gate        run.Gate
}

// ScreenOut is the word on it.
type ScreenOut struct {
	Keep    bool
	Stopped string
}

// The searches.
const (
	SearchGreedy = "greedy" // every step starts from the best text so far
	SearchPareto = "pareto" // from one that is best on some item, drawn by how many it leads
)

// Member is a text that a search along a Pareto front may start from, and where its verdicts on the selection items are.
type Member struct{ Hash, Stage string }

// ChooseIn asks where the next step starts.
type ChooseIn struct {
	Job     Job
	Step    int
	Current string
	Pool    []Member
}

// ChooseOut is a text to edit, or one to merge the present text with.
type ChooseOut struct {
	Pool   []Member // those that are on the front
	Parent string
	Merge  string
}

// MergeIn merges two texts section by section.
type MergeIn struct {
	Job     Job
	Step    int
	Epoch   int
	Base    string // the text that both come from
	Current string
	Other   string
}

// MergeOut is the candidate. Replayed is the reason of a refusal on file.
type MergeOut struct {
	Hash     string
	Bundle   string
	Replayed string
	Refused  string
}

// UpdateIn asks for a slow update (a patch of the slow block), or for a meta update (advice), from how train items fare under
// two texts.
type UpdateIn struct {
	Job    Job
	Epoch  int
	Step   int
	Before string
	After  string
	Slow   bool
}

// UpdateOut names the patch, or the advice's text.
type UpdateOut struct {
	Keys    []string
	Advice  string
	Failed  string
	Stopped string
}

// BaselineIn measures what a simpler way would have reached.
type BaselineIn struct {
	Job    Job
	Name   string
	Before string
	Gate   run.Gate
}

// BaselineOut tells how that went.
type BaselineOut struct {
	Stopped string
}

// PutBackIn keeps what a person rejected with the person's words.
type PutBackIn struct {
	Job  Job
	Gate run.Gate
	Why  string
}

// PutBackOut counts the bundles.
type PutBackOut struct {
	Bundles int
}
