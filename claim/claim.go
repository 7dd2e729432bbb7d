// Package claim is the vocabulary of a wiki's evidence: claims with the spans they rest on, sources, pages and seeds. A
// claim without a span that is found in a stored snapshot is not a claim. The package decides nothing.
package claim

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Span is a stretch of a stored snapshot.
type Span struct {
	SourceID string `json:"source"`
	Snapshot string `json:"snapshot"` // SHA-256 of the stored text
	Start    int    `json:"start"`    // byte offsets in the snapshot
	End      int    `json:"end"`
	Quote    string `json:"quote"` // snapshot[Start:End], byte for byte
}

// In reports whether the span is what it says in the snapshot's text.
func (s Span) In(text string) bool {
	return s.Start >= 0 && s.Start < s.End && s.End <= len(text) && text[s.Start:s.End] == s.Quote
}

// Claim is one statement and what it rests on.
type Claim struct {
	ID           string     `json:"id"`
	Wiki         string     `json:"wiki"`
	PageID       string     `json:"page"`
	Text         string     `json:"text"`
	Span         Span       `json:"span"`
	Supports     []Span     `json:"supports,omitempty"` // the same statement in other sources
	Confidence   float64    `json:"confidence"`         // 0 to 1, see research.Confidence
	VerifiedAt   *time.Time `json:"last_verified"`
	CreatedAt    time.Time  `json:"created_at"`
	Contradicts  []string   `json:"contradicts,omitempty"` // ids of claims
	Unsupported  bool       `json:"unsupported,omitempty"` // a person changed it, or its source no longer says so
	CreatedBySeq int64      `json:"-"`                     // order of creation in the wiki
}

// Found is a claim as it was found for a seed, before it is compared with what the wiki knows.
type Found struct {
	Text  string  `json:"text"`
	Span  Span    `json:"span"`
	Also  []Span  `json:"also,omitempty"` // where other sources of the same seed say the same
	Score float64 `json:"score"`
}

// Source is one document that a wiki has read.
type Source struct {
	ID        string    `json:"id"`
	N         int       `json:"n"` // number in sources.md, from 1
	Wiki      string    `json:"wiki"`
	URL       string    `json:"url"`
	Title     string    `json:"title"`
	Fetcher   string    `json:"fetcher"`
	Authors   []string  `json:"authors"`
	Published string    `json:"published"`
	Snapshot  string    `json:"snapshot"`
	Retracted bool      `json:"retracted"`
	FetchedAt time.Time `json:"fetched_at"`
}

// Origin tells who made a page.
type Origin string

// The origins of pages.
const (
	ByResearch Origin = "research"
	ByPerson   Origin = "person"
	ByCouncil  Origin = "council"
	BySurvey   Origin = "survey"
)

// Page is one page of a wiki.
type Page struct {
	ID        string    `json:"id"`
	Wiki      string    `json:"wiki"`
	Path      string    `json:"path"` // relative to the wiki's folder, with slashes
	Kind      string    `json:"kind"`
	Title     string    `json:"title"`
	Key       string    `json:"-"` // the normalised topic
	Summary   string    `json:"summary"`
	Origin    Origin    `json:"origin"`
	State     PageState `json:"state"`
	Want      string    `json:"-"` // hash of the text as it should be
	Generated string    `json:"-"` // hash of the generated text that the file holds, a person's changes aside
	Disk      string    `json:"-"` // hash of the file as we left it or last looked at it
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// PageState tells how a page's file stands.
type PageState string

// The states of pages.
const (
	Live     PageState = "live"
	Proposed PageState = "proposed" // a change could not be merged with a person's and lies beside the page
	Removed  PageState = "removed"  // a person deleted the file; it stays deleted
)

// SeedStatus is where a seed stands.
type SeedStatus string

// The states of seeds.
const (
	Pending SeedStatus = "pending"
	Active  SeedStatus = "active" // leased by a run
	Done    SeedStatus = "done"
	Failed  SeedStatus = "failed"
)

// SeedKind tells what a seed asks for.
type SeedKind string

// The kinds of seeds.
const (
	Topic  SeedKind = "topic"  // find out about it
	Verify SeedKind = "verify" // look again at the claims of a page
)

// Seed is something to look into.
type Seed struct {
	ID        string     `json:"id"`
	N         int64      `json:"n"` // order of arrival
	Wiki      string     `json:"wiki"`
	Text      string     `json:"text"`
	Kind      SeedKind   `json:"kind"`
	PageKind  string     `json:"page_kind"` // the kind of page it makes; "" is the flavour's first
	Depth     int        `json:"depth"`
	Parent    string     `json:"parent"` // the seed it follows from
	Origin    string     `json:"origin"` // person, starter, followup, edit, stale
	Status    SeedStatus `json:"status"`
	Attempts  int        `json:"attempts"`
	NotBefore *time.Time `json:"not_before,omitempty"`
	PageID    string     `json:"page"`
	Why       string     `json:"why"`
	Found     int        `json:"found"` // claims found
	New       int        `json:"new"`   // of them, new to the wiki
	Novelty   *float64   `json:"novelty"`
	Claims    []Target   `json:"claims,omitempty"` // of a verify seed: the claims to look at
	Supports  int        `json:"supports"`         // claims known already that it found in a further source
	Conflicts int        `json:"contradictions"`   // pairs that it found
}

// Target is a claim to look at again. Text is what a person made of it; "" if it stands as it was.
type Target struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// Key normalises a topic, so that one topic has one seed and one page: compatibility forms, letter case, and every run of
// characters that are neither letters, marks nor digits count for nothing. Scripts are kept.
func Key(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(norm.NFKC.String(text)) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '+' || r == '#':
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
	}
	return b.String()
}

// ID makes an id from parts, 16 hexadecimal digits. The same parts make the same id everywhere.
func ID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Hash is the SHA-256 of a text in hexadecimal digits.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
