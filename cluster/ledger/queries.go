package ledger

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Account reads an account, and whether it is there. One that nothing was ever posted
// to is the zero State.
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

// Applied reads how far an epoch of a node's journal has been posted: the number of
// the last event, 0 if there was none.
func Applied(r Reader, node id.Node, epoch uint64) (uint64, error) {
	mark, f := applied(r, string(node), epoch)
	if f != nil {
		return 0, f
	}
	return mark.GetSeq(), nil
}

// DueWindow is a window whose time is over.
type DueWindow struct {
	Account  id.Account
	Epoch    uint64
	Duration string
}

// Due returns windows whose time is over, those that ended first before the others,
// and at most so many; 0 means all.
func Due(ctx context.Context, r Reader, now time.Time, most int) ([]DueWindow, error) {
	var out []DueWindow
	var broken error
	end := appendMoment(nil, now.UnixNano()+1)
	err := r.Scan(ctx, store.Range{Space: store.SpaceAccountEnd, To: end, Limit: most}, func(key, _ []byte) bool {
		var name id.Account
		if name, broken = parseAccount(key[min(len(key), len(end)):]); broken != nil {
			return false
		}
		var s State
		if s, _, broken = Account(r, name); broken != nil {
			return false
		}
		out = append(out, DueWindow{Account: name, Epoch: s.Epoch, Duration: s.Duration})
		return true
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return out, nil
}
