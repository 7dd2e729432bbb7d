// Package fakeanthropic is a local stand-in for Anthropic's Messages API, over real HTTP, for tests. It answers Whetstone's prompts
// by rule and fails on demand as the real server does. The wire format follows platform.claude.com/docs/en/api/messages and
// .../api/errors as of 2026-11: content blocks, stop_reason, usage with cache fields, errors as {"type": "error", "error": {type,
// message}}, 529 for an overload, and rate limits in anthropic-ratelimit-* headers.
package fakeanthropic

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"whetstone/internal/fakeopenai"
)

// Call is one request as the server saw it.
type Call struct {
	Path   string
	Header http.Header
	Body   map[string]any
}

// Server is the fake.
type Server struct {
	URL string

	mu    sync.Mutex
	calls []Call
	next  func(n int) string
}

// Start runs a fake until the test ends. next names what goes wrong with the n-th request, from 0: "" for nothing, overloaded,
// rate_limit, invalid, too_long, credit, auth, permission, not_found, too_large, internal, refusal, max_tokens, no_usage, not_json.
func Start(t testing.TB, next func(n int) string) *Server {
	t.Helper()
	s := &Server{next: next}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Calls returns what was asked so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

var failures = map[string]struct {
	status  int
	typ     string
	message string
}{
	"overloaded": {529, "overloaded_error", "Overloaded"},
	"rate_limit": {429, "rate_limit_error", "This request would exceed your organization's rate limit."},
	"invalid":    {400, "invalid_request_error", "messages: at least one message is required"},
	"too_long":   {400, "invalid_request_error", "prompt is too long: 219874 tokens > 200000 maximum"},
	"credit":     {400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."},
	"auth":       {401, "authentication_error", "invalid x-api-key"},
	"permission": {403, "permission_error", "Your API key does not have permission to use the specified resource."},
	"not_found":  {404, "not_found_error", "model: claude-nope"},
	"too_large":  {413, "request_too_large", "Request exceeds the maximum allowed number of bytes."},
	"internal":   {500, "api_error", "An unexpected error has occurred internal to Anthropic's systems."},
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	body := map[string]any{}
	_ = json.Unmarshal(raw, &body)
	s.mu.Lock()
	fault := ""
	if s.next != nil {
		fault = s.next(len(s.calls))
	}
	s.calls = append(s.calls, Call{r.URL.Path, r.Header.Clone(), body})
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_fake")
	if f, ok := failures[fault]; ok {
		if fault == "rate_limit" {
			w.Header().Set("Retry-After", "3")
		}
		w.WriteHeader(f.status)
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": f.typ, "message": f.message}, "request_id": "req_fake"})
		return
	}
	if fault == "not_json" {
		_, _ = io.WriteString(w, "upstream says hello")
		return
	}
	prompt := texts(body["system"]) + "\n" + texts(body["messages"])
	answer := fakeopenai.Answer(prompt)
	content, stop := []any{map[string]any{"type": "text", "text": answer}}, "end_turn"
	if tools, ok := body["tools"].([]any); ok && len(tools) == 1 {
		name := tools[0].(map[string]any)["name"]
		content, stop = []any{map[string]any{"type": "tool_use", "id": "toolu_fake", "name": name, "input": json.RawMessage(answer)}}, "tool_use"
	}
	switch fault {
	case "refusal":
		content, stop = []any{}, "refusal"
	case "max_tokens":
		content, stop = []any{map[string]any{"type": "text", "text": answer[:len(answer)/2]}}, "max_tokens"
	}
	usage := map[string]any{"input_tokens": len(prompt) / 8, "cache_read_input_tokens": len(prompt) / 16, "cache_creation_input_tokens": len(prompt) / 16, "output_tokens": len(answer)/4 + 1}
	if fault == "no_usage" {
		usage = map[string]any{"input_tokens": 0, "output_tokens": 0}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "msg_fake", "type": "message", "role": "assistant", "model": body["model"], "content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage})
}

// texts joins all texts of a system prompt or of messages.
func texts(v any) string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			if t, ok := v["text"].(string); ok {
				b.WriteString(t + "\n")
			}
			walk(v["content"])
		}
	}
	walk(v)
	return b.String()
}
