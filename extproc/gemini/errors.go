package gemini

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// apiError is the object under error, of Google's shape.
type apiError struct {
	Code    driver.Count   `json:"code"`
	Message string         `json:"message"`
	Status  string         `json:"status"`
	Details []looseDetail  `json:"details"`
	Other   jsontext.Value `json:",embed"`
}

// looseDetail is a detail of any type.
type looseDetail struct {
	Type   string         `json:"@type"`
	Reason string         `json:"reason"`     // of ErrorInfo
	Delay  jsontext.Value `json:"retryDelay"` // of RetryInfo
}

// errorClass is what errors mean that a status alone does not tell. An empty field matches any.
type errorClass struct {
	word   string // google.rpc.Code
	reason string // of ErrorInfo
	says   string // in the message, in lower case
	as     int    // status of the class
	code   string // of the class, as package driver knows it
}

// errorClasses is the table of Google's errors. The first row that matches counts.
// See https://ai.google.dev/gemini-api/docs/troubleshooting.
func errorClasses() []errorClass {
	return []errorClass{
		{reason: "API_KEY_INVALID", as: http.StatusUnauthorized},
		{says: "api key not valid", as: http.StatusUnauthorized},
		{says: "api key expired", as: http.StatusUnauthorized},
		{word: "UNAUTHENTICATED", as: http.StatusUnauthorized},
		{word: "PERMISSION_DENIED", as: http.StatusForbidden},
		{word: "FAILED_PRECONDITION", says: "billing", as: http.StatusPaymentRequired},
		{word: "FAILED_PRECONDITION", says: "location is not supported", as: http.StatusForbidden},
		{word: "RESOURCE_EXHAUSTED", says: "prepayment credits", as: http.StatusPaymentRequired},
		{word: "RESOURCE_EXHAUSTED", says: "spending cap", as: http.StatusPaymentRequired},
		{word: "RESOURCE_EXHAUSTED", as: http.StatusTooManyRequests},
		{says: "exceeds the maximum number of tokens", as: http.StatusBadRequest, code: "context_length_exceeded"},
		{says: "payload size exceeds the limit", as: http.StatusRequestEntityTooLarge},
		{says: "responsible ai", as: http.StatusBadRequest, code: "content_filter"},
		{word: "CANCELLED", as: http.StatusServiceUnavailable},
		{word: "UNAVAILABLE", as: driver.StatusOverloaded},
		{word: "DEADLINE_EXCEEDED", as: http.StatusGatewayTimeout},
		{word: "ABORTED", as: http.StatusConflict},
		{word: "INTERNAL", as: http.StatusInternalServerError},
		{word: "UNKNOWN", as: http.StatusInternalServerError},
		{word: "NOT_FOUND", as: http.StatusNotFound},
		{word: "INVALID_ARGUMENT", as: http.StatusBadRequest},
		{word: "FAILED_PRECONDITION", as: http.StatusBadRequest},
		{word: "OUT_OF_RANGE", as: http.StatusBadRequest},
	}
}

// matches reports whether a row is about an error.
func (c *errorClass) matches(e *apiError) bool {
	if c.word != "" && c.word != e.Status || c.says != "" && !strings.Contains(strings.ToLower(e.Message), c.says) {
		return false
	}
	for _, d := range e.Details {
		if d.Reason == c.reason {
			return true
		}
	}
	return c.reason == ""
}

// classify returns what a response with a status other than 200 means.
func classify(status int, header func(string) string, body []byte) *wire.Failure {
	e, ok := readError(body)
	if !ok {
		return driver.Classify(status, header, body)
	}
	f := e.failure(status)
	if wait := driver.RetryAfter(header); wait > 0 {
		f.RetryAfter = wait
	}
	return f
}

// failureIn classifies an error that came with status 200, whole or in a stream.
func failureIn(body []byte) *wire.Failure {
	e, ok := readError(body)
	if !ok {
		return driver.FailureIn(body)
	}
	status := http.StatusInternalServerError
	if n := e.Code.N; n >= 400 && n < 600 {
		status = int(n)
	}
	return e.failure(status)
}

// readError reads an error of Google's shape; not ok if it has another one, such as that of a proxy.
func readError(body []byte) (apiError, bool) {
	var in struct {
		Error apiError `json:"error"`
	}
	err := driver.DecodeLoose(body, &in)
	return in.Error, err == nil && (in.Error.Status != "" || in.Error.Message != "")
}

// failure classifies an error that came with a status.
func (e *apiError) failure(status int) *wire.Failure {
	p := driver.Problem{Status: status, Message: e.Message}
	for _, c := range errorClasses() {
		if c.matches(e) {
			p.Status, p.Code = c.as, c.code
			break
		}
	}
	f := p.Failure()
	f.ProviderType = e.Status
	if e.Status == "CANCELLED" {
		f.Message = "The provider cancelled the request."
	}
	if p.Status != http.StatusBadRequest && p.Status != http.StatusRequestEntityTooLarge {
		f.Status = status
	}
	for _, d := range e.Details {
		if d.Reason != "" {
			f.ProviderCode = d.Reason
		}
		if wait, err := time.ParseDuration(driver.Text(d.Delay)); err == nil && wait > 0 {
			f.RetryAfter = min(wait, time.Hour)
		}
	}
	return f
}
