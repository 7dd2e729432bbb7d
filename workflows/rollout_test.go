package workflows

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"whetstone/activities"
	"whetstone/model"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

func TestARolloutImprovesWithoutAKey(t *testing.T) {
	first := ""
	for range 2 {
		w := newWorld(t)
		w.params.Mode = activities.ModeRollout
		h := w.listen(nil)
		r := w.run("one")
		if r.Outcome != run.Accepted || *r.Final.Selection <= *r.Baseline.Selection || r.Mode != "rollout" {
			t.Fatalf("%+v", r)
		}
		// The judge sees answers and never the skill; the agent sees the skill and never what is expected.
		for _, q := range h.of("judge") {
			if strings.Contains(promptOf(q), "name: go-testing") || strings.Contains(promptOf(q), "description:") {
				t.Fatal("the judge sees the skill")
			}
			if task := q.Task.(*model.JudgeTask); !task.Answers {
				t.Fatal("the judge was asked about the skill")
			}
		}
		items, err := w.store.RunItems(t.Context(), "one", validation.Selection)
		if err != nil {
			t.Fatal(err)
		}
		asked := h.of("rollout")
		if len(asked) == 0 {
			t.Fatal("no agent was asked")
		}
		for _, q := range asked {
			user := q.Messages[len(q.Messages)-1].Content
			for _, it := range items {
				if len(it.Expected) > 25 && strings.Contains(user, it.Expected) {
					t.Fatalf("the agent is told what is expected: %q", it.Expected)
				}
			}
		}
		if first == "" {
			first = r.HashAfter
		} else if r.HashAfter != first {
			t.Errorf("hash %s, then %s", first, r.HashAfter)
		}
	}
}

// A judge that always prefers the first of two answers, or the second, finds nothing better: which is whose is drawn.
func TestPositionBiasCanNotWin(t *testing.T) {
	manyRuns(t)
	for _, side := range []string{"A", "B"} {
		for seed := range int64(2) {
			w := newWorld(t)
			w.random()
			w.params.Provider, w.params.Seed = "offline", seed
			w.params.Mode, w.params.Pairwise = activities.ModeRollout, true
			var pairs atomic.Int32
			w.listen(func(r model.Request) (model.Reply, error) {
				task, is := r.Task.(*model.PairTask)
				if !is {
					return model.Reply{}, nil
				}
				pairs.Add(1)
				type verdict struct {
					ID     string `json:"id"`
					Better string `json:"better"`
				}
				var vs []verdict
				for _, it := range task.Items {
					vs = append(vs, verdict{it.ID, side})
				}
				return replyJSON(t, map[string]any{"verdicts": vs}), nil
			})
			r := w.run("one")
			if r.Accepted != 0 || r.HashAfter != r.HashBefore {
				t.Errorf("always %s, seed %d: %d accepted", side, seed, r.Accepted)
			}
			if pairs.Load() == 0 {
				t.Error("nothing was compared")
			}
		}
	}
}

// A judge that finds the better answer wherever it stands is heard.
func TestPairwiseHearsAJudgeThatLooks(t *testing.T) {
	w := newWorld(t)
	w.random()
	w.params.Mode, w.params.Pairwise = activities.ModeRollout, true
	data, err := os.ReadFile(w.params.SkillPath)
	if err != nil {
		t.Fatal(err)
	}
	f, err := skill.Parse(data, skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.listen(func(r model.Request) (model.Reply, error) {
		switch task := r.Task.(type) {
		case *model.RolloutTask:
			if task.Body == f.Body {
				return model.Reply{Text: "as ever", Finish: "stop"}, nil
			}
			return model.Reply{Text: "as asked", Finish: "stop"}, nil
		case *model.JudgeTask:
			return sees(t, task, func(it model.JudgeItem) bool { return it.Answer == "as asked" }), nil
		case *model.PairTask:
			vs := []map[string]string{}
			for _, it := range task.Items {
				better := "tie"
				if it.A != it.B {
					better = map[bool]string{true: "A", false: "B"}[it.A == "as asked"]
				}
				vs = append(vs, map[string]string{"id": it.ID, "better": better})
			}
			return replyJSON(t, map[string]any{"verdicts": vs}), nil
		}
		return model.Reply{}, nil
	})
	if r := w.run("one"); r.Outcome != run.Accepted || r.Accepted == 0 {
		t.Errorf("%+v", r)
	}
}

// commands stands in for the sandbox: it passes where the text has the last argument.
type commands struct {
	mu  sync.Mutex
	ran int
	off error
}

func (c *commands) Available() error { return c.off }

func (c *commands) Check(_ context.Context, command []string, files map[string]string, _ time.Duration) (bool, string, error) {
	c.mu.Lock()
	c.ran++
	c.mu.Unlock()
	if len(files) != 1 {
		return false, "", errors.New("want one file")
	}
	for _, text := range files {
		return strings.Contains(text, command[len(command)-1]), "looked", nil
	}
	return false, "", nil
}

const everyKind = `
- {kind: contains, pattern: t.Cleanup, prompt: A helper opens a server., side: selection}
- {kind: not_contains, pattern: "panic(", prompt: A helper fails in a test., side: selection}
- {kind: regex, pattern: '(?m)^- .*golden', prompt: Output is compared with a file., side: selection}
- {kind: section, section: Golden files, prompt: Where do golden files live, side: selection}
- {kind: command, command: [grep, -q, t.Cleanup], prompt: A test opens a database file., side: selection}
- {kind: contains, pattern: t.Parallel, prompt: A slow test has independent cases., side: train}
- {kind: llm, prompt: A table test fails in one row., expected: Every case of a table is a named subtest of t.Run., side: train}
`

func (w *world) items(text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, "items.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.params.Items, w.params.ItemsHash = path, skill.Hash(text)
	return path
}

func (w *world) allow(c *commands) {
	w.t.Helper()
	var err error
	if w.acts, err = activities.New(activities.Options{Store: w.store, Models: w.client, Commands: c, KillFile: filepath.Join(w.dir, "STOP")}); err != nil {
		w.t.Fatal(err)
	}
	w.params.Commands = true
}

func TestItemsOfAllKindsAreMeasuredInOneRun(t *testing.T) {
	for _, mode := range []string{activities.ModeJudge, activities.ModeRollout} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t)
			w.params.Mode = mode
			w.items(everyKind)
			c := &commands{}
			w.allow(c)
			h := w.listen(nil)
			r := w.run("one")
			if mode == activities.ModeJudge && r.Outcome != run.Accepted || r.Baseline.Selection == nil || r.Indecisive > 0 {
				t.Errorf("%+v", r)
			}
			items, err := w.store.RunItems(t.Context(), "one", "")
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string][]string{}
			for _, it := range items {
				kinds[it.Kind] = append(kinds[it.Kind], it.ID)
			}
			if len(kinds) != len(validation.Kinds()) {
				t.Errorf("kinds %v", kinds)
			}
			verdicts, err := w.store.AllVerdicts(t.Context(), "one")
			if err != nil {
				t.Fatal(err)
			}
			judged := map[string]bool{}
			for _, v := range verdicts {
				judged[v.Judge] = true
			}
			for _, kind := range []string{"contains", "not_contains", "regex", "section", "command", "offline"} {
				if !judged[kind] {
					t.Errorf("no verdict by %s (%v)", kind, judged)
				}
			}
			if c.ran == 0 {
				t.Error("no command ran")
			}
			// No model is asked about what needs none.
			for _, q := range h.of("judge") {
				for _, it := range q.Task.(*model.JudgeTask).Items {
					for kind, ids := range kinds {
						for _, id := range ids {
							if kind != validation.KindLLM && it.ID == id {
								t.Errorf("a judge was asked about an item of kind %s", kind)
							}
						}
					}
				}
			}
		})
	}
}

func TestItemsThatCanNotBeTrustedAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		want   []string
	}{
		"a command without leave": {func(w *world) { w.allow(&commands{}); w.params.Commands = false }, []string{"runs a command", "--allow-commands"}},
		"no sandbox":              {func(w *world) { w.allow(&commands{off: errors.New("user namespaces are off")}) }, []string{"user namespaces are off"}},
		"a process without one":   {func(w *world) { w.params.Commands = true }, []string{"can not run commands"}},
		"a file that changed since the run was started": {func(w *world) {
			w.allow(&commands{})
			if err := os.WriteFile(w.params.Items, []byte(everyKind+"- {kind: contains, pattern: easy}\n"), 0o600); err != nil {
				w.t.Fatal(err)
			}
		}, []string{"items.yaml", "has changed since the run was started"}},
		"a file that is gone": {func(w *world) { w.allow(&commands{}); _ = os.Remove(w.params.Items) }, []string{"items.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(everyKind)
			c.change(w)
			h := w.listen(nil)
			_, err := w.optimize(w.envOf("one"))
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != activities.TypeInput {
				t.Fatalf("%v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(app.Message(), want) {
					t.Errorf("%q does not say %q", app.Message(), want)
				}
			}
			if len(h.all()) != 0 {
				t.Error("a model was called")
			}
		})
	}
}

const fixedKinds = `
- {kind: contains, pattern: t.Setenv, prompt: A test reads the environment., side: selection}
- {kind: not_contains, pattern: "panic(", prompt: A helper fails in a test., side: selection}
- {kind: contains, pattern: t.Setenv, prompt: Which call restores a variable, side: train}
- {kind: not_contains, pattern: os.Exit, prompt: A command under test ends early., side: train}
- {kind: regex, pattern: '(?m)^#', prompt: The file has a heading., side: train}
- {kind: contains, pattern: golden, prompt: Output is compared with what is stored., side: train}
- {kind: section, section: Parallel tests, prompt: Slow cases are independent., side: train}
- {kind: not_contains, pattern: TODO, prompt: Nothing is left for later., side: train}
`

// A real provider judges nothing where the text decides every item: no noise, so two held-out items and a single trial say it all,
// and neither a second judge nor a test of chance stands in the way.
func TestItemsThatTheTextDecidesNeedNoJudge(t *testing.T) {
	for name, c := range map[string]struct {
		items   string
		payload string
		want    run.Outcome
		strict  bool
	}{
		"more pass":                 {fixedKinds, "- Use t.Setenv.", run.Accepted, true},
		"one is lost":               {fixedKinds, "- Use t.Setenv, or panic(err).", run.NoImprovement, true},
		"nothing moves":             {fixedKinds, "- Be brave.", run.NoImprovement, true},
		"a command is no such item": {fixedKinds + "- {kind: command, command: [grep, t.Setenv], prompt: Does it build, side: train}\n", "- Use t.Setenv.", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.random()
			w.params.SkillKey, w.params.Judge2 = "no-learnings", "groq:other"
			w.items(c.items)
			w.allow(&commands{})
			w.client.price = model.Price{Input: 1, Output: 5}
			h := w.listen(func(r model.Request) (model.Reply, error) {
				if _, is := r.Task.(*model.ReflectTask); is {
					return replyJSON(t, map[string]any{"reasoning": "r", "patches": []map[string]any{{"op": "add", "anchor": "", "payload": c.payload}}}), nil
				}
				return model.Reply{}, nil
			})
			if !c.strict {
				_, err := w.optimize(w.envOf("one"))
				var app *temporal.ApplicationError
				if !errors.As(err, &app) || !strings.Contains(app.Message(), "can never reach") {
					t.Errorf("two items were enough for a test against noise: %v", err)
				}
				return
			}
			r := w.run("one")
			if r.Outcome != c.want || !r.Gate.Deterministic || r.Gate.Trials != 1 || r.Gate.SecondJudge != "" || r.Measures != "" {
				t.Errorf("%s, %s: %+v", r.Outcome, r.Why, r.Gate)
			}
			if asked := h.of("judge"); len(asked) != 0 {
				t.Errorf("a judge was asked %d times", len(asked))
			}
			// Nor does the estimate count one: trials cost nothing.
			w.params.Trials = 9
			if more := w.run("two"); len(r.EstimateUSD) != 2 || !slices.Equal(r.EstimateUSD, more.EstimateUSD) {
				t.Errorf("estimated at %v, and with nine trials at %v", r.EstimateUSD, more.EstimateUSD)
			}
		})
	}
}
