package journal

import (
	"fmt"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// EventID names an event for good. Whoever applies events remembers the highest
// Seq per Node and Epoch, and thereby which it has applied already.
type EventID struct {
	Node  id.Node
	Epoch uint64
	Seq   uint64 // dense, from 1; 0 means not assigned yet
}

// String returns node/epoch/seq.
func (e EventID) String() string { return fmt.Sprintf("%s/%d/%d", e.Node, e.Epoch, e.Seq) }

// Outcome is how an attempt ended.
type Outcome uint8

// The outcomes. The zero value is none of them.
const (
	Success  Outcome = iota + 1 // the provider answered in full
	Failed                      // the provider refused, broke off or timed out
	Canceled                    // the caller left before the end
	Crashed                     // the gateway died during the attempt; only Open makes these
)

// String returns the outcome's name, for logs, metrics and the API.
func (o Outcome) String() string {
	switch o {
	case Success:
		return "success"
	case Failed:
		return "failed"
	case Canceled:
		return "canceled"
	case Crashed:
		return "crashed"
	}
	return "unknown"
}

// CodeCrashed is the ErrorCode of events that Open makes of intents.
const CodeCrashed = "gateway_crashed"

// Intent says that an attempt is about to go to a provider.
type Intent struct {
	Request    id.Request
	Attempt    int // of the request, from 1
	Key        id.KeyHash
	Origin     id.KeyHash   // the key whose account this one has; zero: it has its own
	Parents    []id.KeyHash // as keys.Principal.Parents
	KeyAlias   string
	Deployment id.Deployment
	Group      id.ModelName // the operator's name for the model; where that is a pattern, what was asked for
	Provider   string
	Model      string // its name at the provider
	CallType   string
	Stream     bool
	EndUser    string
	// OfOrganization says that EndUser is an end user of Organization, if there is one. In
	// records of older versions it is one that all keys of the gateway share.
	OfOrganization bool
	Session        string // the caller's own name for what the request is a part of
	// Team, User and Organization are those of the key; empty where it has none.
	Team         id.Team
	User         id.User
	Organization id.Organization
	Actor        string         // as keys.Principal.Actor writes it
	Charges      []usage.Charge // the bounds that the request was admitted by
	Start        time.Time
	OwnClock     bool // as in Event
	NotBefore    time.Time
	Steps        *Steps // before this attempt; nil in intents that are older than it
	// Estimate is what the attempt is charged for if the gateway does not
	// survive it: the input as estimated, and no output.
	Estimate usage.Tokens
	// EstimatedCost is the cost of Estimate.
	EstimatedCost money.Pico
}

// Event is one attempt that reached a provider, after its end, or a Notice. Texts that are
// not valid UTF-8 come back with U+FFFD in the places that were not; times come
// back in UTC, to the nanosecond, without a monotonic reading, and must lie in
// the years 1678 to 2261.
type Event struct {
	ID         EventID // assigned by the journal
	Request    id.Request
	Attempt    int // of the request, from 1
	Key        id.KeyHash
	Origin     id.KeyHash   // the key whose account this one has; zero: it has its own
	Parents    []id.KeyHash // as keys.Principal.Parents
	KeyAlias   string
	Deployment id.Deployment
	Group      id.ModelName // the operator's name for the model; where that is a pattern, what was asked for
	Provider   string
	Model      string // its name at the provider
	CallType   string
	Stream     bool
	EndUser    string
	// OfOrganization says that EndUser is an end user of Organization, if there is one. In
	// records of older versions it is one that all keys of the gateway share.
	OfOrganization bool
	Session        string // the caller's own name for what the request is a part of
	Tags           []string
	// Team, User and Organization are those of the key; empty where it has none.
	Team         id.Team
	User         id.User
	Organization id.Organization
	Actor        string         // as keys.Principal.Actor writes it
	Charges      []usage.Charge // the bounds that the request was admitted by

	Start      time.Time
	FirstToken time.Time // zero when none came
	End        time.Time // of a crashed attempt: its Start, since nobody saw the end
	// OwnClock is assigned by the journal: the times are those of the node's clock, which
	// did not know the cluster's. It knew that the cluster's was not before NotBefore.
	OwnClock  bool
	NotBefore time.Time
	Status    int // the provider's HTTP status; 0 when there was none
	Outcome   Outcome
	ErrorCode string // empty when there was no error

	FinishReason  string
	Tokens        usage.Tokens
	Source        usage.Source
	Cost          money.Pico
	FallbackCount int    // attempts of the request before this one
	ServiceTier   string // the one that was billed; empty for the standard one
	UsageCapped   bool   // the provider reported more than is possible
	// ClientStatus is the HTTP status that the caller got; in the last event of a request
	// only, 0 if the caller left before it got one.
	ClientStatus int
	// Steps counts retries and fallbacks apart; nil in events that are older than it.
	Steps *Steps
	// Failures says why attempts failed: in the last event of a request all that failed,
	// in other events this attempt alone.
	Failures  []Failure
	Final     bool // the last event of its request
	Fallbacks []Fallback
	Notice    *Notice
}

// Steps is what a request has done before an attempt to get an answer.
type Steps struct {
	Retries   int // further attempts at the same model or fallback target
	Fallbacks int // steps to a fallback, the one that led to the attempt included
}

// Failure says why one attempt failed. It has no text of the request or of a response.
type Failure struct {
	Attempt    int // from 1
	Deployment id.Deployment
	Provider   string
	Status     int    // the provider's; 0 if there was none
	Cause      string // such as connect_refused or http_429
	Type       string // the provider's error type
	Code       string // the provider's error code
	Message    string // the provider's message: bounded, without credentials and without what the caller sent
	RequestID  string // the provider's id of the request
}

// Fallback is a step of a request from one group to another. The first event of the
// request after it has it: the attempt that failed may have reached nobody, and has
// no event then.
type Fallback struct {
	Attempt    int // that failed, from 1
	Deployment id.Deployment
	Provider   string
	Model      string // its name at the provider
	Status     int    // the provider's; 0 if there was none
	ErrorCode  string
	From, To   string // the operator's name for the model, or a fallback target as it is configured
}

// Account is the key whose account pays for the event.
func (ev *Event) Account() id.KeyHash {
	if ev.Origin == (id.KeyHash{}) {
		return ev.Key
	}
	return ev.Origin
}

// EndUserAccount is the account of the end user.
func (ev *Event) EndUserAccount() id.Account {
	u := id.EndUser{ID: id.Customer(ev.EndUser)}
	if ev.OfOrganization {
		u.Organization = ev.Organization
	}
	return u.Account()
}

// Notice is something that happened at this node and that belongs into the audit
// log, without an attempt at a provider. An event that has one is no attempt: it
// costs nothing, and of its other fields only those that say whose request it was
// and when mean anything.
type Notice struct {
	Type         string     // the event type, such as request.blocked
	Code         string     // why, as a symbolic code
	Count        uint64     // how many times it happened, if one notice tells of several; 0 means 1
	Details      string     // more about it: a JSON object as its text; empty for none
	Account      id.Account // what a budget refused; zero if it was not a budget
	AccountEpoch uint64     // the epoch of the account's window
}

// crashed is the event of an attempt that the gateway did not survive.
func (in *Intent) crashed() Event {
	return Event{
		Request: in.Request, Attempt: in.Attempt,
		Key: in.Key, Origin: in.Origin, Parents: in.Parents, KeyAlias: in.KeyAlias,
		Deployment: in.Deployment, Group: in.Group,
		Provider: in.Provider, Model: in.Model, CallType: in.CallType,
		Stream: in.Stream, EndUser: in.EndUser, OfOrganization: in.OfOrganization, Session: in.Session,
		Team: in.Team, User: in.User, Organization: in.Organization,
		Actor: in.Actor, Charges: in.Charges,
		Start: in.Start, End: in.Start, OwnClock: in.OwnClock, NotBefore: in.NotBefore,
		Outcome: Crashed, ErrorCode: CodeCrashed,
		Tokens: in.Estimate, Source: usage.Estimated, Cost: in.EstimatedCost,
		FallbackCount: max(in.Attempt-1, 0), Steps: in.Steps,
	}
}
