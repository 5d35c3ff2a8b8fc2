package openai

import (
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dialect is the language of OpenAI's POST /v1/chat/completions.
type Dialect struct{}

// Name returns wire.OpenAI.
func (Dialect) Name() wire.Dialect { return wire.OpenAI }

// DecodeRequest reads a chat request.
func (Dialect) DecodeRequest(body []byte) (*wire.Request, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	out, err := in.canonical()
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

// EncodeResponse appends a chat.completion object.
func (Dialect) EncodeResponse(dst []byte, r *wire.Response, m dialect.Meta) []byte {
	return appendJSON(dst, responseOf(r, m))
}

// Stream returns an encoder of chat.completion.chunk events.
func (Dialect) Stream(m dialect.Meta) dialect.Encoder { return &chatEncoder{meta: m} }

// EncodeError returns OpenAI's error body.
func (Dialect) EncodeError(e *fault.Error, _ string) []byte { return e.OpenAI() }
