package anthropic

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

type answerError struct {
	Type      string      `json:"type"` // always error
	Error     errorDetail `json:"error"`
	RequestID string      `json:"request_id,omitzero"`
}

type errorDetail struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// errorOf converts an error to Anthropic's form, which has no place for a field and a code: the
// message names the field.
func errorOf(e *fault.Error, request string) *answerError {
	return &answerError{Type: "error", Error: errorDetail{Type: errorType(e.Kind), Message: e.Message()}, RequestID: request}
}

// errorType names a kind of errors in Anthropic's words. Clients choose by it whether to retry,
// and what to tell their user.
func errorType(k fault.Kind) string {
	switch k {
	case fault.Malformed, fault.Blocked, fault.Exists, fault.Conflict, fault.Unsupported, fault.Canceled, fault.MediaType, fault.MethodNotAllowed:
		return "invalid_request_error"
	case fault.Unauthenticated:
		return "authentication_error"
	case fault.Denied:
		return "permission_error"
	case fault.NotFound:
		return "not_found_error"
	case fault.TooLarge:
		return "request_too_large"
	case fault.RateLimited:
		return "rate_limit_error"
	case fault.OverBudget:
		return "billing_error"
	case fault.Timeout:
		return "timeout_error"
	case fault.Unavailable:
		return "overloaded_error"
	case fault.Internal, fault.Upstream, fault.StorageUnavailable:
	}
	return "api_error"
}

// appendJSON appends v. If v cannot be written, it appends an error body: half an
// object must not reach a caller. Only invalid raw JSON, against the guarantee of
// package wire, can cause this.
func appendJSON(dst []byte, v any) []byte {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		out, _ = json.Marshal(errorOf(fault.From(err), ""))
	}
	return append(dst, out...)
}
