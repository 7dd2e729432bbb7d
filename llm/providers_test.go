package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"whetstone/model"
	"whetstone/validation"
)

// Each provider of the chat protocol gets the documented request at its own address with its own key: the golden form of what
// leaves the machine, without the key.
func TestEachProviderGetsTheDocumentedRequest(t *testing.T) {
	for name, want := range map[string]struct{ base, key, model, path, body string }{
		"openai":     {"OPENAI_BASE_URL", "OPENAI_API_KEY", "gpt-4o-mini", "/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"gpt-4o-mini","seed":3,"stream":false,"temperature":0.5}`},
		"gemini":     {"GEMINI_BASE_URL", "GEMINI_API_KEY", "gemini-2.5-flash", "/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"gemini-2.5-flash","response_format":SCHEMA,"seed":3,"stream":false,"temperature":0.5}`},
		"openrouter": {"OPENROUTER_BASE_URL", "OPENROUTER_API_KEY", "openai/gpt-4o-mini", "/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"openai/gpt-4o-mini","seed":3,"stream":false,"temperature":0.5}`},
		"fireworks":  {"FIREWORKS_BASE_URL", "FIREWORKS_API_KEY", "accounts/fireworks/models/llama-v3p3-70b-instruct", "/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"accounts/fireworks/models/llama-v3p3-70b-instruct","response_format":SCHEMA,"seed":3,"stream":false,"temperature":0.5}`},
		"groq":       {"GROQ_BASE_URL", "GROQ_API_KEY", "llama-3.3-70b-versatile", "/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"llama-3.3-70b-versatile","seed":3,"stream":false,"temperature":0.5}`},
		"ollama":     {"OLLAMA_HOST", "", "llama3.2", "/v1/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"llama3.2","seed":3,"stream":false,"temperature":0.5}`},
		"vllm":       {"VLLM_BASE_URL", "", "any", "/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"any","seed":3,"stream":false,"temperature":0.5}`},
		"lmstudio":   {"LMSTUDIO_BASE_URL", "", "any", "/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"any","seed":3,"stream":false,"temperature":0.5}`},
		"llamacpp":   {"LLAMACPP_BASE_URL", "", "any", "/chat/completions", `{"max_tokens":9,"messages":[{"content":"hi","role":"user"}],"model":"any","seed":3,"stream":false,"temperature":0.5}`},
	} {
		var path, auth, body string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			path, auth, body = r.URL.Path, r.Header.Get("Authorization"), string(b)
			_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}`)
		}))
		env := map[string]string{want.base: s.URL}
		if want.key != "" {
			env[want.key] = "the-key-of-" + name
		}
		r := &Registry{Getenv: func(k string) string { return env[k] }}
		c, err := r.Client(model.Ref{Provider: name, Model: want.model})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Complete(t.Context(), model.Request{Ref: model.Ref{Provider: name, Model: want.model}, MaxTokens: 9, Temperature: 0.5, Seed: 3, Schema: validation.JudgeSchema, Messages: []model.Message{{Role: "user", Content: "hi"}}})
		s.Close()
		if err != nil || got.Text != "ok" || got.Usage.Input != 7 {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		schema := `{"json_schema":{"name":"verdicts","schema":` + string(validation.JudgeSchema.JSON) + `,"strict":true},"type":"json_schema"}`
		if path != want.path || canonical(t, body) != canonical(t, strings.ReplaceAll(want.body, "SCHEMA", schema)) {
			t.Errorf("%s: %s %s", name, path, body)
		}
		if want.key != "" && auth != "Bearer the-key-of-"+name || strings.Contains(body, "the-key-of-") {
			t.Errorf("%s: %q", name, auth)
		}
		if want.key != "" {
			env[want.key] = ""
			if _, err := r.Client(model.Ref{Provider: name, Model: want.model}); err == nil || !strings.Contains(err.Error(), want.key) {
				t.Errorf("%s without a key: %v", name, err)
			}
		}
	}
}

func canonical(t *testing.T, s string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func TestVoyageMakesVectors(t *testing.T) {
	var body, path string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, path = string(b), r.URL.Path
		// docs.voyageai.com/reference/embeddings-api, 2026-11: usage has the total alone.
		_, _ = io.WriteString(w, `{"object":"list","data":[{"object":"embedding","embedding":[0.1,0.2],"index":0},{"object":"embedding","embedding":[0.3,0.4],"index":1}],"model":"voyage-3.5-lite","usage":{"total_tokens":11}}`)
	}))
	defer s.Close()
	r := &Registry{Getenv: func(k string) string {
		return map[string]string{"VOYAGE_BASE_URL": s.URL + "/v1", "VOYAGE_API_KEY": "pa-x"}[k]
	}}
	ref := model.Ref{Provider: "voyage", Model: "voyage-3.5-lite"}
	e, err := r.Embedder(ref)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Embed(t.Context(), model.EmbedRequest{Ref: ref, Texts: []string{"a", "b"}})
	if err != nil || len(got.Vectors) != 2 || got.Usage.Input != 11 || got.Usage.Estimated || path != "/v1/embeddings" || !strings.Contains(body, `"input":["a","b"]`) {
		t.Errorf("%+v %v %s %s", got, err, path, body)
	}
	if _, err := r.Client(ref); err == nil {
		t.Error("it completes no prompts")
	}
	for _, other := range []string{model.Offline, "anthropic", "claude-cli"} {
		if _, err := r.Embedder(model.Ref{Provider: other}); err == nil {
			t.Errorf("%s makes no vectors", other)
		}
	}
}

func TestTheProviderIsToldByTheModelsNameOnlyWhereThatIsClear(t *testing.T) {
	for name, want := range map[string]string{"gpt-4o": "openai", "o4-mini": "openai", "claude-sonnet-4-5": "anthropic", "gemini-2.5-pro": "gemini", "voyage-3.5": "voyage", "llama3.2": "", "openai/gpt-4o": "", "qwen3": "", "mistral-large": "", "": ""} {
		if got, ok := ProviderOf(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v", name, got, ok)
		}
	}
}

func TestEveryDefaultModelHasAPrice(t *testing.T) {
	p, err := LoadPrices()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range known {
		if _, err := p.Of(model.Ref{Provider: x.Name, Model: x.Model}); err != nil {
			t.Errorf("%v", err)
		}
	}
	for _, dated := range []string{"anthropic:claude-haiku-4-5-20251001", "openai:gpt-4o-mini-2024-07-18", "anthropic:claude-3-5-haiku-latest"} {
		ref, _ := model.ParseRef(dated)
		if price, err := p.Of(ref); err != nil || price.Output == 0 {
			t.Errorf("%s: %v", dated, err)
		}
	}
	if _, err := p.Of(model.Ref{Provider: "openai", Model: "gpt-9"}); err == nil {
		t.Error("a price was made up")
	}
	p.Override("openai:gpt-9", model.Price{Input: 1, Output: 2})
	if price, err := p.Of(model.Ref{Provider: "openai", Model: "gpt-9"}); err != nil || price.Output != 2 {
		t.Errorf("%+v %v", price, err)
	}
	full, _ := p.Of(model.Ref{Provider: "anthropic", Model: "claude-haiku-4-5"})
	if half, ok := p.Batch(model.Ref{Provider: "anthropic", Model: "claude-haiku-4-5"}); !ok || half.Output != full.Output/2 {
		t.Errorf("%+v %v", half, ok)
	}
}

func TestAllClientsOfAProviderShareOneGate(t *testing.T) {
	r := &Registry{Getenv: func(string) string { return "k" }}
	var wg sync.WaitGroup
	gates := make([]*gate, 20)
	for i := range gates {
		wg.Go(func() {
			c, err := r.Client(model.Ref{Provider: "groq", Model: "m"})
			if err != nil {
				t.Error(err)
				return
			}
			gates[i] = c.(gated).gate
		})
	}
	wg.Wait()
	for _, g := range gates {
		if g != gates[0] || g == nil {
			t.Fatal("another gate")
		}
	}
}
