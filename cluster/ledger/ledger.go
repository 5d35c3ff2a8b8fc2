package ledger

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Tx changes the replicated state and reads its own writes. The caller commits the changes, or
// discards them after an error.
type Tx interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Set(space store.Space, key, value []byte)
	Delete(space store.Space, key []byte)
	Scan(r store.Range, fn func(key, value []byte) bool) error
}

// Reader reads the replicated state. It is not safe for concurrent use.
type Reader interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error
}

// State is the state of an account. The zero State is an account without any posted event.
type State struct {
	Total    money.Total // everything ever posted
	Window   money.Total // posted in the current window
	Epoch    uint64      // number of the window
	Resets   time.Time   // end of the window; zero: never
	Duration string      // duration of the window as configured
	Leases   []Lease     // sorted by node
	Warned   bool        // the soft budget was reported in this window
	Exceeded bool        // the exhausted budget was reported in this window
	Scarce   bool        // a request was rejected although other nodes hold leases
	Max      money.Pico  // the budget at the last grant, if Bounded
	Bounded  bool
	Posted   time.Time // time of the last posting; zero: never
}

// Lease is a part of a budget that one node may spend.
type Lease struct {
	Node id.Node
	Left money.Pico
}

// Posted is the result of posting a run of events.
type Posted struct {
	First, Last uint64 // the newly posted numbers; Last < First: none
	Notes       []Note
	Changed     []Changed
}

// Moved is the result of another change.
type Moved struct {
	Changed []Changed
	Notes   []Note
}

// Note is an occurrence to report. Notes are in the order of the occurrences.
type Note struct {
	// Event is a posted event, or the cause of the crossing. It is nil if a window was reset.
	Event *clusterv1.UsageEvent
	// Seq is the number of the event.
	Seq uint64
	// Crossing is set if the note reports an effect of the event on an account.
	Crossing *Crossing
}

// Crossing reports that an account has reached a limit, or that its window was reset.
type Crossing struct {
	Type    string
	Account id.Account
	Epoch   uint64      // of the window; for a reset, of the new one
	Window  money.Total // spend of the window; for a reset, of the one that ended
	Soft    money.Pico  // soft budget; 0: none
	Max     money.Pico  // the budget, if there is one
	Time    time.Time   // of the entry
	Resets  time.Time   // end of the window; zero: never
}

// Changed is an account with limits that has changed.
type Changed struct {
	Account id.Account
	State   State
	// Own is the cost of the newly posted events of the run's node that were admitted by a
	// budget of this account, in any epoch. The node no longer counts it as pending.
	Own money.Pico
}
