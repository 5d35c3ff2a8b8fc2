package cluster

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/gossip"
	"github.com/modelgateway/modelgateway/cluster/history"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/segment"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Config has the directory of a node's state, its initial settings and its callbacks.
type Config struct {
	Dir     string // data directory; created if it is not there
	Catalog *catalog.Catalog
	Keys    *tenancy.Set
	Sealer  Sealer      // opens and seals what the state holds of secrets
	Ring    *vault.Ring // the Sealer, if its keys are agreed on; nil: they are given
	// Unlock waits, at the start, for the keys of the Ring that a KMS holds. nil:
	// nothing is waited for.
	Unlock  func() error
	Logger  *slog.Logger
	Fatal   func(error)          // ends the process; called when what is on disk is not known any more
	Commits func(journal.Commit) // told of each group commit, for metrics; nil means nobody is

	// BeginRestore is called before this node reads a backup, and before it puts the
	// settings of one in force; what it returns is called afterwards. nil: nothing is called.
	BeginRestore func() (end func())

	// Connect makes the ways to the other nodes, and the key of 32 bytes that what
	// is gossiped is encrypted with. nil: this node is a cluster of its own and
	// opens no port. It is given the node's id, which Open finds on the disk.
	Connect func(node id.Node) (Link, []byte, error)
	Join    []string // addresses where other nodes may be found; this node's own may be among them
	Expect  int      // how many voters the cluster starts with, this node one of them; 0: it does not vote
	// KeyStaleness is how long a node that is cut off honours keys that others may
	// have revoked. 0 means a second, which is as often as it can ask.
	KeyStaleness time.Duration
	// Retention is how long the audit log and the usage records are kept. 0 means 365
	// days.
	Retention time.Duration
	// HoldFrom is the time from which on no record is dropped, however old it is. The zero time means none. All nodes
	// should have the same.
	HoldFrom time.Time
	// Hot is how long records of the audit log and usage records stay in the replicated state. Older
	// ones are sealed: they go into files. 0 means 7 days.
	Hot time.Duration
	// Bucket is where the files of sealed records are put. nil: each voter keeps them in its data directory.
	Bucket  segment.Bucket
	Version string   // of the gateway, for the other nodes to see
	Digest  [32]byte // of what the file says, for nodes to see whether their files differ

	// For tests; zero means the real thing.
	FS           store.FS
	Now          func() time.Time // this node's clock; what has to pass is not measured with it
	Timing       consensus.Timing
	GossipTiming gossip.Timing
	MinFreeBytes uint64
	BallastBytes int64
	// TransactionVersion is the highest version of transactions that the node knows. 0 means
	// record.LastVersion; a test makes an older or a newer node with another one.
	TransactionVersion uint32
}

// minStaleness is what KeyStaleness is raised to: a node asks the leader every
// quarter of a second at most.
const minStaleness = time.Second

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.BeginRestore == nil {
		c.BeginRestore = func() func() { return func() {} }
	}
	if c.TransactionVersion == 0 {
		c.TransactionVersion = record.LastVersion
	}
	if c.Retention <= 0 {
		c.Retention = history.DefaultRetention
	}
	if c.Hot <= 0 {
		c.Hot = history.DefaultHot
	}
	return c
}

// Sealer keeps secrets unreadable in the state. The context binds a sealed secret
// to its place: it opens nowhere else.
type Sealer interface {
	Seal(plain vault.Secret, context string) ([]byte, error)
	Open(sealed []byte, context string) (vault.Secret, error)
}

// Link is how nodes reach each other; link.Link is one.
type Link interface {
	Connections
	Packets
	// Run hands out connections until ctx ends.
	Run(ctx context.Context) error
	// Close gives back what was bound.
	Close() error
}

// Connections are a Link's streams. Both ends are authenticated.
type Connections interface {
	// Address is what the other nodes reach this one at.
	Address() string
	// Listener returns what gives the connections of one protocol.
	Listener(p link.Protocol) net.Listener
	// Dial connects to the node at an address.
	Dial(ctx context.Context, address string, p link.Protocol) (net.Conn, error)
	// DialNode connects to a node, and to no other that is at its address.
	DialNode(ctx context.Context, address string, node id.Node, p link.Protocol) (net.Conn, error)
}

// Packets are a Link's datagrams, which may be lost and are encrypted by who
// sends them.
type Packets interface {
	// ReadPacket waits for a datagram.
	ReadPacket(b []byte) (int, net.Addr, error)
	// SetPacketDeadline ends a ReadPacket under way, and later ones, at t.
	SetPacketDeadline(t time.Time) error
	// WritePacket sends one.
	WritePacket(b []byte, address string) error
}

// aloneAddress stands for the address of a node that no other can reach.
const aloneAddress = "alone"
