package consensus

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/store"
)

const (
	metaName     = "meta"
	filesName    = "files"
	tmpPrefix    = "tmp-"
	keptSnapshot = 2 // the newest, and one in case it turns out to be damaged
)

// snapshots are those on the disk: each a directory with a checkpoint and a file
// that says what it is. It is made under another name and renamed, so that one
// with its right name is whole.
type snapshots struct {
	fs     store.FS
	path   string
	dir    *store.Dir
	log    *logStore
	logger *slog.Logger
	// applied returns how far the state has come.
	applied func() uint64

	mu struct {
		sync.Mutex
		list     []*snapshot // newest first
		sequence uint64      // the highest in use
	}
}

// openSnapshots removes what is half made and reads what is there. Snapshots that
// cannot be read are logged and not used.
func openSnapshots(cfg Config, log *logStore) (*snapshots, error) {
	s := &snapshots{fs: cfg.FS, path: filepath.Join(cfg.Dir, "snapshots"), log: log, logger: cfg.Logger}
	if err := store.NewDir(cfg.FS, cfg.Dir).Make("snapshots"); err != nil {
		return nil, err
	}
	s.dir = store.NewDir(cfg.FS, s.path)
	names, err := s.dir.List()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasPrefix(name, tmpPrefix) {
			// A crash while this goes on leaves the rest for the next start.
			if err := s.dir.Remove(name); err != nil {
				return nil, err
			}
			continue
		}
		s.mu.sequence = max(s.mu.sequence, sequenceOf(name))
		found, err := s.read(name)
		if err != nil {
			s.logger.LogAttrs(context.Background(), slog.LevelError, "snapshot is damaged and not used",
				slog.String("snapshot", name), slog.Any("error", err))
			continue
		}
		s.mu.list = append(s.mu.list, found)
	}
	s.sortLocked()
	if newest := s.newest(); newest != nil {
		log.setBase(newest.index, newest.term)
	}
	return s, nil
}

func (s *snapshots) read(name string) (*snapshot, error) {
	b, err := s.dir.ReadFile(filepath.Join(name, metaName))
	if err != nil {
		return nil, err
	}
	return decodeSnapshot(name, b)
}

// sortLocked puts the newest first.
func (s *snapshots) sortLocked() {
	slices.SortFunc(s.mu.list, func(a, b *snapshot) int {
		if a.newer(b) {
			return -1
		}
		return 1
	})
}

// newest returns the newest snapshot; nil if there is none.
func (s *snapshots) newest() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.list) == 0 {
		return nil
	}
	return s.mu.list[0]
}

// exclude takes a snapshot that turned out to be damaged out of use.
func (s *snapshots) exclude(id string, cause error) {
	s.logger.LogAttrs(context.Background(), slog.LevelError, "snapshot is damaged and not used",
		slog.String("snapshot", id), slog.Any("error", cause))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.list = slices.DeleteFunc(s.mu.list, func(one *snapshot) bool { return one.id == id })
}

// temporary makes a directory that is removed at the next Open, unless it is
// renamed.
func (s *snapshots) temporary() (name string, sequence uint64, err error) {
	s.mu.Lock()
	s.mu.sequence++
	sequence = s.mu.sequence
	s.mu.Unlock()
	name = fmt.Sprintf("%s%d", tmpPrefix, sequence)
	return name, sequence, s.dir.Make(name)
}

// filesPath is where the checkpoint of a snapshot is.
func (s *snapshots) filesPath(name string) string { return filepath.Join(s.path, name, filesName) }

// describe reads the files of a checkpoint and says what they are.
func (s *snapshots) describe(name string) ([]archived, error) {
	dir := store.NewDir(s.fs, s.filesPath(name))
	names, err := dir.List()
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []archived
	for _, name := range names {
		f := archived{name: name}
		in, _, err := dir.Open(name)
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		n, err := io.Copy(sum, in)
		if err := errors.Join(err, in.Close()); err != nil {
			return nil, err
		}
		f.size = uint64(n)
		sum.Sum(f.sum[:0])
		files = append(files, f)
	}
	return files, nil
}

// verify reads all of a snapshot and compares it with its description.
func (s *snapshots) verify(one *snapshot) error {
	files, err := s.describe(one.id)
	if err != nil {
		return err
	}
	if !slices.Equal(files, one.files) {
		return errors.New("the files are not those of the snapshot")
	}
	return nil
}

// List implements raft.SnapshotStore.
func (s *snapshots) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*raft.SnapshotMeta, 0, len(s.mu.list))
	for _, one := range s.mu.list {
		out = append(out, one.meta())
	}
	return out, nil
}

// Open implements raft.SnapshotStore.
func (s *snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.mu.list, func(one *snapshot) bool { return one.id == id })
	if at < 0 {
		return nil, nil, fmt.Errorf("there is no snapshot %s", id)
	}
	one := s.mu.list[at]
	dir := store.NewDir(s.fs, s.filesPath(id))
	open := func(name string) (io.ReadCloser, error) {
		in, _, err := dir.Open(name)
		return in, err
	}
	return one.meta(), &snapshotReader{packer: newPacker(one.files, open), of: one, in: s}, nil
}

// snapshotReader is a snapshot being sent, or handed to the state machine of this
// node, which links the files and reads nothing.
type snapshotReader struct {
	*packer

	of *snapshot
	in *snapshots
}

// Read implements io.Reader. A snapshot that turns out to be damaged is not
// offered again; the next one is due by Raft's own rules.
func (r *snapshotReader) Read(b []byte) (int, error) {
	n, err := r.packer.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.in.exclude(r.of.id, err)
	}
	return n, err
}

// Create implements raft.SnapshotStore. The snapshot is there when the sink is
// closed.
func (s *snapshots) Create(_ raft.SnapshotVersion, index, term uint64, configuration raft.Configuration, configurationIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) { //nolint:revive // argument-limit: Raft's interface
	name, sequence, err := s.temporary()
	if err != nil {
		return nil, err
	}
	return &sink{
		in: s, tmp: name,
		of: &snapshot{
			id:    snapshotName(index, term, sequence),
			index: index, term: term, sequence: sequence,
			configurationIndex: configurationIndex, configuration: raft.EncodeConfiguration(configuration),
			configurationServed: configuration.Clone(),
		},
	}, nil
}

// sink is a snapshot in the making: either a checkpoint of this node's state is
// handed to it, or what another node sends is written to it.
type sink struct {
	in   *snapshots
	of   *snapshot
	tmp  string
	un   *unpacker
	done bool
}

// ID implements raft.SnapshotSink.
func (k *sink) ID() string { return k.of.id }

// adopt takes a directory with a checkpoint over. No byte of it is copied.
func (k *sink) adopt(tmp string) error {
	files, err := k.in.describe(tmp)
	if err != nil {
		return err
	}
	if err := k.in.dir.Remove(k.tmp); err != nil {
		return err
	}
	k.tmp, k.of.files = tmp, files
	return nil
}

// Write implements io.Writer: a piece of what another node sends.
func (k *sink) Write(b []byte) (int, error) {
	if k.un == nil {
		// The guard saw it before Raft was done with what came before it. When it is sent
		// again it is skipped.
		if k.in.covered(k.of.index, k.of.term) {
			return 0, errors.New("this node has what the snapshot says")
		}
		if err := k.in.dir.Make(filepath.Join(k.tmp, filesName)); err != nil {
			return 0, err
		}
		dir := store.NewDir(k.in.fs, k.in.filesPath(k.tmp))
		k.un = &unpacker{create: dir.Create}
	}
	return k.un.Write(b)
}

// Close implements io.Closer: the snapshot is whole, and there to stay when Close
// returns without an error.
func (k *sink) Close() error {
	if k.done {
		return nil
	}
	k.done = true
	if err := k.finish(); err != nil {
		return errors.Join(err, k.in.dir.Remove(k.tmp))
	}
	return nil
}

func (k *sink) finish() error {
	if k.un != nil {
		if err := k.un.finish(); err != nil {
			k.un.abort()
			return err
		}
		k.of.files = k.un.files
		// The files are synced and their names are not yet. There is no such file:
		// what is wanted is the sync of the directory.
		if err := store.NewDir(k.in.fs, k.in.filesPath(k.tmp)).Remove("names"); err != nil {
			return err
		}
	}
	// A crash up to the rename leaves a directory that the next Open removes, and a
	// node that never got or made this snapshot.
	if err := k.in.dir.WriteFile(filepath.Join(k.tmp, metaName), k.of.encode()); err != nil {
		return err
	}
	if err := k.in.dir.Rename(k.tmp, k.of.id); err != nil {
		return err
	}
	// A crash from here on leaves the snapshot. If it came from another node, or out
	// of a backup, the state is behind it, and the next Open catches up.
	s := k.in
	s.mu.Lock()
	s.mu.list = append(s.mu.list, k.of)
	s.sortLocked()
	s.log.setBase(s.mu.list[0].index, s.mu.list[0].term)
	s.mu.Unlock()
	if err := s.prune(); err != nil {
		s.logger.LogAttrs(context.Background(), slog.LevelWarn, "old snapshot cannot be removed", slog.Any("error", err))
	}
	return nil
}

// prune removes all but the newest snapshots, and those that are not in use.
func (s *snapshots) prune() error {
	s.mu.Lock()
	s.mu.list = s.mu.list[:min(len(s.mu.list), keptSnapshot)]
	keep := map[string]bool{}
	for _, one := range s.mu.list {
		keep[one.id] = true
	}
	s.mu.Unlock()
	names, err := s.dir.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if keep[name] || strings.HasPrefix(name, tmpPrefix) {
			continue
		}
		// Renamed first, since a snapshot with its right name is a whole one. A crash
		// in between leaves what the next Open removes. One that is being sent just
		// now ends with an error, and its receiver gets the next.
		if err := s.dir.Rename(name, tmpPrefix+name); err != nil {
			return err
		}
		if err := s.dir.Remove(tmpPrefix + name); err != nil {
			return err
		}
	}
	return nil
}

// Cancel implements raft.SnapshotSink.
func (k *sink) Cancel() error {
	if k.done {
		return nil
	}
	k.done = true
	if k.un != nil {
		k.un.abort()
	}
	return k.in.dir.Remove(k.tmp)
}
