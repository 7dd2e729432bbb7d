package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"whetstone/learning"
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
	client, err := a.client(c)
	if err != nil {
		return model.Reply{}, InputError("use %s: %w", c.ref, err)
	}
	price, err := a.price(c.ref, c.job.Params)
	if err != nil {
		return model.Reply{}, InputError("price %s: %w", c.ref, err)
	}
	c.req.Messages = redacted(c.req.Messages)
	key, err := c.key()
	if err != nil {
		return model.Reply{}, err
	}
	var night *model.NanoUSD
	if usd := c.job.Params.NightUSD; usd != nil {
		n := model.FromUSD(*usd)
		night = &n
	}
	booked, err := a.o.Store.Reserve(ctx, model.Booking{
		Night: c.job.Params.Night, NightCap: night,
		Key: key, RunID: c.job.RunID, Stage: c.stage, Step: c.step, Ref: c.ref,
		Reserve: price.Most(c.req), Tokens: model.MostInput(c.req) + c.req.MaxTokens,
		Budget: model.FromUSD(c.job.Params.BudgetUSD), Calls: c.job.Params.MaxCalls,
	})
	var capped *model.CapError
	switch {
	case errors.As(err, &capped):
		return model.Reply{}, stopped{StopCap + capped.Cap}
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

// client is the model's, or a recording.
func (a *Activities) client(c call) (model.Client, error) {
	p := c.job.Params
	recorders, ok := a.o.Models.(Recorders)
	if (p.Replay != "" || p.Record != "") && !ok {
		return nil, errors.New("this process can not record")
	}
	if p.Replay != "" {
		return recorders.Replaying(p.Replay), nil
	}
	next, err := a.models(c.private).Client(c.ref)
	if err != nil || p.Record == "" {
		return next, err
	}
	return recorders.Recording(next, p.Record), nil
}

// redacted is a prompt without secrets: a skill file may hold one that nobody noticed.
func redacted(ms []model.Message) []model.Message {
	out := make([]model.Message, len(ms))
	for i, m := range ms {
		out[i] = m
		out[i].Content, _ = learning.Redact(m.Content)
	}
	return out
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
	if p.Replay != "" { // nobody is paid for reading
		return model.Price{}, nil
	}
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

// reflectors are the reflecting model and what is asked in its place.
func (j Job) reflectors() ([]model.Ref, error) {
	var out []model.Ref
	for _, name := range append([]string{j.Params.Provider}, j.Params.Fallback...) {
		ref, err := model.ParseRef(name)
		if err != nil {
			return nil, err
		}
		out = append(out, ref)
	}
	return out, nil
}

func (j Job) judge() (model.Ref, error) { return model.ParseRef(j.Params.Judge) }

// others are the second judge and the model that answers in mode rollout, as far as the run has them.
func (j Job) others() ([]model.Ref, error) {
	names := []string{j.Params.Judge2}
	if j.Params.Mode == ModeRollout {
		names = append(names, j.Params.Target)
	}
	var out []model.Ref
	for _, name := range names {
		if name == "" {
			continue
		}
		ref, err := model.ParseRef(name)
		if err != nil {
			return nil, err
		}
		out = append(out, ref)
	}
	return out, nil
}
