package lease

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// Exceeded explains a rejection: it is the cause of the *fault.Error of Reserve, for headers
// and the audit log.
type Exceeded struct { //nolint:errname // it describes a state, and is the cause of an error
	Account id.Account
	Parent  bool       // the account belongs to a parent of the key
	Epoch   uint64     // of the account's window
	Max     money.Pico // the budget
	Spent   money.Pico // spend, including unposted amounts
	Resets  time.Time  // end of the window; zero: never
	Held    bool       // enough is unspent, but requests in flight have reserved it
}

// Error names the kind of account, but neither its id nor amounts.
func (e *Exceeded) Error() string {
	if e.Held {
		return "the budget of a " + e.Account.Kind.String() + " is held by other requests"
	}
	return "the budget of a " + e.Account.Kind.String() + " is used up"
}

// Codes of the rejections.
const (
	codeExceeded    = "budget_exceeded"
	codeUnavailable = "budget_unavailable"
)

// retryAfter is the delay after which a retry makes sense if other requests hold the amount, or
// no grant was possible.
const retryAfter = time.Second

// exceeded rejects a request because of one of its bounds. If only reservations of requests in
// flight are in the way, a retry may succeed.
func exceeded(e *Exceeded, now time.Time) *fault.Error {
	if e.Held {
		return &fault.Error{
			Op: "lease.reserve", Kind: fault.OverBudget, Code: codeExceeded, RetryAfter: retryAfter, Err: e,
			Detail: "What is left of the budget of " + e.whose() + " is reserved by requests in flight. Try again when they have ended.",
		}
	}
	f := &fault.Error{
		Op: "lease.reserve", Kind: fault.OverBudget, Code: codeExceeded, NoRetry: true, Err: e,
		Detail: "What is left of the budget of " + e.whose() + " does not cover this request. ",
	}
	if e.Resets.IsZero() {
		f.Detail += "Ask for a higher max_budget."
		return f
	}
	f.RetryAfter = max(e.Resets.Sub(now), 0)
	f.Detail += "It starts again at " + e.Resets.UTC().Format(time.RFC3339) + "; ask for a higher max_budget if that is too late."
	return f
}

// unavailable rejects a request because it is unknown whether its budget allows it.
func unavailable(cause error) *fault.Error {
	return &fault.Error{
		Op: "lease.reserve", Kind: fault.Unavailable, Code: codeUnavailable, RetryAfter: retryAfter, Err: cause,
		Detail: "This request has a budget, and the cluster cannot say right now what is left of it. Try again.",
	}
}

func (e *Exceeded) whose() string {
	switch {
	case !e.Parent:
		return whose(e.Account.Kind)
	case e.Account.Kind == id.AccountKeyModel:
		return "the API key that made this one for this model"
	}
	return "the API key that made this one"
}

// whose names the kind of account for the caller.
func whose(kind id.AccountKind) string {
	switch kind {
	case id.AccountKey:
		return "this API key"
	case id.AccountTeam:
		return "this API key's team"
	case id.AccountTeamMember:
		return "this user within the team"
	case id.AccountOrganization:
		return "this API key's organization"
	case id.AccountOrganizationMember:
		return "this user within the organization"
	case id.AccountUser:
		return "this API key's user"
	case id.AccountCustomer:
		return "this end user"
	case id.AccountKeyModel:
		return "this API key for this model"
	case id.AccountTeamModel:
		return "this API key's team for this model"
	case id.AccountUserModel:
		return "this API key's user for this model"
	case id.AccountOrganizationModel:
		return "this API key's organization for this model"
	case id.AccountProvider:
		return "this provider"
	}
	return "this request"
}
