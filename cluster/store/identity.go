package store

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Identity is who a data directory belongs to. Usage events are named by it.
type Identity struct {
	Node  id.Node // made at random at the first start on an empty directory
	Epoch uint64  // which life of the node's storage this is, from 1
}

// identityVersion is the version of the identity's record.
const identityVersion = 1

const identityKey = "identity"

// Identity returns the identity of the data directory. It never changes. A
// StateStore has none.
func (s *Store) Identity() Identity { return s.identity }

// identify reads the identity, or makes one in an empty store.
func (s *Store) identify() error {
	value, ok, err := s.Get(SpaceMeta, []byte(identityKey))
	if err != nil {
		return err
	}
	switch {
	case s.cfg.Kind == StateStore && ok:
		e := refuse("identity", s.cfg.Dir, errors.New("there is a node's identity"))
		e.Detail = fmt.Sprintf("The directory %q holds what a node must not lose and cannot hold the replicated state: choose another one for that.", s.cfg.Dir)
		return e
	case s.cfg.Kind == StateStore:
		return nil
	case !ok:
		return s.createIdentity()
	}
	var rec clusterv1.NodeIdentity
	if err := proto.Unmarshal(value, &rec); err != nil {
		return damaged(s.cfg.Dir, err)
	}
	if rec.GetVersion() != identityVersion || rec.GetNode() == "" || rec.GetEpoch() == 0 {
		return damaged(s.cfg.Dir, errors.New("incomplete, or of an unknown version"))
	}
	s.identity = Identity{Node: id.Node(rec.GetNode()), Epoch: rec.GetEpoch()}
	return nil
}

// createIdentity writes a new identity. Records without an identity are a
// damaged directory, not a new one: under a fresh name, events that others have
// applied already would be counted again.
func (s *Store) createIdentity() error {
	empty, err := s.empty()
	if err != nil {
		return err
	}
	if !empty {
		return damaged(s.cfg.Dir, errors.New("missing, though there are records"))
	}
	made := Identity{Node: id.NewNode(), Epoch: 1}
	value, err := proto.Marshal(&clusterv1.NodeIdentity{Version: identityVersion, Node: string(made.Node), Epoch: made.Epoch})
	if err != nil {
		return damaged(s.cfg.Dir, err)
	}
	// A crash before the commit leaves an empty store, and the next start makes
	// another identity; nobody has seen this one. After it, the identity stays.
	b := s.NewBatch()
	defer b.Close()
	b.Set(SpaceMeta, []byte(identityKey), value)
	if err := b.Commit(); err != nil {
		return err
	}
	s.identity = made
	return nil
}

// empty reports whether there is no key at all, of whatever space.
func (s *Store) empty() (bool, error) {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return false, unreadable(err)
	}
	found := it.First()
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return false, unreadable(err)
	}
	return !found, nil
}

// damaged makes the error for an identity that cannot be used.
func damaged(dir string, err error) *fault.Error {
	e := refuse("identity", dir, err)
	e.Detail = "The data directory has no usable node identity: it is damaged, was written by a newer version or is that of the replicated state. Restore it, or move it away and start with an empty one."
	return e
}
