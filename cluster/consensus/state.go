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

// mark is how far a state has come.
type mark struct {
	index, term uint64
	clock       int64 // nanoseconds since the Unix epoch
}

// writeMark puts m into tx.
func writeMark(tx *store.Tx, m mark) error {
	value, err := proto.Marshal(&clusterv1.AppliedMark{Index: m.index, Term: m.term, TimeUnixNano: m.clock})
	if err != nil {
		return err
	}
	tx.Set(store.SpaceApplied, []byte(markKey), value)
	return nil
}

// decodeMark reads a mark; no bytes are the mark of an empty state.
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

// generation is one store of the state. A snapshot that is installed makes the
// next one; who reads the old one then, is let finish.
type generation struct {
	store *store.Store
	name  string
	dir   *store.Dir // that it is in

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

// acquire keeps g's store open until release. It fails once g is retired.
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

// retire lets nobody in any more. The channel is closed when everybody has left.
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

// states is the directory of the generations.
type states struct {
	cfg  Config
	path string
	dir  *store.Dir
	next uint64 // the name of the next generation
}

// openStates opens the state in force, or makes an empty one, and removes what is
// left of others.
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
			continue // not one of ours
		}
		s.next = max(s.next, n+1)
		if name == current {
			continue
		}
		// A generation that never came into force, or was in force before. A crash
		// while this goes on leaves the rest for the next start.
		if err := s.dir.Remove(name); err != nil {
			return nil, nil, err
		}
	}
	if current == "" {
		// Nothing was ever in force: what is known is in the log and the snapshots.
		current = strconv.FormatUint(s.next, 10)
		s.next++
		opened, err := s.open(current)
		if err != nil {
			return nil, nil, err
		}
		// A crash before this leaves a generation that the next start removes. After
		// it, the empty state is in force.
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

// install brings the state of a snapshot into force and returns it with its mark.
// The generation that was in force is the caller's to discard, but not after an
// error: then it may still be in force.
func (s *states) install(from string, index, term uint64) (*generation, mark, error) {
	name := strconv.FormatUint(s.next, 10)
	s.next++
	// A crash from here to the switch leaves the old state in force, and a directory
	// that the next Open removes before it installs the snapshot again.
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
	// This is the switch: one file, replaced at once. A crash before leaves the old
	// state and after it the new one. If it fails, it is not known which of them a
	// power cut would leave, so both stay where they are and the next Open sees.
	if err := s.dir.WriteFile(currentName, []byte(name)); err != nil {
		return nil, mark{}, errors.Join(err, opened.Close())
	}
	return newGeneration(opened, s.dir, name), at, nil
}

// place gives a state the place in the log that its snapshot has, which is not that
// of its content if it comes out of a backup.
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

// discard closes a generation that is not in force any more, once nobody reads it,
// and removes it. A crash before it is gone leaves it to the next Open.
func (s *states) discard(g *generation) {
	<-g.retire()
	if err := errors.Join(g.store.Close(), g.dir.Remove(g.name)); err != nil {
		s.cfg.Logger.LogAttrs(context.Background(), slog.LevelWarn, "old state cannot be removed",
			slog.String("generation", g.name), slog.Any("error", err))
	}
}
