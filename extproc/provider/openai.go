package provider

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// openAI drives OpenAI's chat API and its many copies. Its fields are how the
// copies differ.
type openAI struct {
	newLimit          bool // max_completion_tokens; the copies know max_tokens only
	givesThinkingBack bool // wants reasoning_content of earlier turns
	underV1           bool // serves under /v1, which operators like to leave out of the address
}

// Address returns the endpoint under the base path, with a bearer key.
func (d openAI) Address(t Target, op Operation) (Call, error) {
	served := false
	switch op.Endpoint {
	case Chat, Completions, Embeddings, Images, ImageEdits, Speech, Transcriptions, Translations, Moderations, Rerank, Responses:
		served = true
	case Messages, CountTokens:
	}
	if !served {
		return Call{}, fault.New(fault.Unsupported, "unsupported_endpoint", "The provider has no endpoint of that kind.")
	}
	base := strings.TrimRight(t.BasePath, "/")
	if d.underV1 && !strings.Contains(base+"/", "/v1/") {
		base += "/v1"
	}
	var headers []Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())})
	}
	return Call{Path: endpointPath(base, op.Endpoint), Headers: withHeaders(headers, t.Headers)}, nil
}

// Classify reads errors of OpenAI's shape.
func (openAI) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	return classify(status, header, body)
}

// Stream returns a decoder of chat.completion.chunk events.
func (openAI) Stream() Stream { return &openAIStream{} }
