package usage

import (
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// Charge says by which bounds a request was admitted at one of the accounts that its
// events are posted to. The event says whose account it is; accounts without bounds
// have no Charge. The ledger goes by what stands here and not by what the nodes know
// of keys and teams, so that all of them come to the same.
type Charge struct {
	Kind    id.AccountKind
	Key     id.KeyHash // of an account of one of the key's parents: that account; zero: the event says whose it is
	Epoch   uint64     // of the account's window, at admission: late spend counts for its own window
	Hold    money.Pico // leased for this one request and free when it is posted, its cost included; 0: the lease shrinks by the cost
	Soft    money.Pico // from this spend on people are warned; 0: never
	Max     money.Pico // the most that may be spent in one window, if Bounded
	Bounded bool
}
