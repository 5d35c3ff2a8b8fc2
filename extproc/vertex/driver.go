package vertex

import (
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Vertex AI"

// Driver is the driver of Vertex AI.
type Driver struct{}

// claudeVersion is the version of Anthropic's API in the bodies for Claude.
const claudeVersion = "vertex-2023-10-16"

// Serves returns the language of a model's family.
func (Driver) Serves(t driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	of, name := familyOf(t.Model)
	switch of {
	case claude:
		return anthropic.Driver{}.Serves(t, e)
	case mistrals:
		return wire.Mistral, e.IsChat()
	case open:
		return openai.Driver{Endpoints: []driver.Endpoint{driver.Chat, driver.Embeddings}}.Serves(t, e)
	case own:
		return openai.Driver{Endpoints: []driver.Endpoint{driver.Chat}}.Serves(t, e)
	case google, tuned:
	}
	if e == driver.ContentsCount {
		return wire.Vertex, true
	}
	return wire.Gemini, e.IsChat() || e == driver.Embeddings || gemini.Rewrites(name, e)
}

// Codec returns the translator of a language.
func (Driver) Codec(language wire.Dialect) driver.Codec {
	switch language { //nolint:exhaustive // the languages that Serves returns
	case wire.Anthropic:
		return anthropic.Driver{Version: claudeVersion}
	case wire.Mistral:
		return mistralCodec{}
	case wire.OpenAI:
		return openCodec{}
	}
	return gemini.Codec{Vertex: true}
}

// Address returns the path of a model's method, with the deployment's token or its key of the express mode.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := d.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	of, name := familyOf(t.Model)
	if of == claude && op.Endpoint == driver.CountTokens { // one address for all of them
		name = "count-tokens"
	}
	path, err := resource(of, name)
	if err != nil {
		return driver.Call{}, err
	}
	// Google's services reject queries that they do not know, such as the beta=true of Anthropic's clients.
	return driver.Call{Path: within(t) + path + method(of, name, op), Headers: driver.WithHeaders(credential(t), t.Headers), Bare: of == claude}, nil
}

// credential returns the header with the key or, without one, the token; none without both.
func credential(t driver.Target) []driver.Header {
	switch {
	case !t.APIKey.IsEmpty():
		return []driver.Header{{Name: "x-goog-api-key", Value: t.APIKey}}
	case !t.Token.Bearer.IsEmpty():
		return []driver.Header{{Name: "authorization", Value: vault.NewSecret("Bearer " + t.Token.Bearer.Reveal())}}
	}
	return nil
}

// method returns the end of a path.
func method(of family, name string, op driver.Operation) string {
	switch {
	case of == open || of == own:
		if op.Endpoint.IsChat() {
			return string(driver.Chat)
		}
		return string(op.Endpoint)
	case op.Endpoint == driver.Embeddings && batches(name):
		return ":batchEmbedContents"
	case op.Endpoint == driver.Embeddings:
		return ":predict"
	case of == claude || of == mistrals:
		if op.Stream {
			return ":streamRawPredict"
		}
		return ":rawPredict"
	}
	return gemini.Method(name, op)
}
