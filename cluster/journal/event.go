package journal

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// EventID identifies an event permanently. A receiver that remembers the highest Seq per Node
// and Epoch knows which events it has applied.
type EventID struct {
	Node  id.Node
	Epoch uint64
	Seq   uint64 // dense, from 1; 0 means not yet assigned
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

// CodeCrashed is the ErrorCode of the events that Open makes from intents.
const CodeCrashed = "gateway_crashed"

// Event is one attempt that reached a provider, after its end, or a Notice. In decoded events,
// U+FFFD replaces invalid UTF-8. Decoded times are in UTC, with nanoseconds and without a
// monotonic reading. They must be in the years 1678 to 2261.
type Event struct {
	ID EventID // assigned by the journal
	usage.Attempt
	usage.Result

	Fallbacks []Fallback
	Notice    *Notice
}

// Fallback is a step of a request from one group to another. The first event of the request
// after the step contains it. The failed attempt may have reached no provider, and then has no
// event.
type Fallback struct {
	Attempt    int // the failed attempt, from 1
	Deployment id.Deployment
	Provider   string
	Model      string // its name at the provider
	Status     int    // of the provider; 0 if there was none
	ErrorCode  string
	From, To   string // the model group, or a fallback target as configured
}

// Notice is an occurrence at this node that belongs into the audit log, without an attempt at a
// provider. An event with a notice is not an attempt: it costs nothing, and of its other fields
// only the caller and the times are meaningful.
type Notice struct {
	Type         string     // the event type, such as request.blocked
	Code         string     // the cause, as a symbolic code
	Count        uint64     // number of occurrences, if one notice stands for several; 0 means 1
	Details      string     // a JSON object as text, empty for none
	Account      id.Account // the account whose budget rejected the request; zero if it was not a budget
	AccountEpoch uint64     // the epoch of the account's window
}

// crashed returns the event of an attempt that was in flight when the gateway died.
func crashed(a *usage.Attempt) Event {
	e := Event{Attempt: *a, Result: usage.Result{
		End: a.Start, Outcome: Crashed, ErrorCode: CodeCrashed, Source: usage.Estimated, FallbackCount: max(a.Number-1, 0),
	}}
	if a.Passed != (usage.Passed{}) {
		e.Source = usage.Unpriced
	}
	return e
}
