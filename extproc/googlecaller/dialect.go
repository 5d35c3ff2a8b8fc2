package googlecaller

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dialect is the language of callers of Google's generateContent. Model and stream are not in its
// requests, but in their paths.
type Dialect struct{}

// Name returns wire.Gemini.
func (Dialect) Name() wire.Dialect { return wire.Gemini }

// DecodeRequest reads a GenerateContentRequest.
func (Dialect) DecodeRequest(body []byte) (*wire.Request, error) {
	body, err := camelCased(body)
	if err != nil {
		return nil, dialect.Reject(err, "")
	}
	var in callerRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	out, err := in.canonical()
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

// DecodeCount reads a CountTokensRequest: contents alone, or a whole request for content.
func DecodeCount(body []byte) (*wire.Request, error) {
	body, err := camelCased(body)
	if err != nil {
		return nil, dialect.Reject(err, "")
	}
	var in struct {
		Whole jsontext.Value `json:"generateContentRequest"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	if dialect.Present(in.Whole) != nil {
		body = in.Whole
	}
	return Dialect{}.DecodeRequest(body)
}

// EncodeResponse appends a GenerateContentResponse.
func (Dialect) EncodeResponse(dst []byte, r *wire.Response, m dialect.Meta) []byte {
	return appendJSON(dst, answerOf(r, m))
}

// Stream returns an encoder of the events of streamGenerateContent.
func (Dialect) Stream(m dialect.Meta) dialect.Encoder { return &encoder{meta: m} }

// EncodeError returns an error of Google's shape, which names fields as Google does.
func (Dialect) EncodeError(e *fault.Error, request string) []byte {
	return inOwnWords(e).Google(request)
}

// appendJSON appends v. If v cannot be written, it appends an error body: half an object must not
// reach a caller. Only invalid raw JSON, against the guarantee of package wire, can cause this.
func appendJSON(dst []byte, v any) []byte {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		out = fault.From(err).Google("")
	}
	return append(dst, out...)
}
