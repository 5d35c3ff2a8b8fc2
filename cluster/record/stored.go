package record

import (
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Getter reads single records of a state.
type Getter interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
}

// Load reads the record at a key into m; false if there is none.
func Load(from Getter, space store.Space, key []byte, m proto.Message) (bool, *fault.Error) {
	value, ok, err := from.Get(space, key)
	if err == nil {
		err = proto.Unmarshal(value, m)
	}
	if err != nil {
		return false, Unreadable(err)
	}
	return ok, nil
}

// Store writes the record at a key. Equal records have equal bytes.
func Store(tx Tx, space store.Space, key []byte, m proto.Message) *fault.Error {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return Unreadable(err)
	}
	tx.Set(space, key, value)
	return nil
}
