package consensus

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// applier applies the log to the state. Raft calls it from one goroutine.
type applier struct {
	cfg    Config
	snaps  *snapshots
	states *states

	// Owned by Raft's goroutine.
	seen uint64 // the last entry received, whether applied now or before

	mu struct {
		sync.Mutex
		gen     *generation
		at      mark
		changed chan struct{} // closed and replaced when at changes
		closed  bool
	}
}

// result is the outcome of a command, for the proposer.
type result struct {
	index uint64
	fault *fault.Error
}

func newApplier(cfg Config, snaps *snapshots, st *states, gen *generation, at mark) *applier {
	a := &applier{cfg: cfg, snaps: snaps, states: st}
	a.mu.gen, a.mu.at, a.mu.changed = gen, at, make(chan struct{})
	snaps.applied = func() uint64 { return a.applied().index }
	return a
}

// applied returns the mark of the applied and published entries.
func (a *applier) applied() mark {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.at
}

// progress returns the current mark and a channel that is closed when the mark advances or the
// applier closes.
func (a *applier) progress() (at mark, changed <-chan struct{}, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.at, a.mu.changed, a.mu.closed
}

// advance sets the mark.
func (a *applier) advance(at mark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.at = at
	close(a.mu.changed)
	a.mu.changed = make(chan struct{})
}

// close wakes all callers that wait for progress.
func (a *applier) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.mu.closed {
		a.mu.closed = true
		close(a.mu.changed)
	}
}

// current returns the current state, open until it is released.
func (a *applier) current() (*generation, error) {
	for {
		a.mu.Lock()
		gen := a.mu.gen
		a.mu.Unlock()
		if gen.acquire() {
			return gen, nil
		}
		if at := a.generation(); at == gen {
			return nil, errStopping()
		}
	}
}

func (a *applier) generation() *generation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.gen
}

// The texts of die.
const (
	cannotApply   = "An entry of the cluster's log cannot be applied, and leaving it out would make this node disagree with the others. Update the gateway if it is older than the others, and start it again."
	otherWay      = "Before this node was cut off, its log went on where the cluster's went another way, and further than the snapshot that it was sent. Start it again: what was never confirmed is dropped then, and nothing else."
	cannotVote    = "The node cannot write down in which term of the cluster it is, and takes no part without that. Check the disk, and start the gateway again."
	cannotInstall = "A snapshot of the cluster's state cannot be put in place. Update the gateway if it is older than the others, or check the disk, and start it again: it finishes what was begun."
)

// die calls Config.Fatal, which ends the process. It does not return.
func (c Config) die(detail string, cause error) {
	err := &fault.Error{Op: "consensus", Kind: fault.StorageUnavailable, Detail: detail, Err: cause}
	c.Logger.Error("replicated state cannot continue", slog.Any("error", err))
	if c.Fatal != nil {
		c.Fatal(err)
	}
	// in its own goroutine, where no caller recovers
	go panic(err)
	select {}
}

// Apply implements raft.FSM. Raft calls ApplyBatch instead.
func (a *applier) Apply(l *raft.Log) any { return a.apply(l) }

// ApplyBatch implements raft.BatchingFSM. The batch is Raft's, not the store's: rejecting one
// entry discards only the effects of that entry.
func (a *applier) ApplyBatch(logs []*raft.Log) []any {
	out := make([]any, len(logs))
	for i, l := range logs {
		out[i] = a.apply(l)
	}
	return out
}

// apply applies an entry unless the state already contains it.
func (a *applier) apply(l *raft.Log) result {
	at := a.applied()
	a.seen = l.Index
	if l.Index <= at.index {
		return result{index: l.Index} // replayed after a start: no proposer is waiting
	}
	at.index, at.term = l.Index, l.Term
	res, publish, err := a.commit(l, &at)
	if err != nil {
		a.cfg.die(cannotApply, fmt.Errorf("entry %d: %w", l.Index, err))
	}
	if publish != nil {
		publish(l.Index)
	}
	a.advance(at)
	return res
}

// commit writes the effects of an entry, the mark and the outcome in one batch. It advances the
// clock of at.
func (a *applier) commit(l *raft.Log, at *mark) (result, func(uint64), error) {
	res := result{index: l.Index}
	tx := a.generation().store.NewTx()
	defer tx.Close()
	var publish func(uint64)
	if l.Type == raft.LogCommand {
		var entry clusterv1.Entry
		if err := proto.Unmarshal(l.Data, &entry); err != nil {
			return res, nil, err
		}
		at.clock = max(at.clock, entry.GetTimeUnixNano())
		if command := entry.GetCommand(); len(command) > 0 {
			var err error
			of := Entry{Index: at.index, Time: time.Unix(0, at.clock).UTC(), Stamp: time.Unix(0, entry.GetTimeUnixNano()).UTC(), Command: command}
			if res, publish, err = a.run(tx, of, *at); err != nil {
				return res, nil, err
			}
		}
		if err := pruneOutcomes(tx, at.clock); err != nil {
			return res, nil, err
		}
	}
	if err := writeMark(tx, *at); err != nil {
		return res, nil, err
	}
	// A crash before the next flush may lose this batch and earlier ones, always a suffix of
	// them. The mark that remains says where the replay of the log starts.
	return res, publish, tx.CommitReplayable()
}

// run applies a command that has no outcome yet.
func (a *applier) run(tx *store.Tx, e Entry, at mark) (result, func(uint64), error) {
	res := result{index: at.index}
	var id []byte
	if a.cfg.CommandID != nil {
		id = a.cfg.CommandID(e.Command)
	}
	if len(id) > 0 {
		before, err := readOutcome(tx, id)
		if err != nil {
			return res, nil, err
		}
		if before != nil {
			return *before, nil, nil
		}
	}
	out := a.cfg.Machine.Apply(tx, e)
	if out.Err != nil {
		return res, nil, out.Err
	}
	if out.Fault != nil {
		res.fault, out.Publish = out.Fault, nil
		tx.Reset()
	}
	if len(id) > 0 {
		if err := writeOutcome(tx, id, at, out.Fault); err != nil {
			return res, nil, err
		}
	}
	return res, out.Publish, nil
}

// Snapshot implements raft.FSM. No entry is applied while it runs, so the state on the disk is
// exactly at the entry that Raft assumes.
func (a *applier) Snapshot() (raft.FSMSnapshot, error) {
	at := a.applied()
	if a.seen != at.index {
		// After a start, Raft replays entries that the state contains. A snapshot would get the
		// index of a replayed entry, and a node that installs it would apply the later entries
		// twice.
		return nil, errors.New("the log is still being replayed")
	}
	// Flush first: Raft truncates the log once there is a snapshot. After that the log cannot
	// restore state that a power failure loses.
	gen := a.generation()
	if err := gen.store.Flush(); err != nil {
		return nil, err
	}
	tmp, _, err := a.snaps.temporary()
	if err != nil {
		return nil, err
	}
	// A crash before the snapshot is complete leaves a directory that the next Open removes.
	if err := gen.store.Checkpoint(a.snaps.filesPath(tmp)); err != nil {
		return nil, errors.Join(err, a.snaps.dir.Remove(tmp))
	}
	return &checkpoint{in: a.snaps, tmp: tmp, at: at}, nil
}

// Restore implements raft.FSM: the state of a snapshot replaces the current one.
func (a *applier) Restore(from io.ReadCloser) error {
	reader, ok := from.(*snapshotReader)
	if wrapped, is := from.(raft.ReadCloserWrapper); is && !ok {
		reader, ok = wrapped.WrappedReadCloser().(*snapshotReader)
	}
	if !ok {
		return errors.New("the snapshot was not made by this node's store")
	}
	gen, at, err := a.states.install(a.snaps.filesPath(reader.of.id), reader.of.index, reader.of.term)
	if err == nil {
		err = a.cfg.Machine.Restored(gen.store, at.index)
	}
	if err != nil {
		// The snapshot is on the disk and Raft relies on it, so the old state is no option. The
		// next Open tries again.
		a.cfg.die(cannotInstall, fmt.Errorf("snapshot %s: %w", reader.of.id, err))
	}
	a.mu.Lock()
	old := a.mu.gen
	a.mu.gen = gen
	a.mu.Unlock()
	a.seen = at.index
	a.advance(at)
	a.states.discard(old)
	if _, last := a.snaps.log.ends(); last >= at.index && !a.snaps.log.has(at.index, at.term) {
		// Raft is about to empty the log, and its in-memory view of the log would be wrong (see
		// guard). The next Open empties the log. This happens to a leader that was cut off with
		// more entries than trail a snapshot, and after the restore of a backup.
		a.cfg.die(otherWay, fmt.Errorf("snapshot %s, and entry %d", reader.of.id, last))
	}
	return nil
}

// checkpoint is a snapshot that is not yet in the list.
type checkpoint struct {
	in      *snapshots
	tmp     string
	at      mark
	adopted bool
}

// Persist implements raft.FSMSnapshot.
func (c *checkpoint) Persist(to raft.SnapshotSink) error {
	k, ok := to.(*sink)
	if !ok {
		return errors.New("the sink was not made by this node's store")
	}
	if k.of.index != c.at.index {
		return fmt.Errorf("the state is at entry %d, and the snapshot must be at %d", c.at.index, k.of.index)
	}
	if err := k.adopt(c.tmp); err != nil {
		return err
	}
	c.adopted = true
	return nil
}

// Release implements raft.FSMSnapshot.
func (c *checkpoint) Release() {
	if c.adopted {
		return
	}
	if err := c.in.dir.Remove(c.tmp); err != nil {
		c.in.logger.Warn("unused checkpoint cannot be removed", slog.String("path", filepath.Join(c.in.path, c.tmp)), slog.Any("error", err))
	}
}
