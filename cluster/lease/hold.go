package lease

import (
	"github.com/modelgateway/modelgateway/cluster/defect"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// inline is how many bounds a Hold has room for without a further allocation: the
// usual ones. There is one for each kind of account at most.
const inline = 6

// Hold is what one request has reserved. Exactly one of Settle and Cancel ends it,
// the first that is called; later calls do nothing. A nil Hold reserves nothing.
type Hold struct {
	teller  *Teller
	amount  money.Pico
	ended   bool // guarded by the Teller's lock
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
	if defect.Is("hold_leak") {
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
