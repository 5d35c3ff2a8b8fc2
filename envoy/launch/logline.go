package launch

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
)

// logFormat is Envoy's log format: level, logger, and the message with escaped newlines, so
// that each entry is one line.
const logFormat = "%l\t%n\t%_"

const (
	maxLine  = 4096 // bytes of a log line that are kept
	maxCause = 5    // lines that explain an exit
)

// logWriter forwards the child's output to the log, line by line. It is safe for concurrent
// use, because standard output and standard error share it.
type logWriter struct {
	logger   *slog.Logger
	stopping func() bool // suppresses Envoy's warnings about a requested stop; nil: never

	mu struct {
		sync.Mutex
		line   []byte   // unfinished; at most maxLine bytes
		causes []string // the latest errors, oldest first
	}
}

// Write never fails: a log that cannot be written must not stop Envoy.
func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		w.mu.line = append(w.mu.line, part[:min(len(part), maxLine-len(w.mu.line))]...)
		if end < 0 {
			break
		}
		w.emitLocked(string(w.mu.line))
		w.mu.line = w.mu.line[:0]
		p = p[end+1:]
	}
	return n, nil
}

// emitLocked logs one line. A line in another format, such as a crash or an error of the
// dynamic loader, is logged as an error.
func (w *logWriter) emitLocked(line string) {
	line = strings.ToValidUTF8(strings.TrimSpace(line), "?")
	if line == "" {
		return
	}
	level, component, message := slog.LevelError, "", line
	if parts := strings.SplitN(line, "\t", 3); len(parts) == 3 {
		level, component, message = levelOf(parts[0]), parts[1], parts[2]
	}
	if level >= slog.LevelError {
		w.mu.causes = append(w.mu.causes, message)
		if len(w.mu.causes) > maxCause {
			w.mu.causes = w.mu.causes[1:]
		}
	}
	if level == slog.LevelWarn && w.stopping != nil && w.stopping() {
		level = slog.LevelDebug
	}
	w.logger.LogAttrs(context.Background(), level, "envoy",
		slog.String("component", component), slog.String("text", message))
}

// causes returns the latest errors, oldest first.
func (w *logWriter) causes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rest := string(w.mu.line); rest != "" {
		w.mu.line = nil
		w.emitLocked(rest)
	}
	return append([]string(nil), w.mu.causes...)
}

// levelOf maps Envoy's levels to those of slog.
func levelOf(name string) slog.Level {
	switch name {
	case "trace", "debug":
		return slog.LevelDebug
	case "info":
		return slog.LevelInfo
	case "warning", "warn":
		return slog.LevelWarn
	}
	return slog.LevelError
}
