package model

import (
	"errors"
	"fmt"
	"time"
)

// Refusals of the ledger. Both end a run as stopped, with its accepted work kept.
var (
	ErrBudget = errors.New("the budget does not cover another call")
	ErrCalls  = errors.New("the number of calls is used up")
)

// Cap is a bound of a person on what all runs together may take since a moment, or one run by itself. Negative fields bound nothing.
type Cap struct {
	Name   string // run, day, month
	Since  time.Time
	Run    bool // of the booking's own run, since whenever
	USD    NanoUSD
	Calls  int
	Tokens int
}

// CapNight is the cap on what the nights of a day may spend together: a schedule's, and not of config.yaml.
const CapNight = "night"

// CapError is the refusal of a call by a cap of config.yaml, or by that of a schedule. It is an ErrBudget or an ErrCalls.
type CapError struct {
	Cap  string // run, day, month, night
	What string // dollars, calls, tokens
}

func (e *CapError) Error() string {
	if e.Cap == CapNight {
		return "what the nights of a day may spend together (--budget-usd-per-day of the schedule) is used up"
	}
	return fmt.Sprintf("the cap on %s for a %s (caps.%s in config.yaml) is used up", e.What, e.Cap, e.Cap)
}

// Is makes it the kind of refusal that it is.
func (e *CapError) Is(target error) bool {
	return e.What == "calls" && target == ErrCalls || e.What != "calls" && target == ErrBudget
}

// Booking asks the ledger for leave to make one call.
type Booking struct {
	Key     string // SHA-256 of run, logical step, item, trial, repair number, model, parameters and prompt
	RunID   string
	Stage   string
	Step    int
	Ref     Ref
	Reserve NanoUSD // the most the call can cost
	Tokens  int     // the most it can take of tokens, prompt and answer together
	Budget  NanoUSD // the run's cap; spent and reserved never pass it
	Calls   int     // the run's cap on calls; 0 is none
	// Night says that a schedule's night makes the call, NightCap what all nights of a day (UTC) may spend together; nil is
	// no cap.
	Night    bool
	NightCap *NanoUSD
}

// Booked is the ledger's leave, or the answer of a call that was made and paid before.
type Booked struct {
	Attempt int
	Reply   *Reply // not nil: do not call again
}
