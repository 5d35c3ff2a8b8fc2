package ledger

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// books are the accounts that one change touches. Each is read once and written once, in the
// order of the first access.
type books struct {
	tx       Tx
	at       time.Time // of the log entry
	accounts map[id.Account]*account
	order    []*account
	notes    []Note
	key      []byte // reused, like buf
	buf      []byte
}

// account is an account that is being changed. It keeps fields that a newer version wrote.
type account struct {
	*clusterv1.Account

	name     id.Account
	resets   int64 // as in the index of window ends
	dirty    bool
	reported bool // reported to the sender of the command, even without bounds
	own      money.Pico
}

func newBooks(tx Tx, at time.Time) *books {
	return &books{tx: tx, at: at, accounts: map[id.Account]*account{}}
}

// account returns an account. A missing account is empty.
func (b *books) account(name id.Account) (*account, *fault.Error) {
	if a, ok := b.accounts[name]; ok {
		return a, nil
	}
	b.key = appendAccount(b.key[:0], name)
	value, _, err := b.tx.Get(store.SpaceAccount, b.key)
	if err != nil {
		return nil, unreadable(err)
	}
	a := &account{Account: &clusterv1.Account{}, name: name}
	if err := proto.Unmarshal(value, a.Account); err != nil {
		return nil, unreadable(err)
	}
	a.resets = a.GetResetsUnixNano()
	b.accounts[name] = a
	b.order = append(b.order, a)
	return a, nil
}

// write writes the changed accounts, and returns those that have bounds.
func (b *books) write() ([]Changed, *fault.Error) {
	var changed []Changed
	for _, a := range b.order {
		if a.dirty {
			if f := b.writeOne(a); f != nil {
				return nil, f
			}
		}
		if a.reported || a.dirty && a.bounds() {
			changed = append(changed, Changed{Account: a.name, State: stateOf(a.Account), Own: a.own})
		}
	}
	return changed, nil
}

func (b *books) writeOne(a *account) *fault.Error {
	var err error
	if b.buf, err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(b.buf[:0], a.Account); err != nil {
		return unreadable(err)
	}
	b.key = appendAccount(b.key[:0], a.name)
	b.tx.Set(store.SpaceAccount, b.key, b.buf)
	if now := a.GetResetsUnixNano(); now != a.resets {
		if a.resets != 0 {
			b.tx.Delete(store.SpaceAccountEnd, endKey(a.resets, a.name))
		}
		if now != 0 {
			b.tx.Set(store.SpaceAccountEnd, endKey(now, a.name), nil)
		}
		a.resets = now
	}
	return nil
}

// bounds reports whether a budget or a window limits the account.
func (a *account) bounds() bool {
	return a.MaxPico != nil || a.GetResetsUnixNano() != 0 || len(a.GetLeases()) > 0
}

func (a *account) total() money.Total { return totalOf(a.Account) }

func (a *account) setTotal(t money.Total) { a.TotalHigh, a.TotalPico = t.High, int64(t.Low) }

func (a *account) window() money.Total { return windowOf(a.Account) }

func (a *account) setWindow(t money.Total) { a.WindowHigh, a.WindowPico = t.High, int64(t.Low) }

// over reports whether the spend of the window has reached a limit. Clamping the spend to the
// range of Pico does not change the result, because a limit is a Pico.
func (a *account) over(limit money.Pico) bool { return a.window().Pico() >= limit }

func totalOf(r *clusterv1.Account) money.Total {
	return money.Total{High: r.GetTotalHigh(), Low: money.Pico(r.GetTotalPico())}
}

func windowOf(r *clusterv1.Account) money.Total {
	return money.Total{High: r.GetWindowHigh(), Low: money.Pico(r.GetWindowPico())}
}

// crossing describes the current state of the account.
func (b *books) crossing(a *account, typ string) *Crossing {
	return &Crossing{
		Type: typ, Account: a.name, Epoch: a.GetEpoch(),
		Window: a.window(), Max: money.Pico(a.GetMaxPico()),
		Time: b.at, Resets: record.FromNanos(a.GetResetsUnixNano()),
	}
}

// stateOf decodes a record for readers.
func stateOf(r *clusterv1.Account) State {
	s := State{
		Total: totalOf(r), Window: windowOf(r), Epoch: r.GetEpoch(),
		Resets: record.FromNanos(r.GetResetsUnixNano()), Duration: r.GetDuration(),
		Warned: r.GetWarned(), Exceeded: r.GetExceeded(), Scarce: r.GetScarce(),
		Max: money.Pico(r.GetMaxPico()), Bounded: r.MaxPico != nil,
		Posted: record.FromNanos(r.GetPostedUnixNano()),
	}
	for _, l := range r.GetLeases() {
		s.Leases = append(s.Leases, Lease{Node: id.Node(l.GetNode()), Left: money.Pico(l.GetLeftPico())})
	}
	return s
}

// readAccount decodes the record of an account.
func readAccount(key, value []byte) (id.Account, *clusterv1.Account, error) {
	name, err := parseAccount(key)
	if err != nil {
		return id.Account{}, nil, err
	}
	m := &clusterv1.Account{}
	if err := proto.Unmarshal(value, m); err != nil {
		return id.Account{}, nil, err
	}
	return name, m, nil
}
