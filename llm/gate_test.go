package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"whetstone/model"
)

// slow counts how many calls are in it at once, and answers as it is told.
type slow struct {
	now, most, calls atomic.Int64
	err              func(n int64) error
}

func (s *slow) Complete(ctx context.Context, _ model.Request) (model.Reply, error) {
	n := s.calls.Add(1)
	k := s.now.Add(1)
	defer s.now.Add(-1)
	for {
		m := s.most.Load()
		if k <= m || s.most.CompareAndSwap(m, k) {
			break
		}
	}
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
	if s.err != nil {
		return model.Reply{}, s.err(n)
	}
	return model.Reply{Text: "ok"}, nil
}

func TestAProviderIsNotAskedByTooManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{Getenv: func(string) string { return "" }, Limits: map[string]Limits{"openai": {AtOnce: 3}}}
		p, _ := r.provider("openai")
		s := &slow{}
		var wg sync.WaitGroup
		for range 40 { // all activities of a worker share the gate, whoever made the client
			wg.Go(func() {
				if _, err := (gated{next: s, gate: r.gate(p)}).Complete(t.Context(), model.Request{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if s.most.Load() != 3 || s.calls.Load() != 40 {
			t.Errorf("%d at once, %d calls", s.most.Load(), s.calls.Load())
		}
	})
}

func TestAProviderIsNotAskedFasterThanItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{Limits: map[string]Limits{"openai": {AtOnce: 50, Minute: 60}}}
		p, _ := r.provider("openai")
		s := &slow{}
		begin := time.Now()
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() { _, _ = (gated{next: s, gate: r.gate(p)}).Complete(t.Context(), model.Request{}) })
		}
		wg.Wait()
		if took := time.Since(begin); took < 28*time.Second || took > 32*time.Second {
			t.Errorf("30 calls at 60 a minute took %v", took)
		}
	})
}

// A storm of refusals stays within what the provider asked for: nobody asks before the moment it named.
func TestARefusalHoldsEverybodyBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{Limits: map[string]Limits{"openai": {AtOnce: 4}}}
		p, _ := r.provider("openai")
		begin := time.Now()
		var early atomic.Int64
		s := &slow{}
		s.err = func(n int64) error {
			if n > 4 && time.Since(begin) < 20*time.Second {
				early.Add(1)
			}
			if n <= 4 {
				return &model.Error{Kind: model.RateLimited, Provider: "openai", RetryAfter: 20 * time.Second, Err: errors.New("slow down")}
			}
			return nil
		}
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() { _, _ = (gated{next: s, gate: r.gate(p)}).Complete(t.Context(), model.Request{}) })
		}
		wg.Wait()
		if early.Load() > 0 || s.calls.Load() != 40 {
			t.Errorf("%d calls came early, of %d", early.Load(), s.calls.Load())
		}
	})
}

func TestACallThatFindsNoRoomInTimeWasNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{Limits: map[string]Limits{"openai": {AtOnce: 1}}}
		p, _ := r.provider("openai")
		g := r.gate(p)
		g.slots <- struct{}{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := gated{next: &slow{}, gate: g}.Complete(ctx, model.Request{})
		e, ok := model.AsError(err)
		if !ok || !e.NotSent || e.Kind != model.RateLimited {
			t.Errorf("%v", err)
		}
	})
}

func TestAKeyThatAServerEchoesIsTakenOut(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error": {"message": "no such key: ZebraQuiltMango", "type": "invalid_request_error", "code": "invalid_api_key"}}`)
	}))
	defer s.Close()
	r := &Registry{Getenv: func(k string) string {
		return map[string]string{"GROQ_API_KEY": "ZebraQuiltMango", "GROQ_BASE_URL": s.URL}[k]
	}}
	ref := model.Ref{Provider: "groq", Model: "m"}
	c, err := r.Client(ref)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Complete(t.Context(), model.Request{Ref: ref, MaxTokens: 1, Messages: []model.Message{{Role: "user", Content: "x"}}})
	if e, ok := model.AsError(err); !ok || e.Kind != model.Unauthorised || strings.Contains(err.Error(), "Zebra") || !strings.Contains(err.Error(), "[redacted:key]") {
		t.Errorf("%v", err)
	}
}

func TestNoRedirectIsFollowedAndNoAnswerReadWithoutEnd(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "`)
			for range (maxAnswer >> 20) + 2 {
				if _, err := w.Write([]byte(strings.Repeat("a", 1<<20))); err != nil {
					return
				}
			}
		},
	} {
		s := httptest.NewServer(answer)
		for _, provider := range []string{"groq", "anthropic"} {
			r := &Registry{Getenv: func(k string) string {
				return map[string]string{"GROQ_API_KEY": "key-of-mine", "GROQ_BASE_URL": s.URL, "ANTHROPIC_API_KEY": "key-of-mine", "ANTHROPIC_BASE_URL": s.URL}[k]
			}}
			ref := model.Ref{Provider: provider, Model: "m"}
			c, err := r.Client(ref)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Complete(t.Context(), model.Request{Ref: ref, MaxTokens: 1, Messages: []model.Message{{Role: "user", Content: "x"}}})
			if e, ok := model.AsError(err); !ok || e.Retryable() {
				t.Errorf("%s, %s: %v", name, provider, err)
			}
		}
		s.Close()
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

// What is booked never passes what was reserved, whatever a server tells.
func TestAnAbsurdUsageIsBookedAtWhatWasReserved(t *testing.T) {
	req := model.Request{MaxTokens: 100, Messages: []model.Message{{Role: "user", Content: strings.Repeat("hello ", 50)}}}
	price := model.Price{Input: 3, Cached: 0.3, Write: 3.75, Output: 15}
	for u, want := range map[model.Usage]model.Usage{
		{Input: 10, Output: 5}: {Input: 10, Output: 5}, {Input: 10, Output: 100}: {Input: 10, Output: 100}, {Input: 10, Cached: 10, Output: 1}: {Input: 10, Cached: 10, Output: 1},
		{Input: 9, Cached: 4, Written: 5, Output: 1}: {Input: 9, Cached: 4, Written: 5, Output: 1},
		{Input: 1e12, Output: 5}:                     {Input: model.MostInput(req), Output: 5, Estimated: true},
		{Input: 10, Output: 1e9}:                     {Input: 10, Output: 100, Estimated: true},
		{}:                                           estimated(req, "ok"), {Input: -1, Output: 5}: estimated(req, "ok"), {Input: 10, Cached: 11, Output: 1}: estimated(req, "ok"), {Input: 10, Cached: 6, Written: 6, Output: 1}: estimated(req, "ok"),
	} {
		got := booked(req, u, "ok")
		if got != want {
			t.Errorf("%+v: %+v, want %+v", u, got, want)
		}
		if price.Cost(got) > price.Most(req) {
			t.Errorf("%+v costs %d, reserved were %d", u, price.Cost(got), price.Most(req))
		}
	}
	long := booked(req, model.Usage{}, strings.Repeat("x", 1e6))
	if price.Cost(long) > price.Most(req) {
		t.Error("an estimate passes what was reserved")
	}
}

// What is waited for is told once, with the moment at which it ends, and not any more from then on.
func TestAWaitIsToldWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{Limits: map[string]Limits{"openai": {AtOnce: 4}, "groq": {Minute: 12}}}
		ask := func(name string, s *slow) {
			p, err := r.provider(name)
			if err != nil {
				t.Error(err)
			}
			_, _ = (gated{next: s, gate: r.gate(p)}).Complete(t.Context(), model.Request{})
		}
		limited := &slow{err: func(n int64) error {
			return &model.Error{Kind: model.RateLimited, Status: 429, RetryAfter: 20*time.Second + time.Duration(n)*time.Millisecond, Err: errors.New("slow down, sk-echoed")}
		}}
		if got := r.Waiting(); len(got) != 0 {
			t.Errorf("before any call: %+v", got)
		}
		var wg sync.WaitGroup
		for range 4 { // refused side by side, which is one wait
			wg.Go(func() { ask("openai", limited) })
		}
		wg.Wait()
		first := r.Waiting()
		if len(first) != 1 || first[0].Provider != "openai" || first[0].Status != 429 || first[0].Asked.Round(time.Second) != 20*time.Second || time.Until(first[0].Until).Round(time.Second) != 20*time.Second {
			t.Fatalf("%+v", first)
		}
		wg.Go(func() { ask("openai", &slow{}) })
		synctest.Wait() // that call is held back
		if again := r.Waiting(); len(again) != 1 || again[0] != first[0] {
			t.Errorf("the same wait looks like another one: %+v", again)
		}
		wg.Wait() // and let on when the time is up
		if over := r.Waiting(); len(over) != 0 {
			t.Errorf("it is over: %+v", over)
		}
		// The pace of a provider: the first call goes at once, the second waits five seconds.
		for range 2 {
			wg.Go(func() { ask("groq", &slow{}) })
		}
		synctest.Wait()
		if got := r.Waiting(); len(got) != 1 || got[0].Provider != "groq" || got[0].Minute != 12 || time.Until(got[0].Until) <= 4*time.Second || time.Until(got[0].Until) > 5*time.Second {
			t.Errorf("%+v", got)
		}
		wg.Wait()
		if got := r.Waiting(); len(got) != 0 {
			t.Errorf("it is over: %+v", got)
		}
	})
}

func TestAFailureWithoutATimeIsNoWait(t *testing.T) {
	r := &Registry{}
	p, _ := r.provider("openai")
	for _, e := range []*model.Error{{Kind: model.RateLimited}, {Kind: model.Quota, RetryAfter: time.Hour}, {Kind: model.Unavailable}} {
		e.Err = errors.New("no")
		_, _ = (gated{next: &slow{err: func(int64) error { return e }}, gate: r.gate(p)}).Complete(t.Context(), model.Request{})
	}
	if got := r.Waiting(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
