package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"whetstone/model"
	"whetstone/optimizer"
	"whetstone/run"
)

// scripted answers every call as reply says, and keeps what it was asked.
type scripted struct {
	mu    sync.Mutex
	asked []model.Request
	reply func(n int, r model.Request) (model.Reply, error)
}

func (s *scripted) Client(model.Ref) (model.Client, error) { return s, nil }
func (s *scripted) Price(model.Ref) (model.Price, error)   { return model.Price{}, nil }
func (s *scripted) Complete(_ context.Context, r model.Request) (model.Reply, error) {
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, r)
	s.mu.Unlock()
	reply, err := s.reply(n, r)
	reply.Usage = model.Usage{Input: 10, Output: 10}
	return reply, err
}

func tooLong() error {
	return &model.Error{Kind: model.TooLong, Provider: "x", Status: 400, Err: errors.New("context length exceeded")}
}

// patchFor answers a reflecting task with one patch for each of its corrections.
func patchFor(task *model.ReflectTask) model.Reply {
	var ps []map[string]any
	for _, x := range task.Trajectories {
		ps = append(ps, map[string]any{"op": "add", "anchor": "- Keep tests small.", "payload": "- " + x.Expected, "items": []string{x.ID}})
	}
	b, _ := json.Marshal(map[string]any{"reasoning": "r", "patches": ps})
	return model.Reply{Text: string(b), Finish: "stop"}
}

// reflecting is a place with one minibatch of eight corrections, and four refusals on file.
func reflecting(t *testing.T, reply func(n int, r model.Request) (model.Reply, error)) (*place, *scripted, PreflightOut) {
	t.Helper()
	p := newPlace(t)
	p.learn(rules...)
	p.job.Params.BatchSize, p.job.Params.Provider = 8, "openai:m"
	for i := range 4 {
		err := p.store.PutRejection(t.Context(), run.Rejection{
			Bundle: fmt.Sprintf("b%d", i), SkillKey: "demo", Reason: fmt.Sprintf("refused for reason %d", i),
			Patches: []run.PatchRecord{{Op: "add", Payload: fmt.Sprintf("- refused line %d", i)}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pre, err := p.a.Preflight(t.Context(), PreflightIn{Job: p.job, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{reply: reply}
	p.a.o.Models = s
	return p, s, pre
}

// size is how many refusals and corrections a prompt holds, by its words and not by its task.
func size(r model.Request, all []model.Trajectory) string {
	text := ""
	for _, m := range r.Messages {
		text += m.Content
	}
	n := 0
	for _, x := range all {
		if strings.Contains(text, x.Expected) {
			n++
		}
	}
	return fmt.Sprintf("%d+%d", strings.Count(text, "- refused line"), n)
}

// A prompt that is too long is asked again with fewer refusals, with none, with fewer corrections, and at last in two halves,
// whose patches are all recorded.
func TestATooLongPromptIsAskedWithLessAndLess(t *testing.T) {
	p, s, pre := reflecting(t, func(_ int, r model.Request) (model.Reply, error) {
		task := r.Task.(*model.ReflectTask)
		if len(task.Trajectories) > 2 {
			return model.Reply{}, tooLong()
		}
		return patchFor(task), nil
	})
	in := ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1, Batch: 0}
	batch, err := p.a.minibatch(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(batch) != 8 {
		t.Fatalf("%d corrections in the batch", len(batch))
	}
	out, err := p.a.Reflect(t.Context(), in)
	if err != nil || out.Failed != "" {
		t.Fatalf("%+v, %v", out, err)
	}
	var sizes []string
	for _, r := range s.asked {
		sizes = append(sizes, size(r, batch))
	}
	// The whole; fewer refusals; none; half the corrections. Then each half: whole, half of it.
	if got, want := strings.Join(sizes, " "), "4+8 2+8 0+8 0+4 0+4 0+2 0+4 0+2"; got != want {
		t.Errorf("refusals+corrections asked with: %s, want %s", got, want)
	}
	replies, err := p.store.Reflections(t.Context(), "run-1", 1)
	if err != nil || len(replies) != 1 {
		t.Fatal(replies, err)
	}
	var recorded []optimizer.Patch
	if err := json.Unmarshal([]byte(replies[0]), &recorded); err != nil {
		t.Fatal(err)
	}
	half := map[bool]int{}
	for _, ps := range recorded {
		for i, x := range batch {
			for _, id := range ps.Items {
				if id == x.ID {
					half[i < 4]++
				}
			}
		}
	}
	if half[true] != 2 || half[false] != 2 || out.Patches != 4 {
		t.Errorf("patches of the first half %d, of the second %d, counted %d", half[true], half[false], out.Patches)
	}
}

func TestAPromptThatIsTooLongForOneCorrectionIsAFailure(t *testing.T) {
	p, _, pre := reflecting(t, func(int, model.Request) (model.Reply, error) { return model.Reply{}, tooLong() })
	_, err := p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1})
	if err == nil || KindOf(err) != string(model.TooLong) {
		t.Errorf("%v", err)
	}
}

// With one half unreadable the other half's patches are kept.
func TestOneHalfIsBetterThanNone(t *testing.T) {
	p, s, pre := reflecting(t, nil)
	in := ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1}
	batch, err := p.a.minibatch(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	s.reply = func(_ int, r model.Request) (model.Reply, error) {
		task := r.Task.(*model.ReflectTask)
		if len(task.Trajectories) > 2 {
			return model.Reply{}, tooLong()
		}
		for _, x := range batch[:4] {
			if x.ID == task.Trajectories[0].ID {
				return model.Reply{Text: "I have no idea.", Finish: "stop"}, nil
			}
		}
		return patchFor(task), nil
	}
	out, err := p.a.Reflect(t.Context(), in)
	if err != nil || out.Failed != "" || out.Patches != 2 {
		t.Errorf("%+v, %v", out, err)
	}
}

// An answer that ends at its bound is asked for once with twice the bound, and then to be continued; the parts are joined.
func TestACutOffAnswerIsJoined(t *testing.T) {
	whole := `{"reasoning": "r", "patches": [{"op": "add", "anchor": "- Keep tests small.", "payload": "- One line that is long enough."}, {"op": "add", "anchor": "", "payload": "- Another line."}]}`
	// Cut within a word of the first payload: no repair can make two patches of it.
	at := strings.Index(whole, "long enough")
	p, s, pre := reflecting(t, func(n int, _ model.Request) (model.Reply, error) {
		switch n {
		case 0:
			return model.Reply{Text: whole[:at-20], Finish: "length"}, nil
		case 1:
			return model.Reply{Text: whole[:at], Finish: "length"}, nil
		}
		return model.Reply{Text: whole[at:], Finish: "stop"}, nil
	})
	out, err := p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1})
	if err != nil || out.Failed != "" || out.Patches != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	var bounds []int
	for _, r := range s.asked {
		bounds = append(bounds, r.MaxTokens)
	}
	if fmt.Sprint(bounds) != fmt.Sprint([]int{reflectTokens, 2 * reflectTokens, 2 * reflectTokens}) {
		t.Errorf("bounds %v", bounds)
	}
	last := s.asked[len(s.asked)-1].Messages
	if n := len(last); last[n-2].Role != "assistant" || last[n-2].Content != whole[:at] || last[n-1].Role != "user" {
		t.Errorf("the continuation was asked for as %+v", last[n-2:])
	}
	replies, err := p.store.Reflections(t.Context(), "run-1", 1)
	if err != nil || len(replies) != 1 || !strings.Contains(replies[0], "One line that is long enough.") || !strings.Contains(replies[0], "Another line.") {
		t.Errorf("%q, %v", replies, err)
	}
}

func TestATwiceLargerBoundIsEnough(t *testing.T) {
	p, s, pre := reflecting(t, func(n int, r model.Request) (model.Reply, error) {
		if n == 0 {
			return model.Reply{Text: `{"reasoning": "r", "patches": [{"op": "ad`, Finish: "length"}, nil
		}
		return patchFor(r.Task.(*model.ReflectTask)), nil
	})
	out, err := p.a.Reflect(t.Context(), ReflectIn{Job: p.job, Hash: pre.Hash, Epoch: 1, Step: 1})
	if err != nil || out.Failed != "" || out.Patches != 8 || len(s.asked) != 2 {
		t.Errorf("%+v, %v, %d calls", out, err, len(s.asked))
	}
}
