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

// DecodeAsk reads a chat request.
func (Dialect) DecodeAsk(body []byte) (*wire.Ask, error) {
	var in chatAsk
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	ask, err := in.ask()
	if err != nil {
		return nil, fault.From(err)
	}
	return ask, nil
}

// EncodeReply appends a chat.completion object.
func (Dialect) EncodeReply(dst []byte, r *wire.Reply, m dialect.Meta) []byte {
	return appendJSON(dst, chatReplyOf(r, m))
}

// Stream returns an encoder of chat.completion.chunk events.
func (Dialect) Stream(m dialect.Meta) dialect.Encoder { return &chatEncoder{meta: m} }

// EncodeError returns OpenAI's error body.
func (Dialect) EncodeError(e *fault.Error) []byte { return e.OpenAI() }
