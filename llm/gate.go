package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	provider string
	slots    chan struct{}
	pace     *rate.Limiter
	minute   int // what pace allows

	mu     sync.Mutex
	until  time.Time
	told   time.Time     // until, but for changes of less than a second: calls side by side are refused one after the other
	asked  time.Duration // what told was made of
	status int
	turn   time.Time // until when the longest wait for the pace goes on
}

// Wait is a pause before calls of a provider. It holds no text of the provider's.
type Wait struct {
	Provider string
	Until    time.Time
	Asked    time.Duration // what the provider asked for; 0 where its pace is the reason
	Status   int           // HTTP status that came with it, 0 if there was none
	Minute   int           // calls a minute, where the pace is the reason
}

// shortWait is how long a call may wait for its provider's pace before it is worth a word: at sixty a minute each waits a second.
const shortWait = 2 * time.Second

// waiting lists what calls wait for now.
func (g *gate) waiting(now time.Time) []Wait {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Wait
	if g.until.After(now) {
		out = append(out, Wait{Provider: g.provider, Until: g.told, Asked: g.asked, Status: g.status})
	}
	if g.turn.After(now) {
		out = append(out, Wait{Provider: g.provider, Until: g.turn, Minute: g.minute})
	}
	return out
}

// Waiting lists what the calls of this process wait for now, by provider.
func (r *Registry) Waiting() []Wait {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Wait
	now := time.Now()
	for _, name := range slices.Sorted(maps.Keys(r.gates)) {
		out = append(out, r.gates[name].waiting(now)...)
	}
	return out
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
	g := &gate{provider: p.Name, slots: make(chan struct{}, n), minute: minute}
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
	if err := g.keepPace(ctx); err != nil {
		<-g.slots
		return err
	}
	return nil
}

var errTooSlow = errors.New("the provider's pace leaves no turn in time")

// keepPace waits for a turn at the provider's pace. Where none comes before the context ends, it does not wait at all.
func (g *gate) keepPace(ctx context.Context) error {
	if g.pace == nil {
		return nil
	}
	turn := g.pace.Reserve()
	wait := turn.Delay()
	if wait <= 0 {
		return ctx.Err()
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		turn.Cancel()
		return errTooSlow
	}
	if wait >= shortWait {
		g.mu.Lock()
		if at := time.Now().Add(wait); at.After(g.turn) {
			g.turn = at
		}
		g.mu.Unlock()
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		turn.Cancel()
		return ctx.Err()
	}
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
		if t.Sub(g.told) >= time.Second {
			g.told, g.asked, g.status = t, e.RetryAfter, e.Status
		}
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
