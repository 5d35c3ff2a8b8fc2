package mistral

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Mistral"

// Driver is the driver of Mistral's API.
type Driver struct{}

// passed returns the endpoints whose requests are OpenAI's.
func passed() []driver.Endpoint {
	return []driver.Endpoint{driver.Embeddings, driver.Moderations, driver.Transcriptions}
}

// Serves returns Mistral's language for each chat, and OpenAI's for what is OpenAI's.
func (Driver) Serves(_ driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	switch {
	case e.IsChat():
		return wire.Mistral, true
	case slices.Contains(passed(), e):
		return wire.OpenAI, true
	}
	return "", false
}

// Codec returns the driver itself, which translates to Mistral's language.
func (d Driver) Codec(wire.Dialect) driver.Codec { return d }

// Address returns the endpoint under the base path, with a bearer key.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := d.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	endpoint := op.Endpoint
	if endpoint.IsChat() {
		endpoint = driver.Chat
	}
	base := strings.TrimRight(t.BasePath, "/")
	if !strings.Contains(base+"/", "/v1/") {
		base += "/v1"
	}
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())})
	}
	return driver.Call{Path: driver.EndpointPath(base, endpoint), Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// Classify reads Mistral's errors: a message, a detail, or a list of violations. Its codes are
// numbers; its types say more.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	if status == http.StatusForbidden && bytes.Contains(body, []byte(blocked)) {
		status = http.StatusBadRequest // the content is at fault, and not the key
	}
	return named(driver.Classify(status, header, body))
}

// blocked is what Mistral says if one of its guardrails blocks a request.
const blocked = "blocked by guardrail"

// named gives a failure that the caller can correct the type of Mistral's error as its code.
func named(f *wire.Failure) *wire.Failure {
	if f.Type != "invalid_request_error" || f.ContextWindow || f.ContentFilter {
		return f
	}
	f.Code = f.ProviderType
	if f.ProviderType == "invalid_model" {
		f.Kind, f.Param = fault.NotFound, "model"
	}
	return f
}

// Stream returns a decoder of pieces of chats.
func (Driver) Stream() driver.Stream { return &stream{} }
