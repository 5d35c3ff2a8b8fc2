package azure

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// foundry names the provider in texts for callers.
const foundry = "Azure's Foundry"

// inferenceVersion is the version of the inference API where an address of it has none.
const inferenceVersion = "2024-05-01-preview"

// Foundry is the driver of the models in Azure's Foundry. They have the API v1 of Azure OpenAI, the older inference API
// under /models, or an endpoint for one model alone; Claude has Anthropic's API.
type Foundry struct {
	Responses driver.Codec // translates to OpenAI's language of responses, for models that have no other
}

// ReadFoundry completes an address of a resource with the form that the version chooses, and gives addresses of the inference API a
// version.
func ReadFoundry(apiBase string, _ bool, s cloud.Settings) (string, cloud.Settings, error) {
	base, version := cloud.CutVersion(apiBase)
	s = s.With(cloud.AzureAPIVersion, version)
	u, err := url.Parse(base)
	if err != nil || base == "" { // the catalogue reports it
		return base, s, nil //nolint:nilerr // it is reported where the address is parsed
	}
	switch form, _ := formOf(u.Path); {
	case form == "models", form == "" && isServerless(u.Hostname()):
		s = s.With(cloud.AzureAPIVersion, inferenceVersion)
	case form == "" && isV1(s.Get(cloud.AzureAPIVersion)):
		base = strings.TrimRight(base, "/") + "/openai/v1"
	case form == "":
		base = strings.TrimRight(base, "/") + "/models"
	}
	return base, s, nil
}

// isServerless reports whether a host serves one model alone.
func isServerless(host string) bool {
	host = strings.ToLower(host)
	for _, end := range [...]string{".models.ai.azure.com", ".inference.ai.azure.com", ".inference.ml.azure.com"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// formOf returns which of a resource's interfaces a path leads to, and what is before it. It is empty for one
// model's own endpoint.
func formOf(path string) (form, root string) {
	path = strings.TrimRight(path, "/") + "/"
	for _, form := range [...]string{"openai", "anthropic", "providers", "models"} {
		if i := strings.Index(path, "/"+form+"/"); i >= 0 {
			return form, path[:i]
		}
	}
	return "", strings.TrimRight(path, "/")
}

// isClaude reports whether a target is a model of Anthropic's. The name of a deployment may be any, so an address of
// Anthropic's API says so as well.
func isClaude(t driver.Target) bool {
	form, _ := formOf(t.BasePath)
	return form == "anthropic" || strings.HasPrefix(strings.ToLower(t.Model), "claude-")
}

// FoundryFeatures returns how a model differs from others, by the name of the base model or of the deployment.
func FoundryFeatures(model string) driver.Features {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if strings.HasPrefix(name, "claude-") {
		return anthropic.Features(name)
	}
	return Features(name)
}

// FoundryVariation is how the parameters of the inference API differ.
func FoundryVariation(s cloud.Settings) *driver.Variation {
	if isV1(s.Get(cloud.AzureAPIVersion)) {
		return nil
	}
	return &driver.Variation{OldLimit: true}
}

// spoken is the driver of OpenAI's languages with what a target has.
func (f Foundry) spoken(t driver.Target) openai.Driver {
	of := openai.Driver{NewLimit: true, Endpoints: []driver.Endpoint{driver.Chat, driver.Embeddings, driver.Rerank}}
	if v := FoundryVariation(t.Settings); v != nil {
		of.NewLimit, of.Variation = false, *v
	}
	if form, _ := formOf(t.BasePath); form == "" || form == "models" {
		return of
	}
	of.Endpoints = append(of.Endpoints, driver.Images, driver.ImageEdits, driver.Speech, driver.Transcriptions, driver.Translations)
	if t.Features.ResponsesOnly || t.API == driver.ResponsesAPI {
		of.Responses = f.Responses
	}
	return of
}

// Serves returns Anthropic's language for Claude, and OpenAI's for other models.
func (f Foundry) Serves(t driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	switch {
	case isClaude(t):
		return anthropic.Driver{}.Serves(t, e)
	case e == driver.InputTokens: // the gateway counts
		return "", false
	}
	return f.spoken(t).Serves(t, e)
}

// Codec returns the translator of a language.
func (f Foundry) Codec(language wire.Dialect) driver.Codec {
	switch language { //nolint:exhaustive // the languages that Serves returns
	case wire.Anthropic:
		return anthropic.Driver{}
	case wire.Responses:
		return f.Responses
	}
	return models{f}
}

// models translates to OpenAI's language of chats.
type models struct{ of Foundry }

// Encode writes a request for the interface of a target.
func (m models) Encode(r *wire.Request, t driver.Target) ([]byte, error) {
	return m.of.spoken(t).Encode(r, t)
}

// Decode reads a whole response.
func (models) Decode(body []byte) (*wire.Response, error) {
	return openai.Driver{ThinksInText: true}.Decode(body)
}

// Stream returns a decoder of chat.completion.chunk events.
func (models) Stream() driver.Stream { return openai.Driver{ThinksInText: true}.Stream() }

// Address returns the endpoint of a model, with the resource's key or a token of Entra ID.
func (f Foundry) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := f.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed(foundry)
	}
	form, root := formOf(t.BasePath)
	if isClaude(t) {
		return claudeCall(t, root, op)
	}
	headers := credential(t)
	if form == "" && !t.APIKey.IsEmpty() {
		headers = bearer(t.APIKey)
	}
	path := ""
	switch {
	case op.Endpoint == driver.Rerank && form == "":
		path = strings.TrimSuffix(root, "/v1") + "/v2/rerank"
	case op.Endpoint == driver.Rerank:
		path = root + "/providers/cohere/v2/rerank"
	case form == "" || form == "models":
		path = f.inference(t, op.Endpoint)
		headers = append(headers, driver.Plain("extra-parameters", "pass-through")) // the model judges what it takes
	default:
		at, err := placeOf(t)
		if err != nil {
			return driver.Call{}, err
		}
		path = at.path(f.spoken(t).Called(t, op.Endpoint))
	}
	return driver.Call{Path: path, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// inference returns the path of an endpoint of the inference API.
func (f Foundry) inference(t driver.Target, e driver.Endpoint) string {
	form, base := formOf(t.BasePath)
	if form == "models" {
		base += "/models"
	}
	for _, end := range [...]driver.Endpoint{driver.Chat, driver.Embeddings} { // a whole address
		base = strings.TrimSuffix(base, string(end))
	}
	return base + string(f.spoken(t).Called(t, e)) + "?api-version=" + url.QueryEscape(t.Settings.Get(cloud.AzureAPIVersion))
}

// claudeCall returns the call of Anthropic's API of a resource.
func claudeCall(t driver.Target, root string, op driver.Operation) (driver.Call, error) {
	headers := t.Headers
	if t.APIKey.IsEmpty() && !t.Token.Bearer.IsEmpty() {
		headers = driver.WithHeaders(bearer(t.Token.Bearer), headers)
	}
	t.BasePath, t.Headers = root+"/anthropic", headers
	return anthropic.Driver{}.Address(t, op)
}

// Classify reads errors of Azure's shape, and Anthropic's.
func (Foundry) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	return classify(status, header, body)
}
