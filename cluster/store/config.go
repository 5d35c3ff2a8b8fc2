package store

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Kind is the purpose of a store.
type Kind uint8

// The kinds.
const (
	// NodeStore holds the data that a node must not lose: its identity, its journal, its log.
	// Every commit is synced.
	NodeStore Kind = iota
	// StateStore holds data that can be rebuilt from a NodeStore's log or fetched from another
	// node. It has no identity and no ballast. It is on the disk of a NodeStore, which has both
	// and is opened before it (Config.Beside).
	StateStore
)

// Config configures a store. Dir is required; the other fields have useful zero values.
type Config struct {
	// Dir is the data directory. It is created with mode 0700.
	Dir string
	// Kind is the purpose of the store.
	Kind Kind
	// FS is the file system; nil means the operating system's. Tests replace it.
	FS FS
	// Beside is, for a StateStore, the NodeStore on the same disk. Its ballast is released when
	// the StateStore finds the disk full, and its Healthy reports that. nil means that there is
	// none.
	Beside *Store
	// Logger receives Pebble's messages; nil discards them.
	Logger *slog.Logger
	// Events are callbacks for metrics and alarms.
	Events Events

	// Fatal is called when the state of the store is unknown: a commit failed, and may or may
	// not exist after a restart. It must end the process; if it returns, the process panics. A
	// test may instead end the goroutine or block it. While Pebble rotates its log, only
	// blocking lets a test continue. nil panics at once, in a separate goroutine, so that no
	// recover of a server can continue with an inconsistent store.
	Fatal func(error)

	// MinFreeBytes is the disk space that Open requires, including the ballast. 0 means 256
	// MiB: 64 for the ballast and the rest for one compaction out of level 0 (64 MiB read, as
	// much written) with space for logs. So a store that opens can also compact. A running
	// store is unhealthy below a quarter of it. For a StateStore 0 means 8 MiB, for a memtable
	// flush and the next log. It is also opened while the process runs, after the NodeStore's
	// check.
	MinFreeBytes uint64
	// BallastBytes is the size of the file that is removed when the disk is full. 0 means 64
	// MiB: several thousand settles and the flush at Close. Less than 10 MiB helps little: a
	// log takes about 4.5 MiB at its first write, and a StateStore may have another one.
	// Negative means no ballast. A StateStore never has one.
	BallastBytes int64
	// ProbeEvery is the shortest interval in which Healthy checks the free space. 0 means 5 s:
	// the ballast lasts longer than that at 10 MB/s.
	ProbeEvery time.Duration
}

const (
	defaultMinFree      = 256 << 20
	defaultStateMinFree = 8 << 20
	defaultBallast      = 64 << 20
	defaultProbeEvery   = 5 * time.Second
)

// withDefaults sets the defaults of missing fields.
func (c Config) withDefaults() Config {
	if c.FS == nil {
		c.FS = vfs.Default
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Kind == StateStore {
		c.BallastBytes = -1
		if c.MinFreeBytes == 0 {
			c.MinFreeBytes = defaultStateMinFree
		}
	}
	if c.MinFreeBytes == 0 {
		c.MinFreeBytes = defaultMinFree
	}
	if c.BallastBytes == 0 {
		c.BallastBytes = defaultBallast
	}
	if c.ProbeEvery == 0 {
		c.ProbeEvery = defaultProbeEvery
	}
	return c
}

// Events are callbacks of the store. Each may be nil. They run in the goroutine of the event,
// must not block and must not call the store.
type Events struct {
	// DiskFull: the ballast has been released. Writes wait during the call.
	DiskFull func()
	// SpaceBack: the ballast is in place again.
	SpaceBack func()
	// DiskSlow: an operation on the disk has been running for d.
	DiskSlow func(d time.Duration)
	// Background: a flush or a compaction failed; Pebble retries.
	Background func(err error)
	// Stall: writes wait for flushes or compactions.
	Stall func()
}
