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

// applier applies the log to the state, for Raft, which calls it from one goroutine.
type applier struct {
	cfg    Config
	snaps  *snapshots
	states *states

	// Of Raft's goroutine.
	seen uint64 // the last entry that came, applied now or before

	mu struct {
		sync.Mutex
		gen     *generation
		at      mark
		changed chan struct{} // closed, and made anew, when at changes
		closed  bool
	}
}

// result is what became of a command, for its proposer.
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

// applied returns how far the state has come, published included.
func (a *applier) applied() mark {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.at
}

// progress returns how far the state has come, and a channel that is closed when
// it has come further or will not do so any more.
func (a *applier) progress() (at mark, changed <-chan struct{}, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.at, a.mu.changed, a.mu.closed
}

// advance says that the state has come to at.
func (a *applier) advance(at mark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.at = at
	close(a.mu.changed)
	a.mu.changed = make(chan struct{})
}

// close wakes those who wait for progress.
func (a *applier) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.mu.closed {
		a.mu.closed = true
		close(a.mu.changed)
	}
}

// current returns the state in force, kept open until it is released.
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

// What die says.
const (
	cannotApply   = "An entry of the cluster's log cannot be applied, and leaving it out would make this node disagree with the others. Update the gateway if it is older than the others, and start it again."
	otherWay      = "Before this node was cut off, its log went on where the cluster's went another way, and further than the snapshot that it was sent. Start it again: what was never confirmed is dropped then, and nothing else."
	cannotInstall = "A snapshot of the cluster's state cannot be put in place. Update the gateway if it is older than the others, or check the disk, and start it again: it finishes what was begun."
)

// die ends the process, or whatever Config.Fatal ends. It does not return.
func (c Config) die(detail string, cause error) {
	err := &fault.Error{Op: "consensus", Kind: fault.StorageUnavailable, Detail: detail, Err: cause}
	c.Logger.Error("replicated state cannot go on", slog.Any("error", err))
	if c.Fatal != nil {
		c.Fatal(err)
	}
	// On a goroutine of its own, where nobody recovers.
	go panic(err)
	select {}
}

// Apply implements raft.FSM. Raft calls ApplyBatch instead.
func (a *applier) Apply(l *raft.Log) any { return a.apply(l) }

// ApplyBatch implements raft.BatchingFSM. It is a batch of Raft's, not of the
// store's: a refusal drops the effects of its own entry only.
func (a *applier) ApplyBatch(logs []*raft.Log) []any {
	out := make([]any, len(logs))
	for i, l := range logs {
		out[i] = a.apply(l)
	}
	return out
}

// apply applies one entry, unless the state has it.
func (a *applier) apply(l *raft.Log) result {
	at := a.applied()
	a.seen = l.Index
	if l.Index <= at.index {
		return result{index: l.Index} // replayed after a start: nobody waits for it
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

// commit makes the effects of an entry, the mark and the outcome, in one batch. It
// moves at's clock.
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
	// A crash in here or later, up to the next flush, may take this batch and those
	// before it, from the last one backwards: never one without those after it. The
	// mark in it says where the log has to be replayed from.
	return res, publish, tx.CommitReplayable()
}

// run makes the effects of a command that was not seen before.
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

// Snapshot implements raft.FSM. No entry is applied while it runs: the state on the
// disk is then exactly the one at the entry that Raft thinks of.
func (a *applier) Snapshot() (raft.FSMSnapshot, error) {
	at := a.applied()
	if a.seen != at.index {
		// After a start, Raft goes once more through entries that the state has. A
		// snapshot would be called by the wrong one of them, and who installed it
		// would apply the rest twice.
		return nil, errors.New("the log is still being replayed")
	}
	// Flushed first, since Raft truncates the log once there is a snapshot: from then
	// on the log cannot repeat what a power cut took of the state.
	gen := a.generation()
	if err := gen.store.Flush(); err != nil {
		return nil, err
	}
	tmp, _, err := a.snaps.temporary()
	if err != nil {
		return nil, err
	}
	// A crash before the snapshot is whole leaves a directory that the next Open
	// removes.
	if err := gen.store.Checkpoint(a.snaps.filesPath(tmp)); err != nil {
		return nil, errors.Join(err, a.snaps.dir.Remove(tmp))
	}
	return &checkpoint{in: a.snaps, tmp: tmp, at: at}, nil
}

// Restore implements raft.FSM: the state of a snapshot takes the place of this one.
func (a *applier) Restore(from io.ReadCloser) error {
	reader, ok := from.(*snapshotReader)
	if wrapped, is := from.(raft.ReadCloserWrapper); is && !ok {
		reader, ok = wrapped.WrappedReadCloser().(*snapshotReader)
	}
	if !ok {
		return errors.New("the snapshot is not one of this node's")
	}
	gen, at, err := a.states.install(a.snaps.filesPath(reader.of.id), reader.of.index, reader.of.term)
	if err == nil {
		err = a.cfg.Machine.Restored(gen.store, at.index)
	}
	if err != nil {
		// The snapshot is on the disk and Raft counts on it: there is no way back to the
		// old state, and the next Open does this again.
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
		// Raft is about to empty the log, and cannot be told that it is empty (see guard).
		// The next Open empties it. It takes a leader that was cut off with more entries
		// than trail a snapshot, or a backup that was restored meanwhile.
		a.cfg.die(otherWay, fmt.Errorf("snapshot %s, and entry %d", reader.of.id, last))
	}
	return nil
}

// checkpoint is a snapshot that is not with the others yet.
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
		return errors.New("the sink is not one of this node's")
	}
	if k.of.index != c.at.index {
		return fmt.Errorf("the state is at entry %d and the snapshot is to be of %d", c.at.index, k.of.index)
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
