package record

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// The transaction versions that this package understands.
const (
	firstVersion = 1
	// LastVersion is the highest. A node must stop at a transaction with a higher version.
	LastVersion = 10
)

// versionOf returns the version of a transaction that writes this record: the highest "since"
// option of the fields that are set.
func versionOf(r protoreflect.Message) uint32 {
	version := uint32(firstVersion)
	r.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if since, ok := proto.GetExtension(f.Options(), clusterv1.E_Since).(uint32); ok {
			version = max(version, since)
		}
		switch {
		case f.Message() == nil: // a scalar; a map field has a message descriptor
		case f.IsList():
			for i := range v.List().Len() {
				version = max(version, versionOf(v.List().Get(i).Message()))
			}
		case f.IsMap():
			if f.MapValue().Message() == nil {
				break
			}
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				version = max(version, versionOf(v.Message()))
				return true
			})
		default:
			version = max(version, versionOf(v.Message()))
		}
		return true
	})
	return version
}

// Command returns the transaction as a log command. It fails as Message does.
func (t *Txn) Command() (*clusterv1.Command, error) {
	m, err := t.Message()
	if err != nil {
		return nil, err
	}
	cmd := &clusterv1.Command{Actor: t.actor}
	if t.version > firstVersion {
		cmd.Change = &clusterv1.Command_VersionedTransaction{VersionedTransaction: &clusterv1.VersionedTransaction{Version: t.version, Transaction: m}}
		return cmd, nil
	}
	cmd.Change = &clusterv1.Command_Transaction{Transaction: m}
	return cmd, nil
}
