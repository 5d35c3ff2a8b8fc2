package audit

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// PutCheckpoint stores a checkpoint of a chain.
func PutCheckpoint(tx Tx, workspace string, c *clusterv1.AuditCheckpoint) *fault.Error {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(c)
	if err != nil {
		return record.Unreadable(err)
	}
	tx.Set(store.SpaceCheckpoint, CheckpointKey(workspace, c.GetSize()), value)
	return nil
}

// Records returns the records that Query finds.
func Records(ctx context.Context, r Reader, workspace string, f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		more := true
		err := Query(ctx, r, workspace, f, func(x Record) bool {
			more = yield(x, nil)
			return more
		})
		if err != nil && more {
			yield(Record{}, err)
		}
	}
}
