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
	// topEntries is how many entries a page of a breakdown has, those of the highest
	// spend first; the others are summed up.
	topEntries = 100
	// fewEntries is how many entries a breakdown may show for each of them to have
	// topEntries keys; with more entries each has topKeys.
	fewEntries = 10
	topKeys    = 10
	// mostRows bounds the rows of the days that are summed up together: a row may need
	// an entry in each breakdown while the highest are looked for.
	mostRows = 100_000
	// mostFound bounds those entries.
	mostFound = 2_000_000
	// otherName is the entry that has the sums of those that are not shown.
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

// thing is one thing of a breakdown of a day.
type thing struct {
	day  string
	by   int
	name string
}

// nameOf returns what a row counts for in a breakdown. The row's key is the one that is
// shown.
func nameOf(r *ledger.DailyRow, by int) string {
	switch by {
	case byModel:
		return r.Model
	case byGroup:
		return string(r.Group)
	case byProvider:
		return r.Provider
	case byEndpoint:
		return endpoint(r.CallType)
	case byKey:
		return string(r.Key[:])
	}
	return endUserName(id.EndUser{Organization: r.Organization, ID: id.Customer(r.Owner)})
}

// endUserName is an entity of a breakdown as one text: its id and, for an end user of an
// organization, a zero byte and the organization.
func endUserName(u id.EndUser) string {
	if u.Organization == "" {
		return string(u.ID)
	}
	return string(u.ID) + "\x00" + string(u.Organization)
}

// endUserOf is the opposite of endUserName.
func endUserOf(name string) id.EndUser {
	of, organization, _ := strings.Cut(name, "\x00")
	return id.EndUser{Organization: id.Organization(organization), ID: id.Customer(of)}
}

// selection has the entries to show, and the keys to show within each.
type selection struct {
	entries map[thing]map[id.KeyHash]struct{}
	left    map[dayPart]int // how many entries are not shown
	most    map[dayPart]int // how many keys an entry shows
}

// dayPart is a breakdown of a day.
type dayPart struct {
	day string
	by  int
}

// ranked is something with what it has spent.
type ranked[T any] struct {
	of    T
	spend money.Total
}

// choose looks through the days twice: for the entries of the highest spend, and then
// for the keys of the highest spend within those. What it keeps meanwhile is a number
// for each of them.
func (s activityService) choose(ctx context.Context, a *activity, shown []string) (*selection, error) {
	spends := map[thing]money.Total{}
	err := s.rows(ctx, a, shown, func(r *ledger.DailyRow) bool {
		for by := range breakdowns {
			at := thing{r.Day, by, nameOf(r, by)}
			spends[at] = spends[at].Add(r.Spend)
		}
		return len(spends) <= mostFound
	})
	if err != nil {
		return nil, err
	}
	if len(spends) > mostFound {
		return nil, tooMany()
	}
	parts := map[dayPart][]ranked[string]{}
	for at, spend := range spends {
		part := dayPart{at.day, at.by}
		parts[part] = append(parts[part], ranked[string]{at.name, spend})
	}
	clear(spends)
	out := &selection{entries: map[thing]map[id.KeyHash]struct{}{}, left: map[dayPart]int{}, most: map[dayPart]int{}}
	for part, all := range parts {
		slices.SortFunc(all, func(a, b ranked[string]) int {
			return cmp.Or(b.spend.Compare(a.spend), cmp.Compare(a.of, b.of))
		})
		from := min(int(a.breakdownPage-1)*topEntries, len(all))
		page := all[from:min(from+topEntries, len(all))]
		for _, one := range page {
			out.entries[thing{part.day, part.by, one.of}] = map[id.KeyHash]struct{}{}
		}
		out.left[part] = len(all) - len(page)
		out.most[part] = topKeys
		if len(page) <= fewEntries {
			out.most[part] = topEntries
		}
	}
	clear(parts)
	return out, s.chooseKeys(ctx, a, shown, out)
}

// chooseKeys chooses the keys within the entries that are chosen.
func (s activityService) chooseKeys(ctx context.Context, a *activity, shown []string, out *selection) error {
	spends := map[thing]map[id.KeyHash]money.Total{}
	cells := 0
	err := s.rows(ctx, a, shown, func(r *ledger.DailyRow) bool {
		for by := range breakdowns {
			at := thing{r.Day, by, nameOf(r, by)}
			if _, ok := out.entries[at]; !ok {
				continue
			}
			of := spends[at]
			if of == nil {
				of = map[id.KeyHash]money.Total{}
				spends[at] = of
			}
			before := len(of)
			of[r.Key] = of[r.Key].Add(r.Spend)
			cells += len(of) - before
		}
		return cells <= mostFound
	})
	if err != nil {
		return err
	}
	if cells > mostFound {
		return tooMany()
	}
	for at, of := range spends {
		var top []ranked[id.KeyHash]
		for key, spend := range of {
			top = highest(top, ranked[id.KeyHash]{key, spend}, out.most[dayPart{at.day, at.by}])
		}
		for _, one := range top {
			out.entries[at][one.of] = struct{}{}
		}
		delete(spends, at)
	}
	return nil
}

func tooMany() error {
	return fault.Field("start_date", "too_large", "One of the days has more than %d different sums. Ask for fewer keys, models or owners.", mostFound)
}

// highest inserts one into a list that is in order, and keeps the most highest.
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

// rows calls fn for the rows of some days that count, with the key that is shown, until
// it returns false.
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
