package journal

import "github.com/modelgateway/modelgateway/cluster/id"

// Decode decodes an event from the bytes that Batch returned.
func Decode(node id.Node, epoch, seq uint64, value []byte) (Event, error) {
	ev, err := unmarshalEvent(EventID{Node: node, Epoch: epoch, Seq: seq}, value)
	if err != nil {
		return Event{}, damaged("usage event", err)
	}
	return ev, nil
}
