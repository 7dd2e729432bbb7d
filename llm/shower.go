package llm

import (
	"context"
	"encoding/json"
	"fmt"

	"whetstone/model"
)

// Shower shows what would be sent and sends nothing. In the provider's place the offline model answers, and what that does not
// know gets an answer that says nothing, so that the run goes on and its other prompts are seen.
type Shower struct {
	Show func(model.Request)
}

// Complete shows and answers in the provider's place.
func (s Shower) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	s.Show(req)
	switch t := req.Task.(type) {
	case *model.ReflectTask, *model.JudgeTask:
		return OfflineClient{}.Complete(ctx, req)
	case *model.RankTask:
		b, err := json.Marshal(map[string]any{"ranking": t.Labels})
		return model.Reply{Text: string(b), Finish: "stop"}, err
	}
	if req.Stage == "extract" {
		return model.Reply{Text: `{"claims": [], "questions": []}`, Finish: "stop"}, nil
	}
	return model.Reply{Text: fmt.Sprintf("[the answer of %s]", req.Ref), Finish: "stop"}, nil
}
