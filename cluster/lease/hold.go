package lease

import (
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// inline is the number of bounds that a Hold stores without a further allocation: the usual
// ones. A key with parents has one more per parent.
const inline = 6

// Hold is the reservation of one request. The first call of Settle or Cancel ends it; later
// calls do nothing. A nil Hold reserves nothing.
type Hold struct {
	manager *Manager
	amounts []money.Pico // acceptable amounts, ascending
	step    int          // index of amount in amounts; guarded by the Manager's lock until Reserve returns
	amount  money.Pico   // reserved, or waited for; guarded by the Manager's lock
	ended   bool         // guarded by the Manager's lock
	parts   []part
	charges []usage.Charge

	inlineParts   [inline]part
	inlineCharges [inline]usage.Charge
}

// part is the share of a Hold at one account. The Manager's lock guards it.
type part struct {
	account *account
	taken   bool       // reserved, or nothing to reserve
	counted bool       // included in the account's counts, because there is a budget
	epoch   uint64     // of the counts at that time
	amount  money.Pico // included in the account's reserved
}

// at returns the amount at an index, clamped to the range of reservations.
func (h *Hold) at(i int) money.Pico {
	if i >= len(h.amounts) {
		return 0
	}
	return min(max(h.amounts[i], 0), maxAmount)
}

// Amount returns the reserved amount.
func (h *Hold) Amount() money.Pico {
	if h == nil {
		return 0
	}
	h.manager.mu.Lock()
	defer h.manager.mu.Unlock()
	return h.amount
}

// Lower releases the reservation beyond amount. It does not change a Hold that reserves less or
// has ended. Waiting requests get the released amount at once.
func (h *Hold) Lower(amount money.Pico) {
	if h == nil {
		return
	}
	t := h.manager
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if h.ended || amount >= h.amount {
		return
	}
	t.lowerLocked(h, max(amount, 0))
	t.drainLocked(now)
}

// lowerLocked releases the reservation of h beyond amount at every account.
func (t *Manager) lowerLocked(h *Hold, amount money.Pico) {
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

// Charges returns the bounds by which the request was admitted, in their original order. The
// caller must not change the slice, which is valid until the Hold ends.
//
// No Charge has a Hold: events reduce the lease by their cost, and the rest of the reservation
// is usable again when the request is settled. That is before the events are posted, and also
// holds for requests with several events.
func (h *Hold) Charges() []usage.Charge {
	if h == nil {
		return nil
	}
	return h.charges
}

// Settle ends the Hold of a request whose events are in the journal, with the Hold's charges
// and the total cost. It may be called before or after they are posted.
func (h *Hold) Settle(cost money.Pico) { h.end(max(cost, 0)) }

// Cancel ends the Hold of a request without such events in the journal.
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
	t := h.manager
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
