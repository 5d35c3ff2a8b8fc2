package lease

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// replaceLocked takes over what the replica says of a.
func (t *Teller) replaceLocked(a *account, s State) {
	if !a.known || s != a.state {
		a.vain, a.stuck = time.Time{}, false
	}
	a.known, a.state = true, s
	if a.met && a.epoch == s.Epoch {
		return
	}
	// Before the replica is sure to be as new as what this node has in its journal,
	// nobody knows which of its windows that belongs to: it counts in all of them.
	if a.met && t.mu.sure {
		a.late = money.Add(a.late, a.pending)
		a.pending = 0
	}
	a.lateOpen += a.open
	a.open, a.reserved, a.returning = 0, 0, 0
	a.met, a.epoch = true, s.Epoch
	a.evenLocked()
}

// takeLocked reserves for one request with a budget at a.
func (a *account) takeLocked(p *part, amount money.Pico) {
	p.counted, p.epoch, p.amount = true, a.epoch, amount
	a.open++
	a.reserved += amount
	a.drawn = money.Add(a.drawn, amount)
}

// endLocked ends what a request has at a. cost is what it came to.
func (a *account) endLocked(p *part, cost money.Pico) {
	a.holds--
	if p.counted && p.epoch == a.epoch {
		a.open--
		a.reserved -= p.amount
		a.pending = money.Add(a.pending, cost)
	} else if p.counted {
		a.lateOpen--
		a.late = money.Add(a.late, cost)
	}
	p.taken, p.counted = false, false
	a.evenLocked()
}

// postedLocked takes what was posted out of what is pending. Which windows it is of is
// not known; where there is a doubt it is of earlier ones, so that never more of the
// lease counts as usable than is.
func (a *account) postedLocked(own money.Pico) {
	late := min(own, max(a.late, 0))
	if a.lateOpen > 0 {
		late = own
	}
	a.late = money.Add(a.late, -late)
	a.pending = money.Add(a.pending, late-own)
	a.evenLocked()
}

// evenLocked corrects such doubts as far as they have cleared up: the sum of late and
// pending is always right.
func (a *account) evenLocked() {
	if a.late < 0 && a.lateOpen == 0 {
		a.pending, a.late = money.Add(a.pending, a.late), 0
	}
	if a.late > 0 && a.pending < 0 {
		both := min(a.late, -a.pending)
		a.late, a.pending = a.late-both, a.pending+both
	}
	// While requests run, events of theirs may be posted before they are settled. When none
	// runs, an amount below 0 has no cause that will clear up.
	if a.holds == 0 && a.pending < 0 {
		a.pending = 0
	}
}
