package activities

import (
	"context"
	"fmt"

	"whetstone/model"
	"whetstone/optimizer"
)

const rankTokens = 400

// rankEdits lets the reflecting model order edits where more were proposed than the step takes. An answer that is no order, or a model
// that does not answer for good, leaves them by support.
func (a *Activities) rankEdits(ctx context.Context, in ProposeIn, set *optimizer.Set, edits []optimizer.Edit) ([]optimizer.Edit, error) {
	ref, err := model.ParseRef(in.Job.Params.Provider)
	if err != nil {
		return nil, InputError("%w", err)
	}
	if ref.Provider == model.Offline {
		return edits, nil
	}
	text := set.Package().View()
	task := &model.RankEditsTask{Body: set.Main().Body}
	for _, e := range edits {
		task.Edits = append(task.Edits, fmt.Sprintf("%s %q: %q", e.Op, e.Patch.Anchor, e.Patch.Payload))
	}
	reply, err := a.complete(ctx, call{
		job: in.Job, ref: ref, stage: "rank", site: fmt.Sprintf("rank-%d", in.Step), step: in.Step,
		req: model.Request{
			Ref: ref, Stage: "rank", Messages: optimizer.RankMessages(text, edits, in.Patches), MaxTokens: rankTokens,
			Seed: int64(optimizer.SeedFor(in.Job.Params.Seed, "rank", in.Step) >> 1), Schema: optimizer.RankSchema, Task: task,
		},
	})
	if me, ok := model.AsError(err); ok && !me.Retryable() {
		return edits, nil
	}
	if err != nil {
		return nil, err
	}
	if order, bad := optimizer.ParseRank(reply.Text, len(edits)); bad == nil {
		edits = optimizer.Reorder(edits, order)
	}
	return edits, nil
}
