// Package source is the vocabulary of fetching: what is asked of a source, the documents that come back, and the kinds of
// failure. It fetches nothing. A fetch ends in documents or in an *Error, never in an empty list that hides one.
package source

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Query is what is asked of a source for one seed.
type Query struct {
	Text  string   // the seed's text, any script
	URLs  []string // pages that other sources named; what the web source reads
	Paths []string // files and folders of the wiki and of the person; what the local source reads
	Limit int      // at most so many documents
}

// Document is one thing a source knows, as plain text.
type Document struct {
	URL       string   `json:"url"` // canonical; file:raw/notes.md for a local file, never an absolute path
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	Authors   []string `json:"authors,omitempty"`
	Published string   `json:"published,omitempty"` // YYYY-MM-DD, or as much of it as is known
	Fetcher   string   `json:"fetcher"`
	Snippet   bool     `json:"snippet,omitempty"` // a search engine's excerpt, not the thing itself
	Retracted bool     `json:"retracted,omitempty"`
}

// Declaration is what a fetcher says of itself.
type Declaration struct {
	Name     string
	Remote   bool          // leaves the machine
	CostUSD  float64       // for one request
	Interval time.Duration // the least time between two requests to its host; 0 is none
	Searches bool          // finds URLs that the web source can read
	Missing  string        // why it can not be used now, and what to do; "" if it can
}

// Fetcher is one source.
type Fetcher interface {
	Declare() Declaration
	// Fetch returns documents, best first, or an *Error. No error and no documents means that the source was asked and knows
	// nothing.
	Fetch(ctx context.Context, q Query) ([]Document, error)
}

// Kind sorts failures by what to do about them.
type Kind string

// The kinds of failure.
const (
	RateLimited  Kind = "rate_limited" // wait as told, try again
	Quota        Kind = "quota"        // a plan's or a day's limit: not in this run
	Unavailable  Kind = "unavailable"  // 5xx, network: try again
	Timeout      Kind = "timeout"      // try again
	Unauthorised Kind = "unauthorised" // a person has to act
	NotFound     Kind = "not_found"
	Malformed    Kind = "malformed" // the answer is not what the wire format says
	BadQuery     Kind = "bad_query" // the source refuses the question
	Blocked      Kind = "blocked"   // by policy: address, robots.txt, private wiki, type
	TooLarge     Kind = "too_large"
)

// Error is a failed fetch.
type Error struct {
	Kind       Kind
	Fetcher    string
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // 0 if the source did not say
	Final      bool          // asking again will not help
	Err        error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s", e.Fetcher, e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same fetch may succeed soon without anybody's help.
func (e *Error) Retryable() bool {
	if e.Final {
		return false
	}
	switch e.Kind {
	case RateLimited, Unavailable, Timeout, Malformed:
		return true
	}
	return false
}

// ErrNotRecorded is returned where a recording is to answer and holds nothing that can be read for the question.
var ErrNotRecorded = errors.New("the recording holds no answer")

// AsError finds the *Error in err's chain.
func AsError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Errorf makes an *Error of a kind.
func Errorf(k Kind, fetcher, format string, args ...any) *Error {
	return &Error{Kind: k, Fetcher: fetcher, Err: fmt.Errorf(format, args...)}
}
