package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/goccy/go-yaml"
)

// Config is <home>/config.yaml. Keys of providers never stand in it: it names the variables that hold them.
type Config struct {
	// Contact is how the operators of sources can reach whoever runs this: a mail or web address.
	Contact string            `yaml:"contact"`
	Sources map[string]Source `yaml:"sources"`
	Guards  Guards            `yaml:"guards"`
	Hook    Hook              `yaml:"hook"`
	// Providers adds servers of OpenAI's protocol by a name of one's own, and changes the address or the pace of known ones.
	Providers map[string]Provider `yaml:"providers"`
	// Prices are in dollars for a million tokens, by "provider:model"; they go before the compiled-in table.
	Prices map[string]Price `yaml:"prices"`
	Caps   Caps             `yaml:"caps"`
}

// Provider configures where models are asked, and how fast.
type Provider struct {
	BaseURL   string `yaml:"base_url"`
	KeyEnv    string `yaml:"key_env"` // variable, or entry of keys.env, that holds the key
	Model     string `yaml:"model"`   // used where none is named
	Local     bool   `yaml:"local"`   // costs nothing by the token
	Schema    bool   `yaml:"schema"`  // holds a model to a JSON Schema
	AtOnce    int    `yaml:"at_once"`
	PerMinute int    `yaml:"per_minute"`
}

// Price is in dollars for a million tokens.
type Price struct {
	Input  *float64 `yaml:"input"`
	Cached *float64 `yaml:"cached"` // default input
	Write  *float64 `yaml:"write"`  // default input
	Output *float64 `yaml:"output"`
}

// Caps bound what model calls may take, over all runs: in a run, since midnight, since the first of the month, in UTC. What is left
// out is not bounded; 0 allows nothing.
type Caps struct {
	Run   Cap `yaml:"run"`
	Day   Cap `yaml:"day"`
	Month Cap `yaml:"month"`
}

// Cap is one bound.
type Cap struct {
	USD    *float64 `yaml:"usd"`
	Calls  *int     `yaml:"calls"`
	Tokens *int     `yaml:"tokens"`
}

// Source configures where research asks.
type Source struct {
	BaseURL  string   `yaml:"base_url"`
	KeyEnv   string   `yaml:"key_env"`
	Interval string   `yaml:"interval"`
	CostUSD  *float64 `yaml:"cost_usd"`
	Hosts    []string `yaml:"hosts"`
}

// Guards adds patterns of files to the hook's guards: * stays in a folder, ** does not; relative to the agent's folder.
type Guards struct {
	Deny []string `yaml:"deny"`
	Ask  []string `yaml:"ask"`
}

// Hook configures what the hook tells.
type Hook struct {
	// ToolBudget is the number of tool calls from which the reminder at the end of a turn names them; 0 never does.
	ToolBudget int `yaml:"tool_budget"`
}

// ErrConfig marks a configuration that can not be understood.
var ErrConfig = errors.New("the configuration can not be used")

// ReadConfig reads config.yaml strictly: an unknown key is told with its position. A file that is not there is empty.
func (d Dir) ReadConfig() (Config, error) {
	var c Config
	b, err := os.ReadFile(d.Config())
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read %s: %w", d.Config(), err)
	}
	if err := yaml.UnmarshalWithOptions(b, &c, yaml.Strict()); err != nil {
		return c, fmt.Errorf("%w: %s: %s", ErrConfig, d.Config(), yaml.FormatError(err, false, false))
	}
	return c, nil
}

// Sessions holds what the hook remembers of each session.
func (d Dir) Sessions() string { return string(d) + string(os.PathSeparator) + "sessions" }
