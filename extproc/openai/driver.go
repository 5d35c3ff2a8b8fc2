package openai

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Driver is the driver of OpenAI's chat API and of compatible providers. Its
// fields are how these differ.
type Driver struct {
	NewLimit          bool // OpenAI itself: max_completion_tokens, and its bounds; compatible providers have max_tokens only
	GivesThinkingBack bool // requires reasoning_content of earlier turns
	UnderV1           bool // serves under /v1, which operators like to leave out of the address
	ThinksInText      bool // writes its reasoning before the response, between <think> and </think>

	// Variation is how the parameters differ. A row of the table of providers has the same.
	Variation driver.Variation

	// Responses translates to OpenAI's language of responses; nil if the provider does not serve it.
	Responses driver.Codec

	// Endpoints are those that the provider serves; nil means all of OpenAI's, as servers that
	// an operator runs may have any.
	Endpoints []driver.Endpoint
}

// Serves returns OpenAI's language of chats for each chat, but for that of responses if the provider
// has it.
func (d Driver) Serves(t driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	if e = d.Called(t, e); d.responds(t) && (e == driver.Responses || e == driver.InputTokens) {
		return wire.Responses, true
	}
	if e == driver.Completions && !t.Features.ChatOnly && (d.Endpoints == nil || slices.Contains(d.Endpoints, e)) {
		return wire.Completions, true
	}
	if d.Endpoints != nil {
		return wire.OpenAI, e != driver.Completions && slices.Contains(d.Endpoints, e)
	}
	switch e {
	case driver.Chat, driver.Embeddings, driver.Images, driver.ImageEdits, driver.Speech, driver.Transcriptions,
		driver.Translations, driver.Moderations, driver.Rerank:
		return wire.OpenAI, true
	case driver.Completions, driver.Messages, driver.CountTokens, driver.Responses, driver.InputTokens, driver.Contents, driver.ContentsCount,
		driver.Converse, driver.ConverseCount, driver.Turns, driver.Passed:
	}
	return "", false
}

// Called returns the endpoint to which the requests of another one go.
func (d Driver) Called(t driver.Target, e driver.Endpoint) driver.Endpoint {
	switch {
	case !e.IsChat():
		return e
	case d.responds(t) && (e == driver.Responses || t.Features.ResponsesOnly || t.API == driver.ResponsesAPI):
		return driver.Responses
	}
	return driver.Chat
}

// responds reports whether a target may get requests in OpenAI's language of responses.
func (d Driver) responds(t driver.Target) bool { return d.Responses != nil && t.API != driver.ChatAPI }

// Spelled returns the name of a model and the interface that LiteLLM's spelling names before it.
func Spelled(model string) (name, api string) {
	if name, ok := strings.CutPrefix(model, string(driver.ResponsesAPI)+"/"); ok {
		return name, string(driver.ResponsesAPI)
	}
	return model, ""
}

// Codec returns the translator of responses, or the driver itself, which translates to OpenAI's
// language of chats.
func (d Driver) Codec(language wire.Dialect) driver.Codec {
	if language == wire.Responses && d.Responses != nil {
		return d.Responses
	}
	return d
}

// Address returns the endpoint under the base path, with a bearer key.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := d.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed("The provider")
	}
	base := strings.TrimRight(t.BasePath, "/")
	if d.UnderV1 && !strings.Contains(base+"/", "/v1/") {
		base += "/v1"
	}
	return driver.Call{Path: driver.EndpointPath(base, d.Called(t, op.Endpoint)), Headers: driver.WithHeaders(credential(t), t.Headers)}, nil
}

// credential returns the header with the deployment's key; none without one.
func credential(t driver.Target) []driver.Header {
	if t.APIKey.IsEmpty() {
		return nil
	}
	return []driver.Header{{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())}}
}

// Classify reads errors of OpenAI's shape.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	return driver.Classify(status, header, body)
}

// Stream returns a decoder of chat.completion.chunk events.
func (d Driver) Stream() driver.Stream { return &chatStream{tagged: d.ThinksInText} }
