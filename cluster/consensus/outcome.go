package consensus

import (
	"encoding/binary"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// outcomeKept is the retention of outcomes, by the clock of the state. It must exceed the
	// time in which a command is retried.
	outcomeKept = 24 * time.Hour
	// outcomesPruned is the highest number of outcomes that one entry removes. It is above one,
	// so that their number falls after a busy day, and small, so that no entry takes long.
	outcomesPruned = 4
)

// readOutcome returns the outcome of an earlier command with this id; nil if there is none.
func readOutcome(tx *store.Tx, id []byte) (*result, error) {
	value, ok, err := tx.Get(store.SpaceOutcome, id)
	if err != nil || !ok {
		return nil, err
	}
	return decodeOutcome(value)
}

func decodeOutcome(value []byte) (*result, error) {
	var o clusterv1.CommandOutcome
	if err := proto.Unmarshal(value, &o); err != nil {
		return nil, damaged("state", "The replicated state in the data directory is damaged."+rejoin, err)
	}
	r := &result{index: o.GetIndex()}
	if o.GetFailed() {
		r.fault = &fault.Error{
			Kind: fault.Kind(o.GetFaultKind()), Code: o.GetFaultCode(),
			Param: o.GetFaultParam(), Detail: o.GetFaultDetail(),
		}
	}
	return r, nil
}

// writeOutcome stores the outcome of the command with this id.
func writeOutcome(tx *store.Tx, id []byte, at mark, f *fault.Error) error {
	o := &clusterv1.CommandOutcome{Index: at.index, TimeUnixNano: at.clock}
	if f != nil {
		o.Failed, o.FaultKind = true, uint32(f.Kind)
		o.FaultCode, o.FaultParam, o.FaultDetail = f.Code, f.Param, f.Detail
	}
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(o)
	if err != nil {
		return err
	}
	tx.Set(store.SpaceOutcome, id, value)
	tx.Set(store.SpaceOutcomeTime, append(timeKey(at.clock), id...), nil)
	return nil
}

// pruneOutcomes removes a few expired outcomes. It is part of the entry's effects, so it is the
// same on every node.
func pruneOutcomes(tx *store.Tx, clock int64) error {
	horizon := clock - int64(outcomeKept)
	if horizon <= 0 {
		return nil
	}
	var old [][]byte
	err := tx.Scan(store.Range{Space: store.SpaceOutcomeTime, To: timeKey(horizon), Limit: outcomesPruned}, func(key, _ []byte) bool {
		old = append(old, append([]byte(nil), key...))
		return true
	})
	if err != nil {
		return err
	}
	for _, key := range old {
		if len(key) < 8 {
			return damaged("state", "The replicated state in the data directory is damaged."+rejoin, errors.New("an outcome without a time"))
		}
		tx.Delete(store.SpaceOutcomeTime, key)
		tx.Delete(store.SpaceOutcome, key[8:])
	}
	return nil
}

// timeKey returns a key that orders by time. The clock of the state is never before 1970.
func timeKey(clock int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(clock)) }
