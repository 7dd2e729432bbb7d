package wiki

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"whetstone/internal/testcorpus"
)

type configCase struct {
	Text      string
	OK        bool
	Want      map[string]any
	ErrorLine *int    `json:"error_line"`
	ErrorHas  *string `json:"error_has"`
	Why       string
}

func flat(c Config) map[string]any {
	out := map[string]any{"slug": c.Slug, "title": c.Title, "flavor": c.Flavor, "private": c.Private, "project": c.Project, "model": c.Model, "embedding_model": c.Embedding, "tags": c.Tags, "auto_research.fetchers": c.Research.Fetchers}
	if c.Research.Enabled != nil {
		out["auto_research.enabled"] = *c.Research.Enabled
	}
	if c.Research.BudgetUSD != nil {
		out["auto_research.budget_usd"] = *c.Research.BudgetUSD
	}
	for k, v := range map[string]*int{"max_pages": c.Research.MaxPages, "max_depth": c.Research.MaxDepth, "parallel": c.Research.Parallel} {
		if v != nil {
			out["auto_research."+k] = *v
		}
	}
	out["auto_research.min_interval"], out["auto_research.stale_after"] = c.Research.MinInterval, c.Research.StaleAfter
	return out
}

func TestTheConfigurationIsReadStrictly(t *testing.T) {
	for i, c := range testcorpus.Read[configCase](t, "testdata/config.jsonl") {
		name := fmt.Sprintf("%d %s", i+1, c.Why)
		got, err := ParseConfig(c.Text)
		if c.OK != (err == nil) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil {
			var ce *ConfigError
			if !errors.As(err, &ce) {
				t.Errorf("%s: %T is no ConfigError", name, err)
				continue
			}
			if c.ErrorLine != nil && ce.Line != *c.ErrorLine {
				t.Errorf("%s: line %d, want %d: %v", name, ce.Line, *c.ErrorLine, err)
			}
			if c.ErrorHas != nil && !strings.Contains(err.Error(), *c.ErrorHas) {
				t.Errorf("%s: %v does not name %q", name, err, *c.ErrorHas)
			}
			continue
		}
		have := flat(got)
		for k, want := range c.Want {
			v, ok := have[k]
			if d, is := v.(time.Duration); is {
				wd, _ := time.ParseDuration(want.(string))
				v, want = d, wd
			}
			if !ok || fmt.Sprint(v) != fmt.Sprint(want) {
				t.Errorf("%s: %s is %v, want %v", name, k, v, want)
			}
		}
	}
}

// The reference reads "enabled: false # note" as true, and zero as the default.
func TestFalseWithANoteIsFalseAndZeroIsZero(t *testing.T) {
	c, err := ParseConfig("---\ntitle: T\nauto_research:\n  enabled: false # for now\n  budget_usd: 0\n  max_depth: 0\n---\n")
	if err != nil || c.Research.Enabled == nil || *c.Research.Enabled || c.Research.BudgetUSD == nil || *c.Research.BudgetUSD != 0 || c.Research.MaxDepth == nil || *c.Research.MaxDepth != 0 || c.Research.MaxPages != nil {
		t.Errorf("%+v, %v", c.Research, err)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, c := range testcorpus.Read[configCase](f, "testdata/config.jsonl") {
		if len(c.Text) < 2000 {
			f.Add(c.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig(text)
		if err == nil && c.Title == "" {
			t.Error("a configuration without a title passed")
		}
	})
}
