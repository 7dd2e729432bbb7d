// Package llm calls language models behind one interface: the offline model, which needs nothing, and everything that
// speaks the OpenAI protocol. It owns wire formats, the translation of failures to model.Error, and the price table. It
// never retries, never stores, and never logs a key or a prompt.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"whetstone/internal/mdblock"
	"whetstone/internal/words"

	"whetstone/llm/rulepatch"
	"whetstone/llm/statement"
	"whetstone/model"
)

// OfflineClient is the model that needs no key, no network and no server. It reads a request's Task instead of its
// prose and answers in the same wire format as any other model, so that replies take the same path. It is deterministic
// and free; what it measures is statement coverage, not agent behaviour.
type OfflineClient struct{}

// Complete answers a ReflectTask with patches, a JudgeTask and a PairTask with verdicts, and a RolloutTask with the passages of the
// skill that speak of the situation.
func (OfflineClient) Complete(_ context.Context, req model.Request) (model.Reply, error) {
	switch t := req.Task.(type) {
	case *model.ReflectTask:
		return offlineReply(reflectOffline(t))
	case *model.JudgeTask:
		return offlineReply(judgeOffline(t))
	case *model.RolloutTask:
		return model.Reply{Text: rolloutOffline(t), Finish: "stop"}, nil
	case *model.PairTask:
		return offlineReply(pairOffline(t))
	}
	return model.Reply{}, &model.Error{Kind: model.BadRequest, Provider: model.Offline, Err: fmt.Errorf("the offline model does not know the task of a %s call", req.Stage)}
}

func offlineReply(v any) (model.Reply, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return model.Reply{}, &model.Error{Kind: model.Malformed, Provider: model.Offline, Err: err}
	}
	return model.Reply{Text: string(b), Finish: "stop"}, nil
}

func reflectOffline(t *model.ReflectTask) any {
	cs := make([]rulepatch.Correction, len(t.Trajectories))
	for i, x := range t.Trajectories {
		cs[i] = rulepatch.Correction{ID: x.ID, Category: x.Category, Expected: x.Expected}
	}
	patches := []rulepatch.Patch{}
	for _, r := range t.References {
		var mine, rest []rulepatch.Correction
		for _, c := range cs {
			// What a line of a reference says otherwise, or nearly says, is mended there; all else goes on.
			if ps := rulepatch.Propose(r.Body, []rulepatch.Correction{c}, 1); len(ps) == 1 && ps[0].Op == "replace" {
				mine = append(mine, c)
			} else {
				rest = append(rest, c)
			}
		}
		for _, p := range rulepatch.Propose(r.Body, mine, t.MaxPatches-len(patches)) {
			p.File = r.Path
			patches = append(patches, p)
		}
		cs = rest
	}
	if left := t.MaxPatches - len(patches); left > 0 {
		patches = append(patches, rulepatch.Propose(t.Body, cs, left)...)
	}
	return map[string]any{"reasoning": "by rule: what a correction contradicts is replaced, what is close is amended, the rest is added below the closest heading", "patches": patches}
}

func judgeOffline(t *model.JudgeTask) any {
	type verdict struct {
		ID   string `json:"id"`
		Pass bool   `json:"pass"`
		Why  string `json:"why"`
	}
	out := make([]verdict, len(t.Items))
	text := statement.Read(t.Body)
	for i, it := range t.Items {
		if t.Answers {
			text = statement.Read(it.Answer)
		}
		v := text.Judge(it.Expected)
		out[i] = verdict{it.ID, v.Stated, v.Why}
	}
	return map[string]any{"verdicts": out}
}

// mostPassages is how much of a skill an offline agent "remembers" for one situation.
const mostPassages = 6

// rolloutOffline is what an agent would have before it that looked up what the skill says about the situation: its paragraphs and
// list items that share words with it, the closest first. It shows whether advice can be found, not what an agent would do.
func rolloutOffline(t *model.RolloutTask) string {
	asked := words.Content(t.Prompt)
	type passage struct {
		text   string
		shared int
		at     int
	}
	var found []passage
	for i, l := range mdblock.Scan(t.Body) {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		n := 0
		for w := range words.Content(text) {
			if asked[w] {
				n++
			}
		}
		if n > 0 {
			found = append(found, passage{text, n, i})
		}
	}
	slices.SortFunc(found, func(a, b passage) int { return cmp.Or(b.shared-a.shared, a.at-b.at) })
	found = found[:min(len(found), mostPassages)]
	slices.SortFunc(found, func(a, b passage) int { return a.at - b.at })
	lines := make([]string, len(found))
	for i, p := range found {
		lines[i] = p.text
	}
	return strings.Join(lines, "\n")
}

func pairOffline(t *model.PairTask) any {
	type verdict struct {
		ID     string `json:"id"`
		Better string `json:"better"`
		Why    string `json:"why"`
	}
	out := make([]verdict, len(t.Items))
	for i, it := range t.Items {
		a, b := statement.Read(it.A).Judge(it.Expected), statement.Read(it.B).Judge(it.Expected)
		out[i] = verdict{it.ID, "tie", "both or neither say it"}
		switch {
		case a.Stated && !b.Stated:
			out[i] = verdict{it.ID, "A", a.Why}
		case b.Stated && !a.Stated:
			out[i] = verdict{it.ID, "B", b.Why}
		}
	}
	return map[string]any{"verdicts": out}
}
