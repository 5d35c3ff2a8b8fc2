// Package recordtest provides an in-memory replicated state on which tests run operations as
// the state machine does.
package recordtest

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// State is an in-memory replicated state. The zero State is empty. It is not safe for
// concurrent use.
type State struct {
	rows  map[string][]byte
	index uint64
}

func name(space store.Space, key []byte) string { return string(append([]byte{byte(space)}, key...)) }

// Get returns a record.
func (s *State) Get(space store.Space, key []byte) (value []byte, ok bool, err error) {
	value, ok = s.rows[name(space, key)]
	return value, ok, nil
}

// Set writes a record.
func (s *State) Set(space store.Space, key, value []byte) {
	if s.rows == nil {
		s.rows = map[string][]byte{}
	}
	s.rows[name(space, key)] = slices.Clone(value)
}

// Delete deletes a record.
func (s *State) Delete(space store.Space, key []byte) { delete(s.rows, name(space, key)) }

// Scan calls fn for each record of a space, in key order, until fn returns false.
func (s *State) Scan(_ context.Context, r store.Range, fn func(key, value []byte) bool) error {
	for _, n := range slices.Sorted(maps.Keys(s.rows)) {
		if n[0] == byte(r.Space) && !fn([]byte(n[1:]), s.rows[n]) {
			return nil
		}
	}
	return nil
}

// Commit applies a transaction like a log entry: it encodes and decodes it, checks, stamps and
// writes. It returns the changes and the index of the entry.
func (s *State) Commit(tx *record.Txn) ([]record.Change, uint64, error) {
	m, err := tx.Message()
	if err != nil {
		return nil, 0, err
	}
	wire, err := proto.Marshal(m)
	if err != nil {
		return nil, 0, err
	}
	read := &clusterv1.Transaction{}
	if err := proto.Unmarshal(wire, read); err != nil {
		return nil, 0, err
	}
	s.index++
	before := maps.Clone(s.rows)
	changes, f := record.Apply(s, read, record.Stamp{Index: s.index, Actor: tx.Actor()})
	if f != nil {
		s.rows = before
		return nil, s.index, f
	}
	return changes, s.index, nil
}
