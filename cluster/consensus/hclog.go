package consensus

import (
	"context"
	"fmt"
	"io"
	"log" //nolint:depguard // a method of hclog.Logger returns one
	"log/slog"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// raftLog adapts a slog.Logger to hclog. Raft logs indexes, terms, names and addresses, but
// never entries or keys.
type raftLog struct {
	out   *slog.Logger
	args  []any // of all messages
	alone bool  // a single node
}

// Log implements hclog.Logger.
func (l raftLog) Log(level hclog.Level, msg string, args ...any) {
	to := slogLevel(level)
	if l.alone {
		to = slog.LevelDebug // elections of a single node are not interesting
	}
	ctx := context.Background()
	if !l.out.Enabled(ctx, to) {
		return
	}
	attrs := []slog.Attr{slog.String("detail", msg)}
	attrs = appendAttrs(attrs, l.args)
	attrs = appendAttrs(attrs, args)
	l.out.LogAttrs(ctx, to, "raft", attrs...)
}

// appendAttrs converts alternating keys and values to attributes.
func appendAttrs(attrs []slog.Attr, args []any) []slog.Attr {
	for i := 0; i+1 < len(args); i += 2 {
		key := strings.ReplaceAll(fmt.Sprint(args[i]), "-", "_")
		value := args[i+1]
		if format, ok := value.(hclog.Format); ok && len(format) > 0 {
			value = fmt.Sprintf(fmt.Sprint(format[0]), format[1:]...)
		}
		attrs = append(attrs, slog.Any(key, value))
	}
	return attrs
}

// slogLevel maps Raft's level to one level below. Raft logs an unreachable node as an error and
// an election as a warning. The caller of this package logs changes of the leader.
func slogLevel(level hclog.Level) slog.Level {
	switch level {
	case hclog.Error:
		return slog.LevelWarn
	case hclog.Warn:
		return slog.LevelInfo
	case hclog.NoLevel, hclog.Trace, hclog.Debug, hclog.Info, hclog.Off:
	}
	return slog.LevelDebug
}

// Trace implements hclog.Logger.
func (l raftLog) Trace(msg string, args ...any) { l.Log(hclog.Trace, msg, args...) }

// Debug implements hclog.Logger.
func (l raftLog) Debug(msg string, args ...any) { l.Log(hclog.Debug, msg, args...) }

// Info implements hclog.Logger.
func (l raftLog) Info(msg string, args ...any) { l.Log(hclog.Info, msg, args...) }

// Warn implements hclog.Logger.
func (l raftLog) Warn(msg string, args ...any) { l.Log(hclog.Warn, msg, args...) }

// Error implements hclog.Logger.
func (l raftLog) Error(msg string, args ...any) { l.Log(hclog.Error, msg, args...) }

// IsTrace implements hclog.Logger.
func (l raftLog) IsTrace() bool { return l.enabled(hclog.Trace) }

// IsDebug implements hclog.Logger.
func (l raftLog) IsDebug() bool { return l.enabled(hclog.Debug) }

// IsInfo implements hclog.Logger.
func (l raftLog) IsInfo() bool { return l.enabled(hclog.Info) }

// IsWarn implements hclog.Logger.
func (l raftLog) IsWarn() bool { return l.enabled(hclog.Warn) }

// IsError implements hclog.Logger.
func (l raftLog) IsError() bool { return l.enabled(hclog.Error) }

func (l raftLog) enabled(level hclog.Level) bool {
	return l.out.Enabled(context.Background(), slogLevel(level))
}

// ImpliedArgs implements hclog.Logger.
func (l raftLog) ImpliedArgs() []any { return slices.Clone(l.args) }

// With implements hclog.Logger.
func (l raftLog) With(args ...any) hclog.Logger {
	return raftLog{out: l.out, args: slices.Concat(l.args, args), alone: l.alone}
}

// Name implements hclog.Logger.
func (raftLog) Name() string { return "raft" }

// Named implements hclog.Logger. Components of Raft share one logger.
func (l raftLog) Named(string) hclog.Logger { return l }

// ResetNamed implements hclog.Logger.
func (l raftLog) ResetNamed(string) hclog.Logger { return l }

// SetLevel implements hclog.Logger. The slog handler decides the level.
func (raftLog) SetLevel(hclog.Level) {}

// GetLevel implements hclog.Logger.
func (l raftLog) GetLevel() hclog.Level {
	for _, level := range []hclog.Level{hclog.Debug, hclog.Info, hclog.Warn} {
		if l.enabled(level) {
			return level
		}
	}
	return hclog.Error
}

// StandardLogger implements hclog.Logger.
func (l raftLog) StandardLogger(opts *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(l.StandardWriter(opts), "", 0)
}

// StandardWriter implements hclog.Logger.
func (l raftLog) StandardWriter(*hclog.StandardLoggerOptions) io.Writer { return lineWriter{l} }

// lineWriter logs each write as a line.
type lineWriter struct{ l raftLog }

// Write implements io.Writer.
func (w lineWriter) Write(line []byte) (int, error) {
	w.l.Info(strings.TrimSpace(string(line)))
	return len(line), nil
}
