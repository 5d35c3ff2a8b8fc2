package ledger

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Account reads an account, and whether it exists. An account without any posted event is the
// zero State.
func Account(r Reader, name id.Account) (State, bool, error) {
	name.Owner, name.Part = clean(name.Owner), clean(name.Part)
	value, ok, err := r.Get(store.SpaceAccount, appendAccount(nil, name))
	if err != nil {
		return State{}, false, unreadable(err)
	}
	m := &clusterv1.Account{}
	if err := proto.Unmarshal(value, m); err != nil {
		return State{}, false, unreadable(err)
	}
	return stateOf(m), ok, nil
}

// EndUsers calls fn for each end user with an account, from a given one on in the order of
// id.EndUser.Compare, until fn returns false.
func EndUsers(ctx context.Context, r Reader, from id.EndUser, fn func(id.EndUser) bool) error {
	var broken error
	first := id.Account{Kind: id.AccountCustomer, Owner: clean(string(from.ID)), Part: clean(string(from.Organization))}
	span := store.Range{Space: store.SpaceAccount, Prefix: []byte{byte(id.AccountCustomer)}, From: appendAccount(nil, first)}
	err := r.Scan(ctx, span, func(key, _ []byte) bool {
		name, err := parseAccount(key)
		if err != nil {
			broken = err
			return false
		}
		return fn(id.EndUser{Organization: id.Organization(name.Part), ID: id.Customer(name.Owner)})
	})
	if err = errors.Join(err, broken); err != nil {
		return unreadable(err)
	}
	return nil
}

// Parts calls fn for each account of a kind that one owner has, ordered by the bytes of the
// part, until fn returns false.
func Parts(ctx context.Context, r Reader, kind id.AccountKind, owner string, fn func(part string, s State) bool) error {
	var broken error
	span := store.Range{Space: store.SpaceAccount, Prefix: appendAccount(nil, id.Account{Kind: kind, Owner: clean(owner)})}
	err := r.Scan(ctx, span, func(key, value []byte) bool {
		name, m, err := readAccount(key, value)
		if err != nil {
			broken = err
			return false
		}
		return fn(name.Part, stateOf(m))
	})
	if err = errors.Join(err, broken); err != nil {
		return unreadable(err)
	}
	return nil
}

// KeyAccount returns the key whose account another key has used, the last one if there were
// several: the first in its chain of regenerations. It returns the key itself if it has used no
// other account.
func KeyAccount(r Reader, key id.KeyHash) (id.KeyHash, error) {
	value, ok, err := r.Get(store.SpaceUsageIndex, appendAccountIndex(nil, key))
	switch {
	case err != nil:
		return key, unreadable(err)
	case !ok:
		return key, nil
	case len(value) != len(key):
		return key, unreadable(errKey)
	}
	return id.KeyHash(value), nil
}

// Applied reads how far an epoch of a node's journal has been posted: the number of the last
// event, 0 if there is none.
func Applied(r Reader, node id.Node, epoch uint64) (uint64, error) {
	mark, f := applied(r, string(node), epoch)
	if f != nil {
		return 0, f
	}
	return mark.GetSeq(), nil
}

// DueWindow is a window with an end.
type DueWindow struct {
	Account  id.Account
	Epoch    uint64
	Duration string
	Resets   time.Time // end of the window
}

// Running calls fn for the windows that end after a time, in the order of their ends, until fn
// returns false.
func Running(ctx context.Context, r Reader, now time.Time, fn func(DueWindow) bool) error {
	return windows(ctx, r, store.Range{From: appendMoment(nil, now.UnixNano()+1)}, fn)
}

// Due returns the windows that are over, in the order of their ends, limited to a number; 0 means all.
func Due(ctx context.Context, r Reader, now time.Time, most int) ([]DueWindow, error) {
	var out []DueWindow
	err := windows(ctx, r, store.Range{To: appendMoment(nil, now.UnixNano()+1), Limit: most}, func(w DueWindow) bool {
		out = append(out, w)
		return true
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// windows calls fn for the windows whose ends are in a range.
func windows(ctx context.Context, r Reader, ends store.Range, fn func(DueWindow) bool) error {
	ends.Space = store.SpaceAccountEnd
	moment := len(appendMoment(nil, 0))
	var broken error
	err := r.Scan(ctx, ends, func(key, _ []byte) bool {
		var name id.Account
		if name, broken = parseAccount(key[min(len(key), moment):]); broken != nil {
			return false
		}
		var s State
		if s, _, broken = Account(r, name); broken != nil {
			return false
		}
		return fn(DueWindow{Account: name, Epoch: s.Epoch, Duration: s.Duration, Resets: s.Resets})
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}
