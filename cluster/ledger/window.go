package ledger

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Roll begins windows anew whose time is over at the time of the entry. Those of
// which that is not so, or not any more, are skipped.
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
		over := a.GetResetsUnixNano() != 0 && now >= a.GetResetsUnixNano()
		if a.GetEpoch() != w.GetEpoch() || !over || ends != 0 && ends <= now {
			continue
		}
		a.told = true
		b.roll(a, ends)
	}
	return b.moved()
}

// roll begins the window of an account anew. What was leased in the old one is void:
// what is admitted by it and posted later belongs to the old one.
func (b *books) roll(a *account, ends int64) {
	a.Epoch++
	note := b.crossing(a, CrossingReset)
	note.Resets = record.FromNanos(ends)
	b.notes = append(b.notes, Note{Crossing: note})
	a.WindowPico, a.Leases, a.ResetsUnixNano = 0, nil, ends
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
		value := s.GetWindowPico()
		if value == a.GetWindowPico() {
			continue
		}
		if value < a.GetWindowPico() {
			a.Warned = false // it takes a crossing from below to warn again
		}
		a.WindowPico, a.dirty = value, true
		if a.MaxPico == nil || !a.over(a.GetMaxPico()) {
			a.Exceeded = false
		}
	}
	return b.moved()
}
