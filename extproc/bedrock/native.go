package bedrock

import (
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// native returns the language of OpenAI's in which the service itself takes a chat, and false if it takes none.
// Models behind ARNs have Converse alone. Chat completions of the models that have responses reject tools next to reasoning,
// so all chats with them are responses, unless the name of the model has the route.
func (n *name) native(f *family, e driver.Endpoint) (wire.Dialect, bool) {
	switch {
	case !e.IsChat(), isARN(n.id), n.route == routeAny && e == driver.Converse, n.route == routeConverse, n.route == routeInvoke:
		return "", false
	case n.route == routeOpenAI:
		return wire.OpenAI, true
	case n.route == routeResponses, f.responds:
		return wire.Responses, true
	}
	return wire.OpenAI, f.chats && e == driver.Chat
}

// withID returns a target with Bedrock's id of the model alone, as bodies name it.
func withID(t driver.Target) driver.Target {
	if n, err := parse(t.Model); err == nil {
		t.Model = n.id
	}
	return t
}

// insteadOfModel returns the id of a model for bodies that name it, if the name has more.
func insteadOfModel(t driver.Target) driver.Instead {
	id := withID(t).Model
	if id == t.Model {
		return driver.Instead{}
	}
	return driver.Instead{Members: `"model":` + string(splice.Quote(nil, id))}
}

// chatCodec translates to OpenAI's language of chats.
type chatCodec struct{ openai.Driver }

// Encode writes a request.
func (c chatCodec) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	return c.Driver.Encode(in, withID(t))
}

// responsesCodec translates to OpenAI's language of responses.
type responsesCodec struct{ responses.Codec }

// Encode writes a request.
func (c responsesCodec) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	return c.Codec.Encode(in, withID(t))
}

// importedCodec translates to OpenAI's language of chats for InvokeModel, whose operation says whether the response is streamed.
type importedCodec struct{ chatCodec }

// Encode writes a request.
func (c importedCodec) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	whole := *in
	whole.Stream = false
	return c.chatCodec.Encode(&whole, t)
}

// Stream returns a decoder of OpenAI's chunks, which come in frames of AWS's.
func (c importedCodec) Stream() driver.Stream { return &invokedStream{c.chatCodec.Stream()} }
