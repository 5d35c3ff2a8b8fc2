package audit

import (
	"crypto/sha256"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// segment is the number of records that are trimmed together. The state of the chain is stored
// at the start of each segment, so that an export of a part needs only the records of its
// segment.
const segment = 1024

// segmentStart returns the number of the first record of a record's segment.
func segmentStart(number uint64) uint64 { return (number-1)/segment*segment + 1 }

// outset is the state of a chain before a record.
type outset struct {
	first    uint64
	previous [32]byte // hash of the previous record
	tree     frontier
}

// wire encodes the outset as cluster.v1.AuditSegment. It is hand-written, so that there is only
// one encoding, with which Verify can compare.
func (o outset) wire() []byte {
	b := make([]byte, 0, (len(o.tree)+1)*(sha256.Size+2))
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, o.previous[:])
	for _, root := range o.tree {
		b = protowire.AppendTag(b, 2, protowire.BytesType)
		b = protowire.AppendBytes(b, root)
	}
	return b
}

// readSegment reads the outset of the segment that begins with a record.
func readSegment(r getter, workspace string, first uint64) (o outset, ok bool, err error) {
	value, ok, err := r.Get(store.SpaceAuditSegment, recordKey(workspace, first))
	if err != nil || !ok {
		return o, false, err
	}
	m := &clusterv1.AuditSegment{}
	if err := proto.Unmarshal(value, m); err != nil {
		return o, false, damagedSegment(err)
	}
	o = outset{first: first, tree: m.GetFrontier()}
	if len(m.GetPrevious()) != sha256.Size || !o.tree.fits(first-1) {
		return o, false, damagedSegment(nil)
	}
	o.previous = [32]byte(m.GetPrevious())
	if string(o.wire()) != string(value) {
		return o, false, damagedSegment(nil)
	}
	return o, true, nil
}

func damagedSegment(cause error) *fault.Error {
	return &fault.Error{Op: opSegment, Kind: fault.Internal, Detail: "The start of a segment of the audit log is damaged.", Err: cause}
}
