package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// beat heartbeats until the returned function is called, so that Temporal learns within seconds that a process died, and
// the activity learns of a cancellation. Outside a worker it does nothing.
func beat(ctx context.Context) (stop func()) {
	if !activity.IsActivity(ctx) || activity.GetInfo(ctx).HeartbeatTimeout == 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-t.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() { close(done) }
}
