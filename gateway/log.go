package gateway

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/config"
)

// newLogger returns a logger that writes to out. Call flush before the process ends.
func newLogger(c config.Log, out io.Writer) (l *slog.Logger, flush func()) {
	o := &slog.HandlerOptions{}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err == nil {
		o.Level = level
	}
	to := &lines{out: out}
	h := urgent{Handler: slog.NewJSONHandler(to, o), lines: to}
	if c.Format == "text" {
		h.Handler = slog.NewTextHandler(to, o)
	}
	return slog.New(h), to.flush
}

// lines writes lines of the log. A line that comes soon after another one waits, and is written
// together with those that follow: at full load the system call for each request's line would
// take half of what the line costs.
type lines struct {
	out io.Writer

	mu      sync.Mutex // guards the fields below, and writing
	waiting []byte
	last    time.Time   // when lines were written
	timer   *time.Timer // writes those that wait; nil until one does
}

const (
	lineDelay = 10 * time.Millisecond
	mostLines = 64 << 10 // bytes that wait
)

// Write takes one line.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := len(l.waiting) == 0
	l.waiting = append(l.waiting, line...)
	wait := lineDelay - time.Since(l.last)
	switch {
	case wait <= 0 || len(l.waiting) >= mostLines:
		return len(line), l.writeLocked()
	case l.timer == nil:
		l.timer = time.AfterFunc(wait, l.flush)
	case first:
		l.timer.Reset(wait)
	}
	return len(line), nil
}

// flush writes the lines that wait.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.writeLocked() // nothing is left to report it to
}

func (l *lines) writeLocked() error {
	if len(l.waiting) == 0 {
		return nil
	}
	_, err := l.out.Write(l.waiting)
	l.waiting, l.last = l.waiting[:0], time.Now()
	if cap(l.waiting) > 2*mostLines {
		l.waiting = nil
	}
	return err
}

// urgent has warnings and errors written at once: the process may be about to end.
type urgent struct {
	slog.Handler

	lines *lines
}

// Handle implements slog.Handler.
func (u urgent) Handle(ctx context.Context, r slog.Record) error {
	err := u.Handler.Handle(ctx, r)
	if r.Level > slog.LevelInfo {
		u.lines.mu.Lock()
		defer u.lines.mu.Unlock()
		err = errors.Join(err, u.lines.writeLocked())
	}
	return err
}

// WithAttrs implements slog.Handler.
func (u urgent) WithAttrs(attrs []slog.Attr) slog.Handler {
	u.Handler = u.Handler.WithAttrs(attrs)
	return u
}

// WithGroup implements slog.Handler.
func (u urgent) WithGroup(name string) slog.Handler {
	u.Handler = u.Handler.WithGroup(name)
	return u
}
