package gossip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hashicorp/memberlist"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// delegate implements the callbacks of memberlist. Some are called under its locks, so none
// calls memberlist.
type delegate struct{ g *Gossip }

// NodeMeta returns the metadata of this node.
func (d delegate) NodeMeta(int) []byte { return d.g.meta }

// NotifyMsg receives a broadcast. Every receiver passes hints on, so that they reach all nodes
// of a large cluster. It passes numbers on only if their node cannot send them to every member
// itself: they are many, and soon outdated.
func (d delegate) NotifyMsg(b []byte) {
	s := d.g.cfg.State
	news, _ := s.merge(b, time.Now()) // malformed messages are ignored
	s.pass(news.hints)
	if d.g.members.count()-1 <= d.g.cfg.Timing.GossipNodes {
		return
	}
	for i := range news.parts {
		d.g.queues.tell(news.from[i], &news.parts[i])
	}
}

// GetBroadcasts returns messages for a packet.
func (d delegate) GetBroadcasts(overhead, limit int) [][]byte {
	return d.g.queues.take(overhead, limit)
}

// LocalState returns this node's side of a push/pull.
func (d delegate) LocalState(bool) []byte { return d.g.cfg.State.full(time.Now()) }

// MergeRemoteState merges the other side of a push/pull.
func (d delegate) MergeRemoteState(b []byte, _ bool) {
	_ = d.g.cfg.State.Merge(b, time.Now()) // malformed messages are ignored
}

// NotifyAlive rejects malformed members, and members above the limit.
func (d delegate) NotifyAlive(n *memberlist.Node) error {
	if !validNode(n.Name) {
		return errors.New("gossip: invalid node name")
	}
	if l := len(n.Addr); l != 4 && l != 16 || n.Port == 0 {
		return errors.New("gossip: invalid node address")
	}
	if _, err := parseMeta(n.Meta); err != nil {
		return err
	}
	return d.g.members.admit(id.Node(n.Name))
}

// NotifyJoin adds a live node.
func (d delegate) NotifyJoin(n *memberlist.Node) {
	meta, err := parseMeta(n.Meta)
	if err != nil {
		return // cannot happen: NotifyAlive has rejected it
	}
	d.g.members.joined(Member{Node: id.Node(n.Name), Address: meta.GetAddress(), Version: meta.GetGatewayVersion(), Transactions: meta.GetTransactions()})
}

// NotifyUpdate updates a node's metadata.
func (d delegate) NotifyUpdate(n *memberlist.Node) { d.NotifyJoin(n) }

// NotifyLeave removes a node and its numbers. Its hints stay, because the failures that it saw
// are real.
func (d delegate) NotifyLeave(n *memberlist.Node) {
	d.g.members.left(id.Node(n.Name), time.Now())
	d.g.cfg.State.drop(id.Node(n.Name))
}

// NotifyConflict records that two nodes seem to have the same name.
func (d delegate) NotifyConflict(existing, other *memberlist.Node) {
	address := other.Address()
	if meta, err := parseMeta(other.Meta); err == nil {
		address = meta.GetAddress()
	}
	d.g.members.conflict(id.Node(existing.Name), address, time.Now())
}

// AckPayload adds nothing to the response to a ping.
func (delegate) AckPayload() []byte { return nil }

// NotifyPingComplete is called after a successful packet round trip.
func (d delegate) NotifyPingComplete(n *memberlist.Node, _ time.Duration, _ []byte) {
	d.g.members.reached(id.Node(n.Name))
}

// unreached is called when a member was reached only by a stream. It logs a remedy once for
// each such period.
func (g *Gossip) unreached(who id.Node) {
	if !g.members.unreached(who) {
		return
	}
	address, _ := g.members.address(string(who))
	g.cfg.Logger.LogAttrs(context.Background(), slog.LevelWarn,
		"a member answers over TCP but not over UDP; open UDP on the same port in both directions, or hints arrive late",
		slog.String("node", string(who)), slog.String("address", address))
}

// newMeta encodes the metadata of this node.
func newMeta(address string, meta Meta) ([]byte, error) {
	b, err := proto.Marshal(&clusterv1.GossipMeta{
		Version: recordVersion, GatewayVersion: meta.Version, Address: address, Transactions: meta.Transactions,
	})
	if err != nil {
		return nil, err
	}
	if len(b) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("gossip: address and version take %d bytes; %d is the limit", len(b), memberlist.MetaMaxSize)
	}
	return b, nil
}

// parseMeta decodes metadata and checks the address.
func parseMeta(b []byte) (*clusterv1.GossipMeta, error) {
	m := &clusterv1.GossipMeta{}
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, errors.New("gossip: malformed metadata")
	}
	if m.GetVersion() != recordVersion {
		return nil, errors.New("gossip: metadata of an unknown version")
	}
	if _, _, err := standIn(m.GetAddress()); err != nil {
		return nil, errors.New("gossip: metadata without a valid address")
	}
	return m, nil
}
