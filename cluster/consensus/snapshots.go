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

	"github.com/modelgateway/modelgateway/cluster/consensus/archive"
	"github.com/modelgateway/modelgateway/cluster/store"
)

const (
	metaName     = "meta"
	filesName    = "files"
	tmpPrefix    = "tmp-"
	keptSnapshot = 2 // the newest, and one more in case it is damaged
)

// snapshots are the snapshots on the disk. Each is a directory with a checkpoint and a
// description. It is made under a temporary name and then renamed, so a directory with a final
// name is complete.
type snapshots struct {
	fs     store.FS
	path   string
	dir    *store.Dir
	log    *logStore
	logger *slog.Logger
	// applied returns the mark of the state.
	applied func() uint64

	mu struct {
		sync.Mutex
		list     []*snapshot // newest first
		sequence uint64      // the highest in use
	}
}

// openSnapshots removes incomplete snapshots and reads the others. It logs unreadable snapshots
// and does not use them.
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
			// If a crash interrupts this, the next start removes the rest.
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

// exclude stops using a snapshot that is damaged.
func (s *snapshots) exclude(id string, cause error) {
	s.logger.LogAttrs(context.Background(), slog.LevelError, "snapshot is damaged and not used",
		slog.String("snapshot", id), slog.Any("error", cause))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.list = slices.DeleteFunc(s.mu.list, func(one *snapshot) bool { return one.id == id })
}

// temporary creates a directory that the next Open removes unless it is renamed.
func (s *snapshots) temporary() (name string, sequence uint64, err error) {
	s.mu.Lock()
	s.mu.sequence++
	sequence = s.mu.sequence
	s.mu.Unlock()
	name = fmt.Sprintf("%s%d", tmpPrefix, sequence)
	return name, sequence, s.dir.Make(name)
}

// filesPath returns the path of the checkpoint of a snapshot.
func (s *snapshots) filesPath(name string) string { return filepath.Join(s.path, name, filesName) }

// describe hashes the files of a checkpoint.
func (s *snapshots) describe(name string) ([]archive.File, error) {
	dir := store.NewDir(s.fs, s.filesPath(name))
	names, err := dir.List()
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []archive.File
	for _, name := range names {
		f := archive.File{Name: name}
		in, _, err := dir.Open(name)
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		n, err := io.Copy(sum, in)
		if err := errors.Join(err, in.Close()); err != nil {
			return nil, err
		}
		f.Size = uint64(n)
		sum.Sum(f.Sum[:0])
		files = append(files, f)
	}
	return files, nil
}

// verify reads the whole snapshot and compares it with its description.
func (s *snapshots) verify(one *snapshot) error {
	files, err := s.describe(one.id)
	if err != nil {
		return err
	}
	if !slices.Equal(files, one.files) {
		return errors.New("the files do not match the description of the snapshot")
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
	return one.meta(), &snapshotReader{Reader: archive.NewReader(one.files, open), of: one, in: s}, nil
}

// snapshotReader is a snapshot that is sent to another node, or passed to this node's state
// machine, which links the files without reading them.
type snapshotReader struct {
	*archive.Reader

	of *snapshot
	in *snapshots
}

// Read implements io.Reader. A snapshot that is found damaged is not offered again; Raft makes
// the next one by its own rules.
func (r *snapshotReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.in.exclude(r.of.id, err)
	}
	return n, err
}

// Create implements raft.SnapshotStore. The snapshot exists when the sink is closed.
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

// sink is a snapshot in progress: either a checkpoint of this node's state, or the data that
// another node sends.
type sink struct {
	in   *snapshots
	of   *snapshot
	tmp  string
	un   *archive.Writer
	done bool
}

// ID implements raft.SnapshotSink.
func (k *sink) ID() string { return k.of.id }

// adopt takes ownership of a directory with a checkpoint, without copying.
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

// Write implements io.Writer. It receives the data that another node sends.
func (k *sink) Write(b []byte) (int, error) {
	if k.un == nil {
		// The guard checked the snapshot while Raft was still busy with earlier requests. When
		// the leader sends it again, the guard skips it.
		if k.in.covered(k.of.index, k.of.term) {
			return 0, errors.New("this node already has the content of the snapshot")
		}
		if err := k.in.dir.Make(filepath.Join(k.tmp, filesName)); err != nil {
			return 0, err
		}
		dir := store.NewDir(k.in.fs, k.in.filesPath(k.tmp))
		k.un = archive.NewWriter(dir.Create)
	}
	return k.un.Write(b)
}

// Close implements io.Closer. If it returns without an error, the snapshot is complete and
// durable.
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
		if err := k.un.Finish(); err != nil {
			k.un.Abort()
			return err
		}
		k.of.files = k.un.Files()
		// The files are synced but their names are not. Removing a file that does not exist
		// syncs the directory.
		if err := store.NewDir(k.in.fs, k.in.filesPath(k.tmp)).Remove("names"); err != nil {
			return err
		}
	}
	// A crash before the rename leaves a directory that the next Open removes. The node then
	// has not made or received this snapshot.
	if err := k.in.dir.WriteFile(filepath.Join(k.tmp, metaName), k.of.encode()); err != nil {
		return err
	}
	if err := k.in.dir.Rename(k.tmp, k.of.id); err != nil {
		return err
	}
	// A crash from here on leaves the snapshot. If it came from another node or from a backup,
	// the state is behind it, and the next Open catches up.
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

// prune removes all snapshots except the newest ones and those in use.
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
		// Rename first, because a snapshot under its final name must be complete. If a crash
		// follows, the next Open removes it. Sending a snapshot that is removed fails, and the
		// receiver gets the next one.
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
		k.un.Abort()
	}
	return k.in.dir.Remove(k.tmp)
}
