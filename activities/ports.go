// Package activities holds the steps of a run that touch the world: reading and writing the skill file, calling models,
// keeping records. It declares the ports it needs; store and llm satisfy them and the service joins them. Every activity
// may run more than once: what it writes is keyed by run and step, and what it pays for is keyed in the ledger. A
// refusal to spend and the kill file come back as a value (Stopped), failures as errors sorted in errors.go.
package activities

import (
	"context"
	"errors"
	"os"
	"time"

	"whetstone/internal/gitstate"
	"whetstone/learning"
	"whetstone/model"
	"whetstone/run"
	"whetstone/validation"
)

// Models is the port to the model clients.
type Models interface {
	Client(ref model.Ref) (model.Client, error)
	Price(ref model.Ref) (model.Price, error)
}

// Recorders writes model calls down and answers from what was written.
type Recorders interface {
	Recording(next model.Client, dir string) model.Client
	Replaying(dir string) model.Client
}

// Store is the port to what is remembered.
type Store interface {
	Texts
	Records
	Ledger
	Wikis
	Nights
	Learnings(ctx context.Context, f learning.Filter) ([]learning.Learning, error)
	SearchIDs(ctx context.Context, query string, limit int) ([]string, error)
}

// Texts keeps texts by hash.
type Texts interface {
	PutText(ctx context.Context, text string) (hash string, err error)
	Text(ctx context.Context, hash string) (string, error)
}

// Records keeps runs with their items, steps, patches and verdicts. All writes are idempotent.
type Records interface {
	BeginRun(ctx context.Context, r run.Run) error
	SetRunManifest(ctx context.Context, runID, manifest string) error
	EndRun(ctx context.Context, runID string, outcome run.Outcome, result *run.Result) error
	Run(ctx context.Context, id string) (run.Run, error)

	Sides(ctx context.Context, skillKey string) (map[string]validation.Side, error)
	Freeze(ctx context.Context, runID, skillKey string, items []validation.Item, excluded []validation.Excluded) error
	RunItems(ctx context.Context, runID string, side validation.Side) ([]validation.Item, error)

	PutReflection(ctx context.Context, runID string, step, batch int, patchesJSON, failed string) error
	Reflections(ctx context.Context, runID string, step int) ([]string, error)
	PutPatches(ctx context.Context, runID string, step int, ps []run.PatchRecord) error
	MarkPatches(ctx context.Context, runID string, step int, keys []string, state, reason string) error
	MarkRejectedByPerson(ctx context.Context, runID string, step int, reason string) error
	Patches(ctx context.Context, runID string, step int) ([]run.PatchRecord, error)
	PutCandidate(ctx context.Context, runID string, step, try int, hash, parent, bundle string, edits []string) error
	RunCandidates(ctx context.Context, runID string) ([]run.Candidate, error)
	PutVerdicts(ctx context.Context, runID, stage, hash string, vs []validation.Verdict) error
	Verdicts(ctx context.Context, runID, stage, hash string) ([]validation.Verdict, error)
	KnownVerdicts(ctx context.Context, runID, hash, judge string) (map[string]validation.Verdict, error)
	PutStep(ctx context.Context, s run.Step) error
	Steps(ctx context.Context, runID string) ([]run.Step, error)

	PutRejection(ctx context.Context, r run.Rejection) error
	Rejection(ctx context.Context, bundle string) (r run.Rejection, found bool, err error)
	RefusedHere(ctx context.Context, runID string) (map[string]string, error)
	Established(ctx context.Context, skillKey string, limit int) ([]run.Rejection, error)

	Look(ctx context.Context, skillKey, manifest, runID string, step, try int) (int, error)
	Looks(ctx context.Context, skillKey, manifest string) (int, error)
	PutHarmful(ctx context.Context, h run.Harmful) error
	Harmful(ctx context.Context, skillKey, manifest, judge string) (map[string]string, error)
	PutAdvice(ctx context.Context, a run.Advice) error
	Advice(ctx context.Context, runID string) ([]run.Advice, error)
	PutBaseline(ctx context.Context, b run.Baseline) error
	Baselines(ctx context.Context, runID string) ([]run.Baseline, error)
	Attest(ctx context.Context, a run.Attestation) error
	Attestations(ctx context.Context, path string) ([]run.Attestation, error)

	ReadTest(ctx context.Context, skillKey, manifest, runID string) (int, error)
	PutVersion(ctx context.Context, v run.Version) error
}

// Ledger books model calls, see store.Reserve.
type Ledger interface {
	Reserve(ctx context.Context, b model.Booking) (model.Booked, error)
	Settle(ctx context.Context, key string, attempt int, cost model.NanoUSD, r model.Reply) error
	Release(ctx context.Context, key string, attempt int, spent bool, why string) error
	Spent(ctx context.Context, runID string) (spent model.NanoUSD, calls int, err error)
}

// Options joins the ports.
type Options struct {
	Store  Store
	Models Models
	// What research needs beside; a process that runs none may leave it out.
	Sources       Sources
	Embedders     Embedders
	PrivateModels Models // reach this machine only
	Locals        Locals
	Commands      Commands // where items of kind command run; nil refuses them
	// Git tells whether the skill file is safe in a repository; nil tells nothing.
	Git         func(ctx context.Context, file string) (gitstate.State, bool)
	KillFile    string        // while it exists, nothing is paid for
	CallTimeout time.Duration // for one model call; two minutes by default
	Now         func() time.Time
}

// Activities are the steps. Their method names are wire names and are never changed while histories live.
type Activities struct {
	o     Options
	shelf *Shelf
}

// New checks the options.
func New(o Options) (*Activities, error) {
	if o.Store == nil || o.Models == nil {
		return nil, errors.New("build activities: store and models are required")
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = 2 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Activities{o: o, shelf: NewShelf(o.Store, o.Now)}, nil
}

// killed reports whether the kill file exists.
func (a *Activities) killed() bool {
	if a.o.KillFile == "" {
		return false
	}
	_, err := os.Lstat(a.o.KillFile)
	return err == nil
}
