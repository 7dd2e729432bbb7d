package llm

import (
	"context"

	"whetstone/model"
)

// Shower shows what would be sent and sends nothing: the offline model answers in the provider's place, so that the run goes on.
type Shower struct {
	Show func(model.Request)
}

// Complete shows and answers offline.
func (s Shower) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	s.Show(req)
	return OfflineClient{}.Complete(ctx, req)
}
