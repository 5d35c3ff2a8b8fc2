package driver

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// statusOverloaded is Anthropic's "overloaded", which no RFC has.
const statusOverloaded = 529

// apiError is a provider's error, in any shape.
type apiError struct {
	Message string
	Type    string
	Code    string
	Param   string
	status  int // if the code is one; 0 if it is not
}

// errorBody has the shapes of error bodies: OpenAI's and Anthropic's object
// under error, a bare text there, and a message or detail at the top.
type errorBody struct {
	Error   jsontext.Value `json:"error"`
	Message jsontext.Value `json:"message"`
	Detail  jsontext.Value `json:"detail"`
	Type    jsontext.Value `json:"type"`
	Code    jsontext.Value `json:"code"`
	Base    baseResponse   `json:"base_resp"`
}

// readError reads an error body; what cannot be read has no message.
func readError(body []byte) apiError {
	var b errorBody
	if DecodeLoose(body, &b) != nil {
		return apiError{}
	}
	if len(b.Error) > 0 && b.Error.Kind() == '{' {
		return readErrorObject(b.Error)
	}
	if b.Base.Status != 0 {
		return b.Base.error()
	}
	e := apiError{Message: Text(b.Error), Type: Text(b.Type), Code: Text(b.Code)}
	for _, v := range []jsontext.Value{b.Message, b.Detail} {
		if e.Message == "" {
			e.Message = Text(v)
		}
	}
	if e.Message == "" {
		e.Message, e.Param = readDetail(b.Message, b.Detail)
	}
	return e
}

// readErrorObject reads the object under error.
func readErrorObject(raw jsontext.Value) apiError {
	var o struct {
		Message    jsontext.Value `json:"message"`
		Type       jsontext.Value `json:"type"`
		Code       jsontext.Value `json:"code"`
		Param      jsontext.Value `json:"param"`
		InnerError struct {
			Code jsontext.Value `json:"code"`
		} `json:"innererror"`
	}
	_ = DecodeLoose(raw, &o) // what could be read so far suffices
	e := apiError{Message: Text(o.Message), Type: Text(o.Type), Code: Text(o.Code), Param: Text(o.Param)}
	if Text(o.InnerError.Code) == "ResponsibleAIPolicyViolation" {
		e.Code = "content_filter"
	}
	if n, err := strconv.Atoi(e.Code); err == nil {
		e.Code = ""
		if n >= 400 && n < 600 {
			e.status = n
		}
	}
	return e
}

// Text returns a string or a number as text, and an empty text for anything else.
func Text(v jsontext.Value) string {
	var s string
	switch {
	case len(v) == 0:
	case v.Kind() == '0':
		return string(v)
	case v.Kind() == '"' && DecodeLoose(v, &s) == nil:
		return s
	}
	return ""
}

// Classify returns what a response with a status other than 200 means. One
// function serves every driver: the shapes of errors do not overlap, and providers
// that copy OpenAI's API copy each other's errors.
func Classify(status int, header func(string) string, body []byte) *wire.Failure {
	f := judge(status, readError(body))
	f.RetryAfter = RetryAfter(header)
	return f
}

// FailureIn classifies an error that came with status 200, whole or in a stream.
func FailureIn(body []byte) *wire.Failure {
	e := readError(body)
	status := e.status
	if status == 0 {
		status = statusOfType(e)
	}
	return judge(status, e)
}

// statusOfType is the status that an error would have had outside of a stream.
func statusOfType(e apiError) int {
	for _, word := range []string{e.Type, e.Code} {
		switch word {
		case "invalid_request_error", "context_length_exceeded", "content_filter", "content_policy_violation",
			"invalid_prompt", "bio_policy", "misalignment_policy_violation", "invalid_image", "invalid_image_format", "invalid_base64_image",
			"invalid_image_url", "image_too_large", "image_too_small", "image_parse_error", "image_content_policy_violation", "invalid_image_mode",
			"image_file_too_large", "unsupported_image_media_type", "empty_image_file", "failed_to_download_image", "image_file_not_found":
			return http.StatusBadRequest
		case "authentication_error", "invalid_api_key":
			return http.StatusUnauthorized
		case "billing_error":
			return http.StatusPaymentRequired
		case "permission_error":
			return http.StatusForbidden
		case "not_found_error":
			return http.StatusNotFound
		case "request_too_large":
			return http.StatusRequestEntityTooLarge
		case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "requests", "tokens":
			return http.StatusTooManyRequests
		case "timeout_error":
			return http.StatusGatewayTimeout
		case "overloaded_error":
			return statusOverloaded
		case "slow_down", "server_is_overloaded":
			return http.StatusServiceUnavailable
		}
	}
	return http.StatusInternalServerError
}

// judge decides who caused the error, whether a retry makes sense, and whether
// the deployment goes into cooldown.
func judge(status int, e apiError) *wire.Failure {
	f := &wire.Failure{Status: status, ProviderType: e.Type, ProviderCode: e.Code, ProviderMessage: publicText(e.Message)}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusBadRequest && aboutKey(e):
		// Never the caller's status: callers would think that their own key is bad.
		f.Kind, f.Code, f.Type, f.Retryable, f.CoolDown = fault.Unavailable, "upstream_auth_error", "upstream_error", true, true
		f.Message = "The provider refused the gateway's credential."
	case status == http.StatusPaymentRequired, aboutMoney(e):
		// Some providers send 400 or 429 for it; a minute of waiting does not fill an account.
		f.Kind, f.Code, f.Type, f.Retryable, f.CoolDown = fault.Unavailable, "upstream_quota_error", "upstream_error", true, true
		f.Message = "The gateway's account at the provider is out of credit."
	case status == http.StatusTooManyRequests:
		f.Kind, f.Code, f.Retryable, f.CoolDown = fault.Upstream, "upstream_rate_limited", true, true
		f.Message = "The provider is limiting the gateway's rate."
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		f.Kind, f.Retryable, f.CoolDown = fault.Timeout, true, true
	case status == http.StatusConflict:
		f.Kind, f.Retryable = fault.Upstream, true
	case status == statusOverloaded:
		f.Kind, f.Code, f.Retryable, f.CoolDown = fault.Upstream, "upstream_overloaded", true, true
		f.Message = "The provider is overloaded."
	case status >= 500:
		f.Kind, f.Retryable, f.CoolDown = fault.Upstream, true, true
		f.Message = fmt.Sprintf("The provider failed with status %d.", status)
	case status >= 400:
		blameCaller(f, e)
	default: // redirects, which are never followed, and 2xx without a response
		f.Kind, f.Code, f.Retryable, f.CoolDown = fault.Upstream, codeInvalidResponse, true, true
		f.Message = fmt.Sprintf("The provider answered with status %d, which is not an answer.", status)
	}
	return f
}

// blameCaller fills in a failure that the caller can correct.
func blameCaller(f *wire.Failure, e apiError) {
	f.Kind, f.Type, f.Code, f.Param, f.Message = fault.Malformed, "invalid_request_error", e.Code, e.Param, publicText(e.Message)
	switch {
	case aboutWindow(e):
		f.ContextWindow, f.Code, f.Status = true, "context_length_exceeded", http.StatusBadRequest
		if f.Param == "" {
			f.Param = "messages"
		}
	case aboutContent(e):
		f.ContentFilter, f.Kind, f.Code, f.Status = true, fault.Blocked, "content_filter", http.StatusBadRequest
	case f.Status == http.StatusNotFound:
		f.Kind = fault.NotFound
	case f.Status == http.StatusRequestEntityTooLarge:
		f.Kind = fault.TooLarge
	}
	if f.Message == "" {
		f.Message = fmt.Sprintf("The provider refused the request with status %d and did not say why.", f.Status)
	}
}

// aboutKey recognises a bad credential that came as a bad request.
func aboutKey(e apiError) bool {
	return e.Type == "authentication_error" || e.Code == "invalid_api_key" || says(e, "incorrect api key", "invalid api key")
}

// aboutMoney recognises an empty account, whatever its status.
func aboutMoney(e apiError) bool {
	switch e.Code {
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "credit_balance_exhausted":
		return true
	}
	return e.Type == "billing_error" || e.Type == "insufficient_quota" || e.Type == "exceeded_current_quota_error" || says(e, "credit balance is too low", "insufficient balance")
}

// aboutWindow recognises a request that is too long for the model.
func aboutWindow(e apiError) bool {
	return e.Code == "context_length_exceeded" || e.Code == "tokens_limit_reached" || says(e,
		"prompt is too long", "maximum context length", "exceed context limit", "context window", "context length",
		"input is too long", "reduce the length of the messages", "inputs tokens + max_new_tokens", "too many input tokens",
		"tokens in the prompt cannot exceed", "too many tokens: size limit exceeded")
}

// aboutContent recognises a content filter.
func aboutContent(e apiError) bool {
	switch e.Code {
	case "content_filter", "content_policy_violation", "responsible_ai_policy_violation",
		"bio_policy", "misalignment_policy_violation", "image_content_policy_violation", "data_inspection_failed":
		return true
	}
	return says(e, "content filtering policy", "content management policy", "safety system", "content policy", "usage guidelines", "blocked by guardrail")
}

// says reports whether the message has one of the phrases, in any case.
func says(e apiError, phrases ...string) bool {
	message := strings.ToLower(e.Message)
	for _, p := range phrases {
		if strings.Contains(message, p) {
			return true
		}
	}
	return false
}

// longestWait bounds a provider's Retry-After.
const longestWait = time.Hour

// RetryAfter reads retry-after-ms and retry-after, in which seconds may have a
// fraction. A date there is counted from the response's own date header, so that
// the clocks of two machines are not compared; without one it is ignored.
func RetryAfter(header func(string) string) time.Duration {
	if header == nil {
		return 0
	}
	if d, ok := waitOf(header("retry-after-ms"), time.Millisecond); ok {
		return d
	}
	value := header("retry-after")
	if d, ok := waitOf(value, time.Second); ok {
		return d
	}
	then, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header("date"))
	if err != nil {
		return 0
	}
	return max(0, min(then.Sub(now), longestWait))
}

// waitOf reads a number of units, within [0, longestWait].
func waitOf(value string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(f >= 0) {
		return 0, false
	}
	return time.Duration(min(f*float64(unit), float64(longestWait))), true
}
