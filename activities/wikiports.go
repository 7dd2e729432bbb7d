package activities

import (
	"context"
	"time"

	"whetstone/claim"
	"whetstone/model"
	"whetstone/source"
)

// Sources is the port to what research fetches from.
type Sources interface {
	// Fetcher returns a source by name. private limits it to this machine, in its dialer.
	Fetcher(name string, private bool) (source.Fetcher, error)
	// Names lists the sources in the order in which they are asked.
	Names() []string
}

// SourceRecorders writes down what sources say and answers from what was written; without it a run can not be recorded.
type SourceRecorders interface {
	RecordSource(dir, name string, q source.Query, docs []source.Document, failed error) error
	ReplaySource(dir, name string, q source.Query) ([]source.Document, error)
}

// Embedders is the port to embedding models.
type Embedders interface {
	Embedder(ref model.Ref) (model.Embedder, error)
}

// Locals tells which models run on this machine: a private wiki uses no other.
type Locals interface {
	Local(ref model.Ref) bool
	Default() model.Ref
}

// Wikis is the port to what is remembered of wikis. All writes are idempotent.
type Wikis interface {
	Wiki(ctx context.Context, slug string) (claim.Wiki, error)
	Wikis(ctx context.Context) ([]claim.Wiki, error)
	UpdateWiki(ctx context.Context, w claim.Wiki) error
	WikiCounts(ctx context.Context, slug string, staleBefore time.Time) (claim.Counts, error)
	MarkTick(ctx context.Context, slug string, at time.Time, failed string, notBefore *time.Time) error
	TickSpend(ctx context.Context, since time.Time) (model.NanoUSD, error)

	AddSeeds(ctx context.Context, seeds []claim.Seed) (int, error)
	Seed(ctx context.Context, id string) (claim.Seed, error)
	Seeds(ctx context.Context, wiki string, status claim.SeedStatus, limit int) ([]claim.Seed, error)
	SettledSeeds(ctx context.Context, wiki string) ([]claim.Seed, error)
	ReleaseSeeds(ctx context.Context, wiki, runID string) (int, error)
	ClaimSeeds(ctx context.Context, wiki, runID string, batch, limit, maxDepth int) (claim.Batch, error)
	ReturnSeeds(ctx context.Context, runID string, ids []string, why string, notBefore *time.Time, uncounted bool) error
	KnownTopic(ctx context.Context, wiki, key string) (bool, error)
	SettleSeed(ctx context.Context, x claim.Settlement, confidence func(claim.Claim) float64) error

	PutDocuments(ctx context.Context, wiki string, docs []source.Document) ([]claim.Fetched, error)
	Fetch(ctx context.Context, key string, since time.Time) ([]claim.Fetched, bool, error)
	PutFetch(ctx context.Context, key, wiki string, docs []claim.Fetched) error
	PutAnswer(ctx context.Context, runID, seedID string, a claim.Answer) error
	Answer(ctx context.Context, runID, seedID, fetcher string) (claim.Answer, bool, error)
	Answers(ctx context.Context, runID, seedID string) ([]claim.Answer, error)
	FetchErrors(ctx context.Context, runID string) ([][4]string, error)
	Source(ctx context.Context, id string) (claim.Source, error)
	Sources(ctx context.Context, wiki string) ([]claim.Source, error)
	PutFound(ctx context.Context, runID, seedID string, found []claim.Found, questions []string) error
	Found(ctx context.Context, runID, seedID string) ([]claim.Found, []string, bool, error)
	PreviousFound(ctx context.Context, runID, pageID string, limit int) ([][]string, error)

	Claims(ctx context.Context, f claim.Filter) ([]claim.Claim, error)
	ClaimsByID(ctx context.Context, ids []string) ([]claim.Claim, error)
	ClaimCandidates(ctx context.Context, wiki, text string, limit int) ([]claim.Claim, error)
	Contradictions(ctx context.Context, wiki, pageID string) ([]claim.Contradiction, error)

	Pages(ctx context.Context, wiki string) ([]claim.Page, error)
	Page(ctx context.Context, id string) (claim.Page, error)
	PageByKey(ctx context.Context, wiki, key string) (p claim.Page, found bool, err error)
	PageByPath(ctx context.Context, wiki, path string) (claim.Page, error)
	PathTaken(ctx context.Context, wiki, path string) (bool, error)
	PutPage(ctx context.Context, p claim.Page) error
	WantPage(ctx context.Context, id, summary, text string) error
	PlacedPage(ctx context.Context, p claim.Page, text string) error
	DirtyPages(ctx context.Context, wiki string) ([]claim.Page, error)
	DropPage(ctx context.Context, id string) error
	RemovePage(ctx context.Context, id string) error
	ListGenerated(ctx context.Context, wiki, name string) (hash string, err error)
	SetListGenerated(ctx context.Context, wiki, name, hash string) error
	HasText(ctx context.Context, hash string) (bool, error)

	BeginResearch(ctx context.Context, id, wiki, workflowID, kind string, params any, at time.Time) error
	EndResearch(ctx context.Context, id, halted string, result any) error
	RunFigures(ctx context.Context, runID string) (claim.Figures, error)

	SetChunks(ctx context.Context, wiki, pageID string, hashes []string) error
	MissingVectors(ctx context.Context, model string, hashes []string) ([]string, error)
	PutVectors(ctx context.Context, model string, hashes []string, vecs [][]float32) error

	PutCouncil(ctx context.Context, runID, member, phase, text, failed string) error
	Council(ctx context.Context, runID, phase string) (map[string][2]string, error)
	SearchPages(ctx context.Context, wiki, text string, limit int) ([]claim.Hit, error)
}
