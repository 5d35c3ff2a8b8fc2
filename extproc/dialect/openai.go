package dialect

import (
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// OpenAI is the dialect of OpenAI's POST /v1/chat/completions.
type OpenAI struct{}

// Name returns wire.OpenAI.
func (OpenAI) Name() wire.Dialect { return wire.OpenAI }

// DecodeAsk reads a chat request.
func (OpenAI) DecodeAsk(body []byte) (*wire.Ask, error) {
	var in chatAsk
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refuse(err, "")
	}
	ask, err := in.ask()
	if err != nil {
		return nil, fault.From(err)
	}
	return ask, nil
}

// EncodeReply appends a chat.completion object.
func (OpenAI) EncodeReply(dst []byte, r *wire.Reply, m Meta) []byte {
	return appendJSON(dst, chatReplyOf(r, m))
}

// Stream returns an encoder of chat.completion.chunk events.
func (OpenAI) Stream(m Meta) Encoder { return &chatEncoder{meta: m} }

// EncodeError returns OpenAI's error body.
func (OpenAI) EncodeError(e *fault.Error) []byte { return e.OpenAI() }
