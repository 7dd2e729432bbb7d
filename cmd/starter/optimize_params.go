package main

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"whetstone/activities"
	"whetstone/llm"
	"whetstone/model"
	"whetstone/run"
	"whetstone/service"
	"whetstone/skill"
)

// params turns flags into the run's choices. ask says that the person is to be asked about the result on the terminal.
func (a *app) params(ctx context.Context, s *service.Service, o optimizeFlags) (p run.Params, ask bool, err error) {
	path, err := findSkill(ctx, s, o.skill)
	if err != nil {
		return p, false, err
	}
	f, _, err := activities.ReadSkill(path, o.plain)
	if err != nil {
		return p, false, &exitError{exitUsage, inputMessage(err)}
	}
	name := f.Name
	if name == "" {
		name = filepath.Base(filepath.Dir(path))
	}
	key := skill.Key(name)
	if key == "" {
		return p, false, usage("the skill's name %q has no letter or digit: give it a name in its frontmatter", name)
	}
	provider, judge, err := o.models(s.Models)
	if err != nil {
		return p, false, err
	}
	p = run.Params{
		SkillPath: path, SkillKey: key, SkillName: name, Home: s.HomeID(), Provider: provider.String(), Judge: judge.String(), Goal: o.goal, Mode: o.mode,
		Epochs: o.epochs, BatchSize: o.batch, Minibatch: o.minibatches, LR: o.lr, MinLR: o.minLR, MaxAdds: o.adds, MaxDeletes: o.deletes, MaxReplace: o.replaces,
		Trials: o.trials, Alpha: o.alpha, BudgetUSD: o.budget, MaxCalls: o.maxCalls, TimeoutSec: int(math.Ceil(o.timeout.Seconds())), Patience: o.patience,
		Seed: o.seed, MaxTokens: o.maxToks, Match: o.match, Pending: o.pending, Plain: o.plain,
	}
	if err := o.more(s.Models, &p); err != nil {
		return p, false, err
	}
	for _, dir := range []struct {
		flag, value string
		into        *string
	}{{"--record", o.record, &p.Record}, {"--replay", o.replay, &p.Replay}} {
		if dir.value == "" {
			continue
		}
		if *dir.into, err = filepath.Abs(dir.value); err != nil {
			return p, false, usage("%s %s: %v", dir.flag, dir.value, err)
		}
	}
	if p.Record != "" && !o.showPrompts {
		if err := writable(p.Record); err != nil {
			return p, false, usage("--record %s: %v", o.record, err)
		}
	}
	if p.Record != "" && p.Replay != "" {
		return p, false, usage("--record and --replay exclude each other")
	}
	if info, err := os.Stat(p.Replay); p.Replay != "" && (err != nil || !info.IsDir()) {
		return p, false, usage("--replay %s: no such folder", o.replay)
	}
	if p.MaxCalls == 0 && (provider.Provider != model.Offline && s.Models.Free(provider.Provider) || judge.Provider != model.Offline && s.Models.Free(judge.Provider)) {
		p.MaxCalls = freeCalls // what costs nothing by the token has no budget to end it
	}
	for _, name := range o.fallback {
		ref, err := chooseModel(s.Models, "", name)
		if err != nil {
			return p, false, err
		}
		if ref != provider && !slices.Contains(p.Fallback, ref.String()) {
			p.Fallback = append(p.Fallback, ref.String())
		}
	}
	refs := []model.Ref{provider, judge}
	for _, f := range append([]string{p.Judge2, p.Target}, p.Fallback...) {
		if f == "" {
			continue
		}
		ref, _ := model.ParseRef(f)
		refs = append(refs, ref)
	}
	if o.price != "" {
		in, out, err := parsePrice(o.price)
		if err != nil {
			return p, false, err
		}
		p.Price, p.PriceOut = &in, &out
	}
	for _, ref := range refs {
		if p.Replay != "" {
			break // neither key nor price is needed
		}
		if _, err := s.Models.Client(ref); err != nil {
			return p, false, &exitError{exitUsage, err}
		}
		if p.Price == nil {
			if _, err := s.Models.Price(ref); err != nil {
				return p, false, &exitError{exitUsage, err}
			}
		}
	}
	if p.MaxCalls == 0 && p.Price != nil && *p.Price == 0 && *p.PriceOut == 0 && provider.Provider != model.Offline {
		p.MaxCalls = freeCalls
	}
	switch {
	case o.write:
		p.Deliver = "write"
	case o.dryRun:
		p.Deliver = "dry-run"
	default:
		p.Deliver = "stage"
		ask = !o.stage && !a.json && a.isTerminal(a.stdin) && a.isTerminal(a.stdout)
	}
	return p, ask, nil
}

// more fills in the choices that most runs leave alone.
func (o *optimizeFlags) more(m *service.Models, p *run.Params) error {
	p.Pairwise, p.Commands, p.Review, p.Rank, p.Baselines = o.pairwise, o.commands, o.review, o.rank, o.baselines
	if o.search != activities.SearchGreedy {
		p.Search = o.search
	}
	p.Without = run.Left(o.with, o.without)
	for _, x := range []struct {
		flag, value string
		into        *string
	}{{"second-judge", o.judge2, &p.Judge2}, {"target-model", o.target, &p.Target}} {
		if x.value == "" {
			continue
		}
		// A bare provider stands for its default model.
		provider, name := "", x.value
		if m.Completes(x.value) {
			provider, name = x.value, ""
		}
		ref, err := chooseModel(m, provider, name)
		if err != nil {
			return err
		}
		*x.into = ref.String()
	}
	if p.Judge2 != "" && p.Judge2 == p.Judge {
		return usage("--second-judge %s is the judge itself: name another model, best of another provider", o.judge2)
	}
	if o.report != "" {
		abs, err := filepath.Abs(o.report)
		if err != nil {
			return usage("--report %s: %v", o.report, err)
		}
		if info, err := os.Stat(filepath.Dir(abs)); err != nil || !info.IsDir() {
			return usage("--report %s: there is no folder %s", o.report, filepath.Dir(abs))
		}
		p.Report = abs
	}
	if o.itemsFile == "" {
		return nil
	}
	abs, err := filepath.Abs(o.itemsFile)
	if err != nil {
		return usage("--items %s: %v", o.itemsFile, err)
	}
	_, hash, err := activities.ItemsFile(abs)
	if err != nil {
		return &exitError{exitUsage, inputMessage(err)}
	}
	p.Items, p.ItemsHash = abs, hash
	return nil
}

// findSkill accepts a file, a folder that holds a SKILL.md, or the name of a skill that was trained before.
func findSkill(ctx context.Context, s *service.Service, arg string) (string, error) {
	abs, err := filepath.Abs(arg)
	if err != nil {
		return "", usage("--skill %s: %v", arg, err)
	}
	if exists(filepath.Join(abs, "SKILL.md")) {
		return filepath.Join(abs, "SKILL.md"), nil
	}
	if exists(abs) || strings.ContainsAny(arg, `/\`) || strings.HasSuffix(strings.ToLower(arg), ".md") {
		return abs, nil
	}
	vs, err := s.Store.Versions(ctx, skill.Key(arg))
	if err != nil {
		return "", err
	}
	if len(vs) == 0 {
		return "", usage("--skill %s: no such file, and no skill of that name was trained before", arg)
	}
	return vs[0].Path, nil
}

// writable makes a folder, where there is none, and tries whether a file can be made in it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".try-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// freeCalls bounds a run whose models are free by the token.
const freeCalls = 400

func (o *optimizeFlags) models(m *service.Models) (reflector, judge model.Ref, err error) {
	if reflector, err = chooseModel(m, o.provider, o.model); err != nil {
		return reflector, judge, err
	}
	judge = reflector
	if o.judge != "" {
		judge = model.Ref{Provider: reflector.Provider, Model: o.judge}
		if r, err := model.ParseRef(o.judge); err == nil && m.Completes(r.Provider) {
			judge = r
			if judge.Model == "" {
				judge.Model = m.DefaultModel(judge.Provider)
			}
		} else if p, ok := llm.ProviderOf(o.judge); ok && p != reflector.Provider && o.provider == "" {
			judge.Provider = p
		}
	}
	if judge.Provider == model.Offline {
		judge.Model = ""
	}
	return reflector, judge, nil
}

// chooseModel joins --provider and --model. Without a provider, the model's name tells it where only one makes such models.
func chooseModel(m *service.Models, provider, name string) (ref model.Ref, err error) {
	ref = m.Default()
	switch {
	case provider != "":
		if ref, err = model.ParseRef(provider); err != nil {
			return ref, usage("--provider %s: %v", provider, err)
		}
	case name != "":
		if r, err := model.ParseRef(name); err == nil && r.Model != "" && m.Completes(r.Provider) {
			ref, name = r, ""
		} else if p, ok := llm.ProviderOf(name); ok {
			ref = model.Ref{Provider: p}
		} else if ref.Provider == model.Offline {
			return ref, usage("--model %s: which provider's? write provider:model, or give --provider", name)
		}
	}
	if !m.Completes(ref.Provider) {
		return ref, usage("--provider %s: want one of %s", ref.Provider, strings.Join(m.Names(), ", "))
	}
	switch {
	case ref.Provider == model.Offline:
		ref.Model = ""
	case name != "":
		ref.Model = strings.TrimPrefix(name, ref.Provider+":")
	case ref.Model == "":
		ref.Model = m.DefaultModel(ref.Provider)
	}
	return ref, nil
}

func parsePrice(s string) (in, out float64, err error) {
	a, b, ok := strings.Cut(s, ",")
	if ok {
		if in, err = strconv.ParseFloat(strings.TrimSpace(a), 64); err == nil {
			out, err = strconv.ParseFloat(strings.TrimSpace(b), 64)
		}
	}
	if !ok || err != nil || in < 0 || out < 0 || math.IsNaN(in+out) || in > 1e6 || out > 1e6 {
		return 0, 0, usage("--price %q: want IN,OUT in dollars for a million tokens, such as 0.15,0.60", s)
	}
	return in, out, nil
}
