package extproc

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// admission is what a request has taken of its bounds. Each thing in it is given back
// once, by Pipeline.giveBack or by settle; what comes after does nothing.
//
// The charges do not change once the request is dispatched, and are read by the
// streams of its attempts; all else is the downstream stream's own.
type admission struct {
	counted bool        // parallel has counted the request
	place   rate.Ticket // what quota took on the headers: the count of requests, and a place among them
	turns   []turn      // of accounts that are throttled
	ticket  rate.Ticket
	hold    *lease.Hold    // nil if nothing was reserved
	charges []usage.Charge // what the hold's events say; nil if nothing was reserved
}

// reserved takes a reservation in. Its charges outlive it: the journal has them until
// they are on the disk.
func (a *admission) reserved(hold *lease.Hold) {
	a.hold, a.charges = hold, slices.Clone(hold.Charges())
}

// giveBack returns everything that a request has taken which is refused before it is
// dispatched: it counts nowhere.
func (p *Pipeline) giveBack(x *Exchange) {
	a := &x.admission
	p.throttle.giveBack(a.turns)
	a.turns = nil
	now := p.deps.Now()
	a.place.Cancel(now)
	a.ticket.Cancel(now)
	a.hold.Cancel()
	p.uncount(a)
	x.vacate()
}

// sum is what the events of a request's attempts come to.
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

// settle ends everything that was taken by a request that was dispatched, which counts
// as one whatever has come of it. The events that s is of have been handed to the
// journal; where there are none nobody will ever post what was reserved.
func (a *admission) settle(now time.Time, s sum) {
	a.place.Done(now, s.tokens)
	a.ticket.Done(now, s.tokens)
	if s.attempts == 0 {
		a.hold.Cancel()
		return
	}
	a.hold.Settle(s.cost)
}
