package llm

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"whetstone/model"
)

// embeddings answers as the embeddings reference documents it (platform.openai.com/docs/api-reference/embeddings, as of
// 2026-11): {"object": "list", "data": [{"object": "embedding", "index", "embedding"}], "model", "usage": {"prompt_tokens"}}.
func embeddings(t *testing.T, change func(map[string]any)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Input []string `json:"input"`
			Model string   `json:"model"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer sk-test" {
			t.Errorf("%s %v, %v", r.URL.Path, r.Header, err)
		}
		data := []any{}
		for i := len(in.Input) - 1; i >= 0; i-- { // in another order: the index counts
			data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": []float64{float64(len(in.Input[i])), 1, 0}})
		}
		out := map[string]any{"object": "list", "data": data, "model": in.Model, "usage": map[string]any{"prompt_tokens": 7, "total_tokens": 7}}
		if change != nil {
			change(out)
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s
}

func embedder(t *testing.T, url string) model.Embedder {
	t.Helper()
	r := &Registry{Getenv: func(k string) string {
		return map[string]string{"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": url + "/v1"}[k]
	}, HTTP: &http.Client{}}
	e, err := r.Embedder(model.Ref{Provider: "openai", Model: "text-embedding-3-small"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestVectorsComeInTheOrderOfTheirTexts(t *testing.T) {
	s := embeddings(t, nil)
	got, err := embedder(t, s.URL).Embed(t.Context(), model.EmbedRequest{Ref: model.Ref{Provider: "openai", Model: "text-embedding-3-small"}, Texts: []string{"a", "bbb"}})
	if err != nil || len(got.Vectors) != 2 || got.Vectors[0][0] != 1 || got.Vectors[1][0] != 3 || got.Usage.Input != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestVectorsThatAreNotAsDocumentedAreMalformed(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"one too few":       func(m map[string]any) { m["data"] = m["data"].([]any)[1:] },
		"one twice":         func(m map[string]any) { m["data"].([]any)[0] = m["data"].([]any)[1] },
		"an empty one":      func(m map[string]any) { m["data"].([]any)[0].(map[string]any)["embedding"] = []float64{} },
		"different lengths": func(m map[string]any) { m["data"].([]any)[0].(map[string]any)["embedding"] = []float64{1} },
	} {
		s := embeddings(t, change)
		_, err := embedder(t, s.URL).Embed(t.Context(), model.EmbedRequest{Texts: []string{"a", "b"}})
		if e, ok := model.AsError(err); !ok || e.Kind != model.Malformed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&Registry{Getenv: func(string) string { return "" }}).Embedder(model.Ref{Provider: model.Offline}); err == nil || !strings.Contains(err.Error(), "words alone") {
		t.Errorf("offline: %v", err)
	}
}
