package llm

import (
	"context"
	"strings"
	"testing"
	"time"

	"whetstone/internal/fakeopenai"
	"whetstone/model"
)

func ask(t *testing.T, fault fakeopenai.Fault, timeout time.Duration) (model.Reply, *fakeopenai.Server, error) {
	t.Helper()
	s := fakeopenai.Start(t, 7*time.Second, func(int, string) fakeopenai.Fault { return fault })
	c, err := NewOpenAI(OpenAIOptions{Provider: "openai", BaseURL: s.URL, Key: "sk-test-key"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	r, err := c.Complete(ctx, model.Request{
		Ref: model.Ref{Provider: "openai", Model: "gpt-4o-mini"}, MaxTokens: 50, Seed: 9,
		Messages: []model.Message{{Role: "system", Content: "You judge whether"}, {Role: "user", Content: "<items>\n</items>"}},
	})
	return r, s, err
}

func TestOpenAISendsWhatTheProtocolAsksFor(t *testing.T) {
	r, s, err := ask(t, fakeopenai.None, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if r.Finish != "stop" || r.Usage.Input == 0 || r.Usage.Output == 0 || r.Usage.Estimated || !strings.Contains(r.Text, "verdicts") {
		t.Errorf("reply %+v", r)
	}
	c := s.Calls()[0]
	if c.Auth != "Bearer sk-test-key" || c.Model != "gpt-4o-mini" || c.Body["max_tokens"] != 50.0 || c.Body["seed"] != 9.0 {
		t.Errorf("request %+v", c)
	}
	// Left out, the temperature would be the server's default of 1.
	if temp, ok := c.Body["temperature"].(float64); !ok || temp > 1e-6 {
		t.Errorf("temperature %v", c.Body["temperature"])
	}
}

func TestOpenAISortsFailures(t *testing.T) {
	for fault, want := range map[fakeopenai.Fault]struct {
		kind      model.Kind
		retryable bool
		status    int
	}{
		fakeopenai.TooMany:      {model.RateLimited, true, 429},
		fakeopenai.ServerError:  {model.Unavailable, true, 500},
		fakeopenai.BadGateway:   {model.Unavailable, true, 502},
		fakeopenai.Unauthorised: {model.Unauthorised, false, 401},
		fakeopenai.Quota:        {model.Quota, false, 429},
		fakeopenai.TooLong:      {model.TooLong, false, 400},
		fakeopenai.Hang:         {model.Timeout, true, 0},
		fakeopenai.Reset:        {model.Unavailable, true, 0},
		fakeopenai.NotJSON:      {model.Malformed, true, 0},
		fakeopenai.Empty:        {model.Malformed, true, 0},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			_, s, err := ask(t, fault, 300*time.Millisecond)
			e, ok := model.AsError(err)
			if !ok {
				t.Fatalf("not a model error: %v", err)
			}
			if e.Kind != want.kind || e.Retryable() != want.retryable || e.Status != want.status {
				t.Errorf("kind %s, retryable %v, status %d: %v", e.Kind, e.Retryable(), e.Status, e)
			}
			if fault == fakeopenai.TooMany && e.RetryAfter != 7*time.Second {
				t.Errorf("Retry-After %v", e.RetryAfter)
			}
			if n := len(s.Calls()); n != 1 {
				t.Errorf("%d requests: the client must not retry by itself", n)
			}
			if strings.Contains(err.Error(), "sk-test-key") {
				t.Error("the key is in the error")
			}
		})
	}
}

func TestNoServerIsUnavailable(t *testing.T) {
	c, err := NewOpenAI(OpenAIOptions{Provider: "ollama", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Complete(t.Context(), model.Request{Ref: model.Ref{Model: "m"}, Messages: []model.Message{{Role: "user", Content: "x"}}})
	if e, ok := model.AsError(err); !ok || e.Kind != model.Unavailable || !e.Retryable() || !e.NotSent {
		t.Errorf("%v", err)
	}
}

func TestRetryAfterReadsSecondsAndDates(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "0.5": 500 * time.Millisecond, "Sun, 01 Nov 2026 12:00:20 GMT": 20 * time.Second, "Sun, 01 Nov 2026 11:00:00 GMT": 0, "soon": 0, "-4": 0} {
		h := map[string][]string{"Retry-After": {in}}
		if got := retryAfter(h, now); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}
