package cluster

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// CreateKey adds a key on every node. Exists if its hash or its alias is taken.
func (n *Node) CreateKey(ctx context.Context, actor string, k keys.Key) (keys.Key, error) {
	if _, err := n.View().Keys.With(k); err != nil {
		return keys.Key{}, err
	}
	record, err := keys.ToRecord(k)
	if err != nil {
		return keys.Key{}, err
	}
	index, err := n.submit(ctx, &clusterv1.Command{Actor: actor, Change: &clusterv1.Command_CreateKey{
		CreateKey: &clusterv1.CreateKey{Key: record},
	}})
	if err != nil {
		return keys.Key{}, err
	}
	n.spread(ctx, index)
	if stored, ok := n.View().Keys.Get(k.Hash); ok {
		return stored, nil
	}
	return k, nil // committed, and deleted or not yet here
}

// DeleteKeys removes keys on every node, all or none. When it returns nil, every
// node that could be reached refuses them, and the others do after
// Config.KeyStaleness. NotFound names the first that is not there; Conflict if one
// stands in the file.
func (n *Node) DeleteKeys(ctx context.Context, actor string, hashes []id.KeyHash) error {
	change := &clusterv1.DeleteKeys{}
	for _, h := range hashes {
		if k, ok := n.View().Keys.Get(h); ok && k.Static {
			return &fault.Error{Kind: fault.Conflict, Code: "defined_in_file", Param: "keys", Detail: "That key stands in the configuration file; take it out there and restart."}
		}
		change.Hashes = append(change.GetHashes(), h[:])
	}
	index, err := n.submit(ctx, &clusterv1.Command{Actor: actor, Change: &clusterv1.Command_DeleteKeys{DeleteKeys: change}})
	if err == nil {
		n.fence(ctx, index)
	}
	return err
}

// Key returns a key as it is now: whatever was acknowledged on any node before the
// call, it shows.
func (n *Node) Key(ctx context.Context, h id.KeyHash) (keys.Key, bool, error) {
	if err := n.current(ctx); err != nil {
		return keys.Key{}, false, err
	}
	k, ok := n.View().Keys.Get(h)
	return k, ok, nil
}

// KeyByAlias is Key by the alias.
func (n *Node) KeyByAlias(ctx context.Context, alias string) (keys.Key, bool, error) {
	if err := n.current(ctx); err != nil {
		return keys.Key{}, false, err
	}
	k, ok := n.View().Keys.ByAlias(alias)
	return k, ok, nil
}

// Keys returns at most limit of the keys that were made at run time, without the
// first offset, ordered by hash, and how many there are in all: those of this
// node's View.
func (n *Node) Keys(_ context.Context, offset, limit int) ([]keys.Key, int, error) {
	page, total := n.View().Keys.List(offset, limit)
	return page, total, nil
}
