package model

import "errors"

// Refusals of the ledger. Both end a run as stopped, with its accepted work kept.
var (
	ErrBudget = errors.New("the budget does not cover another call")
	ErrCalls  = errors.New("the number of calls is used up")
)

// Booking asks the ledger for leave to make one call.
type Booking struct {
	Key     string // SHA-256 of run, logical step, item, trial, repair number, model, parameters and prompt
	RunID   string
	Stage   string
	Step    int
	Ref     Ref
	Reserve NanoUSD // the most the call can cost
	Budget  NanoUSD // the run's cap; spent and reserved never pass it
	Calls   int     // the run's cap on calls; 0 is none
}

// Booked is the ledger's leave, or the answer of a call that was made and paid before.
type Booked struct {
	Attempt int
	Reply   *Reply // not nil: do not call again
}
