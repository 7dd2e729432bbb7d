package activities

import (
	"context"

	"whetstone/validation"
)

// byKind parts items that need no judge from those that a model judges.
func byKind(items []validation.Item) (fixed, judged []validation.Item) {
	for _, it := range items {
		if it.Kind == "llm" {
			judged = append(judged, it)
		} else {
			fixed = append(fixed, it)
		}
	}
	return fixed, judged
}

// check decides items that need no judge.
func (a *Activities) check(ctx context.Context, m measuring, s subject, items []validation.Item, trial int) ([]validation.Verdict, error) {
	return nil, nil
}
