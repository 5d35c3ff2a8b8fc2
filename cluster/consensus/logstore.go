package consensus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// logStore keeps the log and Raft's own values in the node's store. The log has no holes.
// Entries are appended after the last one or, in an empty log, after the newest snapshot, and
// are removed only at the ends. So a hole is always damage and is rejected; a log that
// tolerates holes could not detect it.
//
// Raft calls it from several goroutines.
type logStore struct {
	store *store.Store
	// writing is full during a write, including its sync. Only the writer may change the ends.
	// Readers of the ends do not wait for the disk.
	writing chan struct{}

	mu struct {
		sync.Mutex
		first, last uint64 // 0, 0 if empty
		base        uint64 // index of the newest snapshot; 0 without one
		baseTerm    uint64 // term of the newest snapshot
	}
}

// openLog finds the ends of the log and reads every entry. A node must detect a missing or
// unreadable entry before it votes or leads.
func openLog(ctx context.Context, s *store.Store) (*logStore, error) {
	l := &logStore{store: s, writing: make(chan struct{}, 1)}
	var first, last uint64
	var bad error
	err := s.Scan(ctx, store.Range{Space: store.SpaceLog}, func(key, value []byte) bool {
		if len(key) != 8 {
			bad = fmt.Errorf("a key of %d bytes", len(key))
			return false
		}
		index := binary.BigEndian.Uint64(key)
		if last != 0 && index != last+1 {
			bad = fmt.Errorf("entries %d to %d are missing", last+1, index-1)
			return false
		}
		var entry raft.Log
		if err := decodeEntry(index, value, &entry); err != nil {
			bad = fmt.Errorf("entry %d: %w", index, err)
			return false
		}
		if first == 0 {
			first = index
		}
		last = index
		return true
	})
	if err != nil {
		return nil, err
	}
	if bad != nil {
		return nil, damaged("log", "The log of the cluster's changes in the data directory is damaged."+rejoin, bad)
	}
	l.mu.first, l.mu.last = first, last
	return l, nil
}

// ends returns the first and the last index; 0, 0 if the log is empty.
func (l *logStore) ends() (first, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.first, l.mu.last
}

// setBase sets the last entry of the newest snapshot; 0, 0 without one.
func (l *logStore) setBase(index, term uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.base, l.mu.baseTerm = index, term
}

// beginsBehind reports whether the newest snapshot ends with this entry, and the log begins
// with the next one.
func (l *logStore) beginsBehind(index, term uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return index == l.mu.base && term == l.mu.baseTerm && index+1 == l.mu.first
}

// FirstIndex implements raft.LogStore.
func (l *logStore) FirstIndex() (uint64, error) {
	first, _ := l.ends()
	return first, nil
}

// LastIndex implements raft.LogStore.
func (l *logStore) LastIndex() (uint64, error) {
	_, last := l.ends()
	return last, nil
}

// IsMonotonic implements raft.MonotonicLogStore: the log allows no holes, so Raft empties it
// when a snapshot replaces it.
func (l *logStore) IsMonotonic() bool { return true }

// GetLog implements raft.LogStore.
func (l *logStore) GetLog(index uint64, entry *raft.Log) error {
	value, ok, err := l.store.Get(store.SpaceLog, indexKey(index))
	if err != nil {
		return err
	}
	if !ok {
		return raft.ErrLogNotFound
	}
	if err := decodeEntry(index, value, entry); err != nil {
		return damaged("log", "The log of the cluster's changes in the data directory is damaged."+rejoin, fmt.Errorf("entry %d: %w", index, err))
	}
	return nil
}

// has reports whether the log has an entry with this index and term.
func (l *logStore) has(index, term uint64) bool {
	var entry raft.Log
	return l.GetLog(index, &entry) == nil && entry.Term == term
}

// StoreLog implements raft.LogStore.
func (l *logStore) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore: one batch, synced.
func (l *logStore) StoreLogs(entries []*raft.Log) error {
	if len(entries) == 0 {
		return nil
	}
	l.writing <- struct{}{}
	defer func() { <-l.writing }()
	if err := l.follows(entries); err != nil {
		return err
	}
	b := l.store.NewBatch()
	defer b.Close()
	var buf []byte
	for _, entry := range entries {
		buf = appendEntry(buf[:0], entry)
		b.Set(store.SpaceLog, indexKey(entry.Index), buf)
	}
	// A crash here leaves all of the entries or none. They are not acknowledged yet, so the
	// other nodes treat them as never received.
	if err := b.Commit(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.first == 0 {
		l.mu.first = entries[0].Index
	}
	l.mu.last = entries[len(entries)-1].Index
	return nil
}

// follows checks that entries leave no hole. In an empty log they must follow the newest
// snapshot. Older entries would be stored and counted as applied, but never be applied. A
// leader that is cut off during a restore would otherwise run into this.
func (l *logStore) follows(entries []*raft.Log) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.mu.last + 1
	if l.mu.last == 0 {
		next = l.mu.base + 1
	}
	for _, entry := range entries {
		if entry.Index != next {
			return fmt.Errorf("entry %d does not follow entry %d", entry.Index, next-1)
		}
		next++
	}
	return nil
}

// DeleteRange implements raft.LogStore. The range must include an end of the log.
func (l *logStore) DeleteRange(from, to uint64) error {
	l.writing <- struct{}{}
	defer func() { <-l.writing }()
	first, last := l.ends()
	from, to = max(from, first), min(to, last)
	if first == 0 || from > to {
		return nil
	}
	if from != first && to != last {
		return fmt.Errorf("removing entries %d to %d would leave a hole", from, to)
	}
	b := l.store.NewBatch()
	defer b.Close()
	b.DeleteRange(store.SpaceLog, indexKey(from), indexKey(to+1))
	// A crash here leaves the log with the whole range or without it. At the front, the next
	// truncation then removes more. At the back, the leader repeats the truncation.
	if err := b.Commit(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case from == first && to == last:
		l.mu.first, l.mu.last = 0, 0
	case from == first:
		l.mu.first = to + 1
	default:
		l.mu.last = from - 1
	}
	return nil
}

// Set implements raft.StableStore.
func (l *logStore) Set(key, value []byte) error {
	b := l.store.NewBatch()
	defer b.Close()
	b.Set(store.SpaceStable, key, value)
	// A crash here leaves the old value or the new one. Raft writes its term before its vote;
	// either one alone only makes it reject more.
	return b.Commit()
}

// Get implements raft.StableStore. It returns nothing for a missing key.
func (l *logStore) Get(key []byte) ([]byte, error) {
	value, ok, err := l.store.Get(store.SpaceStable, key)
	if err != nil || !ok {
		return nil, err
	}
	return value, nil
}

// SetUint64 implements raft.StableStore.
func (l *logStore) SetUint64(key []byte, value uint64) error { return l.Set(key, indexKey(value)) }

// termStore is the store of a running Raft, which panics when it cannot write its term. Instead the node ends as after
// any other write that it needs: with Config.Fatal.
type termStore struct {
	*logStore

	cfg Config
}

// currentTerm is Raft's key of its term.
const currentTerm = "CurrentTerm"

// SetUint64 implements raft.StableStore.
func (s termStore) SetUint64(key []byte, value uint64) error {
	err := s.logStore.SetUint64(key, value)
	if err != nil && string(key) == currentTerm {
		s.cfg.die(cannotVote, err)
	}
	return err
}

// GetUint64 implements raft.StableStore.
func (l *logStore) GetUint64(key []byte) (uint64, error) {
	value, err := l.Get(key)
	if err != nil || len(value) == 0 {
		return 0, err
	}
	if len(value) != 8 {
		return 0, damaged("log", "The cluster's own values in the data directory are damaged."+rejoin, errors.New("a number of the wrong size"))
	}
	return binary.BigEndian.Uint64(value), nil
}

func indexKey(index uint64) []byte { return binary.BigEndian.AppendUint64(nil, index) }
