package event

import (
	"maps"
	"slices"
)

// Log collects the events of one transaction and the amounts that it changes. The zero Log is
// empty. It is not safe for concurrent use.
type Log struct {
	Request Request // the request that makes the change

	events  []Event
	amounts map[string][]Amount // by the record
}

// Record adds an event.
func (l *Log) Record(e Event) { l.events = append(l.events, e) }

// Empty reports whether no event was recorded.
func (l *Log) Empty() bool { return len(l.events) == 0 }

// Amounts sets the amounts that change in a record. They replace earlier ones of that record.
func (l *Log) Amounts(record string, changed []Amount) {
	if len(changed) == 0 {
		delete(l.amounts, record)
		return
	}
	if l.amounts == nil {
		l.amounts = map[string][]Amount{}
	}
	l.amounts[record] = changed
}

// Each calls fn once for each event, with its details. Amounts belong to the event of the same
// resource, or else to the last event if that is of TypeManagement.
func (l *Log) Each(fn func(e Event, details string)) {
	amounts := l.changed()
	events := slices.Clone(l.events)
	slices.SortStableFunc(events, compare)
	for _, e := range slices.CompactFunc(events, same) { // a cascade may reach a resource in two ways
		var own []Amount
		belongs := func(a Amount) bool {
			return e.Type == TypeManagement || a.Resource == e.Resource && a.ID == e.IDs[0]
		}
		for _, a := range amounts {
			if belongs(a) {
				own = append(own, a)
			}
		}
		amounts = slices.DeleteFunc(amounts, belongs)
		if e.Replaces != "" || e.amounts != nil { // the record of a new key has no previous amounts
			own = e.amounts
		}
		fn(e, e.details(l.Request, own))
	}
}

// changed returns the amounts, by kind of resource and then by record.
func (l *Log) changed() []Amount {
	kinds := []string{
		ResourceKey, ResourceUser, ResourceOrganization, ResourceTeam, ResourceCustomer, ResourceBudget,
		ResourceOrganizationMember, ResourceTeamMember,
	}
	var out []Amount
	for _, record := range slices.Sorted(maps.Keys(l.amounts)) {
		out = append(out, l.amounts[record]...)
	}
	slices.SortStableFunc(out, func(a, b Amount) int { return slices.Index(kinds, a.Resource) - slices.Index(kinds, b.Resource) })
	return out
}
