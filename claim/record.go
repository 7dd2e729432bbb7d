package claim

import "time"

// Wiki is a wiki as the store knows it.
type Wiki struct {
	Slug         string     `json:"slug"`
	Title        string     `json:"title"`
	Flavor       string     `json:"flavor"`
	Root         string     `json:"root_path"`
	Project      string     `json:"project"`
	Private      bool       `json:"private"`
	CreatedAt    time.Time  `json:"created_at"`
	LastTick     *time.Time `json:"last_tick"`
	TickFailures int        `json:"tick_failures"`
	TickBefore   *time.Time `json:"tick_not_before"` // a failed tick backs off until then
	TickError    string     `json:"tick_error"`
}

// Fetched is a document that a fetch brought, as the store keeps it.
type Fetched struct {
	SourceID string `json:"source"`
	Snapshot string `json:"snapshot"`
	Snippet  bool   `json:"snippet,omitempty"`
	// Title and Retracted are as this fetch had them: another may know the source differently.
	Title     string `json:"title,omitempty"`
	Retracted bool   `json:"retracted,omitempty"`
}

// Answer is what one fetcher said to one seed.
type Answer struct {
	Fetcher string
	Docs    []Fetched
	Kind    string // of the error; "" for none
	Error   string
}

// Support adds a span to a claim that is known already.
type Support struct {
	ClaimID string
	Span    Span
}

// Contradiction is a pair of claims that can not both be true. A is the older one.
type Contradiction struct {
	A   string `json:"a"`
	B   string `json:"b"`
	Why string `json:"why"`
}

// Settlement is all that one seed changes in a wiki. It is stored in one transaction.
type Settlement struct {
	RunID          string
	Seed           Seed // with status, why, page, found, new and novelty set
	Page           *Page
	Claims         []Claim
	Supports       []Support
	Contradictions []Contradiction
	FollowUps      []Seed
	Verified       []string // claims that were found in a source again
	Unsupported    []string // claims that no source backs any more
	Dirty          []string // further pages to render again: those that may link to the new one
}

// Counts are the figures of a wiki.
type Counts struct {
	Pages          int `json:"pages"`
	Claims         int `json:"claims"`
	Sources        int `json:"sources"`
	Contradictions int `json:"contradictions"`
	Pending        int `json:"seeds_pending"`
	Active         int `json:"seeds_active"`
	Done           int `json:"seeds_done"`
	Failed         int `json:"seeds_failed"`
	Stale          int `json:"stale_claims"`
	Unsupported    int `json:"unsupported_claims"`
	Proposed       int `json:"proposed_pages"`
}

// Batch is a number of leased seeds, or why there are none.
type Batch struct {
	Seeds  []Seed
	Next   *time.Time // when the first delayed seed may be taken; nil if none waits
	Deeper int        // seeds that wait below the depth asked for
}

// Filter narrows a list of claims.
type Filter struct {
	Wiki        string
	PageID      string
	StaleBefore *time.Time // only claims last verified before
	Limit       int        // 0 is all
}

// Hit is a page or a claim that a search found.
type Hit struct {
	Ref     string    `json:"ref"` // page:<id> or claim:<id>
	Wiki    string    `json:"wiki"`
	What    string    `json:"what"` // page or claim
	Kind    string    `json:"kind"` // of the page
	PageID  string    `json:"page"`
	Path    string    `json:"path"`
	Title   string    `json:"title"`
	Summary string    `json:"summary"`
	Text    string    `json:"text"` // the claim, or an excerpt of the page
	At      time.Time `json:"at"`
	Score   float64   `json:"score"`
}

// Figures are what one run did in a wiki.
type Figures struct {
	Pages     int
	Claims    int
	Supports  int
	Conflicts int
}
