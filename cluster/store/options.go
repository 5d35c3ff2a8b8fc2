package store

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// options returns Pebble's options, for a small process: data is written once, read on demand,
// and deleted in order.
func (s *Store) options() *pebble.Options {
	o := &pebble.Options{
		// The full-disk handler is below Pebble and above the plain file system, through which
		// it removes the ballast.
		FS:     pacedFS{logFS{vfs.OnDiskFull(orderedFS{s.cfg.FS}, s.releaseBallast), s}, &s.pace},
		Lock:   s.lock,
		Logger: pebbleLogger{s},
		// From FormatWALSyncChunks on, Pebble distinguishes a torn tail of a log from
		// corruption.
		FormatMajorVersion: pebble.FormatNewest,
		CacheSize:          8 << 20,
		MemTableSize:       4 << 20,
		// Four memtables: three may wait for a slow disk before writers do. They are allocated
		// only when needed.
		MemTableStopWritesThreshold: 4,
		// Twice Pebble's default: records are written once and in order, so a later compaction
		// of level 0 rewrites less. The gateway's CPU per request fell by some 9 % at full load.
		// Writers stop at three times that, as by default.
		L0CompactionThreshold: 8,
		L0StopWritesThreshold: 24,
		MaxManifestFileSize:   4 << 20, // a short manifest opens quickly
		MaxOpenFiles:          256,     // of the usual 1024 of a process, most of which connections need
		BytesPerSync:          512 << 10,
		// Commits are synced anyway; this smooths only a larger batch.
		WALBytesPerSync: 512 << 10,
	}
	if s.cfg.Kind == StateStore {
		o.MaxOpenFiles = 64 // tables of about 2 MiB, of a small state
		// Most keys have no account, and most accounts no lease. The filters answer for missing
		// keys without a block read on each level. Ten bits per key have a false-positive rate
		// of one percent.
		for i := range o.Levels {
			o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		}
	}
	o.EventListener = &pebble.EventListener{
		BackgroundError: s.onBackground,
		WALCreated:      s.onLog,
		DiskSlow:        s.onSlow,
		WriteStallBegin: s.onStall,
	}
	// Detects operations that hang; Pebble stops it when it is closed.
	o.WithFSDefaults()
	return o
}

// onBackground is called with a lock of Pebble held. Pebble retries as pace allows.
func (s *Store) onBackground(err error) {
	s.pace.fail()
	s.background.fail(err)
	s.cfg.Logger.LogAttrs(context.Background(), slog.LevelError, "storage background work failed", slog.Any("error", err))
	if s.cfg.Events.Background != nil {
		s.cfg.Events.Background(err)
	}
}

func (s *Store) onSlow(info pebble.DiskSlowInfo) {
	s.cfg.Logger.LogAttrs(context.Background(), slog.LevelWarn, "disk is slow",
		slog.String("operation", info.OpType.String()), slog.Duration("elapsed", info.Duration))
	if s.cfg.Events.DiskSlow != nil {
		s.cfg.Events.DiskSlow(info.Duration)
	}
}

func (s *Store) onStall(info pebble.WriteStallBeginInfo) {
	s.cfg.Logger.LogAttrs(context.Background(), slog.LevelWarn, "storage writes stall", slog.String("reason", info.Reason))
	if s.cfg.Events.Stall != nil {
		s.cfg.Events.Stall()
	}
}

// pebbleLogger adapts the store to Pebble's logger.
type pebbleLogger struct{ s *Store }

// Infof logs at the debug level, because flushes and compactions are details.
func (l pebbleLogger) Infof(format string, args ...any) {
	l.log(slog.LevelDebug, format, args)
}

// Errorf logs an error.
func (l pebbleLogger) Errorf(format string, args ...any) {
	l.log(slog.LevelError, format, args)
}

func (l pebbleLogger) log(level slog.Level, format string, args []any) {
	ctx := context.Background()
	if l.s.cfg.Logger.Enabled(ctx, level) {
		l.s.cfg.Logger.LogAttrs(ctx, level, "pebble", slog.String("detail", fmt.Sprintf(format, args...)))
	}
}

// Fatalf is called when Pebble cannot continue, usually after a failed commit whose record may
// or may not be in the log. It does not return, because Pebble would then continue as if the
// commit had succeeded.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.s.die(fmt.Errorf(format, args...))
}

// guard is deferred, and ends the process if Pebble panicked, as it does when a log write fails
// at once. Otherwise a server would recover and continue with a store that holds its own locks.
func (s *Store) guard() {
	if r := recover(); r != nil {
		s.die(fmt.Errorf("%v", r))
	}
}

// die calls Config.Fatal, which ends the process. It does not return.
func (s *Store) die(cause error) {
	err := &fault.Error{
		Op: "store", Kind: fault.StorageUnavailable,
		Detail: "The data directory failed in the middle of a write. Restart the gateway once the disk works: it then determines what was written.",
		Err:    cause,
	}
	if s.broken.CompareAndSwap(nil, err) {
		close(s.dead)
	}
	s.cfg.Logger.Error("storage failed", slog.Any("error", err))
	if s.cfg.Fatal != nil {
		s.cfg.Fatal(err)
	}
	// in its own goroutine, where no caller recovers
	go panic(err)
	select {}
}
