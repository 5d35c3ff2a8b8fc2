package lease

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// grace is how long a request waits for other nodes to give back what they do not need.
	grace = 250 * time.Millisecond
	// barren is how long nobody waits again after that was in vain and nothing has changed.
	barren = time.Second
	// moveTimeout is how long one proposal may take. A cluster elects a leader in about that time.
	moveTimeout = 2 * time.Second
	// defaultIdle is how long a lease may go unused.
	defaultIdle = 10 * time.Second
	// foresight is how long an asked lease would last at the present rate.
	foresight = 10 * time.Second
	// foreseen is how many requests like those that wait an asked lease would last for at least.
	foreseen = 10
	// maxAsks is how often one request asks for the same lease. It ends what could go on
	// for ever where nodes snatch the last cents from each other.
	maxAsks = 16
	// strictShare is how much of a budget has to be left, one part in so many, for leases
	// of more than single requests need, as cluster/ledger has it.
	strictShare = 20
	// maxMoves is how many accounts one proposal is for.
	maxMoves = 1000
	// maxAmount is the most that one request reserves, a million dollars: sums of it do not overflow.
	maxAmount = 1_000_000 * money.USD
)

// Bound is what limits a request at one account.
type Bound struct {
	Account  id.Account
	Parent   id.KeyHash // of an account of a parent of the key: that account; else zero
	Max      money.Pico // the most that may be spent in one window, if Bounded
	Bounded  bool
	Soft     money.Pico // from this spend on people are warned; 0: never
	Duration string     // the budget_duration; empty: the window has no end
	Resets   time.Time  // end of the window that holds now; zero: never
}

// State is this node's replica of an account.
type State struct {
	Window   money.Pico // what was posted in the window, held within the range of budgets
	Epoch    uint64     // which window it is
	Resets   time.Time  // when it ends; zero: never
	Duration string     // what that was computed by
	Left     money.Pico // what is left of this node's lease
	Others   money.Pico // what is left of those of all others
	Scarce   bool       // somebody was refused although others hold leases
	Max      money.Pico // the budget that leases were last granted by, if Bounded
	Bounded  bool
}

// Config is what a Teller works with.
type Config struct {
	// Node is this node.
	Node id.Node
	// Load reads an account from the replica. One that is not there yet is the zero State.
	Load func(id.Account) (State, error)
	// Move commits a proposal and returns when this node's replica has it and Applied was
	// called for what it has changed. It is called by Run alone, once at a time. After an
	// error the proposal may still take effect, but not later than one that was made after
	// it and succeeded. A proposal may be empty: that it succeeds says how new the replica is.
	Move func(context.Context, *clusterv1.MoveLeases) error
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Logger gets what goes wrong; nil: nobody is told.
	Logger *slog.Logger
	// Idle is how long a lease may go unused before it is given back, and an account
	// before it is forgotten; 0: 10 s.
	Idle time.Duration
}

// Teller admits requests against this node's leases. It is safe for concurrent use.
type Teller struct {
	cfg  Config
	kick chan struct{} // Run has something to move
	mu   struct {
		sync.Mutex
		accounts map[id.Account]*account
		oldest   *account // accounts by last use
		newest   *account
		waiting  map[*request]struct{}
		queue    []*account // what Run is to look at
		look     []*account // what the running call still has to look at; empty without the lock
		doubts   []moved    // returns of which nobody knows whether they took effect
		probe    bool       // an empty proposal is to end the doubts
		sure     bool       // the replica is as new as this node's last process was
		stopped  bool       // Run has ended
	}
}

// New returns a Teller that knows no account yet.
func New(cfg Config) *Teller {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Idle <= 0 {
		cfg.Idle = defaultIdle
	}
	t := &Teller{cfg: cfg, kick: make(chan struct{}, 1)}
	t.mu.accounts = make(map[id.Account]*account)
	t.mu.waiting = make(map[*request]struct{})
	return t
}
