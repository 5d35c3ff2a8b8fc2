package store

import (
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble tries a flush or a compaction that failed again, at once and for ever: on
// a disk that stays full it would keep a core busy, and the log of errors. Each
// try begins with making a table, which therefore waits: longer with each failure,
// and never so long that writes stall for long once the disk works again, or that
// Pebble takes it for a slow disk.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
	// calmAfter is how long after a failure the next one is the first again.
	calmAfter = 10 * time.Second
)

// pace is how soon Pebble may try again.
type pace struct {
	stop chan struct{} // closed when nothing is tried any more

	mu struct {
		sync.Mutex
		failed time.Time // last
		pause  time.Duration
	}
}

// fail makes the next tries wait.
func (p *pace) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.mu.failed) > calmAfter {
		p.mu.pause = firstPause / 2
	}
	p.mu.failed, p.mu.pause = now, min(2*p.mu.pause, longestPause)
}

// wait returns when it is time for the next try, or when there will be none.
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
	case <-p.stop: // Close waits for the try to end
	}
}

// pacedFS makes tables at the pace. Pebble holds none of its locks then, so that
// reads and commits go on.
type pacedFS struct {
	vfs.FS
	pace *pace
}

// Unwrap returns the file system below.
func (f pacedFS) Unwrap() vfs.FS { return f.FS }

// Create makes a file; a table only when it is time.
func (f pacedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if isTable(name) {
		f.pace.wait()
	}
	return f.FS.Create(name, category)
}

// isTable reports whether a file is one of those that Pebble never changes once
// they are written.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}
