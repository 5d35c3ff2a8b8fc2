package responses

import (
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dialect is the language of OpenAI's POST /v1/responses.
type Dialect struct{}

// Name returns wire.Responses.
func (Dialect) Name() wire.Dialect { return wire.Responses }

// DecodeRequest reads a request for a response.
func (Dialect) DecodeRequest(body []byte) (*wire.Request, error) {
	var in request
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	out, err := in.canonical()
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

// EncodeResponse appends a response object.
func (Dialect) EncodeResponse(dst []byte, r *wire.Response, m dialect.Meta) []byte {
	return appendResponse(dst, wholeOf(r, m), m.Echo)
}

// EncodeError returns OpenAI's error body.
func (Dialect) EncodeError(e *fault.Error, _ string) []byte { return e.OpenAI() }
