package consensus

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	stateName   = "state"
	currentName = "current"
	markKey     = "mark"
)

// mark is the position of a state in the log.
type mark struct {
	index, term uint64
	clock       int64 // nanoseconds since the Unix epoch
}

func writeMark(tx *store.Tx, m mark) error {
	value, err := proto.Marshal(&clusterv1.AppliedMark{Index: m.index, Term: m.term, TimeUnixNano: m.clock})
	if err != nil {
		return err
	}
	tx.Set(store.SpaceApplied, []byte(markKey), value)
	return nil
}

// decodeMark decodes a mark. No bytes are the mark of an empty state.
func decodeMark(b []byte) (mark, error) {
	var m clusterv1.AppliedMark
	if err := proto.Unmarshal(b, &m); err != nil {
		return mark{}, damaged("state", "The replicated state in the data directory is damaged."+rejoin, err)
	}
	return mark{index: m.GetIndex(), term: m.GetTerm(), clock: m.GetTimeUnixNano()}, nil
}

func readMark(s *store.Store) (mark, error) {
	value, _, err := s.Get(store.SpaceApplied, []byte(markKey))
	if err != nil {
		return mark{}, err
	}
	return decodeMark(value)
}

// generation is one store of the state. Installing a snapshot creates the next one; readers of
// the old one may finish.
type generation struct {
	store *store.Store
	name  string
	dir   *store.Dir // parent directory

	mu struct {
		sync.Mutex
		users   int
		retired bool          // no new users
		idle    chan struct{} // closed when retired and without users
	}
}

func newGeneration(s *store.Store, dir *store.Dir, name string) *generation {
	g := &generation{store: s, dir: dir, name: name}
	g.mu.idle = make(chan struct{})
	return g
}

// acquire keeps the store of g open until release. It fails once g is retired.
func (g *generation) acquire() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.retired {
		return false
	}
	g.mu.users++
	return true
}

func (g *generation) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.users--
	if g.mu.retired && g.mu.users == 0 {
		close(g.mu.idle)
	}
}

// retire rejects new users. The channel is closed when the last user has left.
func (g *generation) retire() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.mu.retired {
		g.mu.retired = true
		if g.mu.users == 0 {
			close(g.mu.idle)
		}
	}
	return g.mu.idle
}

// states manages the directory of the generations.
type states struct {
	cfg  Config
	path string
	dir  *store.Dir
	next uint64 // the name of the next generation
}

// openStates opens the current state, or creates an empty one, and removes other generations.
func openStates(cfg Config) (*states, *generation, error) {
	if err := store.NewDir(cfg.FS, cfg.Dir).Make(stateName); err != nil {
		return nil, nil, err
	}
	s := &states{cfg: cfg, path: filepath.Join(cfg.Dir, stateName), next: 1}
	s.dir = store.NewDir(cfg.FS, s.path)
	value, err := s.dir.ReadFile(currentName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	current := string(value)
	names, err := s.dir.List()
	if err != nil {
		return nil, nil, err
	}
	if n, err := strconv.ParseUint(current, 10, 64); err == nil {
		s.next = n + 1
	}
	for _, name := range names {
		n, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			continue // not a generation
		}
		s.next = max(s.next, n+1)
		if name == current {
			continue
		}
		// A generation that was never current, or was replaced. If a crash interrupts this, the
		// next start removes the rest.
		if err := s.dir.Remove(name); err != nil {
			return nil, nil, err
		}
	}
	if current == "" {
		// No state was ever current: all data is in the log and the snapshots.
		current = strconv.FormatUint(s.next, 10)
		s.next++
		opened, err := s.open(current)
		if err != nil {
			return nil, nil, err
		}
		// A crash before this leaves a generation that the next start removes. After it, the
		// empty state is current.
		if err := s.dir.WriteFile(currentName, []byte(current)); err != nil {
			return nil, nil, errors.Join(err, opened.Close())
		}
		return s, newGeneration(opened, s.dir, current), nil
	}
	opened, err := s.open(current)
	if err != nil {
		return nil, nil, err
	}
	return s, newGeneration(opened, s.dir, current), nil
}

func (s *states) open(name string) (*store.Store, error) {
	return store.Open(store.Config{
		Dir: filepath.Join(s.path, name), FS: s.cfg.FS, Kind: store.StateStore, Beside: s.cfg.Log,
		Logger: s.cfg.Logger, Fatal: s.cfg.Fatal,
	})
}

// install makes the state of a snapshot current and returns it with its mark. The caller
// discards the previous generation, but not after an error: then it may still be current.
func (s *states) install(from string, index, term uint64) (*generation, mark, error) {
	name := strconv.FormatUint(s.next, 10)
	s.next++
	// A crash between here and the switch leaves the old state current, and a directory that
	// the next Open removes before it installs the snapshot again.
	if err := store.LinkDir(s.cfg.FS, from, filepath.Join(s.path, name)); err != nil {
		return nil, mark{}, errors.Join(err, s.dir.Remove(name))
	}
	opened, err := s.open(name)
	if err != nil {
		return nil, mark{}, errors.Join(err, s.dir.Remove(name))
	}
	at, err := place(opened, index, term)
	if err != nil {
		return nil, mark{}, errors.Join(err, opened.Close(), s.dir.Remove(name))
	}
	// This is the switch: one file, replaced atomically. A crash before it leaves the old
	// state, and after it the new one. If it fails, it is unknown which one survives a power
	// failure, so both stay and the next Open decides.
	if err := s.dir.WriteFile(currentName, []byte(name)); err != nil {
		return nil, mark{}, errors.Join(err, opened.Close())
	}
	return newGeneration(opened, s.dir, name), at, nil
}

// place sets the mark to the position of the snapshot. For a backup it differs from the mark in
// the content.
func place(opened *store.Store, index, term uint64) (mark, error) {
	at, err := readMark(opened)
	if err != nil {
		return mark{}, err
	}
	at.index, at.term = index, term
	tx := opened.NewTx()
	defer tx.Close()
	if err := writeMark(tx, at); err != nil {
		return mark{}, err
	}
	if err := tx.CommitReplayable(); err != nil {
		return mark{}, err
	}
	return at, opened.Flush()
}

// discard closes and removes a generation that is no longer current, once it has no readers.
// After a crash the next Open removes it.
func (s *states) discard(g *generation) {
	<-g.retire()
	if err := errors.Join(g.store.Close(), g.dir.Remove(g.name)); err != nil {
		s.cfg.Logger.LogAttrs(context.Background(), slog.LevelWarn, "old state cannot be removed",
			slog.String("generation", g.name), slog.Any("error", err))
	}
}
