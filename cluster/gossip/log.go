package gossip

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

const (
	// linesPerSecond limits the log lines of memberlist. It writes a line for every packet that
	// it cannot decrypt, and any host can send those.
	linesPerSecond = 5
	// longestLine truncates lines. Others can influence their content.
	longestLine = 500
)

// logWriter converts memberlist's text log, with levels in brackets, to slog records. It also
// detects that a member was reached only by a stream; memberlist has no callback for that.
type logWriter struct {
	logger    *slog.Logger
	unreached func(id.Node)
	mu        struct {
		sync.Mutex
		second  int64
		lines   int
		dropped int // since the last line that was logged
	}
}

// Write logs one line. It never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	level, text := parseLine(string(bytes.TrimSpace(line)))
	if who, ok := blockedPackets(text); ok {
		w.unreached(id.Node(who))
		level = slog.LevelDebug // reported once, and not each second
	}
	ctx := context.Background()
	if !w.logger.Enabled(ctx, level) {
		return len(line), nil
	}
	dropped, ok := w.admit(time.Now())
	if !ok {
		return len(line), nil
	}
	attrs := []slog.Attr{slog.String("text", text[:min(len(text), longestLine)])}
	if dropped > 0 {
		attrs = append(attrs, slog.Int("lines_dropped", dropped))
	}
	w.logger.LogAttrs(ctx, level, "gossip", attrs...)
	return len(line), nil
}

// admit reports whether another line is allowed in this second, and how many were dropped
// before it.
func (w *logWriter) admit(now time.Time) (dropped int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if second := now.Unix(); second != w.mu.second {
		w.mu.second, w.mu.lines = second, 0
	}
	if w.mu.lines++; w.mu.lines > linesPerSecond {
		w.mu.dropped++
		return 0, false
	}
	dropped, w.mu.dropped = w.mu.dropped, 0
	return dropped, true
}

// parseLine returns the level and the text of a line such as "2026/11/21 12:00:00 [WARN]
// memberlist: …". memberlist's errors become warnings, because nothing depends on a gossip
// message.
func parseLine(line string) (slog.Level, string) {
	_, rest, ok := strings.Cut(line, "[")
	name, text, ok2 := strings.Cut(rest, "]")
	if !ok || !ok2 {
		return slog.LevelInfo, line
	}
	text = strings.TrimPrefix(strings.TrimSpace(text), "memberlist: ")
	switch name {
	case "DEBUG":
		return slog.LevelDebug, text
	case "INFO":
		return slog.LevelInfo, text
	case "WARN", "ERR", "ERROR":
		return slog.LevelWarn, text
	}
	return slog.LevelInfo, line
}

// blockedPackets returns the member that memberlist reached only by a stream.
func blockedPackets(text string) (who string, ok bool) {
	who, ok = strings.CutPrefix(text, "Was able to connect to ")
	if !ok {
		return "", false
	}
	who, _, ok = strings.Cut(who, " over TCP but UDP probes failed")
	return who, ok
}
