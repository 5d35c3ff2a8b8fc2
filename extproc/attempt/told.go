package attempt

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// CodeUnknown is the code of an attempt of which no report says why it failed.
const CodeUnknown = "unknown"

// Exhausted is the error for a request whose attempts have all failed, the last one with f. tried lists them.
func Exhausted(tried []map[string]any, f *wire.Failure, retryAfter time.Duration) *fault.Error {
	e := &fault.Error{
		Kind: fault.Unavailable, Type: "upstream_error", Code: "all_deployments_failed",
		Detail:     "Every deployment that could serve this request failed; try again later.",
		RetryAfter: max(f.RetryAfter, retryAfter),
		Details:    map[string]any{"attempts": tried},
	}
	switch {
	case len(tried) > 1:
	case f.Kind == fault.Timeout:
		e.Kind, e.Type, e.Code = fault.Timeout, "", "upstream_timeout"
		e.Detail = "The provider did not answer in time."
	case f.Status == 401 || f.Status == 403:
		e.Code = "upstream_auth_error"
		e.Detail = "The provider refused the gateway's credential; the operator must look at the deployment."
	}
	return e
}

// Tried describes an attempt at a deployment, for the caller.
func (t *Failure) Tried(d id.Deployment) map[string]any {
	row := map[string]any{"deployment_id": string(d), "status": nil, "code": CodeUnknown}
	if t.Known {
		row["code"] = t.Code
		if t.Status != 0 {
			row["status"] = t.Status
		}
	}
	return row
}

// Unanswered is the failure of an attempt without a response.
func Unanswered(expired bool) *wire.Failure { //nolint:revive // what happened, not a mode
	f := &wire.Failure{Kind: fault.Upstream, Code: "upstream_unreachable", Message: "The provider could not be reached, or broke off before it answered.", Retryable: true, CoolDown: true}
	if expired {
		f.Kind, f.Code, f.Message = fault.Timeout, "upstream_timeout", "The provider did not answer in time."
	}
	return f
}

// Checked is the failure of an attempt whose response the proxy removed, as the gateway asked it to, and that no
// other attempt followed. The provider's own text was lost with the response.
func (t *Failure) Checked() *wire.Failure {
	if t.Kind == fault.Blocked {
		return &wire.Failure{Status: t.Status, Kind: t.Kind, Code: t.Code, Message: "The provider's content filter refused the request or its answer.", ContentFilter: true}
	}
	return &wire.Failure{Status: t.Status, Kind: fault.Upstream, Code: t.Code, Message: "The provider failed.", Retryable: true, CoolDown: true}
}
