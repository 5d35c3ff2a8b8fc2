package ledger

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Tx changes the replicated state and sees its own changes. Whoever has it commits
// the changes, or drops them if there was a fault.
type Tx interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Set(space store.Space, key, value []byte)
	Delete(space store.Space, key []byte)
	Scan(r store.Range, fn func(key, value []byte) bool) error
}

// Reader reads the replicated state. It is used by one goroutine.
type Reader interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error
}

// State is an account as it stands in the state. The zero State is one that nothing
// was ever posted to.
type State struct {
	Total    money.Total // all that was ever posted
	Window   money.Total // what was posted in the window
	Epoch    uint64      // which window it is
	Resets   time.Time   // when the window ends; zero: never
	Duration string      // what the window's end was computed by, as it was written
	Leases   []Lease     // sorted by node
	Warned   bool        // the soft budget's crossing was told in this window
	Exceeded bool        // the budget's end was told in this window
	Scarce   bool        // somebody was refused although others hold leases
	Max      money.Pico  // the budget that leases were last granted by, if Bounded
	Bounded  bool
	Posted   time.Time // when something was posted last; zero: never
}

// Lease is a part of a budget that one node may spend.
type Lease struct {
	Node id.Node
	Left money.Pico
}

// Posted is what a run of events did.
type Posted struct {
	First, Last uint64 // the numbers that are newly posted; Last < First: none
	Notes       []Note
	Changed     []Changed
}

// Moved is what another change did.
type Moved struct {
	Changed []Changed
	Notes   []Note
}

// Note is something to tell of. Notes come in the order in which it happened.
type Note struct {
	// Event is a posted event, or the cause of the crossing. It is nil where a window
	// began anew.
	Event *clusterv1.UsageEvent
	// Seq is the event's number.
	Seq uint64
	// Crossing is set where this is not about the event but about what it made happen
	// at an account.
	Crossing *Crossing
}

// Crossing says that an account came to a bound, or that its window began anew.
type Crossing struct {
	Type    string
	Account id.Account
	Epoch   uint64      // of the window; of a reset, of the new one
	Window  money.Total // what was spent in the window; of a reset, in the one that ended
	Soft    money.Pico  // from there on people are warned; 0: never
	Max     money.Pico  // the budget, if there is one
	Time    time.Time   // of the entry
	Resets  time.Time   // when the window ends; zero: never
}

// Changed is an account with bounds that has changed.
type Changed struct {
	Account id.Account
	State   State
	// Own is what the newly posted events of the run's node cost that were admitted
	// here by a budget, whatever their epoch: nothing else is pending of them.
	Own money.Pico
}
