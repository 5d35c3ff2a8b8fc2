package keys

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Tx changes the replicated state and sees its own changes. Whoever calls a
// state function commits the changes, or drops them if there was a fault.
type Tx interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Set(space store.Space, key, value []byte)
	Delete(space store.Space, key []byte)
}

// Scanner reads the replicated state. The slices are fn's until it returns.
type Scanner interface {
	Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error
}

// Stamp says which entry of the log makes a change, when by the state's clock,
// and who asked for it.
type Stamp struct {
	Index uint64
	Time  time.Time
	Actor string // alias of a key, never the key
}

// The functions below are what an entry of the log does. Every node calls them
// with the same entries on the same state and must come to the same bytes, so
// they look at the command and the state and at nothing else: not at the clock,
// and not at the file, whose keys differ from node to node. What depends on those
// is checked before the command is proposed, by With.
//
// A fault of kind Internal or StorageUnavailable is no outcome of the entry but
// of this node's disk: the node that has it must stop.

// CreateKey adds a key and returns it with its stamp. It faults with Exists where
// the hash (Param key) or the alias (Param key_alias) is taken.
func CreateKey(tx Tx, c *clusterv1.CreateKey, by Stamp) (*clusterv1.VirtualKey, *fault.Error) {
	k := c.GetKey()
	if _, ok := hashOf(k.GetHash()); !ok {
		return nil, fault.Field("key", "invalid_value", "The key's hash is not one.")
	}
	_, twice, err := tx.Get(store.SpaceKey, k.GetHash())
	switch {
	case err != nil:
		return nil, unreadable(err)
	case twice:
		return nil, taken("That key exists already; choose another, or leave it out to have one made.")
	}
	if k.GetAlias() != "" {
		_, twice, err := tx.Get(store.SpaceKeyAlias, []byte(k.GetAlias()))
		switch {
		case err != nil:
			return nil, unreadable(err)
		case twice:
			return nil, &fault.Error{Op: "keys", Kind: fault.Exists, Code: codeExists, Param: "key_alias", Detail: "Another key has that key_alias; choose another, or delete that key first."}
		}
		tx.Set(store.SpaceKeyAlias, []byte(k.GetAlias()), k.GetHash())
	}
	// A clone keeps the fields that a newer version may have added.
	k = proto.CloneOf(k)
	k.Stamp = &clusterv1.Stamp{
		CreatedUnixNano: nanos(by.Time), CreatedBy: by.Actor,
		UpdatedUnixNano: nanos(by.Time), UpdatedBy: by.Actor,
		Revision: by.Index,
	}
	value, err := marshal(k)
	if err != nil {
		return nil, unreadable(err)
	}
	tx.Set(store.SpaceKey, k.GetHash(), value)
	return k, nil
}

// DeleteKeys removes keys and frees their aliases. It faults with NotFound if any
// of them is not there; then nothing may be committed. A hash that is given twice
// counts once.
func DeleteKeys(tx Tx, c *clusterv1.DeleteKeys) *fault.Error {
	found := make(map[id.KeyHash]string, len(c.GetHashes())) // hash → alias
	for _, hash := range c.GetHashes() {
		h, ok := hashOf(hash)
		if !ok {
			return fault.Field("keys", "invalid_value", "One of the hashes is not one.")
		}
		value, ok, err := tx.Get(store.SpaceKey, hash)
		switch {
		case err != nil:
			return unreadable(err)
		case !ok:
			return &fault.Error{Op: "keys", Kind: fault.NotFound, Code: codeNotFound, Param: "keys", Detail: fmt.Sprintf("There is no key %v that was made at run time; no key was deleted.", h)}
		}
		k := &clusterv1.VirtualKey{}
		if err := proto.Unmarshal(value, k); err != nil {
			return unreadable(err)
		}
		found[h] = k.GetAlias()
	}
	// The order of the map does not matter: each key is deleted once, and what is
	// left is the same whichever went first.
	for h, alias := range found {
		tx.Delete(store.SpaceKey, h[:])
		if alias != "" {
			tx.Delete(store.SpaceKeyAlias, []byte(alias))
		}
	}
	return nil
}

// Load returns every key of the state, ordered by hash.
func Load(ctx context.Context, state Scanner) ([]Key, error) {
	var all []Key
	var broken error
	r := &clusterv1.VirtualKey{}
	err := state.Scan(ctx, store.Range{Space: store.SpaceKey}, func(_, value []byte) bool {
		if broken = proto.Unmarshal(value, r); broken != nil {
			return false
		}
		k, err := FromRecord(r)
		all, broken = append(all, k), err
		return err == nil
	})
	switch {
	case err != nil:
		return nil, err
	case broken != nil:
		return nil, unreadable(broken)
	}
	return all, nil
}

// unreadable is the fault of a state that cannot be read; the store's own faults
// stay as they are.
func unreadable(err error) *fault.Error {
	f := fault.From(err)
	if f.Kind == fault.Internal && f.Op == "" {
		return &fault.Error{Op: "keys.state", Kind: fault.Internal, Detail: "A record of the replicated state cannot be read.", Err: err}
	}
	return f
}
