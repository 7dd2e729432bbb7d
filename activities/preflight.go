package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"whetstone/calibrate"
	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/skill"
	"whetstone/validation"
)

// MinItems is the number of actionable items below which a run is refused: fewer can not be split into anything that
// proves something.
const MinItems = 8

// BytesPerToken converts the token cap of a body into bytes, conservatively: a token of English is about four bytes, one
// of Chinese about three.
const BytesPerToken = 3

// Preflight checks everything that can be checked before anything is paid, freezes the splits and begins the run's
// record. What it refuses is BadInput with a reason and a remedy.
func (a *Activities) Preflight(ctx context.Context, in PreflightIn) (PreflightOut, error) {
	defer beat(ctx)()
	p := in.Job.Params
	f, pkg, err := ReadPackage(p.SkillPath, p.Plain)
	if err != nil {
		return PreflightOut{}, err
	}
	if err := writable(p, pkg); err != nil {
		return PreflightOut{}, err
	}
	hash, err := a.o.Store.PutText(ctx, pkg.Join())
	if err != nil {
		return PreflightOut{}, err
	}
	judge, err := in.Job.judge()
	if err != nil {
		return PreflightOut{}, InputError("read the judge's name: %w", err)
	}
	refs, err := in.Job.reflectors()
	if err != nil {
		return PreflightOut{}, InputError("read the model's name: %w", err)
	}
	others, err := in.Job.others()
	if err != nil {
		return PreflightOut{}, InputError("read a model's name: %w", err)
	}
	for _, ref := range append(append(others, judge), refs...) {
		if _, err := a.client(call{job: in.Job, ref: ref}); err != nil {
			return PreflightOut{}, InputError("%w", err)
		}
		if _, err := a.price(ref, p); err != nil {
			return PreflightOut{}, InputError("%w", err)
		}
	}

	out := PreflightOut{Hash: hash, Gate: run.Gate{Trials: p.Trials, Alpha: p.Alpha, SecondJudge: p.Judge2}}
	out.Updates = refs[0].Provider != model.Offline // the offline model proposes by rule and takes no advice
	if p.Pairwise {
		out.Notes = append(out.Notes, "steps compare answers pairwise: their scores are shares of answers that were not worse than the other side's; the first and the last text are judged on their own")
	}
	if limit := p.MaxTokens * BytesPerToken; len(f.Body) > limit {
		out.Notes = append(out.Notes, fmt.Sprintf("the body has %d bytes, over the cap of %d (%d tokens): it may only shrink", len(f.Body), limit, p.MaxTokens))
	}
	for _, r := range pkg.Parts[1:] {
		if limit := ReferenceTokens * BytesPerToken; len(r.Text) > limit {
			out.Notes = append(out.Notes, fmt.Sprintf("%s has %d bytes, over the cap of %d (%d tokens): it may only shrink", r.Path, len(r.Text), limit, ReferenceTokens))
		}
	}
	if a.o.Git != nil {
		if state, ok := a.o.Git(ctx, p.SkillPath); ok {
			out.Notes = append(out.Notes, state.Notes()...)
		}
	}
	if err := a.begin(ctx, in, hash); err != nil {
		return PreflightOut{}, err
	}
	items, excluded, err := a.items(ctx, in.Job, f)
	if err != nil {
		return PreflightOut{}, err
	}
	if err := a.o.Store.Freeze(ctx, in.Job.RunID, p.SkillKey, items, excluded); err != nil {
		return PreflightOut{}, err
	}
	// Where an earlier attempt has frozen the run, that is what counts: the learnings may have changed since.
	if items, err = a.o.Store.RunItems(ctx, in.Job.RunID, ""); err != nil {
		return PreflightOut{}, err
	}
	// Items that the text itself decides need no judge: there is no noise to test against, and nothing to ask a second one.
	fixed := p.Mode == ModeJudge && validation.Reproducible(items)
	if fixed {
		out.Gate.SecondJudge = ""
		out.Notes = append(out.Notes, "every item is decided by the text itself: no judge is asked, and one trial says it all")
	}
	out.Gate.Deterministic = fixed || deterministic(judge, p)
	if out.Gate.Trials <= 0 {
		out.Gate.Trials = 3
		if out.Gate.Deterministic {
			out.Gate.Trials = 1
		}
	}
	if judge.Provider == model.Offline && !fixed {
		out.Measures = model.StatementCoverage
	}
	train, selection, test := validation.Of(items, validation.Train), validation.Of(items, validation.Selection), validation.Of(items, validation.Test)
	out.Gate.Manifest, out.TestManifest = validation.Manifest(selection), validation.Manifest(test)
	out.TrainItems = len(train)
	out.Counts = run.Counts{Train: countLearnings(train), Selection: countLearnings(selection), Test: countLearnings(test)}
	out.Notes = append(out.Notes, notesOn(excluded, train, selection, test, p)...)
	if err := a.o.Store.SetRunManifest(ctx, in.Job.RunID, out.Gate.Manifest); err != nil {
		return PreflightOut{}, err
	}
	if err := a.planLooks(ctx, &out, p, len(train), len(selection)); err != nil {
		return PreflightOut{}, err
	}
	asked := len(selection)
	if p.Mode == ModeJudge {
		_, judged := byKind(selection)
		asked = len(judged)
	}
	note, estimate, err := a.estimate(refs[0], judge, p, len(pkg.View()), len(train), asked, out.Gate.Trials)
	if err != nil {
		return PreflightOut{}, err
	}
	out.Estimate = estimate
	if note != "" {
		out.Notes = append(out.Notes, note)
	}
	return out, nil
}

// ReadSkill reads and parses a skill file; what is wrong with it comes back as BadInput.
func ReadSkill(path string, plain bool) (*skill.File, string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, "", InputError("read skill %s: there is no such file: check --skill", path)
	case err != nil:
		return nil, "", InputError("read skill: %w", err)
	case info.IsDir():
		return nil, "", InputError("read skill %s: it is a folder: name the SKILL.md in it", path)
	case !info.Mode().IsRegular():
		return nil, "", InputError("read skill %s: it is not a regular file", path)
	case info.Size() > skill.MaxBytes:
		return nil, "", InputError("read skill %s: %w (%d bytes, at most %d)", path, skill.ErrTooLarge, info.Size(), skill.MaxBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", InputError("read skill: %w", err)
	}
	f, err := skill.Parse(data, skill.Options{Plain: plain})
	if err != nil {
		hint := ""
		if errors.Is(err, skill.ErrNoFrontmatter) {
			hint = ": begin the file with --- name/description ---, or use --plain for a file without frontmatter"
		}
		return nil, "", InputError("read skill %s: %w%s", path, err, hint)
	}
	return f, string(data), nil
}

func writableDir(dir string) error {
	f, err := os.CreateTemp(dir, ".whetstone-*")
	if err != nil {
		return fmt.Errorf("write beside the skill in %s: %w", dir, err)
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

func (a *Activities) begin(ctx context.Context, in PreflightIn, hash string) error {
	p := in.Job.Params
	err := a.o.Store.BeginRun(ctx, run.Run{
		ID: in.Job.RunID, WorkflowID: in.Job.WorkflowID, SkillKey: p.SkillKey, SkillName: p.SkillName, SkillPath: p.SkillPath,
		Provider: p.Provider, Judge: p.Judge, Mode: p.Mode, Goal: p.Goal, Seed: p.Seed, HashBefore: hash, StartedAt: in.StartedAt,
	})
	if err != nil {
		return err
	}
	return a.o.Store.PutVersion(ctx, run.Version{Skill: p.SkillKey, Hash: hash, RunID: in.Job.RunID, Path: p.SkillPath, How: "found"})
}

// items collects the learnings that train the skill, makes items of them and deals the sides.
func (a *Activities) items(ctx context.Context, job Job, f *skill.File) ([]validation.Item, []validation.Excluded, error) {
	ls, err := a.learningsFor(ctx, job.Params, f)
	if err != nil {
		return nil, nil, err
	}
	items, excluded := validation.FromLearnings(ls)
	given, err := a.givenItems(job)
	if err != nil {
		return nil, nil, err
	}
	if len(given) > 0 {
		items = validation.Combine(items, given)
	}
	if len(items) < MinItems {
		return nil, nil, a.tooFew(ctx, job.Params, f, ls, len(items))
	}
	sides, err := a.o.Store.Sides(ctx, job.Params.SkillKey)
	if err != nil {
		return nil, nil, err
	}
	dealt, left := validation.Deal(items, sides)
	if len(validation.Of(dealt, validation.Train)) == 0 || len(validation.Of(dealt, validation.Selection)) == 0 {
		return nil, nil, InputError("split the learnings of %s: they are all wordings of one correction, so there is nothing to hold out: add learnings on other matters", job.Params.SkillKey)
	}
	return dealt, append(excluded, left...), nil
}

// givenItems are those of the file that the run names. It must hold what it held when the run was started.
func (a *Activities) givenItems(job Job) ([]validation.Item, error) {
	if job.Params.Items == "" {
		return nil, nil
	}
	items, hash, err := ItemsFile(job.Params.Items)
	if err != nil {
		return nil, err
	}
	if hash != job.Params.ItemsHash {
		return nil, InputError("read items %s: the file has changed since the run was started: start it again", job.Params.Items)
	}
	for _, it := range items {
		if it.Kind != validation.KindCommand {
			continue
		}
		if !job.Params.Commands {
			return nil, InputError("item %s of %s runs a command (%s): allow it with --allow-commands", name(it), job.Params.Items, it.Command[0])
		}
		if a.o.Commands == nil {
			return nil, InputError("this process can not run commands")
		}
		if err := a.o.Commands.Available(); err != nil {
			return nil, InputError("run the commands of %s: %w", job.Params.Items, err)
		}
	}
	return items, nil
}

func countLearnings(items []validation.Item) int {
	n := 0
	for _, it := range items {
		n += max(len(it.Learning), 1) // an item of a file counts as one
	}
	return n
}

func notesOn(excluded []validation.Excluded, train, selection, test []validation.Item, p run.Params) []string {
	var notes []string
	by := map[string]int{}
	for _, e := range excluded {
		by[e.Reason]++
	}
	for _, r := range []struct{ reason, text string }{
		{validation.ReasonJunk, "%d learning(s) say too little to be tested and were left out"},
		{validation.ReasonContradiction, "%d learning(s) contradict another one and were left out until one of each pair is rejected"},
		{validation.ReasonMoved, "%d item(s) of the file ask for another side than they were given at first; a side is given once, so they were left out"},
		{validation.ReasonBridge, "%d learning(s) or item(s) resemble items of two sides and were left out"},
	} {
		if n := by[r.reason]; n > 0 {
			notes = append(notes, fmt.Sprintf(r.text, n))
		}
	}
	if len(test) == 0 {
		notes = append(notes, fmt.Sprintf("fewer than %d items: there is no sealed test, the selection score is all there is", validation.SealedTestFrom))
	}
	if p.Goal == "improve" {
		related := validation.Related(train, selection)
		notes = append(notes, fmt.Sprintf("%d of %d held-out items are related to a train item", related, len(selection)))
		if related*5 < len(selection) {
			notes = append(notes, "unrelated corrections can not improve held-out ones: consider --goal adopt, which puts these very corrections into the skill")
		}
	}
	return notes
}

// planLooks sees that the gate can accept at all: with n items no p-value is below 2^-n, so with few items fewer looks
// are planned, and with too few none would do.
func (a *Activities) planLooks(ctx context.Context, out *PreflightOut, p run.Params, train, selection int) error {
	g := &out.Gate
	g.PlannedLooks = validation.PlannedLooks(p.Epochs * optimizer.StepsPerEpoch(train, p.BatchSize, p.Minibatch))
	if g.Deterministic || p.Goal == "adopt" {
		return nil
	}
	before, err := a.o.Store.Looks(ctx, p.SkillKey, g.Manifest)
	if err != nil {
		return err
	}
	// The largest of a look's tests may spend this much.
	most := func() float64 { return validation.LeastShare * validation.AlphaFor(p.Alpha, g.PlannedLooks, before) }
	smallest := validation.SmallestP(selection)
	for g.PlannedLooks > 1 && smallest > most() {
		g.PlannedLooks--
	}
	if smallest > most() {
		return InputError("plan the gate: %d held-out item(s) can never reach the %.5f a test of this look may spend (smallest possible p %.5f, %d looks spent before): add learnings, or use --goal adopt", selection, most(), smallest, before)
	}
	out.Notes = append(out.Notes, detectable(selection, *g, validation.AlphaFor(p.Alpha, g.PlannedLooks, before)))
	return nil
}

// deterministic reports whether the same question always has the same answer: then one trial says it all.
func deterministic(judge model.Ref, p run.Params) bool {
	if p.Mode == ModeRollout {
		target, err := model.ParseRef(cmp.Or(p.Target, p.Provider))
		return err == nil && target.Provider == model.Offline && judge.Provider == model.Offline
	}
	return judge.Provider == model.Offline
}

// mostSimulated bounds the items of that simulation: more find no smaller a lift than the least that is tried.
const mostSimulated = 150

// detectable says what lift the run's first look can find with so many items, on the standing noise model.
func detectable(items int, g run.Gate, alpha float64) string {
	for _, lift := range []float64{0.1, 0.2, 0.3, 0.4} {
		if rate := calibrate.Finds(calibrate.Standing, min(items, mostSimulated), g.Trials, alpha, lift, 200, 1); rate >= calibrate.Enough {
			return fmt.Sprintf("with %d held-out items the gate finds a lift of +%.1f in about %.0f of 100 cases, as far as the standing noise model goes; a smaller one will often look like chance", items, lift, 100*rate)
		}
	}
	return fmt.Sprintf("with %d held-out items the gate finds even a lift of +0.4 in fewer than %.0f of 100 cases: add learnings, or use --goal adopt", items, 100*calibrate.Enough)
}

// estimate says what the run will cost about, and refuses a budget that does not cover a single step. asked are the held-out items
// that a model answers or judges.
func (a *Activities) estimate(reflector, judge model.Ref, p run.Params, skillBytes, train, asked, trials int) (note string, usd []float64, err error) {
	rp, err := a.price(reflector, p)
	if err != nil {
		return "", nil, InputError("%w", err)
	}
	jp, err := a.price(judge, p)
	if err != nil {
		return "", nil, InputError("%w", err)
	}
	tp := rp
	if p.Target != "" {
		target, err := model.ParseRef(p.Target)
		if err != nil {
			return "", nil, InputError("read the target model's name: %w", err)
		}
		if tp, err = a.price(target, p); err != nil {
			return "", nil, InputError("%w", err)
		}
	}
	if rp == (model.Price{}) && jp == (model.Price{}) && tp == (model.Price{}) {
		return "", nil, nil
	}
	const perItem = 300 // bytes an item takes in a prompt
	ceil := func(a, b int) int { return (a + b - 1) / b }
	// looks is how much of a plain look (every trial of both sides, on every item) a step is taken to need.
	step := func(bytesPerToken, fill, looks float64) float64 {
		in := func(bytes int) int { return int(float64(bytes) / bytesPerToken) }
		reflect := rp.Cost(model.Usage{Input: in(skillBytes + 2000 + p.BatchSize*perItem), Output: int(fill * reflectTokens)})
		side := float64(ceil(asked, judgeBatch)) * jp.Cost(model.Usage{Input: in(skillBytes + 900 + judgeBatch*perItem), Output: int(fill * float64(judgeTokens(judgeBatch)))}).USD()
		if p.Mode == ModeRollout {
			answer := int(fill * answerTokens)
			side = float64(asked)*tp.Cost(model.Usage{Input: in(skillBytes + 300 + perItem), Output: answer}).USD() +
				float64(ceil(asked, answerBatch))*jp.Cost(model.Usage{Input: in(1500+answerBatch*perItem) + answerBatch*answer, Output: int(fill * float64(judgeTokens(answerBatch)))}).USD()
		}
		return float64(p.Minibatch)*reflect.USD() + looks*float64(2*trials)*side
	}
	steps := float64(p.Epochs * optimizer.StepsPerEpoch(train, p.BatchSize, p.Minibatch))
	usual, costly := 0.6, 1.5 // most candidates end at triage, a good one is measured more than once over
	if judge.Provider == model.Offline || p.Goal == "adopt" {
		usual, costly = 1, 1.2
	}
	p50, p95 := step(4, 0.3, usual)*steps, step(2.5, 0.8, costly)*steps
	if least := step(1, 1, 1); p.BudgetUSD < least {
		return "", nil, InputError("check the budget: $%.4f does not cover one step, which may take up to $%.4f: raise --budget-usd", p.BudgetUSD, math.Ceil(least*1e4)/1e4)
	}
	p50, p95 = min(p50, p.BudgetUSD), min(p95, p.BudgetUSD)
	return fmt.Sprintf("estimated cost $%.4f (50th percentile) to $%.4f (95th), of a budget of $%.2f", p50, p95, p.BudgetUSD), []float64{p50, p95}, nil
}

func joinQuoted(ids []string, most int) string {
	ids = slices.Clone(ids)
	if len(ids) > most {
		ids = append(ids[:most], "...")
	}
	return strings.Join(ids, " ")
}
