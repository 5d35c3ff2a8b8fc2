package store

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Identity identifies a data directory. The ids of usage events contain it.
type Identity struct {
	Node  id.Node // random, from the first start on an empty directory
	Epoch uint64  // counts the generations of the node's storage, from 1
}

// identityVersion is the version of the identity record.
const identityVersion = 1

const identityKey = "identity"

// Identity returns the identity of the data directory. It never changes. A StateStore has none.
func (s *Store) Identity() Identity { return s.identity }

// identify reads the identity, or creates one in an empty store.
func (s *Store) identify() error {
	value, ok, err := s.Get(SpaceMeta, []byte(identityKey))
	if err != nil {
		return err
	}
	switch {
	case s.cfg.Kind == StateStore && ok:
		e := refuse("identity", s.cfg.Dir, errors.New("it contains the identity of a node"))
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

// createIdentity writes a new identity. Records without an identity mean damage, not a new
// directory: with a new identity, events that others have already applied would be counted
// again.
func (s *Store) createIdentity() error {
	empty, err := s.empty()
	if err != nil {
		return err
	}
	if !empty {
		return damaged(s.cfg.Dir, errors.New("missing, although there are records"))
	}
	made := Identity{Node: id.NewNode(), Epoch: 1}
	value, err := proto.Marshal(&clusterv1.NodeIdentity{Version: identityVersion, Node: string(made.Node), Epoch: made.Epoch})
	if err != nil {
		return damaged(s.cfg.Dir, err)
	}
	// After a crash before the commit, the store is empty and the next start creates another
	// identity; this one was never used. After it, the identity stays.
	b := s.NewBatch()
	defer b.Close()
	b.Set(SpaceMeta, []byte(identityKey), value)
	if err := b.Commit(); err != nil {
		return err
	}
	s.identity = made
	return nil
}

// empty reports whether there is no key in any space.
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

// damaged returns the error for an unusable identity.
func damaged(dir string, err error) *fault.Error {
	e := refuse("identity", dir, err)
	e.Detail = "The data directory has no usable node identity: it is damaged, was written by a newer version or is that of the replicated state. Restore it, or move it away and start with an empty one."
	return e
}
