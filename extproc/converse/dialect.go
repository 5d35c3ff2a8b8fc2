package converse

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dialect is the language of callers of Converse. Model and stream are not in its requests, but in their paths.
type Dialect struct{}

// Name returns wire.Converse.
func (Dialect) Name() wire.Dialect { return wire.Converse }

// DecodeRequest reads a request of Converse or ConverseStream.
func (Dialect) DecodeRequest(body []byte) (*wire.Request, error) { return decode(body, "") }

// DecodeCount reads a request of CountTokens for a chat.
func DecodeCount(body []byte) (*wire.Request, error) {
	var in struct {
		Input struct {
			Converse jsontext.Value `json:"converse"`
		} `json:"input"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	if dialect.Present(in.Input.Converse) == nil {
		return nil, noInput()
	}
	return decode(in.Input.Converse, "input.converse.")
}

// decode reads a request whose members stand behind a prefix in the caller's body.
func decode(body []byte, prefix string) (*wire.Request, error) {
	in := callerRequest{prefix: prefix}
	if err := unmarshal(body, &in, strings.TrimSuffix(prefix, ".")); err != nil {
		return nil, err
	}
	out, err := in.canonical()
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

// EncodeResponse appends a response of Converse.
func (Dialect) EncodeResponse(dst []byte, r *wire.Response, m dialect.Meta) []byte {
	return appendJSON(dst, answerOf(r, m))
}

// Stream returns an encoder of the events of ConverseStream.
func (Dialect) Stream(m dialect.Meta) dialect.Encoder { return &encoder{meta: m} }

// EncodeError returns an error in AWS's shape.
func (Dialect) EncodeError(e *fault.Error, request string) []byte { return e.AWS(request) }

// appendJSON appends v. If v cannot be written, it appends an error body: half an object must not reach a caller. Only invalid
// raw JSON, against the guarantee of package wire, can cause this.
func appendJSON(dst []byte, v any) []byte {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		out = fault.From(err).AWS("")
	}
	return append(dst, out...)
}
