package ledger

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Roll begins windows anew whose time is over at at, which is what the entry is stamped
// with, and sets the ends of those right that a clock has made which was ahead. Those
// of which neither is so, or not any more, are skipped.
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

// turn has an account's window be the one that holds now and ends at ends. One that is
// later than the account's begins anew. To an earlier one, when the clock went back,
// the account goes as it is, and when the later one comes again, that has begun
// before: so a clock that is wrong for a while begins no window twice, and none that is
// over stays.
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
	a.told, a.dirty = true, true
}

// roll begins the window of an account anew. What was leased in the old one is void:
// what is admitted by it and posted later belongs to the old one.
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

// SetSpends sets what accounts have spent in their windows. Their totals stay, and so
// does what is leased of their budgets.
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
			a.Warned = false // it takes a crossing from below to warn again
		}
		a.setWindow(value)
		a.dirty = true
		if a.MaxPico == nil || !a.over(money.Pico(a.GetMaxPico())) {
			a.Exceeded = false
		}
	}
	return b.moved()
}
