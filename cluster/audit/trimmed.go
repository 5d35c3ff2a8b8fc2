package audit

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/event"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// A trim is documented in the chain itself, so that an attacker who removes records from its
// front would have to forge that record as well.

// trimActor is the actor of a trim.
const trimActor = "gateway"

// The text before and after the id of the first remaining record, in the details of a trim
// record.
const (
	trimmedBefore = `{"action":"trimmed","resource_id":"`
	trimmedBehind = `","resource_type":"audit_log"}`
)

// trimmedEvent returns the event of a trim before a number.
func trimmedEvent(first uint64) *clusterv1.AuditEvent {
	return &clusterv1.AuditEvent{
		Type: event.TypeManagement, Actor: trimActor, DetailsJson: trimmedBefore + EventID(first) + trimmedBehind,
	}
}

// trimmedTo returns the number of the first remaining record, if a record documents a trim.
func trimmedTo(external, internal members) (first uint64, ok bool) {
	if external.text("event_type") != event.TypeManagement || internal.text("actor") != trimActor {
		return 0, false
	}
	id, ok := bytes.CutPrefix(internal.get("details"), []byte(trimmedBefore))
	id, ok2 := bytes.CutSuffix(id, []byte(trimmedBehind))
	if !ok || !ok2 {
		return 0, false
	}
	return ParseEventID(string(id))
}
