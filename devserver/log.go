package devserver

import (
	"context"
	"log/slog"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog carries the server's log lines into slog. Fatal and Panic do not end the process: the server runs inside
// somebody's command, and a start that fails is reported as an error by Start.
type serverLog struct{ log *slog.Logger }

var _ log.Logger = (*serverLog)(nil)

func (l *serverLog) Debug(msg string, tags ...tag.Tag)  { l.write(slog.LevelDebug, msg, tags) }
func (l *serverLog) Info(msg string, tags ...tag.Tag)   { l.write(slog.LevelInfo, msg, tags) }
func (l *serverLog) Warn(msg string, tags ...tag.Tag)   { l.write(slog.LevelWarn, msg, tags) }
func (l *serverLog) Error(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }
func (l *serverLog) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }
func (l *serverLog) Panic(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }
func (l *serverLog) Fatal(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }

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
