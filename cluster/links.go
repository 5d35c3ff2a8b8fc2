package cluster

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
)

// raftLink is the link as consensus uses it. Only members of the configuration may connect, and
// only the member that has an address is dialed there. A node without a configuration accepts any
// node with a certificate of the cluster.
type raftLink struct{ node *Node }

// Listener gives the connections of members.
func (l raftLink) Listener() net.Listener {
	return memberListener{Listener: l.node.link.Listener(link.Raft), node: l.node}
}

// Dial connects to the member at an address.
func (l raftLink) Dial(ctx context.Context, address string) (net.Conn, error) {
	return l.node.dial(ctx, address, link.Raft)
}

// memberListener refuses who is no member.
type memberListener struct {
	net.Listener
	node *Node
}

// Accept waits for a connection of a member.
func (l memberListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.node.admits(conn) {
			return conn, nil
		}
		_ = conn.Close() // the other side notices
	}
}

// admits reports whether a connection may take part in the consensus.
func (n *Node) admits(conn net.Conn) bool {
	who, named := link.PeerOf(conn)
	if !named {
		return true // the operator's certificates name no nodes; the CA's word has to do
	}
	servers, err := n.consensus.Servers()
	if err != nil || len(servers) == 0 {
		return true
	}
	for _, s := range servers {
		if s.Node == who {
			return true
		}
	}
	return false
}

// dialPeer connects to the node at an address to call it.
func (n *Node) dialPeer(ctx context.Context, address string) (net.Conn, error) {
	return n.dial(ctx, address, link.Peer)
}

// dial connects to the member at an address; who it is must be who the
// configuration says it is, if it says anything.
func (n *Node) dial(ctx context.Context, address string, p link.Protocol) (net.Conn, error) {
	if node, ok := n.nodeAt(address); ok {
		return n.link.DialNode(ctx, address, node, p)
	}
	return n.link.Dial(ctx, address, p)
}

// nodeAt returns the member at an address.
func (n *Node) nodeAt(address string) (id.Node, bool) {
	servers, err := n.consensus.Servers()
	if err != nil {
		return "", false
	}
	for _, s := range servers {
		if s.Address == address {
			return s.Node, true
		}
	}
	return "", false
}

// gossipLink is the link as the gossip uses it.
type gossipLink struct {
	Link
}

// Listener gives the gossip's connections. To close it also ends ReadPacket.
func (l gossipLink) Listener() net.Listener {
	return gossipListener{Listener: l.Link.Listener(link.Gossip), packets: l.Link}
}

// Dial connects to the gossip of the node at an address.
func (l gossipLink) Dial(ctx context.Context, address string) (net.Conn, error) {
	return l.Link.Dial(ctx, address, link.Gossip)
}

// ReadPacket waits for a datagram. The error is net.ErrClosed when there will be no more.
func (l gossipLink) ReadPacket(b []byte) (int, net.Addr, error) {
	n, from, err := l.Link.ReadPacket(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = net.ErrClosed
	}
	return n, from, err
}

type gossipListener struct {
	net.Listener
	packets Packets
}

// Close ends the gossip's connections and datagrams.
func (l gossipListener) Close() error {
	return errors.Join(l.packets.SetPacketDeadline(time.Unix(1, 0)), l.Listener.Close()) // long past: it wakes the reader
}
