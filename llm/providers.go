package llm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"whetstone/model"
)

// protocol is how a provider is spoken to.
type protocol string

const (
	offline   protocol = "offline"
	chat      protocol = "chat" // OpenAI's chat completions
	messages  protocol = "messages"
	claudeCLI protocol = "claude-cli"
	codexCLI  protocol = "codex-cli"
	vectors   protocol = "vectors" // embeddings only
)

// Provider is what is known of a provider, compiled in or from config.yaml.
type Provider struct {
	Name     string
	BaseURL  string
	KeyEnv   string // variable or key-file entry that holds the key; "" needs none
	BaseEnv  string // variable that gives another address
	Model    string // used where none is named
	Local    bool   // runs on this machine as long as its address says so; free by the token
	Schema   bool   // holds a model to a JSON Schema
	AtOnce   int    // calls at once
	Minute   int    // calls a minute; 0 is as many as there are
	protocol protocol
}

const atOnce = 8

// known are the providers of this build. Addresses and names of keys are as their documentation gave them in November 2026.
var known = []Provider{
	{Name: model.Offline, Local: true, AtOnce: 64, protocol: offline},
	{Name: "openai", BaseEnv: "OPENAI_BASE_URL", KeyEnv: "OPENAI_API_KEY", Model: "gpt-4o-mini", Schema: true, protocol: chat},
	{Name: "anthropic", BaseEnv: "ANTHROPIC_BASE_URL", KeyEnv: "ANTHROPIC_API_KEY", Model: "claude-haiku-4-5", Schema: true, protocol: messages},
	{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", BaseEnv: "GEMINI_BASE_URL", KeyEnv: "GEMINI_API_KEY", Model: "gemini-2.5-flash", Schema: true, protocol: chat},
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", BaseEnv: "OPENROUTER_BASE_URL", KeyEnv: "OPENROUTER_API_KEY", Model: "openai/gpt-4o-mini", protocol: chat},
	{Name: "fireworks", BaseURL: "https://api.fireworks.ai/inference/v1", BaseEnv: "FIREWORKS_BASE_URL", KeyEnv: "FIREWORKS_API_KEY", Model: "accounts/fireworks/models/llama-v3p3-70b-instruct", Schema: true, protocol: chat},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", BaseEnv: "GROQ_BASE_URL", KeyEnv: "GROQ_API_KEY", Model: "llama-3.3-70b-versatile", protocol: chat},
	{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", BaseEnv: "OLLAMA_HOST", Model: "llama3.2", Local: true, AtOnce: 2, protocol: chat},
	{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", BaseEnv: "VLLM_BASE_URL", Local: true, protocol: chat},
	{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", BaseEnv: "LMSTUDIO_BASE_URL", Local: true, AtOnce: 2, protocol: chat},
	{Name: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1", BaseEnv: "LLAMACPP_BASE_URL", Local: true, AtOnce: 2, protocol: chat},
	{Name: "claude-cli", Model: "sonnet", AtOnce: 2, protocol: claudeCLI},
	{Name: "codex-cli", Model: "", AtOnce: 2, protocol: codexCLI},
	{Name: "voyage", BaseURL: "https://api.voyageai.com/v1", BaseEnv: "VOYAGE_BASE_URL", KeyEnv: "VOYAGE_API_KEY", Model: "voyage-3.5-lite", protocol: vectors},
}

// Names lists the compiled-in providers.
func Names() []string {
	out := make([]string, len(known))
	for i, p := range known {
		out[i] = p.Name
	}
	return out
}

// Providers lists the providers that complete prompts.
func Providers() []string {
	var out []string
	for _, p := range known {
		if p.protocol != vectors {
			out = append(out, p.Name)
		}
	}
	return out
}

// DefaultModel is the model a compiled-in provider is used with when none is named.
func DefaultModel(provider string) string {
	i := slices.IndexFunc(known, func(p Provider) bool { return p.Name == provider })
	if i < 0 {
		return ""
	}
	return known[i].Model
}

// ProviderOf tells the provider of a model's name, where only one makes models of such a name.
func ProviderOf(name string) (string, bool) {
	low := strings.ToLower(name)
	for prefix, provider := range map[string]string{"gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "chatgpt-": "openai", "text-embedding-3": "openai", "claude-": "anthropic", "gemini-": "gemini", "voyage-": "voyage"} {
		if strings.HasPrefix(low, prefix) && !strings.Contains(name, "/") {
			return provider, true
		}
	}
	return "", false
}

// provider finds one by name: config.yaml's before the compiled-in ones.
func (r *Registry) provider(name string) (Provider, error) {
	if p, ok := r.Custom[name]; ok {
		return p, nil
	}
	if i := slices.IndexFunc(known, func(p Provider) bool { return p.Name == name }); i >= 0 {
		return known[i], nil
	}
	return Provider{}, fmt.Errorf("provider %q: want one of %s, or one of config.yaml", name, strings.Join(append(Names(), slices.Sorted(maps.Keys(r.Custom))...), ", "))
}

// Names lists all providers of this registry, those of config.yaml last.
func (r *Registry) Names() []string {
	out := Names()
	for _, n := range slices.Sorted(maps.Keys(r.Custom)) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// DefaultModel is the model a provider is used with when none is named.
func (r *Registry) DefaultModel(name string) string {
	p, err := r.provider(name)
	if err != nil {
		return ""
	}
	return p.Model
}

// Completes reports whether a provider completes prompts, and is known at all.
func (r *Registry) Completes(name string) bool {
	p, err := r.provider(name)
	return err == nil && p.protocol != vectors
}

// base is the provider's address.
func (r *Registry) base(p Provider) string {
	b := p.BaseURL
	if v := strings.TrimSpace(r.Getenv(p.BaseEnv)); p.BaseEnv != "" && v != "" {
		b = v
		if !strings.Contains(b, "://") {
			b = "http://" + b
		}
		if p.Name == "ollama" && !strings.HasSuffix(strings.TrimRight(b, "/"), "/v1") {
			b = strings.TrimRight(b, "/") + "/v1"
		}
	}
	return strings.TrimRight(b, "/")
}

// Free reports whether a model costs nothing by the token: it runs on this machine, or a subscription pays for it.
func (r *Registry) Free(name string) bool {
	p, err := r.provider(name)
	return err == nil && (p.Local || p.protocol == claudeCLI || p.protocol == codexCLI)
}

// Change gives a compiled-in provider another address, key or model.
func (r *Registry) Change(name, baseURL, keyEnv, defaultModel string) error {
	p, err := r.provider(name)
	if err != nil {
		return err
	}
	if p.protocol != chat && p.protocol != messages && p.protocol != vectors && (baseURL != "" || keyEnv != "") {
		return fmt.Errorf("it has neither address nor key")
	}
	if baseURL != "" {
		if !strings.HasPrefix(baseURL, "http://") && !strings.HasPrefix(baseURL, "https://") {
			return fmt.Errorf("base_url must begin with http:// or https://")
		}
		p.BaseURL = strings.TrimRight(baseURL, "/")
	}
	if keyEnv != "" {
		p.KeyEnv = keyEnv
	}
	if defaultModel != "" {
		p.Model = defaultModel
	}
	if r.Custom == nil {
		r.Custom = map[string]Provider{}
	}
	r.Custom[name] = p
	return nil
}

// Custom makes a provider of config.yaml.
func Custom(name, baseURL, keyEnv, defaultModel string, local, schema bool, atOnce, minute int) Provider {
	return Provider{Name: name, BaseURL: strings.TrimRight(baseURL, "/"), KeyEnv: keyEnv, Model: defaultModel, Local: local, Schema: schema, AtOnce: atOnce, Minute: minute, protocol: chat}
}
