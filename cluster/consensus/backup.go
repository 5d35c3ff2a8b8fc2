package consensus

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Backup writes the state as it is at one entry, in the form that backupfile.go
// describes, and returns when all of it is written. Entries go on being applied.
// It may be made on any node; that of a follower is as old as its state.
func (c *Consensus) Backup(w io.Writer) error {
	return c.View(func(state *store.Store) error {
		reader, err := state.View()
		if err != nil {
			return err
		}
		out := newBackupWriter(w)
		return errors.Join(writeBackup(out, reader), reader.Close())
	})
}

func writeBackup(out *backupWriter, reader *store.Reader) error {
	at, err := markOf(reader)
	if err != nil {
		return err
	}
	if err := out.begin(at); err != nil {
		return err
	}
	err = everything(reader, func(space store.Space, key, value []byte) error {
		return out.record(space, key, value)
	})
	if err != nil {
		return err
	}
	return out.end()
}

func markOf(reader *store.Reader) (mark, error) {
	value, _, err := reader.Get(store.SpaceApplied, []byte(markKey))
	if err != nil {
		return mark{}, err
	}
	return decodeMark(value)
}

// lastSpace is the highest byte that may name a space: they are printable letters.
const lastSpace = '~'

// everything calls fn for each key of the state, in order, until it fails. It goes
// through all spaces there may be: what is in them is not this package's business.
func everything(reader *store.Reader, fn func(space store.Space, key, value []byte) error) error {
	for space := store.Space(1); space <= lastSpace; space++ {
		var failed error
		err := reader.Scan(store.Range{Space: space}, func(key, value []byte) bool {
			failed = fn(space, key, value)
			return failed == nil
		})
		if err := errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}

// Checksum returns the SHA-256 of every key and value of the state, and the entry
// that it is at. Two nodes whose states are at the same entry have the same sum,
// or one of them is damaged. How far the state has come is not in the sum: that is
// what the index says. It reads all of the state.
func (c *Consensus) Checksum(ctx context.Context) (uint64, [sha256.Size]byte, error) {
	var at mark
	sum := sha256.New()
	err := c.View(func(state *store.Store) error {
		reader, err := state.View()
		if err != nil {
			return err
		}
		if at, err = markOf(reader); err == nil {
			err = everything(reader, func(space store.Space, key, value []byte) error { //nolint:contextcheck // the callback looks at ctx
				if space != store.SpaceApplied {
					sumRecord(sum, space, key, value)
				}
				return context.Cause(ctx)
			})
		}
		return errors.Join(err, reader.Close())
	})
	var out [sha256.Size]byte
	sum.Sum(out[:0])
	return at.index, out, err
}

func sumRecord(sum hash.Hash, space store.Space, key, value []byte) {
	var head [9]byte
	head[0] = byte(space)
	binary.BigEndian.PutUint32(head[1:], uint32(len(key)))
	binary.BigEndian.PutUint32(head[5:], uint32(len(value)))
	sum.Write(head[:])
	sum.Write(key)
	sum.Write(value)
}

// RestoreBackup puts the state of a backup in the place of the cluster's. It is
// read and checked as a whole before anything is changed. The members stay, and so
// does the log's numbering; commands under way end with ErrUncertain.
//
// This node has to lead. Its own state changes first and the others' follow by a
// snapshot. Should it lose the leadership in between (ErrUncertain), the others go
// on with the state that they have, and this node, which cannot follow them any
// more, has to be removed and join again on an empty data directory.
func (c *Consensus) RestoreBackup(ctx context.Context, r io.Reader) error {
	tmp, _, err := c.snaps.temporary()
	if err != nil {
		return unusable(err)
	}
	err = c.restoreFrom(ctx, r, tmp)
	if rerr := c.snaps.dir.Remove(tmp); rerr != nil && err == nil {
		err = unusable(rerr) // the backup is restored; what is left goes at the next Open
	}
	return err
}

func (c *Consensus) restoreFrom(ctx context.Context, r io.Reader, tmp string) error {
	if err := c.unpackBackup(r, tmp); err != nil { //nolint:contextcheck // a store is opened for as long as it takes
		return err
	}
	files, err := c.snaps.describe(tmp)
	if err != nil {
		return unusable(err)
	}
	// Asked of a majority, so that the state is not changed here alone where that can
	// be known before.
	if _, err := c.ReadIndex(ctx); err != nil {
		return err
	}
	// From here on commands and reads are kept away: they would meet a state that may
	// not stay.
	running := c.enter(true)
	if running == nil {
		return ErrNotLeader
	}
	_, err = awaitEntered(ctx, c, running, func(rf *raft.Raft) (struct{}, error) {
		defer c.restored()
		dir := store.NewDir(c.snaps.fs, c.snaps.filesPath(tmp))
		pack := newPacker(files, func(name string) (io.ReadCloser, error) {
			in, _, err := dir.Open(name)
			return in, err
		})
		meta := &raft.SnapshotMeta{Version: raft.SnapshotVersionMax, Size: archiveSize(files)}
		err := rf.Restore(meta, pack, 0)
		err = errors.Join(err, pack.Close())
		if err != nil {
			return struct{}{}, outcomeOf(err)
		}
		return struct{}{}, nil
	})
	if err != nil {
		return err
	}
	// Raft's own entry behind the restored state reaches nobody's; see pulse.
	_, err = c.propose(ctx, nil)
	return err
}

// restored lets commands and reads in again.
func (c *Consensus) restored() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.restoring = false
}

// unpackBackup builds the state of a backup below tmp, and checks all of it.
func (c *Consensus) unpackBackup(r io.Reader, tmp string) error {
	const building = "building"
	built, err := store.Open(store.Config{
		Dir: filepath.Join(c.snaps.path, tmp, building), FS: c.cfg.FS, Kind: store.StateStore, Beside: c.cfg.Log,
		Logger: c.cfg.Logger, Fatal: c.cfg.Fatal,
	})
	if err != nil {
		return err
	}
	err = fillFrom(r, built)
	if err == nil {
		err = built.Checkpoint(c.snaps.filesPath(tmp))
	}
	return errors.Join(err, built.Close())
}

// fillFrom reads a backup into an empty store.
func fillFrom(r io.Reader, into *store.Store) error {
	const batch = 1 << 20 // bytes a commit
	tx := into.NewTx()
	defer func() { tx.Close() }()
	size := 0
	_, err := readBackup(r, func(space store.Space, key, value []byte) error {
		tx.Set(space, key, value)
		if size += len(key) + len(value); size < batch {
			return nil
		}
		size = 0
		if err := tx.CommitReplayable(); err != nil {
			return err
		}
		tx.Close()
		tx = into.NewTx()
		return nil
	})
	if err != nil {
		return err
	}
	if err := tx.CommitReplayable(); err != nil {
		return err
	}
	return into.Flush()
}

// BackupInfo says what a backup is of.
type BackupInfo struct {
	Index uint64    // the entry that the state was at
	Term  uint64    // that entry's term
	Time  time.Time // the state's clock
}

// CheckBackup reads a backup and says what it is of. An error means that it is
// damaged or of another version.
func CheckBackup(r io.Reader) (BackupInfo, error) {
	at, err := readBackup(r, func(store.Space, []byte, []byte) error { return nil })
	if err != nil {
		return BackupInfo{}, err
	}
	return BackupInfo{Index: at.index, Term: at.term, Time: time.Unix(0, at.clock).UTC()}, nil
}

// notBackup makes the error for a backup that cannot be used.
func notBackup(format string, args ...any) error {
	return fault.New(fault.Malformed, "", "The backup cannot be used: %s. Nothing was changed.", fmt.Sprintf(format, args...))
}
