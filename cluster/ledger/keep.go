package ledger

import (
	"bytes"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// The field numbers of cluster.v1.UsageRecord.
const (
	fieldNode  protowire.Number = 1
	fieldEpoch protowire.Number = 2
	fieldSeq   protowire.Number = 3
	fieldEvent protowire.Number = 4
)

// keep writes the record of an attempt. It stores the event as received, with fields that only
// a newer version knows.
func (p *posting) keep(e *clusterv1.UsageEvent, text []byte) {
	out := protowire.AppendTag(p.text[:0], fieldNode, protowire.BytesType)
	out = protowire.AppendString(out, p.node)
	if p.epoch != 0 {
		out = protowire.AppendTag(out, fieldEpoch, protowire.VarintType)
		out = protowire.AppendVarint(out, p.epoch)
	}
	out = protowire.AppendTag(out, fieldSeq, protowire.VarintType)
	out = protowire.AppendVarint(out, p.seq)
	out = protowire.AppendTag(out, fieldEvent, protowire.BytesType)
	p.text = protowire.AppendBytes(out, text)
	p.place = appendUsage(p.place[:0], endOf(e), p.node, p.epoch, p.seq)
	p.tx.Set(store.SpaceUsage, p.place, p.text)
	account := keyAccount(e)
	p.index = append(appendKeyIndex(p.index[:0], account), p.place...)
	p.tx.Set(store.SpaceUsageIndex, p.index, nil)
	if hash := hashOf(e); hash != account {
		p.index = appendAccountIndex(p.index[:0], hash)
		p.tx.Set(store.SpaceUsageIndex, p.index, account[:])
	}
	p.index = append(appendRequestIndex(p.index[:0], e.GetRequest()), p.place...)
	p.tx.Set(store.SpaceUsageIndex, p.index, nil)
}

// TrimUsage deletes up to most usage records that ended before a time, the oldest first, and
// returns the number deleted. Accounts and daily rows stay. The index of the account that a key
// has used stays, too.
func TrimUsage(tx Tx, before time.Time, most int) (int, *fault.Error) {
	if most <= 0 {
		return 0, nil
	}
	type old struct {
		place []byte
		event *clusterv1.UsageEvent
	}
	var found []old
	var broken error
	end := appendMoment(nil, before.UnixNano())
	err := tx.Scan(store.Range{Space: store.SpaceUsage, To: end, Limit: most}, func(key, value []byte) bool {
		m := &clusterv1.UsageRecord{}
		if broken = proto.Unmarshal(value, m); broken != nil {
			return false
		}
		found = append(found, old{bytes.Clone(key), m.GetEvent()})
		return true
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return 0, unreadable(err)
	}
	for _, o := range found {
		tx.Delete(store.SpaceUsage, o.place)
		tx.Delete(store.SpaceUsageIndex, append(appendKeyIndex(nil, keyAccount(o.event)), o.place...))
		tx.Delete(store.SpaceUsageIndex, append(appendRequestIndex(nil, o.event.GetRequest()), o.place...))
	}
	return len(found), nil
}
