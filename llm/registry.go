package llm

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"whetstone/model"
)

// ErrNoKey is returned where a provider's key is not set.
var ErrNoKey = errors.New("the provider's key is not set")

// Registry makes clients of the providers a person has.
type Registry struct {
	// Getenv looks an environment variable up.
	Getenv func(string) string
	HTTP   *http.Client
}

// Providers lists the providers this build knows.
func Providers() []string { return []string{model.Offline, "openai", "ollama"} }

// Default is the model that is used when none is named: OpenAI where its key is set, else offline.
func (r *Registry) Default() model.Ref {
	if r.Getenv("OPENAI_API_KEY") != "" {
		return model.Ref{Provider: "openai", Model: DefaultModel("openai")}
	}
	return model.Ref{Provider: model.Offline}
}

// DefaultModel is the model a provider is used with when none is named.
func DefaultModel(provider string) string {
	switch provider {
	case "openai":
		return "gpt-4o-mini"
	case "ollama":
		return "llama3.2"
	}
	return ""
}

// Client makes the client for a model. It fails with ErrNoKey where the key is missing.
func (r *Registry) Client(ref model.Ref) (model.Client, error) {
	switch ref.Provider {
	case model.Offline:
		return OfflineClient{}, nil
	case "openai":
		key := r.Getenv("OPENAI_API_KEY")
		if key == "" {
			return nil, fmt.Errorf("use %s: %w: set OPENAI_API_KEY, or leave --provider out to use the offline model", ref, ErrNoKey)
		}
		return NewOpenAI(OpenAIOptions{Provider: "openai", BaseURL: r.Getenv("OPENAI_BASE_URL"), Key: key, HTTP: r.HTTP})
	case "ollama":
		base := r.Getenv("OLLAMA_HOST")
		if base == "" {
			base = "http://127.0.0.1:11434"
		}
		if !strings.Contains(base, "://") {
			base = "http://" + base
		}
		return NewOpenAI(OpenAIOptions{Provider: "ollama", BaseURL: strings.TrimRight(base, "/") + "/v1", HTTP: r.HTTP})
	}
	return nil, fmt.Errorf("provider %q: want one of %s", ref.Provider, strings.Join(Providers(), ", "))
}

// loopback reports whether an address is on this machine.
func loopback(base string) bool {
	if base == "" {
		return false
	}
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
