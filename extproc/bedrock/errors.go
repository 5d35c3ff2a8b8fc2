package bedrock

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// apiError is an error in the shape of AWS.
type apiError struct {
	kind    string // such as ThrottlingException
	message string
}

// errorClass is what an error means. An empty field matches any.
type errorClass struct {
	kind string // the exception, without the word Exception
	says string // in the message, in lower case
	as   int    // status of the class
	code string // of the class, as package driver knows it
}

// errorClasses is the table of AWS's errors. The first row that matches counts. A response names its error in a header,
// and a stream in an event.
// See https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html and
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html.
func errorClasses() []errorClass {
	return []errorClass{
		{kind: "AccessDenied", says: "payment", as: http.StatusPaymentRequired},
		{kind: "AccessDenied", as: http.StatusForbidden},
		{kind: "ExpiredToken", as: http.StatusUnauthorized},
		{kind: "InvalidSignature", as: http.StatusUnauthorized},
		{kind: "SignatureDoesNotMatch", as: http.StatusUnauthorized},
		{kind: "IncompleteSignature", as: http.StatusUnauthorized},
		{kind: "InvalidClientTokenId", as: http.StatusUnauthorized},
		{kind: "MissingAuthenticationToken", as: http.StatusUnauthorized},
		{kind: "UnrecognizedClient", as: http.StatusUnauthorized},
		{kind: "OptInRequired", as: http.StatusForbidden},
		{kind: "NotAuthorized", as: http.StatusForbidden},

		{kind: "Throttling", as: http.StatusTooManyRequests},
		{kind: "ThrottledException", as: http.StatusTooManyRequests},
		{kind: "TooManyRequests", as: http.StatusTooManyRequests},
		{kind: "ServiceQuotaExceeded", as: http.StatusTooManyRequests},
		{kind: "LimitExceeded", as: http.StatusTooManyRequests},

		{kind: "ModelNotReady", as: http.StatusServiceUnavailable},
		{kind: "ServiceUnavailable", as: driver.StatusOverloaded},
		{kind: "ModelTimeout", as: http.StatusGatewayTimeout},
		{kind: "ModelStreamError", as: http.StatusBadGateway},
		{kind: "ModelError", as: http.StatusBadGateway},
		{kind: "InternalServer", as: http.StatusInternalServerError},
		{kind: "InternalFailure", as: http.StatusInternalServerError},

		{kind: "ResourceNotFound", as: http.StatusNotFound},
		{kind: "UnknownOperation", as: http.StatusNotFound},
		{kind: "Validation", says: "on-demand throughput isn", as: http.StatusNotFound}, // needs an inference profile
		{kind: "Validation", says: "model identifier is invalid", as: http.StatusNotFound},
		{kind: "Validation", says: "model is not supported in this region", as: http.StatusNotFound},
		{kind: "Validation", says: "support counting tokens", as: http.StatusNotFound},
		{kind: "Validation", says: "operation not allowed", as: http.StatusForbidden}, // the account has no access yet
		{kind: "Validation", says: "too many tokens", as: http.StatusBadRequest, code: "context_length_exceeded"},
		{kind: "Validation", says: "exceeds the maximum", as: http.StatusBadRequest},
		{kind: "Validation", says: "input length", as: http.StatusBadRequest, code: "context_length_exceeded"},
		{kind: "Validation", says: "content filter", as: http.StatusBadRequest, code: "content_filter"},
		{kind: "Validation", says: "responsible ai polic", as: http.StatusBadRequest, code: "content_filter"},
		{kind: "Validation", as: http.StatusBadRequest},
		{kind: "Serialization", as: http.StatusBadRequest},
	}
}

// matches reports whether a row is about an error.
func (c *errorClass) matches(e *apiError) bool {
	kind := strings.ToLower(e.kind)
	return strings.HasPrefix(kind, strings.ToLower(c.kind)) && strings.Contains(strings.ToLower(e.message), c.says)
}

// Classify reads errors in the shape of AWS. One with status 200 came within a response.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	kind := header("x-amzn-errortype")
	if status == http.StatusOK {
		return failureIn(kind, body)
	}
	e := readError(kind, body)
	if e.kind == "" && e.message == "" {
		return driver.Classify(status, header, body)
	}
	f := e.failure(status)
	f.Status = status
	f.RetryAfter = driver.RetryAfter(header)
	return f
}

// failureIn classifies an error that came within a response: its status is the one that it would have had.
func failureIn(kind string, body []byte) *wire.Failure {
	e := readError(kind, body)
	return e.failure(http.StatusInternalServerError)
}

// readError reads an error. Its kind is in a header, such as ThrottlingException:http://internal.amazon.com/, or in the body.
func readError(kind string, body []byte) apiError {
	var in struct {
		looseProblem
		Code jsontext.Value `json:"code"`
	}
	_ = driver.DecodeLoose(body, &in) // what could be read so far suffices
	e := apiError{kind: kind, message: driver.Text(in.Message)}
	for _, other := range []jsontext.Value{in.Type, in.Code} {
		if e.kind == "" {
			e.kind = driver.Text(other)
		}
	}
	if e.message == "" {
		e.message = driver.Text(in.Capital)
	}
	e.kind, _, _ = strings.Cut(e.kind, ":")
	if _, after, ok := cutLast(e.kind, "#"); ok {
		e.kind = after
	}
	e.kind = strings.TrimSpace(e.kind)
	return e
}

// failure classifies an error that came with a status.
func (e *apiError) failure(status int) *wire.Failure {
	p := driver.Problem{Status: status, Message: e.message}
	if status == http.StatusFailedDependency {
		p.Status = http.StatusBadGateway // the model has failed, not the caller
	}
	for _, c := range errorClasses() {
		if e.kind != "" && c.matches(e) {
			p.Status, p.Code = c.as, c.code
			break
		}
	}
	f := p.Failure()
	f.ProviderType = e.kind
	if e.aboutClock() {
		f.Message = "The provider refused the gateway's signature because the clock of the gateway's machine is off by more than five minutes; set it."
	}
	return f
}

// aboutClock recognises a signature with a time that is too far from that of AWS.
func (e *apiError) aboutClock() bool {
	message := strings.ToLower(e.message)
	return strings.Contains(message, "signature expired") || strings.Contains(message, "signature not yet current")
}
