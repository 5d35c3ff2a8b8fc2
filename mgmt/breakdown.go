package mgmt

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// Bounds of a breakdown.
const (
	// topEntries bounds the entries on a page of a breakdown, those with the highest spend
	// first. The rest is summed.
	topEntries = 100
	// fewEntries is the number of entries up to which each shows topEntries keys; with more
	// entries each shows topKeys.
	fewEntries = 10
	topKeys    = 10
	// mostRows bounds the rows of days that are summed together: a row may need an entry in
	// each breakdown during the search for the highest.
	mostRows = 100_000
	// mostFound bounds those entries.
	mostFound = 2_000_000
	// otherName is the entry with the sums of all entries that are not shown.
	otherName = "other"
)

// The breakdowns of a day.
const (
	byModel = iota
	byGroup
	byProvider
	byEndpoint
	byKey
	byEntity
	breakdowns
)

// thing is an entry of a breakdown of a day.
type thing struct {
	day  string
	by   int
	name string     // empty of byKey
	key  id.KeyHash // of byKey
}

// thingOf returns the entry of a row in a breakdown. The row's key must be the one that the
// response shows. The name of a byEndpoint entry is the call type.
func thingOf(r *ledger.DailyRow, by int) thing {
	at := thing{day: r.Day, by: by}
	switch by {
	case byModel:
		at.name = r.Model
	case byGroup:
		at.name = string(r.Group)
	case byProvider:
		at.name = r.Provider
	case byEndpoint:
		at.name = r.CallType
	case byKey:
		at.key = r.Key
	default:
		at.name = endUserName(id.EndUser{Organization: r.Organization, ID: id.Customer(r.Owner)})
	}
	return at
}

// endUserName returns an entity of a breakdown as one text: its id and, for an end user of an
// organization, a zero byte and the organization.
func endUserName(u id.EndUser) string {
	if u.Organization == "" {
		return string(u.ID)
	}
	return string(u.ID) + "\x00" + string(u.Organization)
}

// endUserOf is the reverse of endUserName.
func endUserOf(name string) id.EndUser {
	of, organization, _ := strings.Cut(name, "\x00")
	return id.EndUser{Organization: id.Organization(organization), ID: id.Customer(of)}
}

// selection has the entries to show, and the keys to show in each of them.
type selection struct {
	entries map[thing]map[id.KeyHash]struct{}
	left    map[dayPart]int // number of entries that are not shown
	most    map[dayPart]int // number of keys that an entry shows
}

// dayPart is a breakdown of a day.
type dayPart struct {
	day string
	by  int
}

// ranked is a value with its spend.
type ranked[T any] struct {
	of    T
	spend money.Total
}

// top keeps the entries with the highest spend of all that it has seen.
type top struct {
	most int // that it keeps
	seen int
	list []ranked[thing]
}

func higher(a, b ranked[thing]) int {
	return cmp.Or(b.spend.Compare(a.spend), cmp.Compare(a.of.name, b.of.name), slices.Compare(a.of.key[:], b.of.key[:]))
}

// see adds an entry. The list is cut when it is twice as long as what it keeps, so that an
// entry costs a few comparisons only.
func (t *top) see(of thing, spend money.Total) {
	t.seen++
	t.list = append(t.list, ranked[thing]{of, spend})
	if len(t.list) >= 2*t.most {
		t.cut()
	}
}

func (t *top) cut() {
	slices.SortFunc(t.list, higher)
	t.list = t.list[:min(t.most, len(t.list))]
}

// choose reads the days twice: for the entries with the highest spend, and then for the keys
// with the highest spend in those. Meanwhile it keeps one amount for each model and key. Rows
// come in the order of owners, so of owners it keeps only the highest.
func (s activityService) choose(ctx context.Context, a *activity, shown []string) (*selection, error) {
	r := rankings{tops: map[dayPart]*top{}, spends: map[thing]money.Total{}, keys: map[dayKey]money.Total{}, owned: map[string]money.Total{}}
	r.most = int(min(int64(a.breakdownPage)*topEntries, mostFound))
	err := s.rows(ctx, a, shown, func(row *ledger.DailyRow) bool {
		r.add(row)
		return len(r.spends)+len(r.keys) <= mostFound
	})
	if err != nil {
		return nil, err
	}
	if len(r.spends)+len(r.keys) > mostFound {
		return nil, tooMany()
	}
	r.end()
	out := &selection{entries: map[thing]map[id.KeyHash]struct{}{}, left: map[dayPart]int{}, most: map[dayPart]int{}}
	for part, t := range r.tops {
		t.cut()
		from := min(int(a.breakdownPage-1)*topEntries, len(t.list))
		page := t.list[from:min(from+topEntries, len(t.list))]
		for _, one := range page {
			out.entries[one.of] = map[id.KeyHash]struct{}{}
		}
		out.left[part] = t.seen - len(page)
		out.most[part] = topKeys
		if len(page) <= fewEntries {
			out.most[part] = topEntries
		}
	}
	return out, s.chooseKeys(ctx, a, shown, out)
}

// dayKey is a key on a day.
type dayKey struct {
	day string
	key id.KeyHash
}

// rankings finds the entries with the highest spend of each breakdown.
type rankings struct {
	most   int
	tops   map[dayPart]*top
	spends map[thing]money.Total // by model, group, provider and endpoint
	keys   map[dayKey]money.Total
	owner  id.EndUser             // of the present rows
	owned  map[string]money.Total // its spend by day
}

func (r *rankings) add(row *ledger.DailyRow) {
	for by := range byKey {
		at := thingOf(row, by)
		r.spends[at] = r.spends[at].Add(row.Spend)
	}
	key := dayKey{row.Day, row.Key}
	r.keys[key] = r.keys[key].Add(row.Spend)
	if owner := (id.EndUser{Organization: row.Organization, ID: id.Customer(row.Owner)}); owner != r.owner {
		r.endOwner()
		r.owner = owner
	}
	r.owned[row.Day] = r.owned[row.Day].Add(row.Spend)
}

func (r *rankings) see(of thing, spend money.Total) {
	part := dayPart{of.day, of.by}
	t := r.tops[part]
	if t == nil {
		t = &top{most: r.most}
		r.tops[part] = t
	}
	t.see(of, spend)
}

func (r *rankings) endOwner() {
	name := endUserName(r.owner)
	for day, spend := range r.owned {
		r.see(thing{day: day, by: byEntity, name: name}, spend)
	}
	clear(r.owned)
}

// end ranks the sums, and drops them.
func (r *rankings) end() {
	r.endOwner()
	for of, spend := range r.spends {
		r.see(of, spend)
	}
	for of, spend := range r.keys {
		r.see(thing{day: of.day, by: byKey, key: of.key}, spend)
	}
	r.spends, r.keys = nil, nil
}

// chooseKeys chooses the keys in the chosen entries. Entries and keys have numbers, because
// there may be a sum for each pair of them.
func (s activityService) chooseKeys(ctx context.Context, a *activity, shown []string, out *selection) error {
	var entries []thing
	var keys []id.KeyHash
	entryNumbers, keyNumbers := make(map[thing]uint32, len(out.entries)), map[id.KeyHash]uint32{}
	for at := range out.entries {
		entryNumbers[at] = uint32(len(entries))
		entries = append(entries, at)
	}
	spends := map[uint64]money.Total{} // by entry and key
	err := s.rows(ctx, a, shown, func(r *ledger.DailyRow) bool {
		for by := range breakdowns {
			entry, ok := entryNumbers[thingOf(r, by)]
			if !ok {
				continue
			}
			key, ok := keyNumbers[r.Key]
			if !ok {
				key = uint32(len(keys))
				keyNumbers[r.Key] = key
				keys = append(keys, r.Key)
			}
			cell := uint64(entry)<<32 | uint64(key)
			spends[cell] = spends[cell].Add(r.Spend)
		}
		return len(spends) <= mostFound
	})
	if err != nil {
		return err
	}
	if len(spends) > mostFound {
		return tooMany()
	}
	tops := make([][]ranked[id.KeyHash], len(entries))
	for cell, spend := range spends {
		entry := cell >> 32
		at := entries[entry]
		tops[entry] = highest(tops[entry], ranked[id.KeyHash]{keys[uint32(cell)], spend}, out.most[dayPart{at.day, at.by}])
	}
	for entry, list := range tops {
		for _, one := range list {
			out.entries[entries[entry]][one.of] = struct{}{}
		}
	}
	return nil
}

func tooMany() error {
	return fault.Field("start_date", "too_large", "One of the days has more than %d different sums. Ask for fewer keys, models or owners.", mostFound)
}

// highest inserts a value into a sorted list, and keeps the most highest ones.
func highest(list []ranked[id.KeyHash], one ranked[id.KeyHash], most int) []ranked[id.KeyHash] {
	order := func(a, b ranked[id.KeyHash]) int {
		return cmp.Or(b.spend.Compare(a.spend), slices.Compare(a.of[:], b.of[:]))
	}
	if len(list) >= most {
		if order(one, list[len(list)-1]) > 0 {
			return list
		}
		list = list[:len(list)-1]
	}
	at, _ := slices.BinarySearchFunc(list, one, order)
	return slices.Insert(list, at, one)
}

// rows calls fn for the rows of some days that count, with the key that the response shows,
// until fn returns false.
func (s activityService) rows(ctx context.Context, a *activity, shown []string, fn func(*ledger.DailyRow) bool) error {
	f := a.filter
	f.From, f.To = shown[len(shown)-1], shown[0]
	return s.ledger.Daily(ctx, f, func(r ledger.DailyRow) bool {
		if !slices.Contains(shown, r.Day) || !a.wants(&r) {
			return true
		}
		r.Key = shownOf(a.set, r.Key)
		return fn(&r)
	})
}
