package gateway

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/config"
)

// written is where lines go, by write.
type written struct {
	mu   sync.Mutex
	list []string
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, string(p))
	return len(p), nil
}

// messages returns the messages of the lines of each write.
func (w *written) messages() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]string, len(w.list))
	for i, text := range w.list {
		for line := range strings.Lines(text) {
			_, after, _ := strings.Cut(line, "msg=")
			out[i] += strings.Fields(after)[0]
		}
	}
	return out
}

func TestLinesOfABusyLogAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out written
		logger, flush := newLogger(config.Log{Format: "text"}, &out)
		expect := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			if got := out.messages(); strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%s: written %q, want %q", when, got, want)
			}
		}
		logger.Info("a")
		expect("the first line", "a")
		logger.Info("b")
		logger.With("x", 1).Info("c")
		expect("lines right behind it", "a")
		time.Sleep(lineDelay)
		expect("a moment later", "a", "bc")
		time.Sleep(lineDelay)
		logger.Info("d")
		expect("after a pause", "a", "bc", "d")
		logger.Info("e")
		logger.WithGroup("g").Warn("f")
		expect("a warning", "a", "bc", "d", "ef")
		logger.Info("g")
		flush()
		expect("at the end", "a", "bc", "d", "ef", "g")
		logger.Info("h")
		logger.Info("i", "x", strings.Repeat("x", mostLines))
		expect("many bytes", "a", "bc", "d", "ef", "g", "hi")
	})
}

func TestLogHasItsLevelAndFormat(t *testing.T) {
	var out written
	logger, flush := newLogger(config.Log{Level: "error"}, &out)
	logger.Warn("not this")
	logger.Error("this", slog.String("code", "x"))
	flush()
	if l := out.list; len(l) != 1 || !strings.HasPrefix(l[0], "{") || !strings.Contains(l[0], `"msg":"this","code":"x"`) {
		t.Errorf("written %q", l)
	}
}
