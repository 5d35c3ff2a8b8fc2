package audit

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/event"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Who drops records says so in the chain, so that somebody else who takes some away
// from its front has to forge that as well.

// trimActor is who drops records.
const trimActor = "gateway"

// Around the id of the first record that stays, in the details of a record that says
// that those before it were dropped.
const (
	trimmedBefore = `{"action":"trimmed","resource_id":"`
	trimmedBehind = `","resource_type":"audit_log"}`
)

// trimmedEvent is the event that the records before a number were dropped.
func trimmedEvent(first uint64) *clusterv1.AuditEvent {
	return &clusterv1.AuditEvent{
		Type: event.TypeManagement, Actor: trimActor, DetailsJson: trimmedBefore + EventID(first) + trimmedBehind,
	}
}

// trimmedTo returns the number of the first record that stayed where a record, by its
// two objects, says that those before it were dropped.
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
