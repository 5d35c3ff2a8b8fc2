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
	// grace is how long a request waits for other nodes to release unused amounts.
	grace = 250 * time.Millisecond
	// futilePause is how long no request waits again after such a wait failed and nothing has
	// changed.
	futilePause = time.Second
	// moveTimeout limits one proposal. A cluster elects a leader in about that time.
	moveTimeout = 2 * time.Second
	// defaultIdle is how long a lease may be unused.
	defaultIdle = 10 * time.Second
	// foresight is how long a requested lease lasts at the present rate.
	foresight = 10 * time.Second
	// foreseen is the lowest number of requests like the waiting ones that a requested lease
	// covers.
	foreseen = 10
	// maxAsks limits how often one request causes a lease request for the same account.
	// Otherwise nodes that compete for the last cents could go on forever.
	maxAsks = 16
	// strictShare is that of cluster/ledger: below budget/strictShare, leases cover single
	// requests only.
	strictShare = 20
	// maxMoves is the highest number of accounts in one proposal.
	maxMoves = 1000
	// maxAmount is the largest reservation of one request, a million dollars, so that sums do
	// not overflow.
	maxAmount = 1_000_000 * money.USD
)

// Bound is the limit of a request at one account.
type Bound struct {
	Account  id.Account
	Parent   id.KeyHash // for the account of a parent of the key: that parent; else zero
	Max      money.Pico // highest spend in one window, if Bounded
	Bounded  bool
	Soft     money.Pico // soft budget; 0: none
	Duration string     // the budget_duration; empty: the window has no end
	Resets   time.Time  // end of the current window; zero: never
}

// State is this node's replica of an account.
type State struct {
	Window   money.Pico // posted in the window, clamped to the range of budgets
	Epoch    uint64     // number of the window
	Resets   time.Time  // end of the window; zero: never
	Duration string     // duration from which Resets was computed
	Left     money.Pico // rest of this node's lease
	Others   money.Pico // rest of the leases of all other nodes
	Scarce   bool       // a request was rejected although other nodes hold leases
	Max      money.Pico // budget at the last grant, if Bounded
	Bounded  bool
}

// Config configures a Manager.
type Config struct {
	Node id.Node
	// Load reads an account from the replica. A missing account is the zero State.
	Load func(id.Account) (State, error)
	// Move commits a proposal. It returns when this node's replica contains it and Applied was
	// called for the changes. Only Run calls it, one call at a time. After an error the
	// proposal may still take effect, but not after a later proposal that succeeds. A proposal
	// may be empty; its success proves that the replica is recent.
	Move func(context.Context, *clusterv1.MoveLeases) error
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Logger receives failures; nil discards them.
	Logger *slog.Logger
	// Idle is how long a lease may be unused before it is released, and how long an unused
	// account is kept in memory; 0: 10 s.
	Idle time.Duration
}

// Manager admits requests against this node's leases. It is safe for concurrent use.
type Manager struct {
	cfg  Config
	kick chan struct{} // wakes Run
	mu   struct {
		sync.Mutex
		accounts map[id.Account]*account
		oldest   *account // head of the list by last use
		newest   *account
		waiting  map[*request]struct{}
		queue    []*account // accounts for Run
		look     []*account // accounts that the running call still examines; empty while unlocked
		doubts   []moved    // releases that may or may not have taken effect
		probe    bool       // an empty proposal shall resolve the doubts
		sure     bool       // the replica is as new as this node's previous process was
		stopped  bool       // Run has ended
	}
}

// New returns a Manager without accounts.
func New(cfg Config) *Manager {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Idle <= 0 {
		cfg.Idle = defaultIdle
	}
	t := &Manager{cfg: cfg, kick: make(chan struct{}, 1)}
	t.mu.accounts = make(map[id.Account]*account)
	t.mu.waiting = make(map[*request]struct{})
	return t
}
