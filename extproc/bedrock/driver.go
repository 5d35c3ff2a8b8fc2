package bedrock

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Amazon Bedrock"

// Driver is the driver of Bedrock's runtime.
type Driver struct{}

// Serves returns the language of the model's requests. Messages go to Claude as they are. A route that the model's name
// has chooses for all chats.
func (Driver) Serves(t driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	n, err := parse(t.Model)
	if err != nil && t.Model != "" {
		return wire.Converse, e.IsChat() // Address says what is wrong
	}
	f := n.familyOf(t)
	switch {
	case e.IsChat() && (!n.take(t.API) || !f.converses()):
		return "", false
	case e.IsChat() && f.isClaude() && (n.route == routeInvoke || n.route == routeAny && e == driver.Messages):
		return wire.Anthropic, true
	}
	if e.IsChat() && n.route == routeOpenAI && n.imported() {
		return wire.Imported, true
	}
	if language, ok := n.native(f, e); ok {
		return language, true
	}
	switch {
	case e.IsChat(), e == driver.Embeddings && f.embeds, e == driver.Images && f.pictures, e == driver.Rerank && f.ranks:
		return wire.Converse, true
	}
	return wire.Converse, (e == driver.CountTokens || e == driver.ConverseCount) && f.isClaude() && !isARN(n.id) // an account's own models have no counts
}

// familyOf returns the family of a deployment's model. An ARN may not tell its model, but the settings of
// the deployment do.
func (n *name) familyOf(t driver.Target) *family {
	if f := familyNamed(t.Features.Family); f.name != "" {
		return f
	}
	return n.family()
}

// Codec returns the translator of a language.
func (Driver) Codec(language wire.Dialect) driver.Codec {
	switch language { //nolint:exhaustive // the languages that Serves returns
	case wire.Anthropic:
		return Claude{anthropic.Driver{Version: claudeVersion}}
	case wire.OpenAI:
		return chatCodec{}
	case wire.Responses:
		return responsesCodec{}
	case wire.Imported:
		return importedCodec{chatCodec{openai.Driver{ThinksInText: true}}}
	}
	return Codec{}
}

// Framing returns that of the language's streams.
func (Driver) Framing(language wire.Dialect) driver.Framing {
	switch language { //nolint:exhaustive // the languages that Serves returns
	case wire.Anthropic, wire.Imported:
		return driver.AWSChunks
	case wire.OpenAI, wire.Responses:
		return driver.ServerSent
	}
	return driver.AWSEvents
}

// Address returns the path of the model's operation. The model is one segment of it, in which colons and slashes are
// escaped.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	language, ok := d.Serves(t, op.Endpoint)
	if !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	n, err := checked(t)
	if err != nil {
		return driver.Call{}, err
	}
	return driver.Call{Path: rooted(t.BasePath) + pathOf(&n, language, op), Headers: driver.WithHeaders(ownHeaders(t), t.Headers), Bare: true}, nil
}

// checked returns the name of a target's model, which must be that of one model, of the target's region.
func checked(t driver.Target) (name, error) {
	n, err := parse(t.Model)
	if err != nil {
		return n, err
	}
	if strings.Contains(n.id, "*") {
		return n, fault.New(fault.Unsupported, codeModel, "The deployment's model has a star, which no request has replaced.")
	}
	if _, err := regionOf(&n, t.Settings); err != nil {
		return n, fault.New(fault.Unsupported, codeModel, "%s", fault.From(err).Message())
	}
	return n, nil
}

// ownHeaders returns the headers of every call: the content type, and an API key.
func ownHeaders(t driver.Target) []driver.Header {
	media := driver.Plain("content-type", "application/json") // signed, so it is needed before the body's own is set
	media.IfAbsent = true
	headers := []driver.Header{media}
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())})
	}
	return headers
}

// pathOf returns the path of an operation.
func pathOf(n *name, language wire.Dialect, op driver.Operation) string {
	id, method := n.id, "/converse"
	switch {
	case op.Endpoint == driver.Rerank:
		return "/rerank"
	case language == wire.OpenAI || language == wire.Responses:
		return "/openai/v1" + endpointOf(language)
	case op.Endpoint == driver.CountTokens || op.Endpoint == driver.ConverseCount:
		id, method = baseID(id), "/count-tokens"
	case (language == wire.Anthropic || language == wire.Imported) && op.Stream:
		method = "/invoke-with-response-stream"
	case language == wire.Anthropic, language == wire.Imported, !op.Endpoint.IsChat():
		method = "/invoke"
	case op.Stream:
		method = "/converse-stream"
	}
	return "/model/" + escape(id) + method
}

// rooted returns a base path without what operators like to configure after it: the path of a model, or of OpenAI's API.
func rooted(base string) string {
	base, _, _ = strings.Cut(strings.TrimRight(base, "/")+"/", "/model/")
	base, _, _ = strings.Cut(base, "/openai/v1/")
	return strings.TrimRight(base, "/")
}

// escape escapes a segment of a path as AWS does: all but letters, digits and -._~.
func escape(segment string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(segment) {
		switch c := segment[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '~':
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}
