package attempt

import (
	"cmp"
	"net/http"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/redact"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Failure is what is known of one failed attempt.
type Failure struct {
	Status  int    // the provider's; 0 if it gave none
	Code    string // short reason: "timeout", "connection", or the provider's code
	Kind    fault.Kind
	Reached bool   // the provider has seen the request
	Cause   string // see package cause; empty if only the caller was at fault
	Detail  string // the proxy's reason, for the log

	Known      bool          // set by Failures: the attempt has failed
	RequestID  string        // the provider's
	RetryAfter time.Duration // as the provider requested

	// The provider's error, as redact returns it.
	errorType string
	errorCode string
	message   string
}

// SetProviderError takes the type, the code and the message of a provider's error, without what
// must not be recorded. of is the attempt.
func (t *Failure) SetProviderError(f *wire.Failure, of *redact.Attempt) {
	t.errorType, t.errorCode = redact.Name(f.ProviderType, of.Deployment), redact.Name(f.ProviderCode, of.Deployment)
	t.message = of.Message(f.ProviderMessage)
}

// merge adds the fields of another report of the same failure. Known fields stay, except for
// a less exact cause.
func (t *Failure) merge(more *Failure) {
	if t.Cause == "" || t.Cause == cause.Unknown || t.Cause == cause.ConnectFailed && more.Cause == cause.DNS {
		t.Cause = cmp.Or(more.Cause, t.Cause)
	}
	t.Detail, t.RequestID = cmp.Or(t.Detail, more.Detail), cmp.Or(t.RequestID, more.RequestID)
	t.errorType, t.errorCode, t.message = cmp.Or(t.errorType, more.errorType), cmp.Or(t.errorCode, more.errorCode), cmp.Or(t.message, more.message)
	t.RetryAfter = max(t.RetryAfter, more.RetryAfter)
}

// Free reports whether no provider charges for the attempt.
func (t *Failure) Free() bool { return t.Known && (!t.Reached || t.Status >= 300) }

// IsCredentialRejected reports whether a provider rejected the deployment's credential.
func (t *Failure) IsCredentialRejected() bool {
	return t.Code == "upstream_auth_error" || t.Status == http.StatusUnauthorized || t.Status == http.StatusForbidden
}

// Record returns the failure of attempt i (from 0), at deployment d, as usage records have it.
func (t *Failure) Record(i int, d *catalog.Deployment) usage.Failure {
	return usage.Failure{
		Attempt: i + 1, Deployment: d.ID, Provider: d.Provider, Status: t.Status, Cause: cmp.Or(t.Cause, cause.Unknown),
		Type: t.errorType, Code: t.errorCode, Message: t.message, RequestID: t.RequestID,
	}
}

// CooldownReason returns why a deployment goes into cooldown after a response with status (0 if
// there was none) that the gateway classifies as kind.
func CooldownReason(status int, kind fault.Kind) cooldown.Reason {
	switch {
	case status == 429:
		return cooldown.RateLimited
	case status >= 400 && status < 500 && status != 408:
		return cooldown.Unauthorized
	case kind == fault.Timeout || status == 408:
		return cooldown.TimedOut
	case status == 0:
		return cooldown.Connection
	}
	return cooldown.ServerError
}
