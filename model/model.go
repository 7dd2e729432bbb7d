// Package model says what a call to a language model is: request, reply, usage, price, and the kinds of failure. It is
// the vocabulary that the model clients, the activities and the ledger share; it makes no calls. Failures are *Error
// values whose Kind decides what happens next.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Offline is the provider that needs neither key nor network.
const Offline = "offline"

// StatementCoverage labels the offline model's scores wherever they are shown.
const StatementCoverage = "statement coverage, not agent behaviour"

// Ref names a model: "provider:model".
type Ref struct {
	Provider string
	Model    string
}

// String is the name as people write it.
func (r Ref) String() string {
	if r.Model == "" {
		return r.Provider
	}
	return r.Provider + ":" + r.Model
}

// ParseRef reads "provider:model" or a bare provider. A model name may itself contain colons.
func ParseRef(s string) (Ref, error) {
	p, m, _ := strings.Cut(strings.TrimSpace(s), ":")
	if p == "" {
		return Ref{}, fmt.Errorf("model %q: want provider:model", s)
	}
	return Ref{Provider: p, Model: m}, nil
}

// Message is one turn of a prompt. Role is system, user or assistant.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request is one call.
type Request struct {
	Ref         Ref
	Stage       string // reflect or judge: what the ledger books the call under
	Messages    []Message
	MaxTokens   int     // bound on the reply
	Temperature float64 // 0 is the provider's most deterministic setting
	Seed        int64
	Schema      *Schema // the form of the answer, for providers that can hold the model to one; nil leaves it to the prompt
	Task        Task    // the same request as data; what a model that reads no prose goes by
}

// Schema is a JSON Schema for the answer, an object at its top.
type Schema struct {
	Name string
	JSON json.RawMessage
}

// RankTask asks to order answers by their labels, the best one first.
type RankTask struct{ Labels []string }

// Task is one of the tasks below, or a *RankTask.
type Task interface{ task() }

// Trajectory is one train item as the reflecting model sees it.
type Trajectory struct {
	ID       string
	Category string
	Prompt   string
	Expected string
	Support  int // how many learnings stand behind it; no model is told
}

// ReflectTask asks for patches to Body that would make the trajectories come out as expected.
type ReflectTask struct {
	Body         string
	Trajectories []Trajectory
	MaxPatches   int
	References   []Reference // the other files of the skill's package
}

// Reference is a file of a skill's package besides the skill file.
type Reference struct {
	Path string
	Body string
}

// JudgeItem is one expected behaviour to look for.
type JudgeItem struct {
	ID       string
	Prompt   string
	Expected string
	Answer   string // mode rollout: what the agent answered
}

// JudgeTask asks of every item whether Body would lead an agent to the expected behaviour, or, with Answers, whether the item's
// answer shows it.
type JudgeTask struct {
	Body    string
	Answers bool
	Items   []JudgeItem
}

// RolloutTask asks for what an agent that works by Body would answer to Prompt.
type RolloutTask struct {
	Body   string
	Prompt string
}

// PairTask asks which of two answers does better what is expected.
type PairTask struct {
	Items []PairItem
}

// PairItem is one item of a PairTask, with its answers in the order in which they are shown.
type PairItem struct {
	ID, Prompt, Expected, A, B string
}

// UpdateTask asks for a slow update (a block of the body) or a meta update (advice), see optimizer.SlowMessages.
type UpdateTask struct {
	Body  string
	Slow  bool // else meta
	Pairs []UpdatePair
}

// UpdatePair is a train item with its pass rate under the text of an epoch before and under the present one.
type UpdatePair struct {
	ID, Category, Prompt, Expected string
	Before, After                  float64
}

// RankEditsTask asks for the order in which edits are worth trying: one-based numbers, best first.
type RankEditsTask struct {
	Body  string
	Edits []string
}

// RewriteTask asks for a whole new body, in one go: the one-shot baseline.
type RewriteTask struct {
	Body         string
	Trajectories []Trajectory
}

func (*ReflectTask) task()   {}
func (*JudgeTask) task()     {}
func (*RolloutTask) task()   {}
func (*PairTask) task()      {}
func (*UpdateTask) task()    {}
func (*RankTask) task()      {}
func (*RankEditsTask) task() {}
func (*RewriteTask) task()   {}

// Usage is what the provider says a call took, in tokens.
type Usage struct {
	Input     int  `json:"input"`
	Written   int  `json:"written,omitempty"` // part of Input that was written to the provider's cache, at its own price
	Cached    int  `json:"cached,omitempty"`  // part of Input that was served from the provider's cache
	Output    int  `json:"output"`
	Estimated bool `json:"estimated,omitempty"` // the provider gave none; see Estimate
}

// Reply is a model's answer.
type Reply struct {
	Text   string `json:"text"`
	Finish string `json:"finish"` // stop, length, content_filter or refusal
	Usage  Usage  `json:"usage"`
	// Reported is what an agent's program says that the call cost. It is shown and not booked: under a subscription nobody pays it.
	Reported NanoUSD `json:"reported,omitempty"`
}

// Client calls one provider. It never retries: Temporal does.
type Client interface {
	Complete(ctx context.Context, req Request) (Reply, error)
}

// Price is in dollars for a million tokens.
type Price struct {
	Input  float64
	Cached float64
	Write  float64 // of tokens written to a cache; 0 is Input
	Output float64
}

// NanoUSD is money: a billionth of a dollar. Integers add up exactly.
type NanoUSD int64

// USD converts to dollars.
func (n NanoUSD) USD() float64 { return float64(n) / 1e9 }

// FromUSD converts from dollars, rounding to the nearest.
func FromUSD(d float64) NanoUSD { return NanoUSD(math.Round(d * 1e9)) }

// mostMoney is where sums of money end: far beyond any budget, and far from an overflow.
const mostMoney NanoUSD = 1 << 60

// Cost is the price of a usage, rounded up.
func (p Price) Cost(u Usage) NanoUSD {
	// dollars for a million tokens = 1000 nanodollars for one
	write := max(p.Write, p.Input)
	fresh := float64(u.Input-u.Cached-u.Written) * p.Input * 1000
	sum := math.Ceil(fresh + float64(u.Cached)*p.Cached*1000 + float64(u.Written)*write*1000 + float64(u.Output)*p.Output*1000)
	if math.IsNaN(sum) || sum >= float64(mostMoney) {
		return mostMoney
	}
	return NanoUSD(sum)
}

// Kind sorts failures by what to do about them.
type Kind string

// The kinds of failure.
const (
	RateLimited  Kind = "rate_limited" // wait as told, try again
	Unavailable  Kind = "unavailable"  // 5xx, overloaded, network: try again
	Timeout      Kind = "timeout"      // try again
	Unauthorised Kind = "unauthorised" // a person has to act
	Quota        Kind = "quota"        // a person has to act
	BadRequest   Kind = "bad_request"  // ours to fix
	NotFound     Kind = "not_found"    // no such model or address
	TooLong      Kind = "prompt_too_long"
	CutOff       Kind = "max_tokens" // the answer ended at the bound on its tokens
	Malformed    Kind = "malformed"  // the reply is not what the wire format says
	Refused      Kind = "refused"    // the model or its filter declined
)

// ErrNotRecorded is in the chain of an *Error where a recording is to answer and holds nothing that can be read for the call.
var ErrNotRecorded = errors.New("the recording holds no answer")

// Error is a failed call.
type Error struct {
	Kind       Kind
	Provider   string
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // 0 if the provider did not say
	NotSent    bool          // the request never reached the provider, so it cannot be billed
	Err        error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s", e.Provider, e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later without anybody's help.
func (e *Error) Retryable() bool { return e.Kind.Retryable() }

// Retryable reports whether failures of this kind may pass without anybody's help.
func (k Kind) Retryable() bool {
	switch k {
	case RateLimited, Unavailable, Timeout, Malformed:
		return true
	}
	return false
}

// AsError finds the *Error in err's chain.
func AsError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Most is the most that a call can cost: every token of the prompt written to a cache, and the whole bound on the answer.
func (p Price) Most(req Request) NanoUSD {
	n := MostInput(req)
	u := Usage{Input: n, Output: req.MaxTokens}
	if p.Write > p.Input {
		u.Written = n
	}
	return p.Cost(u)
}

// toolFrame is what a provider adds to a prompt of its own where an answer has to follow a schema, in tokens; rather too many.
const toolFrame = 1000

// MostInput is an upper bound on the tokens of a whole request: its messages, and a schema with what the provider adds for it.
func MostInput(req Request) int {
	n := InputBound(req.Messages)
	if req.Schema != nil {
		n += len(req.Schema.JSON) + len(req.Schema.Name) + toolFrame
	}
	return n
}

// Estimate is about how many tokens a text has, rather too many than too few: 3 bytes of alphabetic text each, and three tokens
// for two characters of Chinese, Japanese or Korean. It stands in where a provider says nothing.
func Estimate(text string) int {
	wide, rest := 0, 0
	for _, r := range text {
		if r >= 0x1100 {
			wide++
		} else {
			rest += utf8.RuneLen(r)
		}
	}
	return (3*wide+1)/2 + (rest+2)/3
}

// EstimateInput is Estimate of a prompt, with a few tokens for each message's frame.
func EstimateInput(ms []Message) int {
	n := 8
	for _, m := range ms {
		n += Estimate(m.Content) + 8
	}
	return n
}

// InputBound is an upper bound on the tokens of a prompt: its UTF-8 bytes, since no tokenizer makes more than one token
// of a byte, and a few for each message's frame.
func InputBound(ms []Message) int {
	n := 8
	for _, m := range ms {
		n += len(m.Content) + len(m.Role) + 8
	}
	return n
}
