package store

import (
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble retries a failed flush or compaction at once and without limit. On a full disk it
// would keep a core busy and flood the log. Each attempt begins with the creation of a table,
// which therefore waits, longer after each failure. The wait is short enough that writes do not
// stall for long once the disk works again, and that Pebble does not report a slow disk.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
	// calmAfter is the time without a failure after which the wait starts from the beginning.
	calmAfter = 10 * time.Second
)

// pace delays Pebble's retries.
type pace struct {
	stop chan struct{} // closed when there are no more attempts

	mu struct {
		sync.Mutex
		failed time.Time // last
		pause  time.Duration
	}
}

// fail records a failure, which delays the next attempts.
func (p *pace) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.mu.failed) > calmAfter {
		p.mu.pause = firstPause / 2
	}
	p.mu.failed, p.mu.pause = now, min(2*p.mu.pause, longestPause)
}

// wait returns when the next attempt is due, or when the store closes.
func (p *pace) wait() {
	p.mu.Lock()
	left := p.mu.pause - time.Since(p.mu.failed)
	p.mu.Unlock()
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.stop: // Close waits for the attempt to end
	}
}

// pacedFS delays the creation of tables. Pebble holds no locks at that time, so reads and
// commits continue.
type pacedFS struct {
	vfs.FS
	pace *pace
}

// Unwrap implements vfs.FS.
func (f pacedFS) Unwrap() vfs.FS { return f.FS }

// Create creates a file; it delays a table as pace requires.
func (f pacedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if isTable(name) {
		f.pace.wait()
	}
	return f.FS.Create(name, category)
}

// isTable reports whether a file is one that Pebble never changes after writing it.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}
