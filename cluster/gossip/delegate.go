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

// delegate is what memberlist calls. It calls some of it under its locks, so nothing
// here calls memberlist.
type delegate struct{ g *Gossip }

// NodeMeta returns what others are told of this node besides its name.
func (d delegate) NodeMeta(int) []byte { return d.g.meta }

// NotifyMsg takes a broadcast. Hints are passed on by all who hear of them, so
// that they reach everybody in a large cluster. Numbers are passed on only
// where their node cannot send them to everybody itself: they are many, and
// soon outdated.
func (d delegate) NotifyMsg(b []byte) {
	s := d.g.cfg.State
	news, _ := s.merge(b, time.Now()) // what is malformed has no consequences
	s.pass(news.hints)
	if d.g.members.count()-1 <= d.g.cfg.Timing.GossipNodes {
		return
	}
	for i := range news.parts {
		d.g.queues.tell(news.from[i], &news.parts[i])
	}
}

// GetBroadcasts returns what fits into a packet.
func (d delegate) GetBroadcasts(overhead, limit int) [][]byte {
	return d.g.queues.take(overhead, limit)
}

// LocalState returns this node's side of a full exchange.
func (d delegate) LocalState(bool) []byte { return d.g.cfg.State.full(time.Now()) }

// MergeRemoteState takes the other's.
func (d delegate) MergeRemoteState(b []byte, _ bool) {
	_ = d.g.cfg.State.Merge(b, time.Now()) // what is malformed has no consequences
}

// NotifyAlive refuses members that are not of the right form or too many.
func (d delegate) NotifyAlive(n *memberlist.Node) error {
	if !validNode(n.Name) {
		return errors.New("gossip: a name that no node has")
	}
	if l := len(n.Addr); l != 4 && l != 16 || n.Port == 0 {
		return errors.New("gossip: an address that nobody has")
	}
	if _, err := parseMeta(n.Meta); err != nil {
		return err
	}
	return d.g.members.admit(id.Node(n.Name))
}

// NotifyJoin takes a node for alive.
func (d delegate) NotifyJoin(n *memberlist.Node) {
	meta, err := parseMeta(n.Meta)
	if err != nil {
		return // cannot be: NotifyAlive has refused it
	}
	d.g.members.joined(Member{Node: id.Node(n.Name), Address: meta.GetAddress(), Version: meta.GetGatewayVersion()})
}

// NotifyUpdate takes a node's new meta data.
func (d delegate) NotifyUpdate(n *memberlist.Node) { d.NotifyJoin(n) }

// NotifyLeave takes a node for gone, and its numbers with it. Its hints stay:
// what it saw fail did fail.
func (d delegate) NotifyLeave(n *memberlist.Node) {
	d.g.members.left(id.Node(n.Name), time.Now())
	d.g.cfg.State.drop(id.Node(n.Name))
}

// NotifyConflict notes that two nodes seem to have one name.
func (d delegate) NotifyConflict(existing, other *memberlist.Node) {
	address := other.Address()
	if meta, err := parseMeta(other.Meta); err == nil {
		address = meta.GetAddress()
	}
	d.g.members.conflict(id.Node(existing.Name), address, time.Now())
}

// AckPayload adds nothing to the answer to a ping.
func (delegate) AckPayload() []byte { return nil }

// NotifyPingComplete is called when a packet has been there and back.
func (d delegate) NotifyPingComplete(n *memberlist.Node, _ time.Duration, _ []byte) {
	d.g.members.reached(id.Node(n.Name))
}

// unreached is called when only a stream reached a member. Once for each time that this goes on,
// it says what to do.
func (g *Gossip) unreached(who id.Node) {
	if !g.members.unreached(who) {
		return
	}
	address, _ := g.members.address(string(who))
	g.cfg.Logger.LogAttrs(context.Background(), slog.LevelWarn,
		"a member answers over TCP but not over UDP; open UDP on the same port in both directions, or hints arrive late",
		slog.String("node", string(who)), slog.String("address", address))
}

// newMeta encodes what others are told of this node.
func newMeta(address, version string) ([]byte, error) {
	b, err := proto.Marshal(&clusterv1.GossipMeta{Version: recordVersion, GatewayVersion: version, Address: address})
	if err != nil {
		return nil, err
	}
	if len(b) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("gossip: address and version take %d bytes; %d is the limit", len(b), memberlist.MetaMaxSize)
	}
	return b, nil
}

// parseMeta decodes it and checks that the address is one.
func parseMeta(b []byte) (*clusterv1.GossipMeta, error) {
	m := &clusterv1.GossipMeta{}
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, errors.New("gossip: meta data that are none")
	}
	if m.GetVersion() != recordVersion {
		return nil, errors.New("gossip: meta data of an unknown version")
	}
	if _, _, err := standIn(m.GetAddress()); err != nil {
		return nil, errors.New("gossip: meta data without an address")
	}
	return m, nil
}
