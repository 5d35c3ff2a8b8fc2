package anthropic

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dialect is the language of Anthropic's POST /v1/messages.
type Dialect struct{}

// Name returns wire.Anthropic.
func (Dialect) Name() wire.Dialect { return wire.Anthropic }

// DecodeRequest reads a request for a message.
func (Dialect) DecodeRequest(body []byte) (*wire.Request, error) {
	return decodeRequest(body, nil)
}

// DecodePrompt reads a request for a count of tokens, which is one for a message without
// max_tokens.
func DecodePrompt(body []byte) (*wire.Request, error) {
	limit := dialect.Whole(1)
	return decodeRequest(body, &limit)
}

// decodeRequest reads a request for a message. limit is its max_tokens if it has none.
func decodeRequest(body []byte, limit *dialect.Whole) (*wire.Request, error) {
	in := callerRequest{MaxTokens: limit}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	out, err := in.canonical()
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

// EncodeResponse appends a message object.
func (Dialect) EncodeResponse(dst []byte, r *wire.Response, m dialect.Meta) []byte {
	return appendJSON(dst, answerOf(r, m))
}

// Stream returns an encoder of message events.
func (Dialect) Stream(m dialect.Meta) dialect.Encoder { return &encoder{meta: m} }

// EncodeError returns Anthropic's error body.
func (Dialect) EncodeError(e *fault.Error, request string) []byte {
	return e.Anthropic(request)
}

// appendJSON appends v. If v cannot be written, it appends an error body: half an
// object must not reach a caller. Only invalid raw JSON, against the guarantee of
// package wire, can cause this.
func appendJSON(dst []byte, v any) []byte {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		out = fault.From(err).Anthropic("")
	}
	return append(dst, out...)
}
