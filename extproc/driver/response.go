package driver

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// codeInvalidResponse is the code of a response that is none.
const codeInvalidResponse = "upstream_invalid_response"

// InvalidResponse returns the failure of a provider whose response with status 200
// is none. The bytes are not repeated: they may be a page with anything on it.
func InvalidResponse(what string) *wire.Failure {
	return &wire.Failure{
		Status: 200, Kind: fault.Upstream, Code: codeInvalidResponse, Retryable: true, CoolDown: true,
		Message: "The provider's answer " + what + ".",
	}
}

// ReadResponse reads a whole response into v, or returns why it is none.
func ReadResponse(body []byte, v any) *wire.Failure {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return InvalidResponse("is empty")
	case body[0] != '{':
		return InvalidResponse("is not a JSON object")
	}
	if err := DecodeLoose(body, v); err != nil {
		return InvalidResponse("is not valid JSON of the expected shape")
	}
	return nil
}

// Given reports whether a raw member is present and neither null nor false.
func Given(v jsontext.Value) bool {
	return len(v) > 0 && v.Kind() != 'n' && v.Kind() != 'f'
}
