package keys

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// ToRecord returns a key as the state keeps it, without its stamp, which is made
// when the command is applied. The error is a *fault.Error for text that no
// record can hold.
func ToRecord(k Key) (*clusterv1.VirtualKey, error) {
	r := &clusterv1.VirtualKey{
		Hash: k.Hash[:], Name: k.Name, Alias: k.Alias, Models: k.Models,
		ExpiresUnixNano: nanos(k.Expires), Blocked: k.Blocked, MetadataJson: k.Metadata,
	}
	if _, err := marshal(r); err != nil { // only for text that is not UTF-8
		return nil, &fault.Error{Op: "keys", Kind: fault.Malformed, Code: "invalid_value", Detail: "The key's alias, models or metadata hold text that is not UTF-8.", Err: err}
	}
	return r, nil
}

// FromRecord is the reverse of ToRecord and reads the stamp as well.
func FromRecord(r *clusterv1.VirtualKey) (Key, error) {
	hash, ok := hashOf(r.GetHash())
	if !ok {
		return Key{}, &fault.Error{Op: "keys", Kind: fault.Internal, Detail: "The record of a key has no whole hash."}
	}
	return Key{
		Alias: r.GetAlias(), Hash: hash, Name: r.GetName(), Models: r.GetModels(),
		Expires: fromNanos(r.GetExpiresUnixNano()), Blocked: r.GetBlocked(), Metadata: r.GetMetadataJson(),
		CreatedAt: fromNanos(r.GetStamp().GetCreatedUnixNano()),
		CreatedBy: r.GetStamp().GetCreatedBy(),
		UpdatedAt: fromNanos(r.GetStamp().GetUpdatedUnixNano()),
		Revision:  r.GetStamp().GetRevision(),
	}, nil
}

// hashOf reads the bytes of a hash.
func hashOf(b []byte) (h id.KeyHash, ok bool) {
	return h, copy(h[:], b) == len(h) && len(b) == len(h)
}

// marshal makes the bytes of a record, the same on every node: no record holds a
// map, whose order would differ.
func marshal(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// nanos is a time as records hold it; the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
