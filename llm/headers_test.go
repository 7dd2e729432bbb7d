package llm

import (
	"net/http"
	"testing"
	"time"
)

func TestHowLongAServerWantsUsToWait(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		h    map[string]string
		want time.Duration
	}{
		{"nothing", nil, 0},
		{"seconds", map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{"a fraction", map[string]string{"Retry-After": "1.5"}, 1500 * time.Millisecond},
		{"milliseconds first", map[string]string{"Retry-After-Ms": "250", "Retry-After": "1"}, 250 * time.Millisecond},
		{"a date", map[string]string{"Retry-After": "Sun, 01 Nov 2026 12:00:30 GMT"}, 30 * time.Second},
		{"a date in the past", map[string]string{"Retry-After": "Sun, 01 Nov 2026 11:00:00 GMT"}, 0},
		{"negative", map[string]string{"Retry-After": "-3"}, 0},
		{"too long to believe", map[string]string{"Retry-After": "86400"}, maxWait},
		{"words", map[string]string{"Retry-After": "soon"}, 0},
		{"OpenAI's reset of what is used up", map[string]string{"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "1m2s", "X-Ratelimit-Remaining-Requests": "9", "X-Ratelimit-Reset-Requests": "9m"}, 62 * time.Second},
		{"milliseconds as a duration", map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "120ms"}, 120 * time.Millisecond},
		{"Anthropic's reset", map[string]string{"Anthropic-Ratelimit-Input-Tokens-Remaining": "0", "Anthropic-Ratelimit-Input-Tokens-Reset": "2026-11-01T12:00:45Z"}, 45 * time.Second},
		{"OpenRouter's reset in milliseconds", map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1793534420000"}, 20 * time.Second},
		{"nothing used up", map[string]string{"X-Ratelimit-Remaining-Tokens": "5", "X-Ratelimit-Reset-Tokens": "1m"}, 0},
	} {
		h := http.Header{}
		for k, v := range c.h {
			h.Set(k, v)
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
