package activities

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"whetstone/learning"
	"whetstone/llm"
	"whetstone/model"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/store"
	"whetstone/validation"
)

// models is the offline model with a price, everything it was asked kept, and failures on demand.
type models struct {
	mu    sync.Mutex
	asked []model.Request
	price model.Price
	fail  func(n int) error
}

func (m *models) Client(model.Ref) (model.Client, error) { return m, nil }
func (m *models) Price(model.Ref) (model.Price, error)   { return m.price, nil }
func (m *models) requests() []model.Request              { m.mu.Lock(); defer m.mu.Unlock(); return m.asked }

func (m *models) Complete(ctx context.Context, r model.Request) (model.Reply, error) {
	m.mu.Lock()
	n := len(m.asked)
	m.asked = append(m.asked, r)
	m.mu.Unlock()
	if m.fail != nil {
		if err := m.fail(n); err != nil {
			return model.Reply{}, err
		}
	}
	reply, err := llm.OfflineClient{}.Complete(ctx, r)
	reply.Usage = model.Usage{Input: 100, Output: 100}
	return reply, err
}

type place struct {
	t     *testing.T
	dir   string
	store *store.Store
	m     *models
	a     *Activities
	job   Job
}

const skillText = "---\nname: demo\ndescription: d\n---\n# Demo\n\n## Tests\n\n- Keep tests small.\n- Mock the database in repository tests.\n\n## Commits\n\n- Keep commits small.\n"

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "data.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	p := &place{t: t, dir: dir, store: st, m: &models{}}
	p.a, err = New(Options{Store: st, Models: p.m, KillFile: filepath.Join(dir, "STOP")})
	if err != nil {
		t.Fatal(err)
	}
	p.write("SKILL.md", skillText)
	p.job = Job{RunID: "run-1", WorkflowID: "optimize/demo", Params: run.Params{
		SkillPath: filepath.Join(dir, "SKILL.md"), SkillKey: "demo", SkillName: "demo", Provider: "offline", Judge: "offline", Goal: "improve", Mode: "judge",
		Epochs: 2, BatchSize: 4, Minibatch: 2, LR: 4, MinLR: 2, MaxAdds: 3, MaxDeletes: 2, MaxReplace: 3, Alpha: 0.05, BudgetUSD: 1, Seed: 1, MaxTokens: 5000, Deliver: "stage",
	}}
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return string(b)
}

func (p *place) learn(rules ...string) {
	p.t.Helper()
	var ls []learning.Learning
	for _, r := range rules {
		ls = append(ls, learning.Learning{Status: learning.Approved, Category: "testing", Rule: r, Skill: "demo", CreatedAt: time.Now().Add(-time.Hour), ValidFrom: time.Now().Add(-time.Hour)})
	}
	if _, err := p.store.AddLearnings(p.t.Context(), ls); err != nil {
		p.t.Fatal(err)
	}
}

var rules = strings.Split(strings.TrimSpace(`
never sleep in tests to wait for goroutines, read a channel
wait for goroutines on a channel, sleeping in tests is flaky
register t.Cleanup in the helper that opens a server
helpers that open files register t.Cleanup to close them
golden files live in testdata and are regenerated with -update
regenerate golden files in testdata with the -update flag only
commit subjects are written in the imperative mood
write the subject of a commit in imperative mood, fifty characters
do not mock the database in repository tests, use a real file
repository tests run against a real database, mock nothing
run the race detector on packages that start goroutines
squash fixup commits before the branch is merged
rebase the branch on main before asking for review
every table case runs as a named subtest with t.Run
inject a clock instead of calling time.Now in code under test
compare wrapped errors with errors.Is in tests`), "\n")

// No validation text, nor a judge's words about it, in any prompt to the reflecting model: over data sets that grow from
// run to run, with refusals accumulating.
func TestNoHeldOutTextReachesTheReflectingModel(t *testing.T) {
	p := newPlace(t)
	rng := rand.New(rand.NewPCG(1, 7))
	var all []string
	checked := 0
	for round := range 6 {
		for i := range 8 {
			all = append(all, fmt.Sprintf("%s, case %d of round %d", rules[rng.IntN(len(rules))], i, round))
		}
		p.learn(all...)
		p.job.RunID = fmt.Sprintf("run-%d", round)
		pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.a.Evaluate(t.Context(), EvaluateIn{Job: p.job, Stage: "baseline", Hash: pre.Hash, Side: validation.Selection, Trials: 1}); err != nil {
			t.Fatal(err)
		}
		from := len(p.m.requests())
		for b := range (pre.TrainItems + 3) / 4 {
			if _, err := p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1, Batch: b}); err != nil {
				t.Fatal(err)
			}
		}
		prop, err := p.a.Propose(t.Context(), ProposeIn{Job: p.job, Hash: pre.Hash, Step: 1, Patches: 4})
		if err != nil {
			t.Fatal(err)
		}
		built, err := p.a.Build(t.Context(), BuildIn{Job: p.job, Hash: pre.Hash, Step: 1, Keys: prop.Keys})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.a.Validate(t.Context(), ValidateIn{Job: p.job, Step: 1, Parent: pre.Hash, Candidate: built.Hash, Keys: prop.Keys, Gate: pre.Gate}); err != nil {
			t.Fatal(err)
		}
		// Refused, whatever was measured, so that the refusal and its words are on file for the next round.
		if _, err := p.a.Decide(t.Context(), DecideIn{Job: p.job, Step: 1, Parent: built.Hash, Candidate: pre.Hash, Bundle: built.Bundle, Keys: prop.Keys, Gate: pre.Gate}); err != nil {
			t.Fatal(err)
		}
		items, err := p.store.RunItems(t.Context(), p.job.RunID, "")
		if err != nil {
			t.Fatal(err)
		}
		train := map[string]bool{}
		for _, it := range items {
			if it.Side == validation.Train {
				train[it.Expected] = true
			}
		}
		for _, r := range p.m.requests()[from:] {
			if r.Stage != "reflect" {
				continue
			}
			var text strings.Builder
			for _, m := range r.Messages {
				text.WriteString(m.Content)
			}
			for _, x := range r.Task.(*model.ReflectTask).Trajectories {
				text.WriteString(x.Expected + x.Prompt)
			}
			for _, it := range items {
				if it.Side == validation.Train {
					continue
				}
				checked++
				if strings.Contains(text.String(), it.Expected) && !train[it.Expected] {
					t.Fatalf("round %d: the reflecting prompt holds the %s item %q", round, it.Side, it.Expected)
				}
				if strings.Contains(text.String(), "covers") || strings.Contains(text.String(), "closest passage") {
					t.Fatalf("round %d: the reflecting prompt holds the judge's words", round)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d comparisons were made", checked)
	}
}

func TestPreflightSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for name, c := range map[string]struct {
		change func(*place)
		want   []string
	}{
		"no such file":               {func(p *place) { p.job.Params.SkillPath = filepath.Join(p.dir, "none.md") }, []string{"none.md", "no such file"}},
		"a folder":                   {func(p *place) { p.job.Params.SkillPath = p.dir }, []string{"folder", "SKILL.md"}},
		"binary":                     {func(p *place) { p.write("SKILL.md", "---\nname: x\n---\n\x00") }, []string{"NUL"}},
		"not UTF-8":                  {func(p *place) { p.write("SKILL.md", "---\nname: x\n---\n\xff") }, []string{"UTF-8", "byte at 16"}},
		"no frontmatter":             {func(p *place) { p.write("SKILL.md", "# X\n") }, []string{"frontmatter", "--plain"}},
		"broken YAML":                {func(p *place) { p.write("SKILL.md", "---\nname: [\n---\n") }, []string{"YAML"}},
		"too few learnings":          {func(p *place) { p.job.Params.SkillKey = "other" }, []string{"0 learning(s)", "8 are needed", "starter learn link"}},
		"a budget for nothing":       {func(p *place) { p.m.price = model.Price{Input: 1000, Output: 1000}; p.job.Params.BudgetUSD = 0.01 }, []string{"does not cover one step", "--budget-usd"}},
		"too few items for the gate": {func(p *place) { p.job.Params.Judge = "openai:m"; p.job.Params.Alpha = 1e-6 }, []string{"held-out item(s) can never reach", "--goal adopt"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.learn(rules...)
			c.change(p)
			_, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
			if err == nil {
				t.Fatal("it passed")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if len(p.m.requests()) != 0 {
				t.Error("a model was called")
			}
		})
	}
	p := newPlace(t)
	p.learn(rules...)
	p.write("SKILL.md", "---\nname: demo\n---\n"+long)
	pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil || !strings.Contains(strings.Join(pre.Notes, "|"), "may only shrink") {
		t.Errorf("a body over its cap: %v, %v", pre.Notes, err)
	}
}

func TestAPaidCallIsNeverMadeTwice(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	p.m.price = model.Price{Input: 1, Output: 1}
	pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	in := EvaluateIn{Job: p.job, Stage: "baseline", Hash: pre.Hash, Side: validation.Selection, Trials: 2}
	first, err := p.a.Evaluate(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	n := len(p.m.requests())
	again, err := p.a.Evaluate(t.Context(), in)
	if err != nil || *again.Score != *first.Score {
		t.Fatalf("%+v, %v", again, err)
	}
	if len(p.m.requests()) != n || n == 0 {
		t.Errorf("%d calls, then %d", n, len(p.m.requests()))
	}
	spent, calls, err := p.store.Spent(t.Context(), p.job.RunID)
	if err != nil || calls != n || spent != model.NanoUSD(n*200*1000) {
		t.Errorf("spent %d in %d calls (%v)", spent, calls, err)
	}
}

func TestTheKillFileStopsEveryPaidCall(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	p.write("STOP", "")
	ev, err := p.a.Evaluate(t.Context(), EvaluateIn{Job: p.job, Stage: "baseline", Hash: pre.Hash, Side: validation.Selection, Trials: 1})
	if err != nil || ev.Stopped != StopKillFile {
		t.Errorf("%+v, %v", ev, err)
	}
	rf, err := p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1})
	if err != nil || rf.Stopped != StopKillFile || len(p.m.requests()) != 0 {
		t.Errorf("%+v, %v, %d calls", rf, err, len(p.m.requests()))
	}
}

func TestAnOutageIsAnErrorAndNeverAScore(t *testing.T) {
	p := newPlace(t)
	p.learn(rules...)
	pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	p.m.fail = func(int) error {
		return &model.Error{Kind: model.RateLimited, Provider: "x", Status: 429, RetryAfter: 3 * time.Second, Err: errors.New("slow down")}
	}
	_, err = p.a.Evaluate(t.Context(), EvaluateIn{Job: p.job, Stage: "baseline", Hash: pre.Hash, Side: validation.Selection, Trials: 1})
	if err == nil || !strings.Contains(err.Error(), "slow down") {
		t.Errorf("%v", err)
	}
	vs, err := p.store.Verdicts(t.Context(), p.job.RunID, "baseline", pre.Hash)
	if err != nil || len(vs) != 0 {
		t.Errorf("verdicts of an outage: %+v (%v)", vs, err)
	}
	if spent, calls, _ := p.store.Spent(t.Context(), p.job.RunID); spent != 0 || calls != 0 {
		t.Errorf("a 429 was billed: %d in %d calls", spent, calls)
	}
}

func TestDeliver(t *testing.T) {
	after := strings.Replace(skillText, "- Keep tests small.", "- Keep tests small.\n- Wait on a channel.", 1)
	deliver := func(p *place, how string) DeliverOut {
		t.Helper()
		for _, s := range []string{skillText, after} {
			if _, err := p.store.PutText(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		p.job.Params.Deliver = how
		out, err := p.a.Deliver(t.Context(), DeliverIn{Job: p.job, Before: skill.Hash(skillText), After: skill.Hash(after)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Run("written where the file is unchanged", func(t *testing.T) {
		p := newPlace(t)
		if out := deliver(p, "write"); out.Delivered != "written" || p.read("SKILL.md") != after {
			t.Errorf("%+v", out)
		}
		if out := deliver(p, "write"); out.Delivered != "written" || p.read("SKILL.md") != after {
			t.Errorf("again: %+v", out)
		}
	})
	t.Run("staged beside it", func(t *testing.T) {
		p := newPlace(t)
		if out := deliver(p, "stage"); out.Delivered != "staged" || p.read("SKILL.md.proposed") != after || p.read("SKILL.md") != skillText {
			t.Errorf("%+v", out)
		}
	})
	t.Run("nothing on a dry run", func(t *testing.T) {
		p := newPlace(t)
		if out := deliver(p, "dry-run"); out.Delivered != "none" || p.read("SKILL.md.proposed") != "" {
			t.Errorf("%+v", out)
		}
	})
	t.Run("merged and staged where the file was changed meanwhile", func(t *testing.T) {
		p := newPlace(t)
		mine := strings.Replace(skillText, "- Keep commits small.", "- Keep commits small and signed.", 1)
		p.write("SKILL.md", mine)
		out := deliver(p, "write")
		want := strings.Replace(after, "- Keep commits small.", "- Keep commits small and signed.", 1)
		if out.Delivered != "staged" || p.read("SKILL.md") != mine || p.read("SKILL.md.proposed") != want || !strings.Contains(out.Why, "changed while the run went on") {
			t.Errorf("%+v\n%s", out, p.read("SKILL.md.proposed"))
		}
	})
	t.Run("a proposal that somebody edited is kept", func(t *testing.T) {
		p := newPlace(t)
		p.write("SKILL.md.proposed", "edited by hand")
		deliver(p, "stage")
		if p.read("SKILL.md.proposed.edited") != "edited by hand" || p.read("SKILL.md.proposed") != after {
			t.Error("it was lost")
		}
	})
	t.Run("a read-only file is not replaced, and nothing is lost", func(t *testing.T) {
		p := newPlace(t)
		if err := os.Chmod(filepath.Join(p.dir, "SKILL.md"), 0o400); err != nil {
			t.Fatal(err)
		}
		if out := deliver(p, "write"); out.Delivered != "none" || !strings.Contains(out.Why, "read-only") || !strings.Contains(out.Why, "runs diff") {
			t.Errorf("%+v", out)
		}
	})
	t.Run("a symbolic link stays one", func(t *testing.T) {
		p := newPlace(t)
		if err := os.Rename(filepath.Join(p.dir, "SKILL.md"), filepath.Join(p.dir, "real.md")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("real.md", filepath.Join(p.dir, "SKILL.md")); err != nil {
			t.Fatal(err)
		}
		deliver(p, "write")
		if info, err := os.Lstat(filepath.Join(p.dir, "SKILL.md")); err != nil || info.Mode()&os.ModeSymlink == 0 || p.read("real.md") != after {
			t.Error("the link was replaced")
		}
	})
}
