package activities

import (
	"whetstone/model"
	"whetstone/validation"
)

// trajectories are train items as the reflecting model sees them.
func trajectories(items []validation.Item) []model.Trajectory {
	out := make([]model.Trajectory, len(items))
	for i, it := range items {
		out[i] = model.Trajectory{ID: it.ID, Category: it.Category, Prompt: it.Prompt, Expected: validation.Describe(it), Support: max(len(it.Learning), 1)}
	}
	return out
}
