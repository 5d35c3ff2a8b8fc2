package jina

import (
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Jina"

// Driver is the driver of Jina's API.
type Driver struct{}

// Serves returns Jina's language for embeddings and rankings.
func (Driver) Serves(_ driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	if e == driver.Embeddings || e == driver.Rerank {
		return wire.Jina, true
	}
	return "", false
}

// Codec returns nil: Jina's chats are of other endpoints.
func (Driver) Codec(wire.Dialect) driver.Codec { return nil }

// Address returns the endpoint under the base path, with a bearer key.
func (d Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	if _, ok := d.Serves(t, op.Endpoint); !ok {
		return driver.Call{}, driver.NotServed(vendor)
	}
	var headers []driver.Header
	if !t.APIKey.IsEmpty() {
		headers = append(headers, driver.Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.APIKey.Reveal())})
	}
	base := driver.UnderVersion(t.BasePath, "v1", "/embeddings", "/rerank")
	return driver.Call{Path: base + string(op.Endpoint), Headers: driver.WithHeaders(headers, t.Headers)}, nil
}

// Classify reads Jina's errors, which are a text or a list of violations under detail.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	f := driver.Classify(status, header, body)
	if f.ContextWindow {
		f.Param = "input"
	}
	return f
}

// Rewrite writes a request in Jina's form.
func (Driver) Rewrite(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	o := r.Members()
	o.Set("model", splice.Quote(nil, t.Model))
	o.Remove("user") // a hint
	if r.Endpoint == driver.Rerank {
		if err := driver.RejectMembers(o, t, vendor, "rank_fields", "max_chunks_per_doc", "max_tokens_per_doc"); err != nil {
			return driver.Rewritten{}, err
		}
		o.Remove("priority") // a hint
	} else if err := embed(o); err != nil {
		return driver.Rewritten{}, err
	}
	return driver.Rewritten{Body: o.Append(nil)}, nil
}

// Restore writes embeddings in OpenAI's form, and a ranking in Cohere's.
func (Driver) Restore(r *driver.Original, body []byte, _ string) (driver.Restored, error) {
	if r.Endpoint == driver.Rerank {
		return driver.RestoreRanks(body)
	}
	return driver.RestoreVectors(body)
}
