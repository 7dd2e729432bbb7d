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
