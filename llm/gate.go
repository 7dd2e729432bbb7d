package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"whetstone/model"
)

// Limits are how fast a provider may be asked; zeroes leave what the provider's entry says.
type Limits struct {
	AtOnce int
	Minute int
}

// gate is one provider's pace, shared by all activities of a process: so many calls at once, so many a minute, and none before a
// moment that the provider named.
type gate struct {
	slots chan struct{}
	pace  *rate.Limiter

	mu    sync.Mutex
	until time.Time
}

func (r *Registry) gate(p Provider) *gate {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g, ok := r.gates[p.Name]; ok {
		return g
	}
	n, minute := p.AtOnce, p.Minute
	if l := r.Limits[p.Name]; l.AtOnce > 0 || l.Minute > 0 {
		n, minute = max(l.AtOnce, 0), l.Minute
	}
	if n <= 0 {
		n = atOnce
	}
	g := &gate{slots: make(chan struct{}, n)}
	if minute > 0 {
		g.pace = rate.NewLimiter(rate.Limit(float64(minute)/60), 1)
	}
	if r.gates == nil {
		r.gates = map[string]*gate{}
	}
	r.gates[p.Name] = g
	return g
}

// enter waits for leave to make a call. leave must be called afterwards.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		g.mu.Lock()
		wait := time.Until(g.until)
		g.mu.Unlock()
		if wait <= 0 {
			break
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			<-g.slots
			return ctx.Err()
		}
	}
	if g.pace != nil {
		if err := g.pace.Wait(ctx); err != nil {
			<-g.slots
			return err
		}
	}
	return nil
}

// leave hands the slot on. Where the provider asked for time, nobody asks it before.
func (g *gate) leave(err error) {
	<-g.slots
	e, ok := model.AsError(err)
	if !ok || e.RetryAfter <= 0 || e.Kind != model.RateLimited && e.Kind != model.Unavailable {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := time.Now().Add(e.RetryAfter); t.After(g.until) {
		g.until = t
	}
}

// gated is a client behind its provider's gate. A call that found no room in time was never sent.
type gated struct {
	next    model.Client
	gate    *gate
	secrets []string // keys that a server may echo in what it complains of
}

// scrub takes keys out of a failure's words, whatever their shape.
func (c gated) scrub(err error) error {
	e, ok := model.AsError(err)
	if !ok || e.Err == nil {
		return err
	}
	text := e.Err.Error()
	for _, k := range c.secrets {
		if len(k) >= 4 {
			text = strings.ReplaceAll(text, k, "[redacted:key]")
		}
	}
	if text != e.Err.Error() {
		e.Err = errors.New(text)
	}
	return err
}

// Complete waits for its turn and calls.
func (c gated) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	if err := c.gate.enter(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			return model.Reply{}, err
		}
		return model.Reply{}, &model.Error{Kind: model.RateLimited, Provider: req.Ref.Provider, NotSent: true, Err: fmt.Errorf("no room within the limits: %w", err)}
	}
	reply, err := c.next.Complete(ctx, req)
	c.gate.leave(err)
	return reply, c.scrub(err)
}

// Embed waits for its turn and calls.
func (c gated) Embed(ctx context.Context, req model.EmbedRequest) (model.EmbedReply, error) {
	e, ok := c.next.(model.Embedder)
	if !ok {
		return model.EmbedReply{}, fmt.Errorf("provider %s makes no vectors", req.Ref.Provider)
	}
	if err := c.gate.enter(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			return model.EmbedReply{}, err
		}
		return model.EmbedReply{}, &model.Error{Kind: model.RateLimited, Provider: req.Ref.Provider, NotSent: true, Err: fmt.Errorf("no room within the limits: %w", err)}
	}
	reply, err := e.Embed(ctx, req)
	c.gate.leave(err)
	return reply, c.scrub(err)
}
