package fault_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// AWS's clients find the name of the error and its message where AWS's APIs have them.
func TestAWS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err                 *fault.Error
		name, reason, field string
	}{
		{fault.Field("messages[0].role", "invalid_value", "messages[0].role is wrong."), "ValidationException", "invalid_value", "messages[0].role"},
		{fault.New(fault.Blocked, "guardrail_blocked", "No."), "ValidationException", "guardrail_blocked", ""},
		{fault.New(fault.Unsupported, "", "No."), "ValidationException", "unsupported", ""},
		{fault.New(fault.TooLarge, "", "No."), "ValidationException", "request_too_large", ""},
		{fault.New(fault.Unauthenticated, "", "No."), "UnrecognizedClientException", "invalid_api_key", ""},
		{fault.New(fault.Denied, "model_not_allowed", "No."), "AccessDeniedException", "model_not_allowed", ""},
		{fault.New(fault.NotFound, "model_not_found", "No."), "ResourceNotFoundException", "model_not_found", ""},
		{fault.New(fault.RateLimited, "", "No."), "ThrottlingException", "rate_limit_exceeded", ""},
		{fault.New(fault.OverBudget, "", "No."), "ServiceQuotaExceededException", "budget_exceeded", ""},
		{fault.New(fault.Timeout, "", "No."), "ModelTimeoutException", "upstream_timeout", ""},
		{fault.New(fault.Upstream, "", "No."), "ModelErrorException", "upstream_error", ""},
		{fault.New(fault.Unavailable, "", "No."), "ServiceUnavailableException", "service_unavailable", ""},
		{fault.New(fault.Internal, "", "No."), "InternalServerException", "internal_error", ""},
		{&fault.Error{Kind: fault.Upstream, Status: 402, Detail: "No."}, "AccessDeniedException", "upstream_error", ""},
	} {
		var v struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
			Reason  string `json:"reason"`
			Field   string `json:"field"`
			Request string `json:"requestId"`
		}
		body := c.err.AWS("req_1")
		if err := json.Unmarshal(body, &v, json.RejectUnknownMembers(true)); err != nil || v.Type != c.name || v.Reason != c.reason || v.Field != c.field || v.Message == "" || v.Request != "req_1" {
			t.Errorf("%s: %v", body, err)
		}
	}
}
