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

	"github.com/modelgateway/modelgateway/cluster/consensus/archive"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Backup writes the state at one entry, in the format that backupfile.go describes, and returns
// when it has written all of it. The node continues to apply entries. Any node can make a
// backup; a follower's backup is as old as its state.
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

// lastSpace is the highest byte of a space. Spaces are printable letters.
const lastSpace = '~'

// everything calls fn for each key of the state, in order, until fn fails. It scans every
// possible space, because this package does not know which exist.
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

// Checksum returns the SHA-256 of all keys and values of the state, and the index of its entry.
// If two nodes have different sums at the same index, one of them is damaged. The sum does not
// include the mark. Checksum reads the whole state.
func (c *Consensus) Checksum(ctx context.Context) (uint64, [sha256.Size]byte, error) {
	var at mark
	sum := sha256.New()
	err := c.View(func(state *store.Store) error {
		reader, err := state.View()
		if err != nil {
			return err
		}
		if at, err = markOf(reader); err == nil {
			err = everything(reader, func(space store.Space, key, value []byte) error { //nolint:contextcheck // the callback checks ctx
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

// Adoption holds the hooks that run when a cluster restores a backup.
type Adoption struct {
	// Check returns an error for a state that must not be replaced. nil accepts every state.
	Check func(state *store.Store) error
	// Adopt changes the state of the backup before it replaces the current state, which Adopt
	// may read. nil changes nothing.
	Adopt func(backup *store.Tx, state *store.Store) error
}

// RestoreBackup replaces the state of the cluster with a backup. It reads and checks the whole
// backup before it changes anything. The members and the numbering of the log stay. No command
// is in flight while it calls the hooks.
//
// This node must be the leader. It changes its own state first; the others follow by a
// snapshot. If it loses leadership in between (ErrUncertain), the others keep their state. This
// node can no longer follow them: it must be removed and join again with an empty data
// directory.
func (c *Consensus) RestoreBackup(ctx context.Context, r io.Reader, into Adoption) error {
	unpacked, err := c.UnpackBackup(r, func(store.Space, []byte) bool { return true }) //nolint:contextcheck // writing a store has no deadline
	if err != nil {
		return err
	}
	err = c.restoreFrom(ctx, unpacked, into)
	if cerr := unpacked.Close(); cerr != nil && err == nil {
		err = unusable(cerr) // the restore succeeded; the next Open removes what is left
	}
	return err
}

func (c *Consensus) restoreFrom(ctx context.Context, from *Unpacked, into Adoption) error {
	// A majority confirms the leadership, so that a node that is no longer the leader fails
	// before it changes its own state.
	if _, err := c.ReadIndex(ctx); err != nil {
		return err
	}
	// From here on, commands and reads wait: they would see a state that may not last.
	running := c.enter(true)
	if running == nil {
		return ErrNotLeader
	}
	_, err := awaitEntered(ctx, c, running, func(rf *raft.Raft) (struct{}, error) {
		defer c.restored()
		if err := c.alone(ctx); err != nil {
			return struct{}{}, err
		}
		if err := rf.Barrier(0).Error(); err != nil {
			return struct{}{}, fmt.Errorf("%w: %w", ErrNotLeader, err) // nothing has changed
		}
		return struct{}{}, c.exchange(rf, from, into)
	})
	if err != nil {
		return err
	}
	// Raft's own entry after the restored state does not reach the state machine; see pulse.
	_, err = c.propose(ctx, nil)
	return err
}

// exchange makes Raft replace the current state with the unpacked one.
func (c *Consensus) exchange(rf *raft.Raft, from *Unpacked, into Adoption) error {
	if err := c.View(func(state *store.Store) error { return from.meet(state, into) }); err != nil {
		return err
	}
	if err := from.State.Checkpoint(c.snaps.filesPath(from.tmp)); err != nil {
		return unusable(err)
	}
	files, err := c.snaps.describe(from.tmp)
	if err != nil {
		return unusable(err)
	}
	dir := store.NewDir(c.snaps.fs, c.snaps.filesPath(from.tmp))
	pack := archive.NewReader(files, func(name string) (io.ReadCloser, error) {
		in, _, err := dir.Open(name)
		return in, err
	})
	meta := &raft.SnapshotMeta{Version: raft.SnapshotVersionMax, Size: archive.Size(files)}
	err = rf.Restore(meta, pack, 0)
	if err = errors.Join(err, pack.Close()); err != nil {
		return outcomeOf(err)
	}
	return nil
}

// restored unblocks commands and reads.
func (c *Consensus) restored() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.restoring = false
}

// Unpacked is the state of a backup, or a part of it, on this node's disk. It is not safe for
// concurrent use, and the caller closes it. After a crash, the next Open removes its directory.
type Unpacked struct {
	BackupInfo

	State *store.Store

	in  *snapshots
	tmp string
}

// UnpackBackup reads and checks a backup, and stores the records for which keep returns true.
func (c *Consensus) UnpackBackup(r io.Reader, keep func(space store.Space, key []byte) bool) (_ *Unpacked, err error) {
	tmp, _, err := c.snaps.temporary()
	if err != nil {
		return nil, unusable(err)
	}
	u := &Unpacked{in: c.snaps, tmp: tmp}
	defer func() {
		if err != nil {
			err = errors.Join(err, u.Close())
		}
	}()
	const building = "building"
	if u.State, err = store.Open(store.Config{
		Dir: filepath.Join(c.snaps.path, tmp, building), FS: c.cfg.FS, Kind: store.StateStore, Beside: c.cfg.Log,
		Logger: c.cfg.Logger, Fatal: c.cfg.Fatal,
	}); err != nil {
		return nil, err
	}
	at, err := fillFrom(r, u.State, keep)
	u.BackupInfo = infoOf(at)
	return u, err
}

// Close removes the unpacked state.
func (u *Unpacked) Close() error {
	var err error
	if u.State != nil {
		err = u.State.Close()
	}
	return errors.Join(err, u.in.dir.Remove(u.tmp))
}

// meet calls the hooks of into with both states, before one replaces the other.
func (u *Unpacked) meet(state *store.Store, into Adoption) error {
	if into.Check != nil {
		if err := into.Check(state); err != nil {
			return err
		}
	}
	if into.Adopt != nil {
		tx := u.State.NewTx()
		defer tx.Close()
		if err := into.Adopt(tx, state); err != nil {
			return err
		}
		if err := tx.CommitReplayable(); err != nil {
			return err
		}
	}
	return u.State.Flush()
}

// fillFrom reads a backup into an empty store.
func fillFrom(r io.Reader, into *store.Store, keep func(space store.Space, key []byte) bool) (mark, error) {
	const batch = 1 << 20 // bytes per commit
	tx := into.NewTx()
	defer func() { tx.Close() }()
	size := 0
	at, err := readBackup(r, func(space store.Space, key, value []byte) error {
		if !keep(space, key) {
			return nil
		}
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
		return at, err
	}
	if err := tx.CommitReplayable(); err != nil {
		return at, err
	}
	return at, into.Flush()
}

// BackupInfo describes a backup.
type BackupInfo struct {
	Index uint64    // of the last applied entry
	Term  uint64    // of that entry
	Time  time.Time // the state's clock
}

// CheckBackup reads a backup and describes it. It fails if the backup is damaged or of another
// version.
func CheckBackup(r io.Reader) (BackupInfo, error) {
	at, err := readBackup(r, func(store.Space, []byte, []byte) error { return nil })
	if err != nil {
		return BackupInfo{}, err
	}
	return infoOf(at), nil
}

func infoOf(at mark) BackupInfo {
	return BackupInfo{Index: at.index, Term: at.term, Time: time.Unix(0, at.clock).UTC()}
}

// notBackup returns the error for an unusable backup.
func notBackup(format string, args ...any) error {
	return fault.New(fault.Malformed, "", "The backup cannot be used: %s. Nothing was changed.", fmt.Sprintf(format, args...))
}
