package coherecaller

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dialect is the language of callers of Cohere's POST /v2/chat.
type Dialect struct{}

// Name returns wire.Cohere.
func (Dialect) Name() wire.Dialect { return wire.Cohere }

// DecodeRequest reads a request for a chat.
func (Dialect) DecodeRequest(body []byte) (*wire.Request, error) {
	var in callerRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	out, err := in.canonical()
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

// EncodeResponse appends a response.
func (Dialect) EncodeResponse(dst []byte, r *wire.Response, m dialect.Meta) []byte {
	return appendJSON(dst, answerOf(r, m))
}

// Stream returns an encoder of chat events.
func (Dialect) Stream(m dialect.Meta) dialect.Encoder { return &encoder{meta: m} }

// EncodeError returns an error of Cohere's shape, which names fields as Cohere does.
func (Dialect) EncodeError(e *fault.Error, request string) []byte {
	return inOwnWords(e).Cohere(request)
}

// appendJSON appends v. If v cannot be written, it appends an error body: half an object must not
// reach a caller. Only invalid raw JSON, against the guarantee of package wire, can cause this.
func appendJSON(dst []byte, v any) []byte {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		out = fault.From(err).Cohere("")
	}
	return append(dst, out...)
}

// ownName returns how Cohere names a parameter that drivers name as OpenAI's chats do; empty if the name is the same.
func ownName(param string) string {
	switch param {
	case "top_p":
		return "p"
	case "top_k":
		return "k"
	case "stop":
		return "stop_sequences"
	case "reasoning_effort":
		return "thinking"
	case "top_logprobs":
		return "logprobs"
	case "text.format", "output_config.format":
		return "response_format"
	}
	return ""
}

// inOwnWords returns an error that names the field at fault as Cohere does.
func inOwnWords(e *fault.Error) *fault.Error {
	name := ownName(e.Param)
	if name == "" {
		return e
	}
	out := *e
	out.Param = name
	if rest, ok := strings.CutPrefix(e.Detail, e.Param); ok && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ":")) {
		out.Detail = name + rest
	}
	return &out
}
