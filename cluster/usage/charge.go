package usage

import (
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// Charge is the limit by which a request was admitted at one of the accounts of its events. The
// event contains the account; an account without limits has no Charge. The ledger uses the
// Charge and not the nodes' knowledge of keys and teams, so that all nodes reach the same
// state.
type Charge struct {
	Kind    id.AccountKind
	Key     id.KeyHash // for the account of a parent of the key: that parent; zero: as in the event
	Epoch   uint64     // of the account's window, at admission: late spend counts in its own window
	Hold    money.Pico // leased for this request only and free when it is posted, including its cost; 0: the cost reduces the lease
	Soft    money.Pico // soft budget; 0: none
	Max     money.Pico // highest spend in one window, if Bounded
	Bounded bool
}
