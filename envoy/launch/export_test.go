package launch

import (
	"io"
	"log/slog"
)

// NewLog is what a child's output is written to.
func NewLog(l *slog.Logger) io.Writer { return &logWriter{logger: l} }
