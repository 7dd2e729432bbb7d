package llm

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"whetstone/model"
)

//go:embed prices.yaml
var pricesYAML []byte

// ErrUnknownPrice is returned for a model that is not in the table: a run without a price has no budget.
var ErrUnknownPrice = errors.New("the price of the model is not known")

// Prices is the dated price table.
type Prices struct {
	Date      string
	providers map[string]map[string]model.Price
	free      []string
}

// LoadPrices reads the compiled-in table.
func LoadPrices() (*Prices, error) {
	var t struct {
		Date      string `yaml:"date"`
		Providers map[string]map[string]struct {
			Input  float64 `yaml:"input"`
			Cached float64 `yaml:"cached"`
			Output float64 `yaml:"output"`
		} `yaml:"providers"`
		Free []string `yaml:"free"`
	}
	if err := yaml.UnmarshalWithOptions(pricesYAML, &t, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read the price table: %w", err)
	}
	p := &Prices{Date: t.Date, providers: map[string]map[string]model.Price{}, free: t.Free}
	for provider, models := range t.Providers {
		p.providers[provider] = map[string]model.Price{}
		for name, x := range models {
			p.providers[provider][name] = model.Price{Input: x.Input, Cached: x.Cached, Output: x.Output}
		}
	}
	return p, nil
}

// Of returns the price of a model, or ErrUnknownPrice with the models whose price is known. A dated name such as
// gpt-4o-mini-2024-07-18 has the price of the name without its date.
func (p *Prices) Of(ref model.Ref) (model.Price, error) {
	if slices.Contains(p.free, ref.Provider) {
		return model.Price{}, nil
	}
	models := p.providers[ref.Provider]
	if price, ok := models[ref.Model]; ok {
		return price, nil
	}
	if n := len(ref.Model) - len("-2006-01-02"); n > 0 {
		if price, ok := models[ref.Model[:n]]; ok && strings.Count(ref.Model[n:], "-") == 3 {
			return price, nil
		}
	}
	known := make([]string, 0, len(models))
	for name := range models {
		known = append(known, name)
	}
	slices.Sort(known)
	return model.Price{}, fmt.Errorf("%w: %s is not in the table of %s (known for %s: %s); give it with --price IN,OUT in dollars for a million tokens", ErrUnknownPrice, ref, p.Date, ref.Provider, strings.Join(known, ", "))
}
