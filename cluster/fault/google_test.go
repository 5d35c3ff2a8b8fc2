package fault_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Google's clients find the status, the field at fault, the code and the delay where Google's APIs have them.
func TestGoogle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  *fault.Error
		want string
	}{
		{fault.Field("contents", "invalid_value", "contents is wrong."), `"code":400,"message":"contents is wrong.","status":"INVALID_ARGUMENT"`},
		{fault.Field("contents", "invalid_value", "contents is wrong."), `"fieldViolations":[{"field":"contents","description":"contents is wrong."}]`},
		{fault.Field("contents", "invalid_value", "contents is wrong."), `"reason":"INVALID_VALUE","domain":"modelgateway","metadata":{"request_id":"req_1"}`},
		{fault.New(fault.Unauthenticated, "invalid_api_key", "No."), `"status":"UNAUTHENTICATED"`},
		{fault.New(fault.Denied, "", "No."), `"status":"PERMISSION_DENIED"`},
		{fault.New(fault.NotFound, "", "No."), `"status":"NOT_FOUND"`},
		{&fault.Error{Kind: fault.RateLimited, RetryAfter: 1500 * time.Millisecond}, `"retryDelay":"2s"`},
		{&fault.Error{Kind: fault.RateLimited}, `"status":"RESOURCE_EXHAUSTED"`},
		{fault.New(fault.Canceled, "", "No."), `"status":"CANCELLED"`},
		{fault.New(fault.TooLarge, "", "No."), `"status":"OUT_OF_RANGE"`},
		{fault.From(json.Unmarshal([]byte("{"), new(int))), `"code":500`},
	} {
		body := string(c.err.Google("req_1"))
		if !strings.Contains(body, c.want) {
			t.Errorf("%s lacks %s", body, c.want)
		}
		var v struct {
			Error struct {
				Code    int              `json:"code"`
				Message string           `json:"message"`
				Status  string           `json:"status"`
				Details []map[string]any `json:"details"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(body), &v, json.RejectUnknownMembers(true)); err != nil || v.Error.Code != c.err.HTTPStatus() || v.Error.Message == "" || v.Error.Status == "" {
			t.Errorf("%s: %v", body, err)
		}
		for _, d := range v.Error.Details {
			if kind, _ := d["@type"].(string); !strings.HasPrefix(kind, "type.googleapis.com/google.rpc.") {
				t.Errorf("%s: a detail of type %q", body, kind)
			}
		}
	}
}
