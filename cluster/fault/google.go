package fault

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/grpc/codes"
)

type googleBody struct {
	Error googleError `json:"error"`
}

type googleError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []any  `json:"details,omitempty"`
}

// googleType begins the types of details, each of which is a message of google.rpc.
const googleType = "type.googleapis.com/google.rpc."

type googleInfo struct {
	Type     string            `json:"@type"`
	Reason   string            `json:"reason"`
	Domain   string            `json:"domain"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

type googleViolations struct {
	Type  string            `json:"@type"`
	Field []googleViolation `json:"fieldViolations"`
}

type googleViolation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

type googleRetry struct {
	Type  string `json:"@type"`
	Delay string `json:"retryDelay"`
}

// Google returns the body of an error in the shape of Google's APIs, for clients of Gemini. Its details have
// the code as the reason, the field at fault, and when a retry makes sense. request is the id of the request.
func (e *Error) Google(request string) []byte {
	code := e.Code
	if code == "" {
		code = e.Kind.row().code
	}
	info := googleInfo{Type: googleType + "ErrorInfo", Reason: strings.ToUpper(code), Domain: "modelgateway"}
	if request != "" {
		info.Metadata = map[string]string{"request_id": request}
	}
	b := googleBody{Error: googleError{Code: e.HTTPStatus(), Message: e.Message(), Status: e.googleStatus(), Details: []any{info}}}
	if e.Param != "" {
		b.Error.Details = append(b.Error.Details, googleViolations{googleType + "BadRequest", []googleViolation{{e.Param, e.Message()}}})
	}
	if status := e.HTTPStatus(); status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		seconds := strconv.FormatInt(int64(max(e.RetryAfter+time.Second-1, time.Second)/time.Second), 10)
		b.Error.Details = append(b.Error.Details, googleRetry{googleType + "RetryInfo", seconds + "s"})
	}
	out, _ := json.Marshal(b, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)) // texts alone cannot fail
	return out
}

// googleStatus returns the name of the gRPC code. A provider's status that is passed on has the one that
// Google's APIs have with it.
func (e *Error) googleStatus() string {
	code := e.Kind.row().grpc
	switch e.Status {
	case http.StatusBadRequest:
		code = codes.InvalidArgument
	case http.StatusUnauthorized:
		code = codes.Unauthenticated
	case http.StatusForbidden:
		code = codes.PermissionDenied
	case http.StatusNotFound:
		code = codes.NotFound
	case http.StatusTooManyRequests:
		code = codes.ResourceExhausted
	}
	if code == codes.Canceled {
		return "CANCELLED" // as Google writes it
	}
	var b strings.Builder
	for i, c := range code.String() {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToUpper(b.String())
}
