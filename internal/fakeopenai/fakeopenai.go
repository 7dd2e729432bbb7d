// Package fakeopenai is a local stand-in for an OpenAI-compatible server, over real HTTP, for tests. It answers the
// prompts Whetstone sends by rule, counts what it is asked, and fails on demand as real servers do. The wire format
// follows the chat completions reference as of 2026-11: choices[].message.content, finish_reason, usage, errors as
// {"error": {message, type, code}} with Retry-After.
package fakeopenai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"whetstone/llm/rulepatch"
	"whetstone/llm/statement"
	"whetstone/skill"
)

// Fault is what goes wrong with one answer.
type Fault string

// The faults.
const (
	None         Fault = ""
	TooMany      Fault = "429"       // with Retry-After
	ServerError  Fault = "500"       // with an error object
	BadGateway   Fault = "502"       // with HTML, as proxies answer
	Unauthorised Fault = "401"       // with an error object
	Quota        Fault = "quota"     // 429 of the kind that waiting does not mend
	TooLong      Fault = "too_long"  // context_length_exceeded
	Hang         Fault = "hang"      // no answer until the client gives up
	Reset        Fault = "reset"     // the connection breaks in the middle
	Truncated    Fault = "truncated" // finish_reason length, the JSON cut off
	Prose        Fault = "prose"     // the JSON inside a fence with prose around it
	Garbage      Fault = "garbage"   // 200 with no JSON in the answer
	NotJSON      Fault = "not_json"  // 200 with a body that is no JSON at all
	Empty        Fault = "empty"     // 200 without choices
)

// Call is one request as the server saw it.
type Call struct {
	Model  string
	Prompt string // all messages
	Auth   string
	Body   map[string]any
	Fault  Fault
}

// Server is the fake.
type Server struct {
	URL string // to be used as base URL, ends in /v1

	mu    sync.Mutex
	calls []Call
	// Next chooses the fault of the n-th request (from 0); nil never fails.
	next func(n int, prompt string) Fault
	wait time.Duration
	done chan struct{}
}

// Start runs a fake until the test ends. retryAfter is what 429 answers ask for.
func Start(t testing.TB, retryAfter time.Duration, next func(n int, prompt string) Fault) *Server {
	t.Helper()
	s := &Server{next: next, wait: retryAfter, done: make(chan struct{})}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.done)
		h.CloseClientConnections()
		h.Close()
	})
	s.URL = h.URL + "/v1"
	return s
}

// Calls returns what was asked so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
		fail(w, http.StatusNotFound, "Unknown request URL", "invalid_request_error", "unknown_url")
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var req struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
	}
	body := map[string]any{}
	if json.Unmarshal(raw, &req) != nil || json.Unmarshal(raw, &body) != nil {
		fail(w, http.StatusBadRequest, "We could not parse the JSON body of your request.", "invalid_request_error", "")
		return
	}
	var prompt strings.Builder
	for _, m := range req.Messages {
		prompt.WriteString(m.Content + "\n")
	}
	s.mu.Lock()
	fault := None
	if s.next != nil {
		fault = s.next(len(s.calls), prompt.String())
	}
	s.calls = append(s.calls, Call{Model: req.Model, Prompt: prompt.String(), Auth: r.Header.Get("Authorization"), Body: body, Fault: fault})
	s.mu.Unlock()
	s.answer(w, r, req.Model, prompt.String(), fault)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, name, prompt string, fault Fault) {
	switch fault {
	case TooMany:
		w.Header().Set("Retry-After", fmt.Sprint(s.wait.Seconds()))
		fail(w, http.StatusTooManyRequests, "Rate limit reached for requests", "requests", "rate_limit_exceeded")
		return
	case ServerError:
		fail(w, http.StatusInternalServerError, "The server had an error while processing your request.", "server_error", "")
		return
	case BadGateway:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><body>502 Bad Gateway</body></html>")
		return
	case Unauthorised:
		fail(w, http.StatusUnauthorized, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key")
		return
	case Quota:
		fail(w, http.StatusTooManyRequests, "You exceeded your current quota.", "insufficient_quota", "insufficient_quota")
		return
	case TooLong:
		fail(w, http.StatusBadRequest, "This model's maximum context length is 128000 tokens.", "invalid_request_error", "context_length_exceeded")
		return
	case Hang:
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		return
	case Reset:
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"choices\": [")
			_ = c.Close()
		}
		return
	case NotJSON:
		_, _ = io.WriteString(w, "upstream says hello")
		return
	case Empty:
		_, _ = io.WriteString(w, `{"id": "x", "object": "chat.completion", "choices": []}`)
		return
	}
	text, finish := Answer(prompt), "stop"
	switch fault {
	case Truncated:
		text, finish = text[:len(text)*2/3], "length"
	case Prose:
		text = "Certainly! Here is the result:\n\n```json\n" + text + "\n```\n\nLet me know if you need anything else."
	case Garbage:
		text = "I am sorry, I can not help with that."
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "chatcmpl-fake", "object": "chat.completion", "created": 1700000000, "model": name,
		"choices": []any{map[string]any{"index": 0, "message": message{"assistant", text}, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": len(prompt) / 4, "completion_tokens": len(text) / 4, "total_tokens": (len(prompt) + len(text)) / 4, "prompt_tokens_details": map[string]any{"cached_tokens": 0}},
	})
}

func fail(w http.ResponseWriter, status int, msg, typ, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": msg, "type": typ, "param": nil, "code": code}})
}

var (
	fileRE = regexp.MustCompile(`(?s)<skill_file>\n(.*?)\n</skill_file>`)
	itemRE = regexp.MustCompile(`(?m)^- id: (\S+)\n(?:  category: (.*)\n)?  situation: .*\n  expected: (.*)$`)
)

// Answer is what a sensible model would say to one of Whetstone's prompts.
func Answer(prompt string) string {
	if text, ok := wikiAnswer(prompt); ok {
		return text
	}
	file := ""
	if m := fileRE.FindStringSubmatch(prompt); m != nil {
		file = m[1]
	}
	body := file
	if f, err := skill.Parse([]byte(file), skill.Options{Plain: true}); err == nil {
		body = f.Body
	}
	asked := itemRE.FindAllStringSubmatch(prompt, -1)
	if strings.Contains(prompt, "You judge whether") {
		var vs []map[string]any
		text := statement.Read(body)
		for _, m := range asked {
			v := text.Judge(m[3])
			vs = append(vs, map[string]any{"id": m[1], "pass": v.Stated, "why": v.Why})
		}
		return encode(map[string]any{"verdicts": vs})
	}
	var cs []rulepatch.Correction
	for _, m := range asked {
		cs = append(cs, rulepatch.Correction{ID: m[1], Category: m[2], Expected: m[3]})
	}
	return encode(map[string]any{"reasoning": "by rule", "patches": rulepatch.Propose(body, cs, 8)})
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}
