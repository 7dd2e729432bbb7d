package llm

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
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
	batch     map[string]float64 // what part of the price a batch costs
	own       map[string]model.Price
}

// Override puts a person's own price before the table's.
func (p *Prices) Override(name string, price model.Price) {
	if p.own == nil {
		p.own = map[string]model.Price{}
	}
	p.own[name] = price
}

// FreeProvider says that a provider's models cost nothing by the token.
func (p *Prices) FreeProvider(name string) { p.free = append(p.free, name) }

// Batch is the price of a model where it is asked in batches, for showing what that would save.
func (p *Prices) Batch(ref model.Ref) (model.Price, bool) {
	price, err := p.Of(ref)
	part, ok := p.batch[ref.String()]
	if err != nil || !ok {
		return price, false
	}
	return model.Price{Input: price.Input * part, Cached: price.Cached * part, Write: price.Write * part, Output: price.Output * part}, true
}

// LoadPrices reads the compiled-in table.
func LoadPrices() (*Prices, error) {
	var t struct {
		Date      string `yaml:"date"`
		Providers map[string]map[string]struct {
			Input  float64 `yaml:"input"`
			Cached float64 `yaml:"cached"`
			Write  float64 `yaml:"write"`
			Batch  float64 `yaml:"batch"`
			Output float64 `yaml:"output"`
		} `yaml:"providers"`
		Free []string `yaml:"free"`
	}
	if err := yaml.UnmarshalWithOptions(pricesYAML, &t, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read the price table: %w", err)
	}
	p := &Prices{Date: t.Date, providers: map[string]map[string]model.Price{}, free: t.Free, batch: map[string]float64{}}
	for provider, models := range t.Providers {
		p.providers[provider] = map[string]model.Price{}
		for name, x := range models {
			p.providers[provider][name] = model.Price{Input: x.Input, Cached: x.Cached, Write: x.Write, Output: x.Output}
			if x.Batch > 0 {
				p.batch[provider+":"+name] = x.Batch
			}
		}
	}
	return p, nil
}

// dated is a model's name with the date of a version: gpt-4o-mini-2024-07-18, claude-haiku-4-5-20251001, claude-sonnet-4-5@20250929.
var dated = regexp.MustCompile(`^(.+?)[-@](?:\d{4}-\d\d-\d\d|\d{8}|latest|preview-\d\d-\d{4}|\d{3})$`)

// Of returns the price of a model, or ErrUnknownPrice with the models whose price is known. A dated name such as
// gpt-4o-mini-2024-07-18 has the price of the name without its date.
func (p *Prices) Of(ref model.Ref) (model.Price, error) {
	if price, ok := p.own[ref.String()]; ok {
		return price, nil
	}
	if slices.Contains(p.free, ref.Provider) {
		return model.Price{}, nil
	}
	models := p.providers[ref.Provider]
	if price, ok := models[ref.Model]; ok {
		return price, nil
	}
	if m := dated.FindStringSubmatch(ref.Model); m != nil {
		if price, ok := models[m[1]]; ok {
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
