package pipeline

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

// admission holds a request's reservations. Pipeline.release or settle ends each of them
// once; later calls do nothing.
//
// The charges do not change after dispatch, and the streams of the attempts read them. Only
// the downstream stream uses the other fields.
type admission struct {
	counted bool             // parallel has counted the request
	head    rate.Ticket      // from quota: the count of requests and a place among the parallel ones
	shares  []throttle.Share // of throttled accounts
	ticket  rate.Ticket      // from admit: the other limits
	hold    *lease.Hold      // nil if nothing was reserved
	charges []usage.Charge   // what the hold's events say; nil if nothing was reserved
}

// reserved stores a reservation. Its charges outlive it: the journal keeps them until
// they are on disk.
func (a *admission) reserved(hold *lease.Hold) {
	a.hold, a.charges = hold, slices.Clone(hold.Charges())
}

// release releases every reservation of a request that is rejected before it is
// dispatched. Such a request counts nowhere.
func (p *Pipeline) release(x *Exchange) {
	a := &x.admission
	p.throttle.Undo(a.shares)
	a.shares = nil
	now := p.deps.Now()
	a.head.Cancel(now)
	a.ticket.Cancel(now)
	a.hold.Cancel()
	p.uncount(a)
	x.releaseSlot()
}

// sum totals the events of a request's attempts.
type sum struct {
	cost     money.Pico
	tokens   int64
	attempts int
}

func sumOf(events []journal.Event) sum {
	s := sum{attempts: len(events)}
	for i := range events {
		s.cost = money.Add(s.cost, events[i].Cost)
		s.tokens += events[i].Tokens.Input + events[i].Tokens.Output
	}
	return s
}

// settle ends the reservations of a dispatched request, which counts as a request whatever
// its outcome. The journal has the events that s totals. Without events nothing posts the
// reservation, so it is canceled.
func (a *admission) settle(now time.Time, s sum) {
	a.head.Done(now, s.tokens)
	a.ticket.Done(now, s.tokens)
	if s.attempts == 0 {
		a.hold.Cancel()
		return
	}
	a.hold.Settle(s.cost)
}
