package driver

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// codeInvalidAnswer is the code of an answer that is none.
const codeInvalidAnswer = "upstream_invalid_response"

// NoAnswer is the failure of a provider whose answer with status 200 is none.
// The bytes are not repeated: they may be a page with anything on it.
func NoAnswer(what string) *wire.Failure {
	return &wire.Failure{
		Status: 200, Kind: fault.Upstream, Code: codeInvalidAnswer, Retryable: true, CoolDown: true,
		Message: "The provider's answer " + what + ".",
	}
}

// ReadAnswer reads a whole answer into v, or says why it is none.
func ReadAnswer(body []byte, v any) *wire.Failure {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return NoAnswer("is empty")
	case body[0] != '{':
		return NoAnswer("is not a JSON object")
	}
	if err := DecodeLoose(body, v); err != nil {
		return NoAnswer("is not valid JSON of the expected shape")
	}
	return nil
}

// Given reports whether a raw member is there and says something.
func Given(v jsontext.Value) bool {
	return len(v) > 0 && v.Kind() != 'n' && v.Kind() != 'f'
}
