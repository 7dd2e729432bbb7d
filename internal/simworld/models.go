package simworld

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"whetstone/model"
	"whetstone/optimizer"
)

// The names of a world's models. They are no offline model, so that the gate takes the judge for one that answers at random.
const (
	Reflector = "sim:reflect"
	Judge     = "sim:judge"
)

// The models' prices, in dollars for a million tokens, about those of a small model that judges and a larger one that writes.
var (
	reflectPrice = model.Price{Input: 1, Cached: 1, Output: 5}
	judgePrice   = model.Price{Input: 0.25, Cached: 0.25, Output: 1.25}
)

// Models answers for a world.
type Models struct {
	World *World

	judgements atomic.Int64
}

// Client implements activities.Models.
func (m *Models) Client(model.Ref) (model.Client, error) { return m, nil }

// Price implements activities.Models.
func (m *Models) Price(ref model.Ref) (model.Price, error) {
	if ref.String() == Judge {
		return judgePrice, nil
	}
	return reflectPrice, nil
}

// Judgements counts the verdicts drawn so far.
func (m *Models) Judgements() int { return int(m.judgements.Load()) }

// Complete answers a request by its task, in the wire format of any other model. The request's seed decides every draw.
func (m *Models) Complete(_ context.Context, req model.Request) (model.Reply, error) {
	var v any
	switch t := req.Task.(type) {
	case *model.JudgeTask:
		v = m.judge(t, req.Seed)
	case *model.ReflectTask:
		v = m.reflect(t, req)
	case *model.UpdateTask:
		v = m.update(t)
	case *model.RankEditsTask:
		order := rand.New(rand.NewPCG(uint64(req.Seed), 3)).Perm(len(t.Edits))
		for i := range order {
			order[i]++
		}
		v = map[string]any{"order": order}
	case *model.RewriteTask:
		v = map[string]any{"body": m.rewrite(t, req)}
	default:
		return model.Reply{}, &model.Error{Kind: model.BadRequest, Provider: req.Ref.Provider, Err: fmt.Errorf("the simulated models do not know the task of a %s call", req.Stage)}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return model.Reply{}, &model.Error{Kind: model.Malformed, Provider: req.Ref.Provider, Err: err}
	}
	return model.Reply{Text: string(b), Finish: "stop", Usage: model.Usage{Input: model.EstimateInput(req.Messages), Output: model.Estimate(string(b))}}, nil
}

// judge draws a verdict for each item.
func (m *Models) judge(t *model.JudgeTask, seed int64) any {
	type verdict struct {
		ID   string `json:"id"`
		Pass bool   `json:"pass"`
		Why  string `json:"why"`
	}
	out := make([]verdict, len(t.Items))
	for i, it := range t.Items {
		u := float64(optimizer.SeedFor(seed, "verdict", it.ID)>>11) / (1 << 53)
		out[i] = verdict{it.ID, u < m.World.Judged(t.Body, it.ID), "drawn"}
		m.judgements.Add(1)
	}
	return map[string]any{"verdicts": out}
}

// idea is what an edit says, in one of several wordings.
type idea struct {
	kind  string // t, x or h
	about int    // a topic, or the number of a habit
}

func (i idea) label(wording int) string {
	noun := "rule"
	if i.kind == "h" {
		noun = "habit"
	}
	return fmt.Sprintf("%s %s%d (%c)", noun, i.kind, i.about, 'a'+wording)
}

func (i idea) line(wording int) string {
	return fmt.Sprintf("- %s: do as this says, in these words.", i.label(wording))
}

// section cuts a layer out of a prompt.
func section(prompt, name string) string {
	_, rest, _ := strings.Cut(prompt, "<"+name+">\n")
	text, _, ok := strings.Cut(rest, "\n</"+name+">")
	if !ok {
		return ""
	}
	return text
}

var topicInText = regexp.MustCompile(`\bt(\d+)\b`)

func topicsIn(text string) []int {
	var out []int
	for _, m := range topicInText.FindAllStringSubmatch(text, -1) {
		var t int
		if _, err := fmt.Sscan(m[1], &t); err == nil && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// reflector proposes what it may know: the corrections, the body and the prompt's words.
type reflector struct {
	rules   Rules
	rng     *rand.Rand
	body    string
	topics  []int // of the corrections, one for each
	refused string
	advised []int
}

func (m *Models) reflect(t *model.ReflectTask, req model.Request) any {
	prompt := req.Messages[len(req.Messages)-1].Content
	r := reflector{
		rules: m.World.Rules, rng: rand.New(rand.NewPCG(uint64(req.Seed), 1)), body: t.Body,
		refused: section(prompt, "refused_before"), advised: topicsIn(section(prompt, "advice")),
	}
	var ids []string
	for _, x := range t.Trajectories {
		r.topics = append(r.topics, topicsIn(x.Category)...)
		ids = append(ids, x.ID)
	}
	patches := []optimizer.Patch{}
	var had []idea
	for range min(2+r.rng.IntN(3), max(t.MaxPatches, 1)) {
		if i, wording, ok := r.choose(had); ok {
			had = append(had, i)
			p := r.patch(i, wording)
			p.Items = ids[:1]
			patches = append(patches, p)
		}
	}
	return map[string]any{"reasoning": "as the simulated model sees it", "patches": patches}
}

// choose draws an idea and a wording. Each time that it was shown refused halves an idea's chance, and a wording that was
// refused is not repeated; whether an idea is good the model does not know. ok is false where it has none this time.
func (r *reflector) choose(had []idea) (i idea, wording int, ok bool) {
	for range 8 {
		switch u := r.rng.Float64() * (r.rules.Good + r.rules.Harmless + r.rules.Harmful); {
		case u < r.rules.Good:
			i = idea{"t", r.topic()}
		case u < r.rules.Good+r.rules.Harmless:
			i = idea{"h", r.rng.IntN(r.rules.Habits)}
		default:
			i = idea{"x", r.rng.IntN(r.rules.Topics)}
		}
		if slices.Contains(had, i) || strings.Contains(r.body, fmt.Sprintf(" %s%d (", i.kind, i.about)) && r.rng.Float64() < r.rules.Notice {
			continue
		}
		times := strings.Count(r.refused, fmt.Sprintf(" %s%d (", i.kind, i.about))
		if r.rng.Float64() >= math.Pow(0.5, float64(times)) {
			continue
		}
		free := []int{}
		for v := range r.rules.Wordings {
			if label := i.label(v); !strings.Contains(r.refused, label) && !strings.Contains(r.body, label) {
				free = append(free, v)
			}
		}
		if len(free) > 0 {
			return i, free[r.rng.IntN(len(free))], true
		}
	}
	return idea{}, 0, false
}

// topic is what a good edit is about: what the advice names in four of five cases, else a correction's.
func (r *reflector) topic() int {
	var advised []int
	for _, t := range r.advised {
		if t < r.rules.Topics && !strings.Contains(r.body, fmt.Sprintf("- rule t%d (", t)) {
			advised = append(advised, t)
		}
	}
	if len(advised) > 0 && r.rng.Float64() < 0.8 {
		return advised[r.rng.IntN(len(advised))]
	}
	if len(r.topics) == 0 {
		return r.rng.IntN(r.rules.Topics)
	}
	return r.topics[r.rng.IntN(len(r.topics))]
}

// patch puts a line in its topic's section. Every other wording replaces the line that stands there, so that edits conflict.
func (r *reflector) patch(i idea, wording int) optimizer.Patch {
	topic := i.about % r.rules.Topics
	if i.kind == "x" { // what harms one topic comes of caring for another
		topic = (topic + 1 + r.rng.IntN(max(r.rules.Topics-1, 1))) % r.rules.Topics
	}
	p := optimizer.Patch{Op: optimizer.Add, Payload: i.line(wording)}
	if about := fmt.Sprintf("- about t%d: work with care.", topic); strings.Contains(r.body, about) {
		p.Anchor = about
		if wording%2 == 1 && i.kind != "h" {
			p.Op = optimizer.Replace
		}
	} else if head := fmt.Sprintf("## Topic t%d", topic); strings.Contains(r.body, head) {
		p.Anchor = head
	}
	return p
}

// update writes a slow block that restores the topics it sees getting worse, beside those it restored before, or advice that
// names the topics that fail most.
func (m *Models) update(t *model.UpdateTask) any {
	type count struct{ worse, failing, all int }
	topics := make([]count, m.World.Rules.Topics)
	for _, p := range t.Pairs {
		for _, k := range topicsIn(p.Category) {
			if k >= len(topics) || math.IsNaN(p.Before) || math.IsNaN(p.After) {
				continue
			}
			c := &topics[k]
			c.all++
			switch {
			case p.After < p.Before:
				c.worse++
			case p.After > p.Before:
				c.worse--
			case p.After < 1:
				c.failing++
			}
		}
	}
	order := make([]int, len(topics))
	for i := range order {
		order[i] = i
	}
	if t.Slow {
		_, _, block, _ := optimizer.SlowBlock(t.Body)
		var lines []string
		for _, k := range order {
			if line := fmt.Sprintf("- restore t%d: what was done before still holds.", k); topics[k].worse >= 1 || strings.Contains(block, line) {
				lines = append(lines, line)
			}
		}
		return map[string]any{"block": strings.Join(lines, "\n"), "advice": ""}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return topics[b].failing*max(topics[a].all, 1) - topics[a].failing*max(topics[b].all, 1)
	})
	var named []string
	for _, k := range order[:min(3, len(order))] {
		if topics[k].failing > 0 {
			named = append(named, topicName(k))
		}
	}
	if len(named) == 0 {
		return map[string]any{"advice": ""}
	}
	return map[string]any{"advice": "Topics that still fail: " + strings.Join(named, ", ") + "."}
}

// rewrite is the one-shot baseline: everything that comes to mind at once.
func (m *Models) rewrite(t *model.RewriteTask, req model.Request) string {
	r := reflector{rules: m.World.Rules, rng: rand.New(rand.NewPCG(uint64(req.Seed), 2)), body: t.Body}
	for _, x := range t.Trajectories {
		r.topics = append(r.topics, topicsIn(x.Category)...)
	}
	body := strings.TrimRight(t.Body, "\n") + "\n"
	var had []idea
	for range 8 {
		if i, wording, ok := r.choose(had); ok {
			had = append(had, i)
			body += i.line(wording) + "\n"
		}
	}
	return body
}
