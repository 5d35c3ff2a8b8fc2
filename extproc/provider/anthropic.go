package provider

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// anthropicVersion is the version of the API that is translated to. The later
// 2026-10-21 refuses temperature, top_p and top_k outright, and callers of
// OpenAI's dialect send them.
const anthropicVersion = "2023-06-01"

// anthropicName is the provider in texts for callers.
const anthropicName = "Anthropic"

// answerTool is the reserved name of the tool whose arguments are the answer,
// for targets without a native JSON schema.
const answerTool = "gateway_structured_answer"

// anthropic drives Anthropic's Messages API.
type anthropic struct{}

// Address returns /v1/messages under the base path. For the endpoints that
// callers of Anthropic's own dialect are passed through to, their own
// anthropic-version wins.
func (anthropic) Address(t Target, op Operation) (Call, error) {
	var endpoint Endpoint
	switch op.Endpoint {
	case Chat, Messages:
		endpoint = Messages
	case CountTokens:
		endpoint = CountTokens
	case Completions, Embeddings, Images, ImageEdits, Speech, Transcriptions, Translations, Moderations, Rerank, Responses:
	}
	if endpoint == "" {
		return Call{}, fault.New(fault.Unsupported, "unsupported_endpoint", "%s has no endpoint of that kind.", anthropicName)
	}
	version := plain("anthropic-version", anthropicVersion)
	version.IfAbsent = op.Endpoint != Chat
	headers := []Header{version}
	if !t.APIKey.IsEmpty() {
		headers = append(headers, Header{Name: "x-api-key", Value: t.APIKey})
	}
	base := strings.TrimRight(t.BasePath, "/")
	if !strings.Contains(base+"/", "/v1/") {
		base += "/v1"
	}
	return Call{Path: endpointPath(base, endpoint), Headers: withHeaders(headers, t.Headers)}, nil
}

// Classify reads errors of Anthropic's shape.
func (anthropic) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	return classify(status, header, body)
}

// Stream returns a decoder of message events.
func (anthropic) Stream() Stream { return &anthropicStream{} }
