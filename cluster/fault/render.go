package fault

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// body is the error body of OpenAI's API, plus the field details.
type body struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Message string         `json:"message"`
	Type    string         `json:"type"`
	Param   *string        `json:"param"`
	Code    *string        `json:"code"`
	Details map[string]any `json:"details,omitempty"`
}

// OpenAI returns the error as the body that OpenAI's SDKs read.
func (e *Error) OpenAI() []byte {
	row := e.Kind.row()
	b := body{Error: errorBody{Message: e.Message(), Type: row.typ, Details: e.Details}}
	if e.Type != "" {
		b.Error.Type = e.Type
	}
	code := row.code
	if e.Code != "" {
		code = e.Code
	}
	b.Error.Code = &code
	if e.Param != "" {
		b.Error.Param = &e.Param
	}
	out, err := json.Marshal(b, json.Deterministic(true))
	if err != nil { // only Details can fail, and only with invalid UTF-8
		b.Error.Details, b.Error.Message = nil, row.text
		out, _ = json.Marshal(b)
	}
	return out
}

// messageBody is the error body of Anthropic's API.
type messageBody struct {
	Type      string       `json:"type"` // always error
	Error     messageError `json:"error"`
	RequestID string       `json:"request_id,omitzero"`
}

type messageError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Anthropic returns the error as the body that Anthropic's SDKs read. It has no place for a field
// and a code: the message names the field. request is the request's id; it may be empty.
func (e *Error) Anthropic(request string) []byte {
	b := messageBody{Type: "error", Error: messageError{Type: e.Kind.anthropic(), Message: e.Message()}, RequestID: request}
	out, _ := json.Marshal(b, jsontext.AllowInvalidUTF8(true)) // texts alone cannot fail
	return out
}

// cohereBody is the error body of Cohere's API, plus the code, the field and the details.
type cohereBody struct {
	ID      string         `json:"id,omitzero"`
	Message string         `json:"message"`
	Code    string         `json:"code"`
	Param   string         `json:"param,omitzero"`
	Details map[string]any `json:"details,omitempty"`
}

// Cohere returns the error as the body that Cohere's SDKs read. request is the request's id; it may be empty.
func (e *Error) Cohere(request string) []byte {
	b := cohereBody{ID: request, Message: e.Message(), Code: e.Code, Param: e.Param, Details: e.Details}
	if b.Code == "" {
		b.Code = e.Kind.row().code
	}
	out, err := json.Marshal(b, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil { // only Details can fail
		b.Details = nil
		out, _ = json.Marshal(b, jsontext.AllowInvalidUTF8(true))
	}
	return out
}

// Header is a header of an error response.
type Header struct{ Name, Value string }

// Headers returns the headers of the response, except for the content type.
func (e *Error) Headers() []Header {
	var out []Header
	if e.Kind == Unauthenticated {
		out = append(out, Header{"www-authenticate", "Bearer"})
	}
	if e.NoRetry {
		out = append(out, Header{"x-should-retry", "false"})
	}
	status := e.HTTPStatus()
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		out = append(out, Header{"retry-after", retryAfter(e.RetryAfter)})
	}
	return out
}

// retryAfter returns whole seconds, at least 1: RFC 9110 section 10.2.3 has no fractions.
func retryAfter(d time.Duration) string {
	return strconv.FormatInt(int64(max(d+time.Second-1, time.Second)/time.Second), 10)
}
