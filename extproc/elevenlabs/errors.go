package elevenlabs

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// detail is the object under detail. Newer errors have a code besides the status, and the member at fault.
type detail struct {
	Status  jsontext.Value `json:"status"` // a word; an older API has numbers
	Code    jsontext.Value `json:"code"`
	Message jsontext.Value `json:"message"`
	Param   jsontext.Value `json:"param"`
}

// classOf returns the status of the class of an error, by ElevenLabs's word for it, with a code that package driver knows and
// the member at fault. The status is 0 for a word that says no more than the response's status.
// See https://elevenlabs.io/docs/developers/resources/error-messages.
func classOf(word string) (status int, code, param string) {
	switch word {
	case "quota_exceeded", "insufficient_credits", "payment_required", "paid_plan_required", "subscription_required": // 401 or 402
		return http.StatusPaymentRequired, "insufficient_quota", ""
	case "invalid_api_key", "missing_permissions", "needs_authorization", "detected_unusual_activity", "sign_in_required", "invalid_subscription":
		return http.StatusUnauthorized, "", ""
	case "output_format_not_allowed": // the caller's choice: the account is well
		return http.StatusBadRequest, "output_format_not_allowed", "response_format"
	case "voice_not_found", "voice_does_not_exist", "invalid_voice_id", "voice_access_denied", "can_not_use_instant_voice_cloning":
		return http.StatusNotFound, "voice_not_found", "voice"
	case "model_not_found", "model_does_not_exist", "invalid_model_id":
		return http.StatusNotFound, "model_not_found", "model"
	case "max_character_limit_exceeded", "text_too_long":
		return http.StatusBadRequest, "max_character_limit_exceeded", "input"
	case "too_many_concurrent_requests", "rate_limit_exceeded", "concurrent_limit_exceeded":
		return http.StatusTooManyRequests, "", ""
	case "system_busy":
		return driver.StatusOverloaded, "", ""
	case "content_against_policy", "content_moderation", "text_violates_policy":
		return http.StatusBadRequest, "content_filter", ""
	case "file_too_large":
		return http.StatusRequestEntityTooLarge, "", "file"
	}
	return 0, "", ""
}

// Classify reads ElevenLabs's errors: an object, a text or a list of violations under detail.
func (Driver) Classify(status int, header func(string) string, body []byte) *wire.Failure {
	var in struct {
		Detail jsontext.Value `json:"detail"`
	}
	var d detail
	if driver.DecodeLoose(body, &in) != nil || in.Detail.Kind() != '{' || driver.DecodeLoose(in.Detail, &d) != nil {
		f := driver.Classify(status, header, body)
		f.Param = memberOf(f.Param)
		return f
	}
	problem := driver.Problem{Status: status, Code: cmp.Or(driver.Text(d.Code), driver.Text(d.Status)), Message: driver.Text(d.Message), Param: memberOf(driver.Text(d.Param))}
	for _, word := range [...]string{driver.Text(d.Code), driver.Text(d.Status)} {
		class, code, param := classOf(strings.ToLower(word))
		if class == 0 {
			continue
		}
		if problem.Status, problem.Code = class, code; problem.Param == "" {
			problem.Param = param
		}
		break
	}
	f := problem.Failure()
	f.RetryAfter = driver.RetryAfter(header)
	return f
}

// failureIn classifies an error that came with status 200.
func failureIn(body []byte) *wire.Failure {
	return Driver{}.Classify(http.StatusInternalServerError, nil, body)
}

// memberOf returns the caller's name of a member.
func memberOf(name string) string {
	switch name {
	case "text":
		return "input"
	case "model_id":
		return "model"
	case "voice_id":
		return "voice"
	case "language_code":
		return "language"
	case "output_format":
		return "response_format"
	}
	return name
}
