package gemini

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Gemini"

// apiVersion is the version of the API that Driver speaks unless the base path has another: the one
// with the features that v1 does not have yet.
const apiVersion = "v1beta"

// Driver is the driver of the Gemini API with an API key.
type Driver struct{}

// Codec translates chats to and from generateContent.
type Codec struct {
	Vertex bool // for Vertex AI, whose requests have no tier of the service
}

// Serves returns Gemini's language for each chat, for the other endpoints that Google's models serve, and for the count of a chat's
// tokens by callers of that language.
func (Driver) Serves(t driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	if e.IsChat() || e == driver.Embeddings || e == driver.ContentsCount || Rewrites(t.Model, e) {
		return wire.Gemini, true
	}
	return "", false
}

// Codec returns the translator of Gemini's language.
func (Driver) Codec(wire.Dialect) driver.Codec { return Codec{} }

// Address returns the path of the model's method under the base path: a stream has one of its own.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := d.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	model, err := ModelPath(t.Model)
	if err != nil {
		return driver.Call{}, err
	}
	method := Method(t.Model, op)
	switch op.Endpoint { //nolint:exhaustive // the others are the model's own
	case driver.Embeddings:
		method = ":batchEmbedContents"
	case driver.ContentsCount:
		method = ":countTokens"
	}
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "x-goog-api-key", Value: t.APIKey})
	}
	return driver.Call{Path: versioned(t.BasePath) + "/" + model + method, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// Classify reads errors of Google's shape.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	return classify(status, header, body)
}

// versioned returns a base path that ends with a version of the API. Operators like to configure
// the whole address of a model; what is before the model counts as the base path.
func versioned(base string) string {
	base, _, _ = strings.Cut(strings.TrimRight(base, "/")+"/", "/models/")
	base = strings.TrimRight(base, "/")
	for segment := range strings.SplitSeq(base, "/") {
		if isVersion(segment) {
			return base
		}
	}
	return base + "/" + apiVersion
}

// isVersion recognises v1, v1beta, v1alpha and their successors.
func isVersion(segment string) bool {
	rest, ok := strings.CutPrefix(segment, "v")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if !ok || digits == 0 {
		return false
	}
	rest = strings.TrimRight(rest[digits:], "0123456789")
	return rest == "" || rest == "beta" || rest == "alpha"
}

// ModelPath returns the path of a model: one segment, whatever is in its name, below its collection.
func ModelPath(model string) (string, error) {
	collection, name, ok := strings.Cut(model, "/")
	if !ok {
		collection, name = "models", model
	}
	if collection != "models" && collection != "tunedModels" || strings.Trim(name, ".") == "" || strings.Contains(name, "/") {
		return "", fault.New(fault.Unsupported, "invalid_model", "The deployment's model is not a name of a model of %s.", vendor)
	}
	return collection + "/" + strings.ReplaceAll(url.PathEscape(name), ":", "%3A"), nil
}
