package service

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"whetstone/fetch"
	"whetstone/home"
	"whetstone/source"
)

// keyVariables are where the sources' keys are looked up unless key_env says otherwise.
var keyVariables = map[string]string{"github": "GITHUB_TOKEN", "brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY", "semanticscholar": "SEMANTIC_SCHOLAR_API_KEY", "openalex": "OPENALEX_API_KEY"}

// readConfig reads config.yaml; what is wrong with it is the person's to mend.
func readConfig(dir home.Dir) (home.Config, error) {
	c, err := dir.ReadConfig()
	if errors.Is(err, home.ErrConfig) {
		return c, inputError(err.Error())
	}
	return c, err
}

// newSources joins config.yaml and the environment: NAME_BASE_URL for an address, the usual variables for keys.
func newSources(dir home.Dir, getenv func(string) string, now func() time.Time) (*fetch.Set, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	for name := range c.Sources {
		if !slices.Contains(fetch.Names(), name) {
			return nil, inputError(fmt.Sprintf("%s: sources.%s is no source: want one of %s", dir.Config(), name, strings.Join(fetch.Names(), ", ")))
		}
	}
	out := map[string]fetch.Config{}
	for _, name := range fetch.Names() {
		x := c.Sources[name]
		f := fetch.Config{BaseURL: x.BaseURL, CostUSD: x.CostUSD, Hosts: x.Hosts}
		if v := getenv(strings.ToUpper(name) + "_BASE_URL"); v != "" && name != "web" && name != "local" {
			f.BaseURL = v
		}
		variable := x.KeyEnv
		if variable == "" {
			variable = keyVariables[name]
		}
		if variable != "" {
			f.Key = getenv(variable)
		}
		if x.Interval != "" {
			d, err := time.ParseDuration(x.Interval)
			if err != nil || d < 0 {
				return nil, inputError(fmt.Sprintf("%s: sources.%s.interval: want a duration such as 3s, not %q", dir.Config(), name, x.Interval))
			}
			f.Interval = &d
		}
		out[name] = f
	}
	set, err := fetch.New(fetch.Options{Sources: out, Custom: dir.Fetchers(), Contact: c.Contact, Now: now})
	if err != nil {
		return nil, inputError(err.Error())
	}
	return set, nil
}

// sources satisfies the activities' port.
type sources struct {
	set    *fetch.Set
	tapes  *fetch.Replayers
	unsent func(name string, q source.Query) // shows what would be asked for elsewhere; nil asks
}

func (s sources) Fetcher(name string, private bool) (source.Fetcher, error) {
	f, err := s.set.Fetcher(name, private)
	if err != nil || s.unsent == nil {
		return f, err
	}
	return fetch.Shown{Fetcher: f, Show: s.unsent}, nil
}

// RecordSource writes down what a source said.
func (s sources) RecordSource(dir, name string, q source.Query, docs []source.Document, failed error) error {
	return fetch.Record(dir, name, q, docs, failed)
}

// ReplaySource answers from what was written down.
func (s sources) ReplaySource(dir, name string, q source.Query) ([]source.Document, error) {
	return s.tapes.Answer(dir, name, q)
}

func (s sources) Names() []string { return fetch.Names() }
