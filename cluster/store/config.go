package store

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Kind says what a store is for.
type Kind uint8

// The kinds.
const (
	// NodeStore is what a node must not lose: its identity, its journal, its log.
	// Every commit is synced.
	NodeStore Kind = iota
	// StateStore is what can be made again from a NodeStore's log, or fetched from
	// another node. It has no identity, and no ballast of its own: it lies on the
	// disk of a NodeStore, which has one and is opened before it (Config.Beside).
	StateStore
)

// Config says where the store lives and who is told of trouble. Dir is required;
// the zero value of everything else works.
type Config struct {
	// Dir is the data directory. It is created with mode 0700.
	Dir string
	// Kind is what the store is for.
	Kind Kind
	// FS is the file system; nil means the operating system's. Tests use it.
	FS FS
	// Beside is, for a StateStore, the NodeStore on the same disk: its ballast
	// makes way when the StateStore finds the disk full, and its Healthy tells of
	// it. nil means that there is none.
	Beside *Store
	// Logger gets what Pebble has to say; nil means nobody does.
	Logger *slog.Logger
	// Events tells metrics and alarms what happened.
	Events Events

	// Fatal is called when the state of the store is not known any more: a
	// commit failed, and whether it will be there after a restart cannot be
	// told. It must end the process and not return; if it does return, the
	// process panics. A test may end the goroutine instead, or park it: where
	// Pebble was going to its next log, only the latter lets a test go on. nil
	// panics at once, on a goroutine of its own, so that no server's recover can
	// go on with a store that has lost its footing.
	Fatal func(error)

	// MinFreeBytes is how much space the disk must have for Open to go on, the
	// ballast included. 0 means 256 MiB: 64 for the ballast and the rest for
	// one compaction out of level 0 (64 MiB read, as much written again) with
	// room for logs, so that a store that opens can also tidy up. A quarter of
	// it is where a running store stops being healthy. For a StateStore 0 means
	// 8 MiB, a memtable to write out and the log of the next: it is also opened
	// while the process runs, on what the NodeStore's check has left by then.
	MinFreeBytes uint64
	// BallastBytes is the size of the file that makes way when the disk is
	// full. 0 means 64 MiB: several thousand settles and the flush at Close.
	// Less than 10 MiB helps little: a log takes some 4.5 at its first write, and
	// there may be a StateStore with another one. Negative means no ballast. A
	// StateStore never has one.
	BallastBytes int64
	// ProbeEvery is how often, at most, Healthy looks at the free space. 0
	// means 5 s: the ballast outlasts that at 10 MB/s.
	ProbeEvery time.Duration
}

const (
	defaultMinFree      = 256 << 20
	defaultStateMinFree = 8 << 20
	defaultBallast      = 64 << 20
	defaultProbeEvery   = 5 * time.Second
)

// withDefaults fills in what was left out.
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

// Events are told what happened to the store. Each may be nil. They are called
// from the goroutine it happened on, must be quick and must not call the store.
type Events struct {
	// DiskFull: the ballast has made way. Writes wait while it is called.
	DiskFull func()
	// SpaceBack: the ballast is in place again.
	SpaceBack func()
	// DiskSlow: an operation on the disk has been running for d.
	DiskSlow func(d time.Duration)
	// Background: a flush or a compaction failed; Pebble tries again.
	Background func(err error)
	// Stall: writes wait for flushes or compactions.
	Stall func()
}
