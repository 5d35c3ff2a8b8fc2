package cluster

import (
	"bytes"
	"context"
	"crypto/rand"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// codeOtherLife is the code of the Conflict for a move of leases with another life than the
// node's.
const codeOtherLife = "lease_life"

// moves are this node's moves of leases: numbered, within a life that begins with
// each start. It belongs to the manager's goroutine.
type moves struct {
	life   []byte // nil: has not begun
	number uint64
}

// moveLeases moves leases exactly once, even if messages are lost or repeated. It returns when
// this node's state has the move and the manager knows it. If the outcome is not known in time,
// the error is Unavailable and the leases may have been released. After a later move has been
// made, the earlier ones have been made or never will be.
func (n *Node) moveLeases(ctx context.Context, m *clusterv1.MoveLeases) error {
	m.Node, m.AskedUnixNano = string(n.Identity().Node), n.cfg.Now().UnixNano()
	for range 2 {
		if n.moves.life == nil {
			if err := n.beginLife(ctx); err != nil {
				return err
			}
		}
		n.moves.number++
		m.Life, m.Number = n.moves.life, n.moves.number
		inject.Crash("lease.before")
		err := n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_MoveLeases{MoveLeases: m}})
		if f := fault.From(err); err == nil || f.Code != codeOtherLife {
			inject.Crash("lease.moved")
			return err
		}
		n.moves.life = nil // an older beginning of this node's has come late
	}
	return &fault.Error{Op: "cluster.lease", Kind: fault.Unavailable, Code: codeOutcomeUnknown, Detail: "Another process goes by this node's identity."}
}

// beginLife begins a life. What an earlier one has proposed and is still under way
// is not made any more once that is committed.
func (n *Node) beginLife(ctx context.Context) error {
	life := make([]byte, commandIDLength)
	_, _ = rand.Read(life) // never fails
	err := n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_MoveLeases{MoveLeases: &clusterv1.MoveLeases{
		Node: string(n.Identity().Node), Life: life,
	}}})
	if err == nil {
		n.moves = moves{life: life}
	}
	return err
}

// lives reports whether a move is to be made: it is of the node's present life, and
// no later one was made. It notes that it is.
func lives(tx *store.Tx, c *clusterv1.MoveLeases) (bool, *fault.Error) {
	key := []byte(c.GetNode())
	var at clusterv1.LeaseLife
	if _, f := record.Load(tx, store.SpaceLeaseLife, key, &at); f != nil {
		return false, f
	}
	same := bytes.Equal(at.GetLife(), c.GetLife())
	switch {
	case c.GetNumber() == 0 && same:
		return false, nil // this beginning was proposed twice
	case c.GetNumber() == 0:
		at.Life, at.Number = c.GetLife(), 0
	case !same:
		return false, fault.New(fault.Conflict, codeOtherLife, "The node's moves of leases are of another life.")
	case c.GetNumber() <= at.GetNumber():
		return false, nil // made before, or overtaken
	default:
		at.Number = c.GetNumber()
	}
	return c.GetNumber() > 0, record.Store(tx, store.SpaceLeaseLife, key, &at)
}
