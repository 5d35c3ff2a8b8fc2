package wire

import (
	"cmp"
	"fmt"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Failure is why an attempt at a provider has no response, or no more of it.
// Drivers return it if a provider's bytes are not a response.
type Failure struct { //nolint:errname // a result of classifying first, an error second
	Status        int        // HTTP status of the provider's response; of an error inside a 200, the status that it names or means
	Kind          fault.Kind // what the caller receives if nothing else is tried
	Code          string     // symbolic; the provider's own where the caller is at fault
	Type          string     // OpenAI error type; empty means the Kind's own
	Param         string     // request field at fault; empty if none is
	Message       string     // for the caller: without credentials, bounded, one line
	RetryAfter    time.Duration
	Retryable     bool // another attempt, perhaps elsewhere, may succeed
	CoolDown      bool // the deployment goes into cooldown
	ContentFilter bool // the provider objects to the content
	ContextWindow bool // the request does not fit into the model

	// The provider's own words, for logs and records. They may repeat what the caller sent.
	ProviderType    string
	ProviderCode    string
	ProviderMessage string // bounded, one line, without what looks like a credential
}

// Error returns the failure for logs.
func (f *Failure) Error() string {
	return fmt.Sprintf("provider answered %d: %s (%s): %s", f.Status, f.Kind, f.Code, f.Message)
}

// Reason returns the code of the failure, or that of its kind.
func (f *Failure) Reason() string { return cmp.Or(f.Code, f.Kind.Code()) }

// Fault returns the failure as the caller sees it. The provider's status is passed
// on only if the caller is at fault: if a provider rejects the gateway's credential
// or is overloaded, it must not look as if the gateway did or were.
func (f *Failure) Fault() *fault.Error {
	e := &fault.Error{
		Op: "receive", Kind: f.Kind, Code: f.Code, Type: f.Type, Param: f.Param,
		Detail: f.Message, RetryAfter: f.RetryAfter, Err: f,
	}
	if !f.Retryable && f.Status >= 400 && f.Status < 500 {
		e.Status = f.Status
	}
	return e
}
