package llm

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxWait bounds what a server may ask us to wait: Temporal waits, and a person sees it.
const maxWait = 10 * time.Minute

// resets name the headers that say when a limit is lifted, in the forms of OpenAI (a duration), Anthropic (a moment) and those
// that follow them.
var resets = []struct{ remaining, reset string }{
	{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
	{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
}

// retryAfter is how long a refused call should wait: Retry-After in milliseconds, in seconds or as a date, else the moment at
// which the limit that is used up is lifted. 0 where the server did not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if v, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && v > 0 {
		return min(time.Duration(v*float64(time.Millisecond)), maxWait)
	}
	if d := until(h.Get("Retry-After"), now); d > 0 {
		return d
	}
	var wait time.Duration
	for _, r := range resets {
		if strings.TrimSpace(h.Get(r.remaining)) == "0" {
			wait = max(wait, until(h.Get(r.reset), now))
		}
	}
	return wait
}

// until reads a number of seconds, a duration such as 6m0s, a date, or seconds since 1970 (or milliseconds, as some write).
func until(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		switch {
		case s < 0:
			return 0
		case s > 1e11:
			return positive(time.UnixMilli(int64(s)).Sub(now))
		case s > 1e9:
			return positive(time.Unix(int64(s), 0).Sub(now))
		}
		return min(time.Duration(s*float64(time.Second)), maxWait)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return positive(d)
	}
	if t, err := http.ParseTime(v); err == nil {
		return positive(t.Sub(now))
	}
	if t, err := time.Parse(time.RFC3339, v); err == nil {
		return positive(t.Sub(now))
	}
	return 0
}

func positive(d time.Duration) time.Duration { return min(max(d, 0), maxWait) }
