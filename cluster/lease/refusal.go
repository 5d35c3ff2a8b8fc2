package lease

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// Exceeded is why a request is refused: the cause of the *fault.Error that Reserve
// returns, for headers and the audit log.
type Exceeded struct { //nolint:errname // it is a fact that happens to be the cause of an error
	Account id.Account
	Parent  bool       // it is that of a key by which the key of the request was made
	Epoch   uint64     // of the account's window
	Max     money.Pico // the budget
	Spent   money.Pico // what was spent of it, what is not posted yet included
	Resets  time.Time  // when the window ends; zero: never
	Held    bool       // what was spent leaves enough; the rest is held by others until they have ended
}

// Error says which sort of account it is, and not which one or how much it has.
func (e *Exceeded) Error() string {
	if e.Held {
		return "the budget of a " + e.Account.Kind.String() + " is held by other requests"
	}
	return "the budget of a " + e.Account.Kind.String() + " is used up"
}

// Codes of the refusals.
const (
	codeExceeded    = "budget_exceeded"
	codeUnavailable = "budget_unavailable"
)

// retryAfter is when it makes sense to ask again for what nobody could grant, or what
// other requests hold.
const retryAfter = time.Second

// exceeded refuses a request because of one of its bounds. Where only requests are in
// the way that are under way, they may leave enough: a little later it may pass.
func exceeded(e *Exceeded, now time.Time) *fault.Error {
	if e.Held {
		return &fault.Error{
			Op: "lease.reserve", Kind: fault.OverBudget, Code: codeExceeded, RetryAfter: retryAfter, Err: e,
			Detail: "What is left of the budget of " + e.whose() + " is held by requests that are under way. Try again when they have ended.",
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

// unavailable refuses a request because nobody can say whether its budget allows it.
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

// whose says to the caller which of its accounts is meant.
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
