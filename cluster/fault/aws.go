package fault

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type awsBody struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Field   string `json:"field,omitzero"`
	Request string `json:"requestId,omitzero"`
}

// AWS returns the body of an error in the shape of AWS's APIs, for clients of Bedrock. The reason is the code, and the field
// is the one at fault; AWS's libraries read the first two members. request is the id of the request.
func (e *Error) AWS(request string) []byte {
	b := awsBody{Type: e.AWSType(), Message: e.Message(), Reason: e.Code, Field: e.Param, Request: request}
	if b.Reason == "" {
		b.Reason = e.Kind.row().code
	}
	out, _ := json.Marshal(b, jsontext.AllowInvalidUTF8(true)) // texts alone cannot fail
	return out
}

// AWSType names the error as Bedrock does. Its libraries have a class for each name, and retry some of them.
func (e *Error) AWSType() string {
	if e.Kind == OverBudget {
		return "ServiceQuotaExceededException" // which they do not retry
	}
	switch e.HTTPStatus() {
	case http.StatusUnauthorized:
		return "UnrecognizedClientException"
	case http.StatusPaymentRequired, http.StatusForbidden:
		return "AccessDeniedException"
	case http.StatusNotFound:
		return "ResourceNotFoundException"
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return "ModelTimeoutException"
	case http.StatusTooManyRequests:
		return "ThrottlingException"
	case http.StatusBadGateway:
		return "ModelErrorException"
	case http.StatusServiceUnavailable:
		return "ServiceUnavailableException"
	case http.StatusInternalServerError:
		return "InternalServerException"
	}
	return "ValidationException"
}
