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

// Config configures the node's part in the consensus. Log, Dir, Machine and Node are required.
type Config struct {
	Log     *store.Store // the store of the node; holds the log
	Dir     string       // the data directory, with state/ and snapshots/
	FS      store.FS     // file system of Dir; nil means the operating system's
	Machine Machine
	Node    id.Node
	Address string  // address of this node for other nodes; required with a Network
	Network Network // nil means a single node, in memory
	// Standings asks the other members how far their logs reach, and returns the answers that
	// arrive before ctx ends. nil: the node votes without comparing itself with the others.
	Standings func(ctx context.Context) []Standing
	// CommandID returns the id of a command, nil if it has none. A repeated command with a
	// known id returns its first outcome. The id must depend on the command only. nil means
	// that no command has an id.
	CommandID func(command []byte) []byte
	// Now returns the time with which the leader stamps entries. It returns false while the
	// time is unknown; the leader then proposes nothing. nil means this node's clock.
	Now    func() (time.Time, bool)
	Logger *slog.Logger // nil discards logs
	// Fatal is called when the node cannot continue safely: it cannot apply an entry. It must
	// end the process; if it returns, the process panics.
	Fatal  func(error)
	Timing Timing
}

// Machine applies commands to the state. Apply and Restored are never called concurrently.
type Machine interface {
	// Apply writes the effects of one command to tx and returns its outcome. It must depend on
	// tx and e only, so that every node has the same result. It must not keep tx or e.Command.
	// It must not block: it runs between the commit of an entry and the response to the
	// proposer.
	Apply(tx *store.Tx, e Entry) Outcome
	// Restored reports that the whole state has been replaced: the Machine must read it again.
	// It is called before Open returns, and after a snapshot has replaced the state. The old
	// store fails reads and closes once Restored has returned. After an error the node cannot
	// continue.
	Restored(state *store.Store, index uint64) error
}

// Entry is one command at its place in the log.
type Entry struct {
	Index   uint64
	Time    time.Time // the clock of the state, in UTC: never goes back
	Stamp   time.Time // the leader's time at the proposal, in UTC; before Time if an earlier leader's clock was ahead
	Command []byte
}

// Outcome is the result of a command.
type Outcome struct {
	// Fault rejects the command, on every node alike. None of the effects remain.
	Fault *fault.Error
	// Publish is called after the effects are committed and before Propose returns. nil means
	// that there is nothing to publish. It is called neither for entries that the state already
	// contained at the start, nor for repeated commands.
	Publish func(index uint64)
	// Err means that the node cannot apply the command: it cannot read the state, or the
	// command is of a newer version. The node stops at the entry (Config.Fatal), and continues
	// there when it is started again.
	Err error
}

// Network connects the nodes.
type Network interface {
	// Listener accepts connections of other nodes. It is closed when Run ends.
	Listener() net.Listener
	// Dial connects to the node at addr. It may block until ctx ends.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// Server is a member of the cluster.
type Server struct {
	Node    id.Node
	Address string
	Voter   bool // has a vote; false means that it only receives the log
}

// Timing holds the timeouts between nodes. The zero value of a field means its default.
type Timing struct {
	// Heartbeat is the time after which a follower without contact to the leader starts an
	// election; Raft randomizes it up to twice as long. 1 s; single node 50 ms.
	Heartbeat time.Duration
	// Election is how long a candidate waits for votes; Raft randomizes it up to twice as long.
	// At least Heartbeat. 1 s; single node 50 ms.
	Election time.Duration
	// LeaderLease is how long a leader without contact to a majority stays leader. At most
	// Heartbeat. 1 s: two round trips of 400 ms, so that lost packets do not end a leadership.
	// Single node 50 ms.
	LeaderLease time.Duration
	// Commit is how long a follower of an idle leader waits to learn the commit index; Raft
	// randomizes it up to twice as long. A change sent to a follower gets its response after
	// that time. The leader sends one small message per member and interval. 20 ms; single node
	// 5 ms.
	Commit time.Duration
	// SnapshotThreshold is the number of new entries after which a snapshot is due. 8192.
	SnapshotThreshold uint64
	// TrailingLogs is the number of entries that stay in the log after a snapshot, so that a
	// node that was down for a short time needs no snapshot. 10240.
	TrailingLogs uint64
	// SnapshotInterval is how often the node checks whether a snapshot is due; Raft randomizes
	// it up to twice as long. 2 min.
	SnapshotInterval time.Duration
}

// withDefaults sets the defaults.
//
// With 1 s, a follower notices the loss of its leader after 1 to 2 s. Votes take two round
// trips, at most a second if one takes 400 ms with a retransmission. A split vote costs one
// more Election: 5 s in all. Shorter times would end leaderships on lossy links, and each costs
// an election.
func (t Timing) withDefaults(alone bool) Timing { //nolint:revive // flag-parameter: which of the two columns of defaults
	patience, commit := time.Second, 20*time.Millisecond
	if alone {
		// A single node has nobody to wait for.
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
