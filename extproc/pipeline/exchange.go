package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/admission"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/inflight"
	"github.com/modelgateway/modelgateway/extproc/metering"
	"github.com/modelgateway/modelgateway/extproc/metrics"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Exchange is the state of one request, from its first byte to its last settle.
//
// Only the request's goroutine changes it, except for mu, which goroutines that prepare later
// attempts change too. The other fields that they read (Plan, Body, Facts, View) do not
// change after dispatch.
type Exchange struct {
	// Set by decode and identify.
	ID        id.Request
	Start     time.Time
	View      *cluster.View
	Inbound   inbound.Headers
	op        *operation.Operation // set when its headers have come; nil for a path without an operation
	passed    dataplane.Passed     // of a request that is passed on unread; set with op
	reframed  bool                 // the caller's stream has another framing than server-sent events; set with op
	Body      []byte               // the caller's; valid until the exchange ends
	Facts     splice.Request
	sound     metering.Sound
	Options   inbound.Options
	Principal tenancy.Principal

	// Set by compose and guard.
	rebodied bool // Body is not what the caller has sent

	// Set by compose.
	prompt     usage.Prompt // that Body has; zero for none
	promptName string

	// Set by guard: what applies guardrails; nil if none applies.
	guardrails *guard.Screen
	guardTime  guardTime // set by guard, screen and Relay

	Flight inflight.Reservation // the body's bytes; begun by bytes, and grown by Room while the body comes

	Dispatched bool // the first attempt is prepared; from here on the request ends in a settle

	// Set by authorize.
	Model id.ModelName // what the requested name resolves to; the response has the requested name. Route replaces it by the operator's name

	// Set by route.
	Group            catalog.Group
	Plan             []Attempt
	stored           stored
	asked            asked // whom Pipeline.language has asked last
	startsAtFallback bool  // the plan begins with a fallback, as the group has a full deployment
	local            bool  // no deployment serves the operation, and the gateway responds itself; there is no plan

	// The request's limits; nil if there are none. quota sets those that the headers
	// determine, and route all of them.
	bounds []tenancy.Bound

	// Set by quota and admit.
	overhead     metrics.Overhead // set by settle
	admission    admission.Reservation
	attemptCosts estimate.Costs // of the plan's attempts; nil if nothing was reserved
	estimates    estimate.Input // of the input

	// Set by receive.
	Tries      int    // how many attempts Envoy made; the last of them answered
	Status     int    // of the provider's response; 0 if there was none
	requestID  string // the provider's id of the request
	answered   string // the model that the provider reports, as Metrics.Model returns it
	FirstToken time.Time
	Tier       string // service tier that the provider reports; empty if it does not

	awaited  bool     // the wait for the attempt log is over
	response response // set by Receive and the stages of the response

	busy atomic.Int64 // nanoseconds that were spent on later attempts

	mu struct {
		sync.Mutex
		request  *wire.Request      // the canonical form, made when an attempt first needs it
		rejected error              // why there is none
		reasoned bool               // request has reasoning of sealed ids
		taken    []taken            // the request, translated for the providers of the plan
		intents  []*journal.Pending // one for each attempt that was prepared
		busy     func()             // releases the slot at a deployment; nil if the request has none
		at       id.Deployment      // where that slot is
		failures attempt.Failures   // what is known of the attempts that failed
		made     int                // how many attempts there were, once that is known; 0 before
		settled  bool
	}
}

// Header takes one header of the request. What it keeps does not alias its arguments.
func (x *Exchange) Header(name, value []byte) {
	if string(name) == "x-request-id" {
		x.ID = id.RequestFromUUID(string(value))
	}
	x.Inbound.Add(name, value)
}

// asked is what a deployment's provider says of the operation.
type asked struct {
	by       *catalog.Deployment
	language wire.Dialect
	ok       bool
}

// Attempt is one step of the plan, ready to be prepared.
type Attempt struct {
	Deployment *catalog.Deployment
	Provider   *provider.Provider
	language   wire.Dialect // in which the provider takes the request
	Variant    contract.Variant
	Hop        int    // 0 within the group, else the number of the fallback target
	Target     string // the fallback target's name; empty within the group
	Timeout    time.Duration
}

// Outcome is how an exchange ended.
type Outcome struct {
	Kind         usage.Outcome
	Code         string // why, if it did not succeed
	FinishReason string
	metering.Output
	status int  // HTTP status that the caller got; 0 if it disconnected before
	capped bool // set by consumed: the usage that the provider reported is impossible
}

// Charge adds time that the gateway spent on a later attempt.
func (x *Exchange) Charge(busy time.Duration) { x.busy.Add(int64(busy)) }

// codec returns the translator of an attempt whose provider does not take the caller's language.
func (a *Attempt) codec() driver.Codec { return a.Provider.Driver.Codec(a.language) }

// last is the attempt that answered, or the first if none did.
func (x *Exchange) last() *Attempt { return &x.Plan[x.lastIndex()] }

func (x *Exchange) lastIndex() int {
	return min(max(x.Tries, 1), len(x.Plan)) - 1
}

// sameDialect reports whether the caller's bytes can go to the attempt's provider, with
// only the members changed that must change.
func (x *Exchange) sameDialect(a *Attempt) bool { return a.language == x.op.Language.Name() }

// endpoint returns the endpoint of a provider to which an attempt goes: a chat, if the provider does
// not serve completions.
func (x *Exchange) endpoint(a *Attempt) driver.Endpoint {
	if x.op.Endpoint == driver.Completions && !x.sameDialect(a) {
		return driver.Chat
	}
	return x.op.Endpoint
}
