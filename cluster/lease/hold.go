package lease

import (
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// inline is how many bounds a Hold has room for without a further allocation: the
// usual ones. A key with parents has one more for each of them.
const inline = 6

// Hold is what one request has reserved. Exactly one of Settle and Cancel ends it,
// the first that is called; later calls do nothing. A nil Hold reserves nothing.
type Hold struct {
	teller  *Teller
	amounts []money.Pico // those that would do, ascending
	step    int          // amount's index in amounts; guarded by the Teller's lock until the Hold is returned
	amount  money.Pico   // what is reserved, or waited for; guarded by the Teller's lock
	ended   bool         // guarded by the Teller's lock
	parts   []part
	charges []usage.Charge

	inlineParts   [inline]part
	inlineCharges [inline]usage.Charge
}

// part is what a Hold has at one account. It is guarded by the Teller's lock.
type part struct {
	account *account
	taken   bool       // nothing is missing here
	counted bool       // and it is in the account's counts, because there is a budget
	epoch   uint64     // of the counts then
	amount  money.Pico // in the account's reserved
}

// at is the amount with that index, within the bounds of what can be reserved.
func (h *Hold) at(i int) money.Pico {
	if i >= len(h.amounts) {
		return 0
	}
	return min(max(h.amounts[i], 0), maxAmount)
}

// Amount returns what the Hold reserves.
func (h *Hold) Amount() money.Pico {
	if h == nil {
		return 0
	}
	h.teller.mu.Lock()
	defer h.teller.mu.Unlock()
	return h.amount
}

// Lower releases what the Hold reserves beyond amount. A Hold that reserves less, or has
// ended, does not change. Requests that wait get what was released at once.
func (h *Hold) Lower(amount money.Pico) {
	if h == nil {
		return
	}
	t := h.teller
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if h.ended || amount >= h.amount {
		return
	}
	t.lowerLocked(h, max(amount, 0))
	t.drainLocked(now)
}

// lowerLocked releases at every account what h reserves there beyond amount.
func (t *Teller) lowerLocked(h *Hold, amount money.Pico) {
	h.amount = amount
	for i := range h.parts {
		p := &h.parts[i]
		if !p.counted || amount >= p.amount {
			continue
		}
		if p.epoch == p.account.epoch {
			p.account.reserved -= p.amount - amount
		}
		p.amount = amount
		if len(p.account.waiters) > 0 || p.account.spare() {
			t.touchLocked(p.account)
		}
	}
}

// Charges returns by which bounds the request was admitted, in the order in which
// they were given. It must not be changed and is valid until the Hold ends.
//
// No Charge has a Hold: a lease shrinks by what events cost, and what a request has
// left over is this node's again when it is settled. That is sooner than when its
// events are posted, and true of requests with several events as well.
func (h *Hold) Charges() []usage.Charge {
	if h == nil {
		return nil
	}
	return h.charges
}

// Settle ends the Hold of a request whose events are in the journal, with the Hold's
// charges and cost in sum. It may be called before or after they are posted.
func (h *Hold) Settle(cost money.Pico) { h.end(max(cost, 0)) }

// Cancel ends the Hold of a request of which no event with its charges is in the journal.
func (h *Hold) Cancel() {
	if inject.HasDefect("hold_leak") {
		return
	}
	h.end(0)
}

func (h *Hold) end(cost money.Pico) {
	if h == nil {
		return
	}
	t := h.teller
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if h.ended {
		return
	}
	h.ended = true
	for i := range h.parts {
		p := &h.parts[i]
		p.account.endLocked(p, cost)
		if len(p.account.waiters) > 0 || p.account.spare() {
			t.touchLocked(p.account)
		}
	}
	t.drainLocked(now)
}
