package lease

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// replaceLocked applies the replica's state of a.
func (t *Manager) replaceLocked(a *account, s State) {
	if !a.known || s != a.state {
		a.futile, a.stuck = time.Time{}, false
	}
	a.known, a.state = true, s
	if a.met && a.epoch == s.Epoch {
		return
	}
	// Until the replica is known to contain what this node has in its journal, it is unknown to
	// which window the amounts belong: they count in all of them.
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

// endLocked ends the reservation of a request at a, with its actual cost.
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

// postedLocked subtracts a posted amount from the pending ones. Its window is unknown. In doubt
// it counts for an earlier window, so that the usable amount is never too high.
func (a *account) postedLocked(own money.Pico) {
	late := min(own, max(a.late, 0))
	if a.lateOpen > 0 {
		late = own
	}
	a.late = money.Add(a.late, -late)
	a.pending = money.Add(a.pending, late-own)
	a.evenLocked()
}

// evenLocked corrects such assignments as far as they are known by now. The sum of late and
// pending is always exact.
func (a *account) evenLocked() {
	if a.late < 0 && a.lateOpen == 0 {
		a.pending, a.late = money.Add(a.pending, a.late), 0
	}
	if a.late > 0 && a.pending < 0 {
		both := min(a.late, -a.pending)
		a.late, a.pending = a.late-both, a.pending+both
	}
	// While requests are in flight, their events may be posted before they are settled. When
	// none are, nothing will correct an amount below 0.
	if a.holds == 0 && a.pending < 0 {
		a.pending = 0
	}
}
