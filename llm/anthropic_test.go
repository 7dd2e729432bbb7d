package llm

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"whetstone/internal/fakeanthropic"
	"whetstone/model"
	"whetstone/validation"
)

func anthropicCall(t *testing.T, fault string, schema *model.Schema) (model.Reply, *fakeanthropic.Server, error) {
	t.Helper()
	s := fakeanthropic.Start(t, func(int) string { return fault })
	c := NewAnthropic(AnthropicOptions{Provider: "anthropic", BaseURL: s.URL, Key: "sk-ant-test"})
	r, err := c.Complete(t.Context(), model.Request{
		Ref: model.Ref{Provider: "anthropic", Model: "claude-haiku-4-5"}, MaxTokens: 77, Temperature: 0.3, Schema: schema,
		Messages: []model.Message{{Role: "system", Content: "You judge whether"}, {Role: "user", Content: "<items>\n</items>"}},
	})
	return r, s, err
}

func TestAnthropicSendsTheDocumentedRequest(t *testing.T) {
	r, s, err := anthropicCall(t, "", validation.JudgeSchema)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Calls()) != 1 {
		t.Fatalf("%d calls", len(s.Calls()))
	}
	c := s.Calls()[0]
	if c.Path != "/v1/messages" || c.Header.Get("X-Api-Key") != "sk-ant-test" || c.Header.Get("Anthropic-Version") != "2023-06-01" || c.Header.Get("Authorization") != "" {
		t.Errorf("%s %v", c.Path, c.Header)
	}
	got, _ := json.Marshal(c.Body)
	want := `{"max_tokens":77,"messages":[{"content":[{"text":"<items>\n</items>","type":"text"}],"role":"user"}],"model":"claude-haiku-4-5",` +
		`"system":[{"cache_control":{"type":"ephemeral"},"text":"You judge whether","type":"text"}],"temperature":0.3,"tool_choice":{"name":"verdicts","type":"tool"},` +
		`"tools":[{"input_schema":{"properties":{"verdicts":{"items":{"additionalProperties":false,"properties":{"id":{"type":"string"},"pass":{"type":"boolean"},"why":{"type":"string"}},"required":["id","pass","why"],"type":"object"},"type":"array"}},"required":["verdicts"],"type":"object"},"name":"verdicts"}]}`
	var a, b any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		t.Fatal("not JSON")
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if strings.ReplaceAll(string(x), `\u003c`, "<") != strings.ReplaceAll(string(y), `\u003c`, "<") {
		t.Errorf("request\n%s\nwant\n%s", x, y)
	}
	if r.Finish != "stop" || !strings.HasPrefix(r.Text, `{"verdicts"`) || r.Usage.Input == 0 || r.Usage.Cached == 0 || r.Usage.Written == 0 || r.Usage.Output == 0 || r.Usage.Estimated || r.Usage.Cached+r.Usage.Written > r.Usage.Input {
		t.Errorf("%+v", r)
	}
}

func TestAnthropicSortsFailures(t *testing.T) {
	for fault, want := range map[string]struct {
		kind  model.Kind
		retry bool
	}{
		"overloaded": {model.Unavailable, true}, "rate_limit": {model.RateLimited, true}, "internal": {model.Unavailable, true}, "invalid": {model.BadRequest, false}, "too_long": {model.TooLong, false},
		"credit": {model.Quota, false}, "auth": {model.Unauthorised, false}, "permission": {model.Unauthorised, false}, "not_found": {model.NotFound, false}, "too_large": {model.TooLong, false}, "not_json": {model.Malformed, true},
	} {
		_, s, err := anthropicCall(t, fault, nil)
		e, ok := model.AsError(err)
		if !ok || e.Kind != want.kind || e.Retryable() != want.retry || e.Provider != "anthropic" {
			t.Errorf("%s: %v", fault, err)
			continue
		}
		if fault == "rate_limit" && e.RetryAfter != 3*time.Second {
			t.Errorf("wait %v", e.RetryAfter)
		}
		if len(s.Calls()) != 1 {
			t.Errorf("%s: %d calls: the client must not repeat any", fault, len(s.Calls()))
		}
		if strings.Contains(err.Error(), "sk-ant") {
			t.Errorf("%v", err)
		}
	}
}

func TestAnthropicTellsHowAnAnswerEnded(t *testing.T) {
	for fault, want := range map[string]string{"": "stop", "max_tokens": "length", "refusal": "refusal"} {
		r, _, err := anthropicCall(t, fault, nil)
		if err != nil || r.Finish != want {
			t.Errorf("%s: %+v %v", fault, r, err)
		}
	}
	r, _, err := anthropicCall(t, "no_usage", nil)
	if err != nil || !r.Usage.Estimated || r.Usage.Input == 0 || r.Usage.Output == 0 {
		t.Errorf("%+v %v", r, err)
	}
}
