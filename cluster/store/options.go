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

// options are Pebble's, sized for a process that has to stay small: the data is
// written once, read when somebody asks, and deleted in order.
func (s *Store) options() *pebble.Options {
	o := &pebble.Options{
		// The full-disk watch sits below Pebble and above the plain file system;
		// the ballast is removed through the latter.
		FS:     pacedFS{logFS{vfs.OnDiskFull(orderedFS{s.cfg.FS}, s.releaseBallast), s}, &s.pace},
		Lock:   s.lock,
		Logger: pebbleLogger{s},
		// From FormatWALSyncChunks on, a log tells a torn tail from corruption.
		FormatMajorVersion: pebble.FormatNewest,
		CacheSize:          8 << 20,
		MemTableSize:       4 << 20,
		// Four memtables: three may wait for a slow disk before writers do. The
		// memory is taken only then.
		MemTableStopWritesThreshold: 4,
		MaxManifestFileSize:         4 << 20, // a short manifest reopens quickly
		MaxOpenFiles:                256,     // of a process's usual 1024, of which connections need most
		BytesPerSync:                512 << 10,
		// Commits sync by themselves; this smooths only a batch larger than that.
		WALBytesPerSync: 512 << 10,
	}
	if s.cfg.Kind == StateStore {
		o.MaxOpenFiles = 64 // tables of some 2 MiB, of a state that is small
		// Most keys have no account, and most accounts no lease: what is not there is
		// seen without reading a block of each level. Ten bits a key err once in a hundred.
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
	// Watches for operations that hang; Pebble stops it when it is closed.
	o.WithFSDefaults()
	return o
}

// onBackground is called with Pebble's own lock held. Pebble tries again, when the
// pace lets it.
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

// pebbleLogger is the store as Pebble's logger.
type pebbleLogger struct{ s *Store }

// Infof logs at the debug level: flushes and compactions are Pebble's own business.
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

// Fatalf is how Pebble says that it cannot go on: most often a failed commit,
// of which the log may or may not hold the record. It does not return, since
// Pebble would then go on as if the commit had worked.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.s.die(fmt.Errorf(format, args...))
}

// guard ends the process where Pebble panicked: it does so where writing to the
// log fails at once. A server would recover from it and go on with a store that
// holds its own locks. It is deferred.
func (s *Store) guard() {
	if r := recover(); r != nil {
		s.die(fmt.Errorf("%v", r))
	}
}

// die ends the process, or whatever Config.Fatal ends. It does not return.
func (s *Store) die(cause error) {
	err := &fault.Error{
		Op: "store", Kind: fault.StorageUnavailable,
		Detail: "The data directory failed in the middle of a write. Restart the gateway once the disk works: it finds out by itself what was written.",
		Err:    cause,
	}
	if s.broken.CompareAndSwap(nil, err) {
		close(s.dead)
	}
	s.cfg.Logger.Error("storage failed", slog.Any("error", err))
	if s.cfg.Fatal != nil {
		s.cfg.Fatal(err)
	}
	// On a goroutine of its own, where nobody recovers.
	go panic(err)
	select {}
}
