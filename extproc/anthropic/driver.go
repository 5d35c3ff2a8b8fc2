package anthropic

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// apiVersion is the version of the API that Driver speaks. The later 2026-10-21
// rejects temperature, top_p and top_k outright, and callers of OpenAI's dialect
// send them.
const apiVersion = "2023-06-01"

// CloudVersion returns the version in the body of a request to a cloud for a caller that asks for one. Clouds have a name
// of their own for the oldest version, which they give to callers of none.
func CloudVersion(oldest, asked string) string {
	if asked == "" || asked == apiVersion || strings.Trim(asked, "0123456789-") != "" {
		return oldest
	}
	return asked
}

// vendor names the provider in texts for callers.
const vendor = "Anthropic"

// responseTool is the reserved name of the tool whose arguments are the response,
// for targets without a native JSON schema.
const responseTool = "gateway_structured_answer"

// Driver is the driver of Anthropic's Messages API.
type Driver struct {
	// Version is that of the API in the bodies of a cloud, whose addresses name the model. It is empty at Anthropic
	// itself, whose bodies name the model.
	Version string
}

// Serves returns Anthropic's language for each chat, and for the count of a chat's tokens.
func (Driver) Serves(_ driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	if e.IsChat() || e == driver.CountTokens {
		return wire.Anthropic, true
	}
	return "", false
}

// Codec returns the driver itself, which translates to Anthropic's language.
func (d Driver) Codec(wire.Dialect) driver.Codec { return d }

// Address returns /v1/messages under the base path. A caller of Anthropic's own
// dialect is passed through with its own anthropic-version.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := d.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	endpoint := op.Endpoint
	if endpoint.IsChat() {
		endpoint = driver.Messages
	}
	version := driver.Plain("anthropic-version", apiVersion)
	version.IfAbsent = op.Endpoint == driver.Messages || op.Endpoint == driver.CountTokens
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
