package service

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"whetstone/llm"
)

// Wait is something that a run waits for before it asks a provider again. It holds no text of a provider's.
type Wait struct {
	Key  string // the same for as long as it is the same wait
	Text string // for a person
}

// followed is the workflow that a person waits for.
type followed struct {
	c  *Connection
	id string
}

// follow remembers the workflow whose waits Waits tells.
func (c *Connection) follow(id string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.followed = followed{c, id}
}

// Waits lists what the run that was started or attached to last waits for: pauses that providers asked for or that their pace
// needs, as far as this process makes the calls, and those of Temporal between two attempts, whoever makes them.
func (s *Service) Waits(ctx context.Context) ([]Wait, error) {
	var out []Wait
	for _, w := range append(s.Models.registry.Waiting(), s.private.registry.Waiting()...) {
		out = append(out, providerWait(w))
	}
	s.mu.Lock()
	f := s.followed
	s.mu.Unlock()
	if f.c == nil {
		return out, nil
	}
	d, err := f.c.describe(ctx, f.id)
	if err != nil {
		return out, fmt.Errorf("look at what %s waits for: %w", f.id, err)
	}
	for _, p := range d.GetPendingActivities() {
		w, kind, ok := retryWait(p, s.o.Now())
		// A limit that the provider named is told above.
		if ok && (len(out) == 0 || kind != "rate_limited" && kind != "unavailable") {
			out = append(out, w)
		}
	}
	return out, nil
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

func providerWait(w llm.Wait) Wait {
	at := clock(w.Until)
	if w.Minute > 0 {
		// One wait, however many calls queue up behind it.
		return Wait{Key: "pace " + w.Provider, Text: fmt.Sprintf("%s is asked %d times a minute at most; going on at %s", w.Provider, w.Minute, at)}
	}
	why := ""
	if w.Status != 0 {
		why = fmt.Sprintf(" (%d)", w.Status)
	}
	asked := w.Asked.Round(time.Second)
	if asked < time.Second {
		asked = time.Second
	}
	return Wait{Key: "asked " + w.Provider + w.Until.String(), Text: fmt.Sprintf("%s asks to wait %s%s; going on at %s", w.Provider, seconds(asked), why, at)}
}

// seconds writes a duration as people do: 20 s, 3 min, 1 h 5 min.
func seconds(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
	}
	return fmt.Sprintf("%d h %d min", int(d/time.Hour), int(d%time.Hour/time.Minute))
}

// leastRetry is the least of a wait that is worth a word.
const leastRetry = 500 * time.Millisecond

// retryWait is the wait of an activity between two attempts.
func retryWait(p *workflowpb.PendingActivityInfo, now time.Time) (w Wait, kind string, ok bool) {
	next := p.GetNextAttemptScheduleTime()
	if next == nil || next.AsTime().Sub(now) < leastRetry || p.GetAttempt() < 2 || p.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED {
		return w, "", false
	}
	kind = failureKind(p.GetLastFailure())
	return Wait{
		Key:  fmt.Sprintf("retry %s %d", p.GetActivityId(), p.GetAttempt()),
		Text: fmt.Sprintf("%s: attempt %d, next at %s, last: %s", spaced(p.GetActivityType().GetName()), p.GetAttempt(), clock(next.AsTime()), kind),
	}, kind, true
}

// kindWord is what a kind of failure looks like: nothing else of a failure's details is told, since they may quote anything.
var kindWord = regexp.MustCompile(`^[a-z][a-z_]{1,31}$`)

// failureKind names a failure without its words: a server may echo a key or a prompt in those.
func failureKind(f *failurepb.Failure) string {
	for ; f != nil; f = f.GetCause() {
		if app := f.GetApplicationFailureInfo(); app != nil {
			var kind string
			if ps := app.GetDetails(); len(ps.GetPayloads()) > 0 && converter.GetDefaultDataConverter().FromPayloads(ps, &kind) == nil && kindWord.MatchString(kind) {
				return kind
			}
		}
		if f.GetTimeoutFailureInfo() != nil {
			return "timeout"
		}
	}
	return "failed"
}

// spaced writes an activity's name in words: "FetchSeed" is "fetch seed".
func spaced(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
