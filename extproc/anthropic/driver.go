package anthropic

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// apiVersion is the version of the API that Driver speaks. The later 2026-10-21
// rejects temperature, top_p and top_k outright, and callers of OpenAI's dialect
// send them.
const apiVersion = "2023-06-01"

// vendor names the provider in texts for callers.
const vendor = "Anthropic"

// responseTool is the reserved name of the tool whose arguments are the response,
// for targets without a native JSON schema.
const responseTool = "gateway_structured_answer"

// Driver is the driver of Anthropic's Messages API.
type Driver struct{}

// Address returns /v1/messages under the base path. A caller of Anthropic's own
// dialect is passed through with its own anthropic-version.
func (Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	var endpoint driver.Endpoint
	switch op.Endpoint {
	case driver.Chat, driver.Messages:
		endpoint = driver.Messages
	case driver.CountTokens:
		endpoint = driver.CountTokens
	case driver.Completions, driver.Embeddings, driver.Images, driver.ImageEdits, driver.Speech, driver.Transcriptions,
		driver.Translations, driver.Moderations, driver.Rerank, driver.Responses:
	}
	if endpoint == "" {
		return driver.Call{}, fault.New(fault.Unsupported, "unsupported_endpoint", "%s has no endpoint of that kind.", vendor)
	}
	version := driver.Plain("anthropic-version", apiVersion)
	version.IfAbsent = op.Endpoint != driver.Chat
	headers := []driver.Header{version}
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "x-api-key", Value: t.APIKey})
	}
	base := strings.TrimRight(t.BasePath, "/")
	if !strings.Contains(base+"/", "/v1/") {
		base += "/v1"
	}
	return driver.Call{Path: driver.EndpointPath(base, endpoint), Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// Classify reads errors of Anthropic's shape.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	return driver.Classify(status, header, body)
}

// Stream returns a decoder of message events.
func (Driver) Stream() driver.Stream { return &stream{} }
