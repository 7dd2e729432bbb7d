// Package llm calls language models behind one interface: the offline model, which needs nothing, and everything that
// speaks the OpenAI protocol. It owns wire formats, the translation of failures to model.Error, and the price table. It
// never retries, never stores, and never logs a key or a prompt.
package llm

import (
	"context"
	"encoding/json"
	"fmt"

	"whetstone/llm/rulepatch"
	"whetstone/llm/statement"
	"whetstone/model"
)

// OfflineClient is the model that needs no key, no network and no server. It reads a request's Task instead of its
// prose and answers in the same wire format as any other model, so that replies take the same path. It is deterministic
// and free; what it measures is statement coverage, not agent behaviour.
type OfflineClient struct{}

// Complete answers a ReflectTask with patches and a JudgeTask with verdicts.
func (OfflineClient) Complete(_ context.Context, req model.Request) (model.Reply, error) {
	switch t := req.Task.(type) {
	case *model.ReflectTask:
		return offlineReply(reflectOffline(t))
	case *model.JudgeTask:
		return offlineReply(judgeOffline(t))
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
	patches := rulepatch.Propose(t.Body, cs, t.MaxPatches)
	if patches == nil {
		patches = []rulepatch.Patch{}
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
		v := text.Judge(it.Expected)
		out[i] = verdict{it.ID, v.Stated, v.Why}
	}
	return map[string]any{"verdicts": out}
}
