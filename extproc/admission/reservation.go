package admission

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/throttle"
)

// Reservation is what one request has reserved. Release or Settle ends it once; later calls do
// nothing.
//
// The charges do not change after Reserve, and the attempts of a request may read them from other
// goroutines. Only one goroutine uses the other fields.
type Reservation struct {
	counted bool             // Enter has counted the request
	head    rate.Ticket      // from Check: the count of requests and a place among the parallel ones
	shares  []throttle.Share // of throttled accounts
	ticket  rate.Ticket      // from TakeRates: the other limits
	hold    *lease.Hold      // from Reserve; nil if nothing was reserved
	charges []usage.Charge   // what the hold's events say; nil if nothing was reserved
}

// reserved stores a reservation. Its charges outlive it: the journal keeps them until
// they are on disk.
func (r *Reservation) reserved(hold *lease.Hold) {
	r.hold, r.charges = hold, slices.Clone(hold.Charges())
}

// Charges returns what the events of the request's attempts say of its accounts. They must not be changed.
func (r *Reservation) Charges() []usage.Charge { return r.charges }

// Lower releases what is reserved beyond an amount.
func (r *Reservation) Lower(to money.Pico) { r.hold.Lower(to) }

// Release releases every reservation of a request that is rejected before it is
// dispatched. Such a request counts nowhere.
func (c *Controller) Release(r *Reservation, now time.Time) {
	c.throttle.Undo(r.shares)
	r.shares = nil
	r.head.Cancel(now)
	r.ticket.Cancel(now)
	r.hold.Cancel()
	c.uncount(r)
}

// Used is what the attempts of a request have used.
type Used struct {
	Cost     money.Pico
	Tokens   int64
	Attempts int
}

// Sum totals the events of a request's attempts.
func Sum(events []journal.Event) Used {
	u := Used{Attempts: len(events)}
	for i := range events {
		u.Cost = money.Add(u.Cost, events[i].Cost)
		u.Tokens += events[i].Tokens.Input + events[i].Tokens.Output
	}
	return u
}

// Settle ends the reservations of a request that has been answered or dispatched, which counts as a
// request whatever its outcome. The journal has the events that used totals. Without events nothing
// posts the reservation, so it is canceled.
func (c *Controller) Settle(r *Reservation, now time.Time, used Used) {
	r.shares = nil // they have been used
	r.head.Done(now, used.Tokens)
	r.ticket.Done(now, used.Tokens)
	if used.Attempts == 0 {
		r.hold.Cancel()
	} else {
		r.hold.Settle(used.Cost)
	}
	c.uncount(r)
}
