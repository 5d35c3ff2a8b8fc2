package cohere

import (
	"net/http"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Cohere"

// Driver is the driver of Cohere's API.
type Driver struct{}

// pathOf returns the path of an endpoint below the host; empty if Cohere does not serve it.
func pathOf(e driver.Endpoint) string {
	switch e {
	case driver.Chat, driver.Messages, driver.Responses, driver.Contents, driver.Converse, driver.Turns:
		return "/v2/chat"
	case driver.Rerank:
		return "/v2/rerank"
	case driver.Embeddings, driver.Transcriptions:
		return "/compatibility/v1" + string(e)
	case driver.Completions, driver.Images, driver.ImageEdits, driver.Speech, driver.Translations, driver.Moderations,
		driver.InputTokens, driver.CountTokens, driver.ContentsCount, driver.ConverseCount, driver.Passed:
	}
	return ""
}

// Serves returns Cohere's language for each chat. Other requests have the form that they have at the gateway.
func (Driver) Serves(_ driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	switch {
	case pathOf(e) == "":
		return "", false
	case e.IsChat():
		return wire.Cohere, true
	}
	return wire.OpenAI, true
}

// Codec returns the driver itself, which translates to Cohere's language.
func (d Driver) Codec(wire.Dialect) driver.Codec { return d }

// Address returns the endpoint under the base path, with a bearer key. Operators like to
// configure the address of an endpoint, or of a version: what is before it counts.
func (Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	path := pathOf(op.Endpoint)
	if path == "" {
		return driver.Call{}, driver.NotServed(vendor)
	}
	return Driver{}.PassThrough(t, path)
}

// PassThrough returns the path behind the address without its version, with the deployment's key.
func (Driver) PassThrough(t driver.Target, path string) (driver.Call, error) {
	base := driver.RootOf(t.BasePath, "/v2/chat", "/v2/rerank", "/v2/embed", "/compatibility/v1", "/v1", "/v2")
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())})
	}
	return driver.Call{Path: base + path, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// Statuses of Cohere's that no RFC has.
const (
	statusBlocked  = 498 // the request or the response has a text that is not allowed
	statusCanceled = 499 // the request was canceled, by Cohere too
)

// Classify reads Cohere's errors, which are a message.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	switch status {
	case statusBlocked:
		f := driver.Classify(http.StatusBadRequest, header, body)
		f.Kind, f.Code, f.ContentFilter, f.Status = fault.Blocked, "content_filter", true, http.StatusBadRequest
		return f
	case statusCanceled:
		status = http.StatusServiceUnavailable
	}
	return driver.Classify(status, header, body)
}

// Stream returns a decoder of chat events.
func (Driver) Stream() driver.Stream { return &stream{} }
