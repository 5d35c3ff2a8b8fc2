package consensus

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Config says what agrees, on what and with whom. Log, Dir, Machine and Node are
// required.
type Config struct {
	Log     *store.Store // the node's store; holds the log
	Dir     string       // the data directory; state/ and snapshots/ are below it
	FS      store.FS     // of Dir; nil means the operating system's
	Machine Machine
	Node    id.Node
	Address string  // where the other nodes reach this one; required with a Network
	Network Network // nil means alone, in memory
	// Standings asks the other members how far they are and returns what those say that
	// answer before ctx ends. nil: the node votes without comparing itself with the others.
	Standings func(ctx context.Context) []Standing
	// CommandID returns the id of a command, nil if it has none. A command with an
	// id that the state has seen before is answered with its first outcome. It must
	// depend on the command only. nil means that no command has one.
	CommandID func(command []byte) []byte
	// Now is the time that entries are stamped with where this node leads; false while
	// it is not known, and nothing is proposed until it is. nil means this node's clock.
	Now    func() (time.Time, bool)
	Logger *slog.Logger // nil means nobody is told
	// Fatal is called when the node cannot go on without guessing: an entry cannot
	// be applied. It must end the process and not return; if it returns, the
	// process panics.
	Fatal  func(error)
	Timing Timing
}

// Machine is what the commands change. Apply and Restored are called by one
// goroutine at a time.
type Machine interface {
	// Apply makes the effects of one command in tx and returns its outcome. It
	// depends on tx and e only: every node must come to the same. It must not keep tx
	// or e.Command. It runs between the commit of an entry and the answer to who
	// proposed it, so it should not wait for anything.
	Apply(tx *store.Tx, e Entry) Outcome
	// Restored says that the state is another one as a whole: read all of it anew.
	// It is called before Open returns, and after a snapshot took the state's place.
	// What was read before is refused from then on: the old store closes once
	// Restored has returned. An error means that the node cannot go on.
	Restored(state *store.Store, index uint64) error
}

// Entry is one command in its place.
type Entry struct {
	Index   uint64
	Time    time.Time // the state's clock, in UTC: never goes back
	Stamp   time.Time // what time it was for who proposed it, in UTC: earlier, if a clock was ahead before
	Command []byte
}

// Outcome is what became of a command.
type Outcome struct {
	// Fault is a refusal, which every node comes to; nothing of the effects stays.
	Fault *fault.Error
	// Publish is called after the effects are committed and before whoever proposed
	// the command hears of it; nil if there is nothing to tell. It is not called for
	// entries that the state had already at the start, nor for a repeated command.
	Publish func(index uint64)
	// Err says that the command cannot be judged: the state cannot be read, or the
	// command is of a newer version. The node stops there (Config.Fatal) and goes on
	// from there when it is started again.
	Err error
}

// Network is how nodes reach each other.
type Network interface {
	// Listener returns where the others' connections come in. It is closed when Run
	// ends.
	Listener() net.Listener
	// Dial connects to the node at addr. It may block until ctx is over.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// Server is a member of the cluster.
type Server struct {
	Node    id.Node
	Address string
	Voter   bool // has a vote; false means that it only receives
}

// Timing is how patient the nodes are with each other. The zero value of each
// field means its default.
type Timing struct {
	// Heartbeat is how long a follower waits for its leader, and twice that at most,
	// before it asks for votes. 1 s; alone 50 ms.
	Heartbeat time.Duration
	// Election is how long a candidate waits for votes, and twice that at most. It is
	// not below Heartbeat. 1 s; alone 50 ms.
	Election time.Duration
	// LeaderLease is how long a leader goes on without hearing of a majority. It is
	// not above Heartbeat. 1 s: two round trips of 400 ms, so that lost packets do
	// not unseat a leader. Alone 50 ms.
	LeaderLease time.Duration
	// Commit is how long a follower of an idle leader waits, and twice that at most,
	// to hear what is committed: a change at a follower is answered after that. Each
	// member costs the leader as many small messages. 20 ms; alone 5 ms.
	Commit time.Duration
	// SnapshotThreshold is after how many entries a snapshot is due. 8192.
	SnapshotThreshold uint64
	// TrailingLogs is how many entries stay behind a snapshot, so that who was away
	// for a while needs no snapshot. 10240.
	TrailingLogs uint64
	// SnapshotInterval is how often, and twice that at most, it is looked whether a
	// snapshot is due. 2 min.
	SnapshotInterval time.Duration
}

// withDefaults fills in what was left out.
//
// With 1 s a follower notices after 1 to 2 s that its leader is gone. Votes take
// two round trips, a second at most where one takes 400 ms with a retransmission
// in it, and a split vote costs one Election more: 5 s in all. Shorter times would
// unseat leaders on lossy links, each time at the cost of an election.
func (t Timing) withDefaults(alone bool) Timing { //nolint:revive // flag-parameter: which of the two columns of defaults
	patience, commit := time.Second, 20*time.Millisecond
	if alone {
		// Nobody can answer, so waiting for somebody is only a slower start.
		patience, commit = 50*time.Millisecond, 5*time.Millisecond
	}
	for _, field := range []*time.Duration{&t.Heartbeat, &t.Election, &t.LeaderLease} {
		if *field == 0 {
			*field = patience
		}
	}
	if t.Commit == 0 {
		t.Commit = commit
	}
	if t.SnapshotThreshold == 0 {
		t.SnapshotThreshold = 8192
	}
	if t.TrailingLogs == 0 {
		t.TrailingLogs = 10240
	}
	if t.SnapshotInterval == 0 {
		t.SnapshotInterval = 2 * time.Minute
	}
	return t
}
