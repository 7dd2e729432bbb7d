package devserver

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog carries the server's log lines into slog. Fatal and Panic do not end the process: the server runs inside
// somebody's command. While it is being built they panic, which build turns into an error; later they are written down.
type serverLog struct {
	log       *slog.Logger
	launching atomic.Bool
}

var _ log.Logger = (*serverLog)(nil)

func (l *serverLog) Debug(msg string, tags ...tag.Tag)  { l.write(slog.LevelDebug, msg, tags) }
func (l *serverLog) Info(msg string, tags ...tag.Tag)   { l.write(slog.LevelInfo, msg, tags) }
func (l *serverLog) Warn(msg string, tags ...tag.Tag)   { l.write(slog.LevelWarn, msg, tags) }
func (l *serverLog) Error(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }
func (l *serverLog) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }
func (l *serverLog) Panic(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }
func (l *serverLog) Fatal(msg string, tags ...tag.Tag) {
	l.write(slog.LevelError, msg, tags)
	if l.launching.Load() {
		panic(fmt.Sprintf("%s %v", msg, values(tags)))
	}
}

func values(tags []tag.Tag) []any {
	out := make([]any, len(tags))
	for i, t := range tags {
		out[i] = t.Value()
	}
	return out
}

func (l *serverLog) write(level slog.Level, msg string, tags []tag.Tag) {
	ctx := context.Background()
	if !l.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, len(tags))
	for i, t := range tags {
		attrs[i] = slog.Any(t.Key(), t.Value())
	}
	l.log.LogAttrs(ctx, level, msg, attrs...)
}
