package llm

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"whetstone/model"
)

// ErrNoKey is returned where a provider's key is not set.
var ErrNoKey = errors.New("the provider's key is not set")

// Registry makes clients of the providers a person has. All clients of one provider share its limits.
type Registry struct {
	// Getenv looks a variable up, in the environment and in the file of keys.
	Getenv func(string) string
	HTTP   *http.Client
	Custom map[string]Provider // of config.yaml
	Limits map[string]Limits   // of config.yaml

	mu    sync.Mutex
	gates map[string]*gate
}

// Default is the model that is used when none is named: of the first provider whose key is set, else offline.
func (r *Registry) Default() model.Ref {
	for _, name := range []string{"openai", "anthropic", "gemini"} {
		if p, err := r.provider(name); err == nil && r.Getenv(p.KeyEnv) != "" {
			return model.Ref{Provider: name, Model: p.Model}
		}
	}
	return model.Ref{Provider: model.Offline}
}

// Client makes the client for a model. It fails with ErrNoKey where the key is missing.
func (r *Registry) Client(ref model.Ref) (model.Client, error) {
	p, err := r.provider(ref.Provider)
	if err != nil {
		return nil, err
	}
	c, err := r.make(p, ref)
	if err != nil {
		return nil, err
	}
	if p.protocol == offline {
		return c, nil
	}
	return gated{c, r.gate(p), r.secrets(p)}, nil
}

// secrets are the keys that a provider is given.
func (r *Registry) secrets(p Provider) []string {
	names := []string{p.KeyEnv}
	switch p.protocol {
	case claudeCLI:
		names = []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"}
	case codexCLI:
		names = []string{"OPENAI_API_KEY", "CODEX_API_KEY"}
	}
	var out []string
	for _, n := range names {
		if n != "" {
			if v := r.Getenv(n); v != "" {
				out = append(out, v)
			}
		}
	}
	return out
}

func (r *Registry) make(p Provider, ref model.Ref) (model.Client, error) {
	key := ""
	if p.KeyEnv != "" {
		if key = strings.TrimSpace(r.Getenv(p.KeyEnv)); key == "" {
			return nil, fmt.Errorf("use %s: %w: set %s, or leave --provider out to use the offline model", ref, ErrNoKey, p.KeyEnv)
		}
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return nil, fmt.Errorf("use %s: the key in %s holds a space, a line break or another character that no key has", ref, p.KeyEnv)
	}
	if ref.Model == "" && p.Model == "" && p.protocol != offline && p.protocol != codexCLI {
		return nil, fmt.Errorf("use %s: name a model, as in %s:MODEL", ref, ref.Provider)
	}
	switch p.protocol {
	case offline:
		return OfflineClient{}, nil
	case chat:
		return NewOpenAI(OpenAIOptions{Provider: p.Name, BaseURL: r.base(p), Key: key, HTTP: r.HTTP, Schema: p.Schema})
	case messages:
		return NewAnthropic(AnthropicOptions{Provider: p.Name, BaseURL: r.base(p), Key: key, HTTP: r.HTTP}), nil
	case claudeCLI, codexCLI:
		return newAgentCLI(p, r.Getenv)
	}
	return nil, fmt.Errorf("provider %s makes vectors and completes no prompts", p.Name)
}

// Local reports whether a model runs on this machine, as far as its address tells.
func (r *Registry) Local(ref model.Ref) bool {
	p, err := r.provider(ref.Provider)
	if err != nil {
		return false
	}
	return p.protocol == offline || p.protocol == chat && loopback(r.base(p))
}

// Address is where a local provider listens, "" for the others.
func (r *Registry) Address(name string) string {
	p, err := r.provider(name)
	if err != nil || p.protocol != chat || !loopback(r.base(p)) {
		return ""
	}
	u, err := url.Parse(r.base(p))
	if err != nil {
		return ""
	}
	if u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), map[string]string{"https": "443"}[u.Scheme]+map[string]string{"http": "80"}[u.Scheme])
	}
	return u.Host
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
