package attach

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Links keeps a link to each of Envoy's workers.
type Links struct {
	path    string
	serve   func(*Stream) error
	changed func(bool)
	logger  *slog.Logger
	tasks   sync.WaitGroup
	broke   chan *link
}

// How long to wait before the next attempt to connect. Envoy takes some 100 ms to start.
const (
	pause     = 20 * time.Millisecond
	longPause = time.Second
)

// NewLinks returns links to the socket path. It calls serve for each request, in a goroutine of
// its own, and changed when all workers have a link, and when one has none any more. The calls
// of changed do not overlap.
func NewLinks(path string, serve func(*Stream) error, changed func(complete bool), logger *slog.Logger) *Links {
	return &Links{path: path, serve: serve, changed: changed, logger: logger, broke: make(chan *link)}
}

// Run keeps the links until ctx is done, and returns when all requests have ended.
func (l *Links) Run(ctx context.Context) error {
	defer l.tasks.Wait()
	open := make(map[*link]struct{})
	complete := false
	timer := time.NewTimer(0)
	defer timer.Stop()
	wait := pause
	for {
		select {
		case <-ctx.Done():
			for len(open) > 0 {
				delete(open, <-l.broke)
			}
			return nil
		case broken := <-l.broke:
			delete(open, broken)
			wait = pause
			timer.Reset(pause)
		case <-timer.C:
			if added := l.add(ctx, open); added {
				wait = 0
			} else {
				wait = min(max(2*wait, pause), longPause)
			}
			if missing, _ := lacking(open); missing {
				timer.Reset(wait)
			}
		}
		if missing, _ := lacking(open); complete == missing {
			complete = !missing
			l.changed(complete)
		}
	}
}

// add opens a link.
func (l *Links) add(ctx context.Context, open map[*link]struct{}) bool {
	if missing, spare := lacking(open); !missing || spare > 3 {
		return false
	}
	k, err := openLink(ctx, l.path, l.serve)
	if err != nil {
		l.logger.DebugContext(ctx, "no link to Envoy", "error", err.Error())
		return false
	}
	open[k] = struct{}{}
	l.tasks.Go(func() {
		err := k.run(ctx)
		if ctx.Err() == nil {
			l.logger.InfoContext(ctx, "a link to Envoy has ended, and with it the requests on it", "error", err.Error())
		}
		l.broke <- k
	})
	return true
}

// lacking reports whether a worker has no link, and how many times as many links as workers
// there are. Envoy balances the connections of its workers, so a second one is rare.
func lacking(open map[*link]struct{}) (missing bool, times int) {
	workers := 0
	distinct := make(map[uint32]struct{})
	for k := range open {
		workers = int(k.hello.workers)
		distinct[k.hello.worker] = struct{}{}
	}
	if workers == 0 {
		return true, 0
	}
	return len(distinct) < workers, len(open) / workers
}
