package provider

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// codeInvalidAnswer is the code of an answer that is none.
const codeInvalidAnswer = "upstream_invalid_response"

// noAnswer is the failure of a provider whose answer with status 200 is none.
// The bytes are not repeated: they may be a page with anything on it.
func noAnswer(what string) *wire.Failure {
	return &wire.Failure{
		Status: 200, Kind: fault.Upstream, Code: codeInvalidAnswer, Retryable: true, CoolDown: true,
		Message: "The provider's answer " + what + ".",
	}
}

// readAnswer reads a whole answer into v, or says why it is none.
func readAnswer(body []byte, v any) *wire.Failure {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return noAnswer("is empty")
	case body[0] != '{':
		return noAnswer("is not a JSON object")
	}
	if err := decodeLoose(body, v); err != nil {
		return noAnswer("is not valid JSON of the expected shape")
	}
	return nil
}
