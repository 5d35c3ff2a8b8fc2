package openai

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Driver is the driver of OpenAI's chat API and of compatible providers. Its
// fields are how these differ.
type Driver struct {
	NewLimit          bool // max_completion_tokens; compatible providers have max_tokens only
	GivesThinkingBack bool // requires reasoning_content of earlier turns
	UnderV1           bool // serves under /v1, which operators like to leave out of the address
}

// Address returns the endpoint under the base path, with a bearer key.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	served := false
	switch op.Endpoint {
	case driver.Chat, driver.Completions, driver.Embeddings, driver.Images, driver.ImageEdits, driver.Speech, driver.Transcriptions,
		driver.Translations, driver.Moderations, driver.Rerank, driver.Responses:
		served = true
	case driver.Messages, driver.CountTokens:
	}
	if !served {
		return driver.Call{}, fault.New(fault.Unsupported, "unsupported_endpoint", "The provider has no endpoint of that kind.")
	}
	base := strings.TrimRight(t.BasePath, "/")
	if d.UnderV1 && !strings.Contains(base+"/", "/v1/") {
		base += "/v1"
	}
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())})
	}
	return driver.Call{Path: driver.EndpointPath(base, op.Endpoint), Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// Classify reads errors of OpenAI's shape.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	return driver.Classify(status, header, body)
}

// Stream returns a decoder of chat.completion.chunk events.
func (Driver) Stream() driver.Stream { return &chatStream{} }
