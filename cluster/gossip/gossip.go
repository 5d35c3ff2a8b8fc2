package gossip

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// keyBytes is the length of the key: AES-256.
const keyBytes = 32

// Config configures a Gossip.
type Config struct {
	Node    id.Node // this node; required
	Address string  // host:port for other nodes; empty: that of the Network
	Network Network // required
	Key     []byte  // 32 bytes, shared by all nodes and secret; required
	Label   string  // separates clusters that share a network; empty: "modelgateway"
	Meta    Meta
	Logger  *slog.Logger // nil discards logs
	Join    []string     // host:port of nodes to join; may include this node
	State   *State       // the data to exchange; required
	Timing  Timing
}

// Meta is further metadata of this node.
type Meta struct {
	Version string // of the gateway
	// Transactions is the highest version of transactions that the node knows.
	Transactions uint32
}

// Timing holds intervals and timeouts. Zero means the default, which is memberlist's for a
// local network unless noted.
type Timing struct {
	Probe        time.Duration // interval of the probes of a member: 1 s
	ProbeTimeout time.Duration // timeout of a packet round trip: 500 ms
	Suspicion    int           // time of a suspect, in probe intervals (more in large clusters): 4
	Gossip       time.Duration // interval of broadcast packets: 200 ms
	GossipNodes  int           // receivers of each: 3
	PushPull     time.Duration // interval of full exchanges with another member: 30 s
	Stream       time.Duration // timeout of a stream: 10 s
	Numbers      time.Duration // interval of the check for changed numbers: 200 ms, because packets are not sent more often
	RejoinMin    time.Duration // backoff after the first attempt to join: 1 s
	RejoinMax    time.Duration // longest backoff between attempts: 30 s
	Lost         time.Duration // how long a lost member is listed and searched for: 24 h
	Leave        time.Duration // timeout of leaving: 2 s, which is ten packets to each
}

func (t *Timing) fill() {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Probe, time.Second},
		{&t.ProbeTimeout, 500 * time.Millisecond},
		{&t.Gossip, 200 * time.Millisecond},
		{&t.PushPull, 30 * time.Second},
		{&t.Stream, 10 * time.Second},
		{&t.Numbers, 200 * time.Millisecond},
		{&t.RejoinMin, time.Second},
		{&t.RejoinMax, 30 * time.Second},
		{&t.Lost, 24 * time.Hour},
		{&t.Leave, 2 * time.Second},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if t.Suspicion <= 0 {
		t.Suspicion = 4
	}
	if t.GossipNodes <= 0 {
		t.GossipNodes = 3
	}
}

// Gossip connects a State with those of other nodes. Its methods are safe for concurrent use.
type Gossip struct {
	cfg     Config
	meta    []byte
	members *members
	queues  queues
	ran     atomic.Bool
}

// New validates the configuration without starting anything. The errors are *fault.Error.
func New(cfg Config) (*Gossip, error) {
	cfg.Timing.fill()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Label == "" {
		cfg.Label = "modelgateway"
	}
	if cfg.Network == nil || cfg.State == nil || !validNode(string(cfg.Node)) {
		return nil, fault.New(fault.Internal, "", "Gossip needs a network, a state and a node's name.")
	}
	if cfg.Address == "" {
		cfg.Address = cfg.Network.Address()
	}
	if len(cfg.Key) != keyBytes {
		return nil, fault.Field("gossip_key", "invalid_value", "The gossip key has %d bytes; it takes %d.", len(cfg.Key), keyBytes)
	}
	if len(cfg.Label) > memberlist.LabelMaxSize {
		return nil, fault.Field("label", "invalid_value", "The label is longer than %d bytes.", memberlist.LabelMaxSize)
	}
	if _, _, err := standIn(cfg.Address); err != nil {
		return nil, fault.Field("advertise", "invalid_value", "%q is not an address that other nodes can reach; write host:port.", cfg.Address)
	}
	for i, address := range cfg.Join {
		if _, _, err := standIn(address); err != nil {
			return nil, fault.Field("join", "invalid_value", "join[%d] %q is not an address; write host:port.", i, address)
		}
	}
	meta, err := newMeta(cfg.Address, cfg.Meta)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Malformed, Param: "advertise", Detail: "The advertised address is too long.", Err: err}
	}
	g := &Gossip{cfg: cfg, meta: meta, members: newMembers()}
	for _, q := range []*memberlist.TransmitLimitedQueue{&g.queues.hints, &g.queues.numbers} {
		q.NumNodes, q.RetransmitMult = g.members.count, retransmit
	}
	return g, nil
}

// retransmit is the number of transmissions of a message, multiplied by the logarithm of the
// cluster's size: memberlist's default, and enough to send it to three other nodes at once.
const retransmit = 4

// Run gossips until ctx ends. It then leaves, so that the others know at once, and returns nil.
// It returns an error if it cannot start, or if the Network is closed. All its goroutines end
// before it returns, except for a probe inside memberlist, which ends within seconds and finds
// everything closed. Run must be called at most once.
func (g *Gossip) Run(ctx context.Context) error {
	if g.ran.Swap(true) {
		return fault.New(fault.Internal, "", "Gossip already runs or has run.")
	}
	t := newTransport(ctx, advertised{g.cfg.Network, g.cfg.Address}, g.members, g.cfg.Logger)
	list, err := memberlist.Create(g.config(t))
	if err != nil {
		_ = t.Shutdown()
		t.wait()
		return &fault.Error{Op: "gossip", Kind: fault.Internal, Detail: "Gossip cannot start.", Err: err}
	}
	g.cfg.State.attach(g.queues.announce)
	for _, h := range g.cfg.State.Hints(time.Now()) {
		g.queues.announce(h)
	}
	joining, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() { g.join(joining, list) })
	wait.Go(func() { g.sendChangedRates(joining, list) })
	err = g.tick(ctx, t)
	stop()
	if err == nil {
		if err := list.Leave(g.cfg.Timing.Leave); err != nil {
			g.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "gossip could not notify the other nodes of its leaving", slog.Any("error", err))
		}
	}
	g.cfg.State.attach(nil)
	_ = list.Shutdown() // always returns nil; the transport logs errors
	wait.Wait()
	if !t.wait() {
		g.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "the network does not end a read of packets when its listener is closed")
	}
	return err
}

// advertised is a Network with another address.
type advertised struct {
	Network
	address string
}

// Address returns the address.
func (a advertised) Address() string { return a.address }

// config returns memberlist's configuration.
func (g *Gossip) config(t *transport) *memberlist.Config {
	timing, d := &g.cfg.Timing, delegate{g}
	c := memberlist.DefaultLANConfig()
	c.Name, c.Label, c.SecretKey, c.Transport = string(g.cfg.Node), g.cfg.Label, g.cfg.Key, t
	c.LogOutput = &logWriter{logger: g.cfg.Logger, unreached: g.unreached}
	c.Delegate, c.Events, c.Alive, c.Conflict, c.Ping = d, d, d, d, d
	c.ProbeInterval, c.ProbeTimeout, c.SuspicionMult = timing.Probe, timing.ProbeTimeout, timing.Suspicion
	c.GossipInterval, c.GossipNodes = timing.Gossip, timing.GossipNodes
	c.PushPullInterval, c.TCPTimeout = timing.PushPull, timing.Stream
	// Messages are small, and encrypted bytes do not compress: LZW would only cost time.
	c.EnableCompression = false
	// A node that returns with another address, like a pod, is identified by its name. It may
	// use the name again as soon as its old address is known to be dead.
	c.DeadNodeReclaimTime = time.Second
	// Do not use name servers here; see standIn and join.
	c.DNSConfigPath = ""
	return c
}

// tick announces changed numbers and drops expired data, until ctx ends or the network is
// closed.
func (g *Gossip) tick(ctx context.Context, t *transport) error {
	ticker := time.NewTicker(g.cfg.Timing.Numbers)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.broken:
			if ctx.Err() != nil {
				return nil
			}
			return fault.New(fault.Internal, "", "The network between the nodes was closed while gossip needed it.")
		case now := <-ticker.C:
			changes := g.cfg.State.changes(now)
			for i := range changes {
				g.queues.tell(g.cfg.Node, &changes[i])
			}
			g.queues.trim()
			g.cfg.State.sweep(now)
			g.members.forget(now.Add(-g.cfg.Timing.Lost))
		}
	}
}

// Members returns all known nodes, sorted: this one once Run has started, the live ones, and
// those lost within Timing.Lost.
func (g *Gossip) Members() []Member { return g.members.list() }

// Problems returns sentences about problems for the operator; nil if there are none.
func (g *Gossip) Problems() []string { return g.members.problems(time.Now()) }
