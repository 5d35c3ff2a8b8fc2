package voyage

import (
	"net/http"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Voyage"

// Driver is the driver of Voyage's API.
type Driver struct{}

// Serves returns Voyage's language for embeddings and rankings.
func (Driver) Serves(_ driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	if e == driver.Embeddings || e == driver.Rerank {
		return wire.Voyage, true
	}
	return "", false
}

// Codec returns nil: Voyage has no chats.
func (Driver) Codec(wire.Dialect) driver.Codec { return nil }

// Address returns the endpoint under the base path, with a bearer key.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := d.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	path := string(op.Endpoint)
	if op.Endpoint == driver.Embeddings {
		path = kindOf(t.Model).path()
	}
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())})
	}
	base := driver.UnderVersion(t.BasePath, "v1", "/embeddings", "/rerank", multimodal.path(), contextualized.path())
	return driver.Call{Path: base + path, Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// Classify reads Voyage's errors, which are a text under detail.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	f := driver.Classify(status, header, body)
	switch {
	case f.ContextWindow:
		f.Param = "input"
	case status == http.StatusBadRequest && strings.HasPrefix(f.Message, "Model ") && strings.Contains(f.Message, " is not supported"):
		return (&driver.Problem{Status: http.StatusNotFound, Message: f.ProviderMessage, Param: "model"}).Failure()
	}
	return f
}

// Rewrite writes a request in Voyage's form.
func (Driver) Rewrite(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	o := r.Members()
	o.Set("model", splice.Quote(nil, t.Model))
	o.Remove("user") // a hint
	var err error
	if r.Endpoint == driver.Rerank {
		err = rank(o, t)
	} else {
		err = embed(o, t)
	}
	if err != nil {
		return driver.Rewritten{}, err
	}
	return driver.Rewritten{Body: o.Append(nil)}, nil
}

// Restore writes embeddings in OpenAI's form, and a ranking in Cohere's.
func (Driver) Restore(r *driver.Original, body []byte, model string) (driver.Restored, error) {
	switch {
	case r.Endpoint == driver.Rerank:
		return driver.RestoreRanks(body)
	case kindOf(model) == contextualized:
		return flattened(body, model)
	}
	return driver.RestoreVectors(body)
}
