package azure

import (
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Azure OpenAI"

// Versions of the classic API that brought what older ones reject.
const (
	newParameters = "2024-09-01" // max_completion_tokens and stream_options
	newResponses  = "2025-03-01" // the endpoint for responses
)

// Driver is the driver of Azure OpenAI.
type Driver struct {
	Responses driver.Codec // translates to OpenAI's language of responses
}

// Variation is how the parameters of the older versions of the API differ.
func Variation(s cloud.Settings) *driver.Variation {
	if version := s.Get(cloud.AzureAPIVersion); isV1(version) || version >= newParameters {
		return nil
	}
	return &driver.Variation{OldLimit: true, NoUsageOption: true}
}

// spoken is the driver of OpenAI's languages with what a deployment's version has.
func (d Driver) spoken(t driver.Target) openai.Driver {
	of := openai.Driver{NewLimit: true, Endpoints: endpoints()}
	if version, v1 := versionOf(t); v1 || version >= newResponses {
		of.Responses = d.Responses
	}
	if v := Variation(t.Settings); v != nil {
		of.NewLimit, of.Variation = false, *v
	}
	return of
}

// endpoints lists what Azure has of OpenAI's endpoints.
func endpoints() []driver.Endpoint {
	return []driver.Endpoint{
		driver.Chat, driver.Completions, driver.Embeddings, driver.Images, driver.ImageEdits, driver.Speech, driver.Transcriptions, driver.Translations,
	}
}

// Serves returns OpenAI's language of chats for each chat, but for that of responses where the
// deployment's version has it.
func (d Driver) Serves(t driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	if e == driver.InputTokens { // the gateway counts
		return "", false
	}
	return d.spoken(t).Serves(t, e)
}

// Codec returns the translator of responses, or of chats.
func (d Driver) Codec(language wire.Dialect) driver.Codec {
	if language == wire.Responses {
		return d.Responses
	}
	return chats{d}
}

// chats translates to OpenAI's language of chats.
type chats struct{ of Driver }

// Encode writes a request for the version of a deployment.
func (c chats) Encode(r *wire.Request, t driver.Target) ([]byte, error) {
	return c.of.spoken(t).Encode(r, t)
}

// Decode reads a whole response.
func (chats) Decode(body []byte) (*wire.Response, error) { return openai.Driver{}.Decode(body) }

// Stream returns a decoder of chat.completion.chunk events.
func (chats) Stream() driver.Stream { return openai.Driver{}.Stream() }

// Address returns the endpoint of a deployment, with its key or its token of Entra ID.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := d.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	at, err := placeOf(t)
	if err != nil {
		return driver.Call{}, err
	}
	return driver.Call{Path: at.path(d.spoken(t).Called(t, op.Endpoint)), Headers: driver.WithHeaders(credential(t), t.Headers)}, nil
}

// credential returns the header with the deployment's key or, without one, its token; none without both.
func credential(t driver.Target) []driver.Header {
	switch {
	case !t.APIKey.IsEmpty():
		return []driver.Header{{Name: "api-key", Value: t.APIKey}}
	case !t.Token.Bearer.IsEmpty():
		return bearer(t.Token.Bearer)
	}
	return nil
}

// bearer is the header with a token.
func bearer(token vault.Secret) []driver.Header {
	return []driver.Header{{Name: "authorization", Value: vault.NewSecret("Bearer " + token.Reveal())}}
}
