package operation

import (
	"cmp"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Unknown is the error for a path that no operation has. It lists those of the provider whose form the path has.
func Unknown(path string) *fault.Error {
	e := fault.New(fault.NotFound, "unsupported_endpoint", "The gateway does not support this path. %s", cmp.Or(dataplane.Supported(path), "GET /openapi.json lists those that exist."))
	if dataplane.IsPassed(path) {
		e.Detail += " An API key whose allowed_routes has passthrough_routes can use it at the provider."
	}
	e.Details = map[string]any{"supported": dataplane.Known(path)}
	return e
}

// ErrorBody returns the body of an error in the language of the callers of a match. Of a path without an operation it is
// that of the provider whose form the path has, else OpenAI's.
func (m Match) ErrorBody(e *fault.Error, path, request string) []byte {
	switch {
	case m.Operation != nil && m.Caller != nil:
		return m.Caller.EncodeError(e, request)
	case m.Operation != nil:
		return m.Language.EncodeError(e, request)
	}
	switch dataplane.Language(path) {
	case string(wire.Anthropic):
		return e.Anthropic(request)
	case string(wire.Gemini):
		return e.Google(request)
	case string(wire.Converse):
		return e.AWS(request)
	case string(wire.Cohere):
		return e.Cohere(request)
	}
	return e.OpenAI()
}

// ErrorType returns the header of an error in which AWS's libraries look for its name first; not ok for callers of other
// languages.
func (m Match) ErrorType(e *fault.Error, path string) (name, value string, ok bool) {
	if m.Operation == nil && dataplane.Language(path) == string(wire.Converse) || m.Operation != nil && m.ofBedrock() {
		return "x-amzn-errortype", e.AWSType(), true
	}
	return "", "", false
}

// ofBedrock reports whether the operation's callers are clients of Bedrock.
func (o *Operation) ofBedrock() bool {
	_, invokes := o.Caller.(anthropic.BedrockErrors)
	return invokes || o.Language.Name() == wire.Converse || o.Caller != nil && o.Caller.Name() == wire.Converse
}

// AsksForEvents reports whether the query of a stream of Google's asks for server-sent events.
func AsksForEvents(query string) bool {
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "alt=sse" || pair == "$alt=sse" || pair == "%24alt=sse" {
			return true
		}
	}
	return false
}
