package llm

import (
	"strings"
	"testing"

	"whetstone/model"
)

func TestWhatIsOnlyShownIsAnsweredSoThatTheRunGoesOn(t *testing.T) {
	t.Parallel()
	ref := model.Ref{Provider: "openai", Model: "m"}
	for name, c := range map[string]struct {
		req  model.Request
		want string
	}{
		"a judgement is the offline model's": {model.Request{Stage: "judge", Task: &model.JudgeTask{Body: "# A\n\n- Close what you open.\n", Items: []model.JudgeItem{{ID: "i", Expected: "close what you open"}}}}, `"pass":true`},
		"a ranking is the order shown":       {model.Request{Stage: "council", Task: &model.RankTask{Labels: []string{"A", "B"}}}, `{"ranking":["A","B"]}`},
		"no claims are found":                {model.Request{Stage: "extract"}, `{"claims": [], "questions": []}`},
		"an answer says whose it is":         {model.Request{Stage: "council"}, "[the answer of openai:m]"},
	} {
		c.req.Ref = ref
		var shown []model.Request
		reply, err := Shower{Show: func(r model.Request) { shown = append(shown, r) }}.Complete(t.Context(), c.req)
		if err != nil || !strings.Contains(reply.Text, c.want) || len(shown) != 1 || shown[0].Stage != c.req.Stage {
			t.Errorf("%s: %q, %v, %d shown", name, reply.Text, err, len(shown))
		}
	}
}
