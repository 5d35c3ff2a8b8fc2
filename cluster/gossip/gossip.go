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

// Config is what a Gossip is made from.
type Config struct {
	Node    id.Node // this node. Required
	Address string  // host:port where others reach it; empty: what the Network says
	Network Network // Required
	Key     []byte  // 32 bytes that all nodes have and nobody else. Required
	Label   string  // tells clusters apart that share a network; empty: "modelgateway"
	Meta    Meta
	Logger  *slog.Logger // nil: none
	Join    []string     // host:port of nodes to join; this node's own may be among them
	State   *State       // what is told and heard. Required
	Timing  Timing
}

// Meta is what others are told of this node besides its name and address.
type Meta struct {
	Version string // the gateway's
}

// Timing is how fast things go. A zero means the default, which is memberlist's
// for a local network unless a reason is given.
type Timing struct {
	Probe        time.Duration // how often a member is asked if it is alive: 1 s
	ProbeTimeout time.Duration // how long a packet may take there and back: 500 ms
	Suspicion    int           // how many probes' time (and more in large clusters) a suspect has: 4
	Gossip       time.Duration // how often packets of broadcasts are sent: 200 ms
	GossipNodes  int           // to how many: 3
	PushPull     time.Duration // how often there is a full exchange with somebody: 30 s
	Stream       time.Duration // how long a stream may take: 10 s
	Numbers      time.Duration // how often it is looked if numbers have changed: 200 ms, for more often no packet goes out
	RejoinMin    time.Duration // pause after the first attempt to join: 1 s
	RejoinMax    time.Duration // longest pause between attempts: 30 s
	Lost         time.Duration // how long a member that is gone is listed, and looked for: 24 h
	Leave        time.Duration // how long leaving may take: 2 s, which is ten packets to each
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

// Gossip connects a State with those of other nodes. Its methods are safe for
// concurrent use, at any time.
type Gossip struct {
	cfg     Config
	meta    []byte
	members *members
	queues  queues
	ran     atomic.Bool
}

// New checks the configuration. It starts nothing. The errors are *fault.Error.
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
	meta, err := newMeta(cfg.Address, cfg.Meta.Version)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Malformed, Param: "advertise", Detail: "The advertised address is too long.", Err: err}
	}
	g := &Gossip{cfg: cfg, meta: meta, members: newMembers()}
	for _, q := range []*memberlist.TransmitLimitedQueue{&g.queues.hints, &g.queues.numbers} {
		q.NumNodes, q.RetransmitMult = g.members.count, retransmit
	}
	return g, nil
}

// retransmit is how many times a message is sent, times the logarithm of the
// cluster's size: memberlist's default, and enough for each of three others to hear it at once.
const retransmit = 4

// Run gossips until ctx ends; then it leaves, so that others know at once, and
// returns nil. It returns an error if it cannot start, or if the Network is closed under it. All
// its goroutines end with it, but for a probe under way inside memberlist, which
// ends within some seconds and finds everything shut. A Gossip runs once.
func (g *Gossip) Run(ctx context.Context) error {
	if g.ran.Swap(true) {
		return fault.New(fault.Internal, "", "Gossip runs already, or has run.")
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
	wait.Go(func() { g.tellRates(joining, list) })
	err = g.tick(ctx, t)
	stop()
	if err == nil {
		if err := list.Leave(g.cfg.Timing.Leave); err != nil {
			g.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "gossip left without telling anybody", slog.Any("error", err))
		}
	}
	g.cfg.State.attach(nil)
	_ = list.Shutdown() // it always returns nil, and logs what the transport says
	wait.Wait()
	if !t.wait() {
		g.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "the network does not end a read of packets when its listener is closed")
	}
	return err
}

// advertised is a Network under another address.
type advertised struct {
	Network
	address string
}

// Address returns it.
func (a advertised) Address() string { return a.address }

// config is memberlist's configuration.
func (g *Gossip) config(t *transport) *memberlist.Config {
	timing, d := &g.cfg.Timing, delegate{g}
	c := memberlist.DefaultLANConfig()
	c.Name, c.Label, c.SecretKey, c.Transport = string(g.cfg.Node), g.cfg.Label, g.cfg.Key, t
	c.LogOutput = &logWriter{logger: g.cfg.Logger, unreached: g.unreached}
	c.Delegate, c.Events, c.Alive, c.Conflict, c.Ping = d, d, d, d, d
	c.ProbeInterval, c.ProbeTimeout, c.SuspicionMult = timing.Probe, timing.ProbeTimeout, timing.Suspicion
	c.GossipInterval, c.GossipNodes = timing.Gossip, timing.GossipNodes
	c.PushPullInterval, c.TCPTimeout = timing.PushPull, timing.Stream
	// What is sent is small, and random bytes once it is encrypted: LZW would only
	// cost time.
	c.EnableCompression = false
	// A node that comes back elsewhere, as a pod does, is known by its name and may
	// have it again as soon as it is known to have been gone.
	c.DeadNodeReclaimTime = time.Second
	// No name servers are asked here, see standIn and join.
	c.DNSConfigPath = ""
	return c
}

// tick tells changed numbers and forgets what has ended, until ctx ends or the
// network does.
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

// Members returns every node that is known, sorted: this one once Run has begun,
// those that are alive, and those that were within Timing.Lost.
func (g *Gossip) Members() []Member { return g.members.list() }

// Problems returns what an operator should look at, in sentences; nil if all is well.
func (g *Gossip) Problems() []string { return g.members.problems(time.Now()) }
