// Package spenders sums cost and tokens by name, for metrics. The names with the highest spend
// have their own sums, and all others share one. Its memory is bounded. It has no goroutine and
// no clock.
package spenders

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// Name identifies a spender by a text, or a key without a text by its hash. If spenders of
// different places may have the same text, the place is part of the name.
type Name struct {
	Text                     string
	Hash                     id.KeyHash // only without a Text
	Team, Organization, User string
}

// compare orders names by their texts and hashes.
func (n *Name) compare(o *Name) int {
	return cmp.Or(cmp.Compare(n.Text, o.Text), bytes.Compare(n.Hash[:], o.Hash[:]), cmp.Compare(n.Team, o.Team), cmp.Compare(n.Organization, o.Organization), cmp.Compare(n.User, o.User))
}

// Other is the text of the shared sums. A spender with this text is part of them.
const Other = "other"

// Sums is the usage of requests.
type Sums struct {
	Cost          float64 // in dollars
	Input, Output int64   // tokens
}

func (s *Sums) add(o Sums) {
	s.Cost += o.Cost
	s.Input += o.Input
	s.Output += o.Output
}

// compare orders by cost, and then by tokens: models may be free.
func (s *Sums) compare(o *Sums) int {
	return cmp.Or(cmp.Compare(s.Cost, o.Cost), cmp.Compare(s.Input+s.Output, o.Input+o.Output))
}

// Budget is the budget of a spender at its latest request; zero for none.
type Budget struct {
	Account id.Account
	Max     money.Pico
}

// Row is one name with its own sums, or Other.
type Row struct {
	Name   Name
	Sums   Sums
	Budget Budget
}

// Table has the sums. It is safe for concurrent use.
//
// The sums of a name never decrease while it has a row, and those of Other never decrease at
// all. What a name used before it got its row stays in Other, and so does what it used if it
// loses the row.
type Table struct {
	most int

	mu struct {
		sync.Mutex
		shown   map[Name]*spender // limited to the number of rows
		waiting map[Name]*spender // limited in number, like shown; candidates for a row
		other   Sums
	}
}

type spender struct {
	row   Row
	total Sums // since the name was first seen, with or without a row; decides about the row
}

// New returns a table in which up to most names have their own sums.
func New(most int) *Table {
	t := &Table{most: most}
	t.mu.shown, t.mu.waiting = make(map[Name]*spender), make(map[Name]*spender)
	return t
}

// Add adds the usage of one request of a name. It ignores a name with neither text nor hash.
func (t *Table) Add(name Name, used Sums, budget Budget) {
	if name.Text == "" && name.Hash == (id.KeyHash{}) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if name.Text == Other {
		t.mu.other.add(used)
		return
	}
	s := t.mu.shown[name]
	if s == nil && len(t.mu.shown) < t.most {
		s = &spender{row: Row{Name: name}}
		t.mu.shown[name] = s
	}
	if s != nil {
		s.row.Sums.add(used)
	} else {
		t.mu.other.add(used)
		s = t.waitingLocked(name)
	}
	s.total.add(used)
	s.row.Budget = budget
}

// waitingLocked returns the candidate of a name. If there is no room, it drops the half of the
// candidates with the lowest spend.
func (t *Table) waitingLocked(name Name) *spender {
	s := t.mu.waiting[name]
	if s != nil {
		return s
	}
	if len(t.mu.waiting) >= t.most {
		for _, last := range sorted(t.mu.waiting)[t.most/2:] {
			delete(t.mu.waiting, last.row.Name)
		}
	}
	s = &spender{row: Row{Name: name}}
	t.mu.waiting[name] = s
	return s
}

// Rows gives the rows to the names with the highest spend and returns them, followed by Other
// if it has any.
func (t *Table) Rows() []Row {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.mu.waiting) > 0 {
		t.exchangeLocked()
	}
	rows := make([]Row, 0, len(t.mu.shown)+1)
	for _, s := range t.mu.shown {
		rows = append(rows, s.row)
	}
	if t.mu.other != (Sums{}) {
		rows = append(rows, Row{Name: Name{Text: Other}, Sums: t.mu.other})
	}
	return rows
}

// exchangeLocked gives the rows of the smallest spenders to larger candidates.
func (t *Table) exchangeLocked() {
	shown, waiting := sorted(t.mu.shown), sorted(t.mu.waiting)
	for i := range min(len(shown), len(waiting)) {
		out, in := shown[len(shown)-1-i], waiting[i]
		if in.total.compare(&out.total) <= 0 {
			return
		}
		delete(t.mu.shown, out.row.Name)
		delete(t.mu.waiting, in.row.Name)
		t.mu.other.add(out.row.Sums)
		out.row.Sums = Sums{}
		t.mu.shown[in.row.Name], t.mu.waiting[out.row.Name] = in, out
	}
}

// sorted returns spenders, the largest first.
func sorted(all map[Name]*spender) []*spender {
	return slices.SortedFunc(maps.Values(all), func(a, b *spender) int {
		return cmp.Or(b.total.compare(&a.total), a.row.Name.compare(&b.row.Name))
	})
}
