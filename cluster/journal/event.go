package journal

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/id"
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

// The outcomes of an attempt.
const (
	Success  = usage.Success
	Failed   = usage.Failed
	Canceled = usage.Canceled
	Crashed  = usage.Crashed
)

// CodeCrashed is the ErrorCode of events that Open makes of intents.
const CodeCrashed = "gateway_crashed"

// Event is one attempt that reached a provider, after its end, or a Notice. Texts that are
// not valid UTF-8 come back with U+FFFD in the places that were not; times come
// back in UTC, to the nanosecond, without a monotonic reading, and must lie in
// the years 1678 to 2261.
type Event struct {
	ID EventID // assigned by the journal
	usage.Attempt
	usage.Result

	Fallbacks []Fallback
	Notice    *Notice
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
func crashed(a *usage.Attempt) Event {
	return Event{Attempt: *a, Result: usage.Result{
		End: a.Start, Outcome: Crashed, ErrorCode: CodeCrashed, Source: usage.Estimated, FallbackCount: max(a.Number-1, 0),
	}}
}
