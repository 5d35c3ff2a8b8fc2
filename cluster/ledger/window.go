package ledger

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Roll resets the windows that are over at at, the stamp of the entry. It also corrects window
// ends that were computed with a fast clock. It skips windows that need neither, or no longer
// do.
func Roll(tx Tx, r *clusterv1.RollWindows, at time.Time) (Moved, *fault.Error) {
	b := newBooks(tx, at)
	now := at.UnixNano()
	for _, w := range r.GetWindows() {
		name, f := accountOf(w.GetAccount())
		if f != nil {
			return Moved{}, f
		}
		a, f := b.account(name)
		if f != nil {
			return Moved{}, f
		}
		ends := w.GetResetsUnixNano()
		if a.GetEpoch() != w.GetEpoch() || a.GetResetsUnixNano() == 0 || ends != 0 && ends <= now {
			continue
		}
		b.turn(a, ends)
	}
	return b.moved()
}

// turn gives an account the window that contains now and ends at ends. A window later than the
// current one starts with a reset. If the clock went back and the window is earlier, the
// account keeps its spend. When the later window comes again, it does not reset a second time.
// So a temporarily wrong clock resets no window twice, and no expired window stays.
func (b *books) turn(a *account, ends int64) {
	now, before := b.at.UnixNano(), a.GetResetsUnixNano()
	switch {
	case now < before && (ends == 0 || ends >= before):
		return
	case now < before:
		a.AheadUnixNano, a.ResetsUnixNano = before, ends
	case now < a.GetAheadUnixNano() && a.GetAheadUnixNano() <= ends:
		a.AheadUnixNano, a.ResetsUnixNano = 0, a.GetAheadUnixNano()
	default:
		if ends == 0 || ends > a.GetAheadUnixNano() {
			a.AheadUnixNano = 0
		}
		b.roll(a, ends)
	}
	a.reported, a.dirty = true, true
}

// roll resets the window of an account. Leases of the old window are void: events that were
// admitted by them and are posted later belong to the old window.
func (b *books) roll(a *account, ends int64) {
	a.Epoch++
	note := b.crossing(a, event.TypeBudgetReset)
	note.Resets = record.FromNanos(ends)
	b.notes = append(b.notes, Note{Crossing: note})
	a.setWindow(money.Total{})
	a.Leases, a.ResetsUnixNano = nil, ends
	a.Warned, a.Exceeded, a.Scarce = false, false, false
	a.dirty = true
}

// SetSpends sets the spend of accounts in their windows. Their totals and the leases of their
// budgets stay.
func SetSpends(tx Tx, sets []*clusterv1.SetSpend, at time.Time) (Moved, *fault.Error) {
	b := newBooks(tx, at)
	for _, s := range sets {
		if s.GetWindowPico() < 0 {
			return Moved{}, fault.Field("spend", "invalid_value", "spend is less than 0; give what was spent, or 0.")
		}
		a, f := b.named(s.GetAccount())
		if f != nil {
			return Moved{}, f
		}
		value := money.Pico(s.GetWindowPico()).Total()
		if value == a.window() {
			continue
		}
		if value.Compare(a.window()) < 0 {
			a.Warned = false // warn again only after the next crossing from below
		}
		a.setWindow(value)
		a.dirty = true
		if a.MaxPico == nil || !a.over(money.Pico(a.GetMaxPico())) {
			a.Exceeded = false
		}
	}
	return b.moved()
}
