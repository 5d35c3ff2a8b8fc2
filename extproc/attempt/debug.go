package attempt

import (
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// maxDebug bounds the value of Debug, in bytes. A longer one omits the messages.
const maxDebug = 4096

// debugged is one failed attempt in the header x-gateway-debug.
type debugged struct {
	Attempt    int    `json:"attempt"`
	Deployment string `json:"deployment"`
	Provider   string `json:"provider"`
	Status     int    `json:"upstream_status,omitzero"`
	Cause      string `json:"cause"`
	Type       string `json:"error_type,omitzero"`
	Code       string `json:"error_code,omitzero"`
	Message    string `json:"message,omitzero"`
	RequestID  string `json:"provider_request_id,omitzero"`
}

// Debug returns failures as the value of the header x-gateway-debug: a JSON list. ok is false if
// they cannot be written, as with an id that is not UTF-8.
func Debug(failures []usage.Failure) (value string, ok bool) {
	list := make([]debugged, 0, len(failures))
	for i := range failures {
		f := &failures[i]
		list = append(list, debugged{f.Attempt, string(f.Deployment), f.Provider, f.Status, f.Cause, f.Type, f.Code, f.Message, f.RequestID})
	}
	out, err := json.Marshal(list)
	if err == nil && len(out) > maxDebug {
		for i := range list {
			list[i].Message = ""
		}
		out, err = json.Marshal(list)
	}
	return string(out), err == nil
}
