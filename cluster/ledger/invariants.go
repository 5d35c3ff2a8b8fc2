package ledger

import (
	"bytes"
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Invariants checks the consistency of the books, and returns nil if:
//
//  1. The spend of all keys and the debt to all providers sum to 0.
//  2. The spend of each key, team, organization and user equals the sum of its spend per
//     model, and the sum of its daily rows.
//  3. The spend of all keys equals the sum of the rows of the totals.
//  4. Leases are above 0, one for each node, sorted.
//  5. The index of window ends has the end of each account's window, and nothing else.
//  6. The index of the log of usage records has each record, and nothing else. So have the
//     indexes of the records of older versions.
//
// It reads the whole state. It is for tests and for the inspection of a copy.
func Invariants(ctx context.Context, r Reader) error {
	all := func(space store.Space, fn func(key, value []byte) bool) error {
		return r.Scan(ctx, store.Range{Space: space}, fn)
	}
	c := check{ctx: ctx, from: r, all: all, totals: map[id.Account]money.Total{}, models: map[id.Account]money.Total{}, rows: map[id.Account]money.Total{}, ends: map[string]bool{}}
	for _, step := range []func() error{c.accounts, c.order, c.daily, c.sums, c.records, c.older} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// check adds up the books. It must not saturate, because a saturated sum would match anything.
type check struct {
	ctx    context.Context //nolint:containedctx // lives as long as one check
	from   Reader
	all    func(space store.Space, fn func(key, value []byte) bool) error
	totals map[id.Account]money.Total
	models map[id.Account]money.Total // by parent account
	rows   map[id.Account]money.Total
	ends   map[string]bool
}

func disagree(format string, args ...any) error {
	return &fault.Error{Op: "ledger.invariants", Kind: fault.Internal, Detail: "The books do not agree: " + fmt.Sprintf(format, args...)}
}

// each calls fn for all records of a space until fn fails.
func (c *check) each(space store.Space, fn func(key, value []byte) error) error {
	var broken error
	err := c.all(space, func(key, value []byte) bool {
		broken = fn(key, value)
		return broken == nil
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

func add(to map[id.Account]money.Total, name id.Account, n money.Total) {
	to[name] = to[name].Add(n)
}

func (c *check) accounts() error {
	return c.each(store.SpaceAccount, func(key, value []byte) error {
		name, a, err := readAccount(key, value)
		if err != nil {
			return err
		}
		add(c.totals, name, totalOf(a))
		if of := modelsOf(name.Kind); of != 0 {
			add(c.models, id.Account{Kind: of, Owner: name.Owner}, totalOf(a))
		}
		for i, l := range a.GetLeases() {
			if l.GetLeftPico() <= 0 || i > 0 && a.GetLeases()[i-1].GetNode() >= l.GetNode() {
				return disagree("a lease of %s %q is %s or not in its place.", name.Kind, name.Owner, money.Pico(l.GetLeftPico()))
			}
		}
		if a.GetResetsUnixNano() != 0 {
			c.ends[string(endKey(a.GetResetsUnixNano(), name))] = true
		}
		return nil
	})
}

// modelsOf returns the kind of the accounts per model of a kind; 0 if there are none.
func modelsOf(kind id.AccountKind) id.AccountKind {
	switch kind { //nolint:exhaustive // the others have no accounts per model
	case id.AccountKeyModel:
		return id.AccountKey
	case id.AccountTeamModel:
		return id.AccountTeam
	case id.AccountUserModel:
		return id.AccountUser
	case id.AccountOrganizationModel:
		return id.AccountOrganization
	}
	return 0
}

func (c *check) order() error {
	found := 0
	err := c.each(store.SpaceAccountEnd, func(key, _ []byte) error {
		found++
		if !c.ends[string(key)] {
			return disagree("the order of ends has a window that no account has.")
		}
		return nil
	})
	if err == nil && found != len(c.ends) {
		err = disagree("the order of ends has %d windows, and %d accounts have one.", found, len(c.ends))
	}
	return err
}

func (c *check) daily() error {
	return c.each(store.SpaceDaily, func(key, value []byte) error {
		of, _, err := parseDaily(key)
		if err != nil {
			return err
		}
		m := &clusterv1.DailyRow{}
		if err := proto.Unmarshal(value, m); err != nil {
			return err
		}
		add(c.rows, of, spendOf(m.GetCounts()))
		return nil
	})
}

func (c *check) sums() error {
	var books, keys money.Total
	for name, total := range c.totals {
		switch name.Kind { //nolint:exhaustive // the others are sums of the same events
		case id.AccountProvider:
			books = books.Add(total)
		case id.AccountKey:
			books = books.Add(total)
			keys = keys.Add(total)
		}
		if err := c.parts(name, total); err != nil {
			return err
		}
	}
	if books != (money.Total{}) {
		return disagree("keys and providers sum up to %s USD instead of 0.", books)
	}
	if rows := c.rows[id.Account{Kind: kindTotals}]; rows != keys {
		return disagree("the rows of everything sum up to %s USD, and the keys to %s.", rows, keys)
	}
	return nil
}

// parts compares an account with its models and its rows. A value that was only set has none.
func (c *check) parts(name id.Account, total money.Total) error {
	switch name.Kind { //nolint:exhaustive // the others have no accounts per model
	case id.AccountKey, id.AccountTeam, id.AccountUser, id.AccountOrganization:
		if n := c.models[name]; n != total {
			return disagree("%s %q has spent %s USD, and %s on models.", name.Kind, name.Owner, total, n)
		}
	case id.AccountCustomer:
	default:
		return nil
	}
	if n := c.rows[name]; n != total {
		return disagree("%s %q has spent %s USD, and its rows say %s.", name.Kind, name.Owner, total, n)
	}
	return nil
}

// records compares the log of usage records with its index.
func (c *check) records() error {
	index, err := rowLog().NewCheck(c.ctx, c.from)
	if err != nil {
		return unreadable(err)
	}
	wrong := func(at uint64, problem string, err error) error {
		if err == nil && problem != "" {
			err = disagree("the usage records from %d on: %s.", at, problem)
		}
		return err
	}
	var bad error
	err = rowLog().Range(c.ctx, c.from, 0, block.All, func(x block.Record) bool {
		m := &clusterv1.UsageRecord{}
		if bad = proto.Unmarshal(x.Value, m); bad != nil {
			return false
		}
		e := rowEntry(x.Number, m.GetEvent(), nil)
		bad = wrong(index.Add(x.Number, e.Time, e.Terms))
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	if err == nil {
		err = wrong(index.End())
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// older compares the usage records of older versions with their indexes. It looks each record up, so equal counts
// mean that the index contains nothing else.
func (c *check) older() error {
	records, indexed := 0, 0
	err := c.each(store.SpaceUsage, func(key, value []byte) error {
		m := &clusterv1.UsageRecord{}
		if err := proto.Unmarshal(value, m); err != nil {
			return err
		}
		records++
		for _, at := range [][]byte{appendKeyIndex(nil, keyAccount(m.GetEvent())), appendRequestIndex(nil, m.GetEvent().GetRequest())} {
			_, ok, err := c.from.Get(store.SpaceUsageIndex, append(at, key...))
			if err != nil {
				return err
			}
			if !ok {
				return disagree("event %d of node %s is not in the index.", m.GetSeq(), m.GetNode())
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.each(store.SpaceUsageIndex, func(key, _ []byte) error {
		if !bytes.HasPrefix(key, []byte{indexAccount}) {
			indexed++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if indexed != 2*records {
		return disagree("the index has %d places of %d usage records, each of which has two.", indexed, records)
	}
	return nil
}
