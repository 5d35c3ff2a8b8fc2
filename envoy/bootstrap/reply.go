package bootstrap

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
)

// reply is a rendered local reply of Envoy for one status.
type reply struct {
	Op         string // GE or EQ
	Status     int
	Key        string // a name that Envoy requires for every comparison; never set
	Body       string // JSON
	Numbered   bool   // the request already has an id
	RetryAfter string // seconds; empty for none
}

// answer is a local reply before it is rendered.
type answer struct {
	op               string
	status           int
	typ, code, text  string
	retryAfterSecond string
}

// answers lists the local replies of Envoy. The first matching row applies, so the catch-alls
// are at the end. Codes and types are those of the gateway's own errors: a client does not need
// to know which process rejected it.
func answers() []answer {
	const (
		eq, ge  = "EQ", "GE"
		invalid = "invalid_request_error"
		away    = "service_unavailable"
	)
	return []answer{
		{eq, 400, invalid, "invalid_request", "The request is not valid HTTP, or its path or headers are not accepted.", ""},
		{eq, 403, "permission_error", "insufficient_permissions", "Not allowed.", ""},
		{eq, 404, invalid, "not_found", "Not found.", ""},
		{eq, 405, invalid, "method_not_allowed", "The method is not allowed here.", ""},
		{eq, 408, "timeout_error", "request_timeout", "The request was not received in time.", ""},
		{eq, 413, invalid, "request_too_large", "The request body is too large.", ""},
		{eq, 426, invalid, "upgrade_required", "This version of the protocol is not supported.", ""},
		{eq, 431, invalid, "request_headers_too_large", "The request headers are too large or too many.", ""},
		{eq, 500, "server_error", "internal_error", "Internal error.", ""},
		{eq, 502, "upstream_error", "upstream_error", "The provider failed.", ""},
		{eq, 504, "timeout_error", "upstream_timeout", "The provider did not answer in time.", ""},
		{ge, 500, away, "service_unavailable", "The service is not available right now.", "1"},
		{ge, 401, invalid, "invalid_request", "The request was refused.", ""},
	}
}

// numbered reports whether a request that ends with status already has an id. Invalid HTTP, or
// a rejected path or header, has none.
func numbered(status int) bool {
	return status != http.StatusBadRequest && status != http.StatusUpgradeRequired &&
		status != http.StatusRequestHeaderFieldsTooLarge
}

// replies renders the local replies.
func replies() ([]reply, error) {
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	type outer struct {
		Error inner `json:"error"`
	}
	var out []reply
	for _, a := range answers() {
		body, err := json.Marshal(outer{inner{Message: a.text, Type: a.typ, Code: a.code}}, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("render local reply %d: %w", a.status, err)
		}
		out = append(out, reply{
			Op: a.op, Status: a.status, Key: fmt.Sprintf("modelgateway.reply.%s%d", a.op, a.status),
			Body: string(body), Numbered: numbered(a.status), RetryAfter: a.retryAfterSecond,
		})
	}
	return out, nil
}
