package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"whetstone/model"
	"whetstone/run"
)

// call is one model call as the ledger knows it. Site, step, batch, trial and repair make the same prompt at another
// place of the run another call: a fresh draw stays fresh.
type call struct {
	job    Job
	ref    model.Ref
	stage  string // reflect or judge
	site   string // logical place, such as step-3.0 or baseline
	step   int
	trial  int
	repair int
	req    model.Request
	// private calls reach this machine only.
	private bool
}

// stopped is returned where the ledger or the kill file forbids another call.
type stopped struct{ reason string }

func (s stopped) Error() string { return "stopped: " + s.reason }

// stopReason finds out whether err means that the run must stop.
func stopReason(err error) (string, bool) {
	var s stopped
	ok := errors.As(err, &s)
	return s.reason, ok
}

// complete makes a call through the ledger: reserve, call, settle. A call that was settled before returns its answer and
// costs nothing.
func (a *Activities) complete(ctx context.Context, c call) (model.Reply, error) {
	if a.killed() {
		return model.Reply{}, stopped{StopKillFile}
	}
	client, err := a.models(c.private).Client(c.ref)
	if err != nil {
		return model.Reply{}, InputError("use %s: %w", c.ref, err)
	}
	price, err := a.price(c.ref, c.job.Params)
	if err != nil {
		return model.Reply{}, InputError("price %s: %w", c.ref, err)
	}
	key, err := c.key()
	if err != nil {
		return model.Reply{}, err
	}
	booked, err := a.o.Store.Reserve(ctx, model.Booking{
		Key: key, RunID: c.job.RunID, Stage: c.stage, Step: c.step, Ref: c.ref,
		Reserve: price.Cost(model.Usage{Input: model.InputBound(c.req.Messages), Output: c.req.MaxTokens}),
		Budget:  model.FromUSD(c.job.Params.BudgetUSD), Calls: c.job.Params.MaxCalls,
	})
	switch {
	case errors.Is(err, model.ErrBudget):
		return model.Reply{}, stopped{StopBudget}
	case errors.Is(err, model.ErrCalls):
		return model.Reply{}, stopped{StopCalls}
	case err != nil:
		return model.Reply{}, err
	case booked.Reply != nil:
		return *booked.Reply, nil
	}
	callCtx, cancel := context.WithTimeout(ctx, a.o.CallTimeout)
	defer cancel()
	reply, err := client.Complete(callCtx, c.req)
	// What happened must be booked even if the activity is being cancelled just now.
	keep := context.WithoutCancel(ctx)
	if err != nil {
		if rerr := a.o.Store.Release(keep, key, booked.Attempt, mayBeBilled(err), err.Error()); rerr != nil {
			return model.Reply{}, errors.Join(err, rerr)
		}
		return model.Reply{}, err
	}
	if err := a.o.Store.Settle(keep, key, booked.Attempt, price.Cost(reply.Usage), reply); err != nil {
		return model.Reply{}, err
	}
	return reply, nil
}

// mayBeBilled reports whether a failed call may have cost something: the provider may have done the work and only the
// answer was lost.
func mayBeBilled(err error) bool {
	me, ok := model.AsError(err)
	if !ok {
		return true
	}
	if me.NotSent {
		return false
	}
	switch me.Kind {
	case model.Timeout, model.Malformed, model.Refused:
		return true
	case model.Unavailable:
		return me.Status == 0 // no status: the connection broke, perhaps after the prompt was taken
	}
	return false
}

func (a *Activities) price(ref model.Ref, p run.Params) (model.Price, error) {
	if p.Price != nil && p.PriceOut != nil && ref.Provider != model.Offline {
		return model.Price{Input: *p.Price, Cached: *p.Price, Output: *p.PriceOut}, nil
	}
	return a.o.Models.Price(ref)
}

// key is the call's name in the ledger.
func (c call) key() (string, error) {
	b, err := json.Marshal([]any{c.job.RunID, c.stage, c.site, c.step, c.trial, c.repair, c.ref.String(), c.req.MaxTokens, c.req.Temperature, c.req.Seed, c.req.Messages})
	if err != nil {
		return "", fmt.Errorf("name a call: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

func (j Job) reflector() (model.Ref, error) { return model.ParseRef(j.Params.Provider) }
func (j Job) judge() (model.Ref, error)     { return model.ParseRef(j.Params.Judge) }
