package e2e

import (
	"strings"
	"testing"
	"time"

	"whetstone/internal/fakeopenai"
	"whetstone/run"
)

func withFake(t *testing.T, next func(n int, prompt string) fakeopenai.Fault, env ...string) (*Place, *fakeopenai.Server) {
	t.Helper()
	f := fakeopenai.Start(t, time.Second, next)
	p := NewPlace(t, "go-testing")
	p.Env = append([]string{"OPENAI_API_KEY=sk-test-key-that-must-not-leak", "OPENAI_BASE_URL=" + f.URL, "WHETSTONE_CALL_TIMEOUT=2s"}, env...)
	return p, f
}

// The main job against a real HTTP server that fails in every way a provider does: it ends accepted, within the budget,
// and with the outcome that the same server gives without faults.
func TestAProviderThatFails(t *testing.T) {
	args := []string{"--goal", "adopt", "--epochs", "1", "--trials", "1"}
	calm, _ := withFake(t, nil)
	want, out := calm.Optimize(args...)
	if out.Code != 0 || want.Outcome != run.Accepted || want.SpentUSD <= 0 || want.Provider != "openai:gpt-4o-mini" {
		t.Fatalf("without faults: exit %d, %+v\n%s", out.Code, want, out.Stderr)
	}
	for name, fault := range map[string]fakeopenai.Fault{
		"429 with Retry-After":   fakeopenai.TooMany,
		"500":                    fakeopenai.ServerError,
		"502 with HTML":          fakeopenai.BadGateway,
		"a timeout":              fakeopenai.Hang,
		"a broken connection":    fakeopenai.Reset,
		"truncated JSON":         fakeopenai.Truncated,
		"JSON wrapped in prose":  fakeopenai.Prose,
		"an answer without JSON": fakeopenai.Garbage,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hit := 0
			p, f := withFake(t, func(n int, _ string) fakeopenai.Fault {
				if n == 0 || n == 3 || n == 6 {
					hit++
					return fault
				}
				return fakeopenai.None
			})
			got, out := p.Optimize(args...)
			if hit == 0 {
				t.Fatal("nothing failed: this proves nothing")
			}
			if out.Code != 0 || got.Outcome != run.Accepted {
				t.Fatalf("exit %d, %+v\n%s", out.Code, got, out.Stderr)
			}
			if *got.Baseline.Selection != *want.Baseline.Selection {
				t.Errorf("the baseline is %v, without faults %v", *got.Baseline.Selection, *want.Baseline.Selection)
			}
			if got.SpentUSD > got.BudgetUSD || got.SpentUSD <= 0 {
				t.Errorf("spent %v of %v", got.SpentUSD, got.BudgetUSD)
			}
			checkNoLeak(t, p, out)
			if len(f.Calls()) == 0 || !strings.HasPrefix(f.Calls()[0].Auth, "Bearer sk-test") {
				t.Error("the key was not sent")
			}
		})
	}
}

// An outage is never a score: where the judge never answers, there is no baseline, and the run says so.
func TestAnOutageIsNotAZero(t *testing.T) {
	p, _ := withFake(t, func(_ int, prompt string) fakeopenai.Fault {
		if strings.Contains(prompt, "You judge whether") {
			return fakeopenai.Garbage
		}
		return fakeopenai.None
	})
	r, out := p.Optimize("--trials", "1")
	if out.Code != 5 || r.Outcome != run.Indecisive || r.Baseline.Selection != nil || r.Final.Selection != nil || r.Accepted != 0 {
		t.Errorf("exit %d, %+v\n%s", out.Code, r, out.Stderr)
	}
}

func TestAWrongKeyIsToldAtOnce(t *testing.T) {
	p, f := withFake(t, func(int, string) fakeopenai.Fault { return fakeopenai.Unauthorised })
	r, out := p.Optimize()
	if out.Code != 4 || r.StoppedReason != "breaker" || !strings.Contains(r.Why, "Incorrect API key") {
		t.Errorf("exit %d, %+v", out.Code, r)
	}
	if n := len(f.Calls()); n > 6 {
		t.Errorf("%d calls with a key that is wrong", n)
	}
	checkNoLeak(t, p, out)
}

func TestAnUnknownPriceIsRefusedBeforeAnyCall(t *testing.T) {
	p, f := withFake(t, nil)
	_, out := p.Optimize("--model", "no-such-model")
	if out.Code != 2 || !strings.Contains(out.Stderr, "no-such-model") || !strings.Contains(out.Stderr, "--price") {
		t.Errorf("exit %d: %s", out.Code, out.Stderr)
	}
	if n := len(f.Calls()); n != 0 {
		t.Errorf("%d calls were made", n)
	}
	r, out := p.Optimize("--model", "no-such-model", "--price", "1,2", "--goal", "adopt", "--epochs", "1", "--trials", "1", "--budget-usd", "5")
	if out.Code != 0 || r.SpentUSD <= 0 || r.Provider != "openai:no-such-model" {
		t.Errorf("with --price: exit %d, %+v\n%s", out.Code, r, out.Stderr)
	}
}

// The budget is hard: reserved before each call, never passed, and what was accepted within it is kept.
func TestTheBudgetIsNeverPassed(t *testing.T) {
	p, _ := withFake(t, nil)
	for _, budget := range []string{"0.07", "0.09"} {
		r, out := p.Optimize("--goal", "adopt", "--budget-usd", budget)
		if r.SpentUSD > r.BudgetUSD || r.SpentUSD <= 0 {
			t.Errorf("budget %s: exit %d, spent %v of %v\n%s", budget, out.Code, r.SpentUSD, r.BudgetUSD, out.Stderr)
		}
	}
}

// checkNoLeak looks for the key in everything that was printed and kept.
func checkNoLeak(t *testing.T, p *Place, out Output) {
	t.Helper()
	if strings.Contains(out.Stdout+out.Stderr, "must-not-leak") {
		t.Error("the key was printed")
	}
	if hits := grepFiles(t, p.Home, "must-not-leak"); len(hits) > 0 {
		t.Errorf("the key is in %v", hits)
	}
}
