package usage

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Outcome is how an attempt ended. Its numbers are stored.
type Outcome uint8

// The outcomes. The zero value is not an outcome.
const (
	Success  = Outcome(clusterv1.Outcome_OUTCOME_SUCCESS)  // the provider responded in full
	Failed   = Outcome(clusterv1.Outcome_OUTCOME_FAILED)   // the provider rejected the request, broke off or timed out
	Canceled = Outcome(clusterv1.Outcome_OUTCOME_CANCELED) // the caller left before the end
	Crashed  = Outcome(clusterv1.Outcome_OUTCOME_CRASHED)  // the gateway died during the attempt; only journal.Open makes these
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

// Result is how an attempt ended. A new field belongs here, in Encoder.Result and in
// Result.Decode.
type Result struct {
	FirstToken    time.Time // zero if there was none
	End           time.Time // of a crashed attempt: its Start, because no process saw the end
	Status        int       // the provider's HTTP status; 0 if there was none
	Outcome       Outcome
	ErrorCode     string // empty if there was no error
	FinishReason  string
	Source        Source // of the attempt's Tokens
	FallbackCount int    // attempts of the request before this one
	ServiceTier   string // the billed tier; empty for the standard one
	UsageCapped   bool   // the provider reported more than is possible
	// ClientStatus is the HTTP status that the caller received, only in the last event of a
	// request; 0 if the caller left before.
	ClientStatus int
	// Failures has the causes of failed attempts: in the last event of a request all of them,
	// in other events that of this attempt.
	Failures []Failure
	// Guardrails has the names of the guardrails that were applied to the request, and Violations
	// what they found; only in the last event of a request.
	Guardrails []string
	Violations []Violation
	// PassedBytes is the length of the response to a request that was passed on unread, as far as it came.
	PassedBytes int64
	Final       bool // the last event of its request
}

// Failure is the cause of one failed attempt. It contains no text of the request or of a
// response.
type Failure struct {
	Attempt    int // from 1
	Deployment id.Deployment
	Provider   string
	Status     int    // of the provider; 0 if there was none
	Cause      string // such as connect_refused or http_429
	Type       string // the provider's error type
	Code       string // the provider's error code
	Message    string // the provider's message: truncated, without credentials and without text of the caller
	RequestID  string // the provider's id of the request
}

// Result sets the fields of m that describe how an attempt ended.
func (e *Encoder) Result(m *clusterv1.UsageEvent, r *Result) {
	m.FirstTokenUnixNano = nanos(r.FirstToken)
	m.EndUnixNano = nanos(r.End)
	m.Status = int64(r.Status)
	m.Outcome = clusterv1.Outcome(r.Outcome)
	m.ErrorCode = Text(r.ErrorCode)
	m.FinishReason = Text(r.FinishReason)
	m.Source = encodeSource(r.Source)
	m.FallbackCount = int64(r.FallbackCount)
	m.ServiceTier = Text(r.ServiceTier)
	m.UsageCapped = r.UsageCapped
	m.ClientStatus = int64(r.ClientStatus)
	m.Failures = encodeFailures(m.Failures[:0], r.Failures)
	m.Guardrails = m.Guardrails[:0]
	for _, name := range r.Guardrails {
		m.Guardrails = append(m.Guardrails, Text(name))
	}
	m.Violations = encodeViolations(m.Violations[:0], r.Violations)
	m.PassthroughResponseBytes = r.PassedBytes
	m.Final = r.Final
}

// Decode replaces r by the result that m describes.
func (r *Result) Decode(m *clusterv1.UsageEvent) {
	*r = Result{
		FirstToken: instant(m.GetFirstTokenUnixNano()), End: instant(m.GetEndUnixNano()),
		Status: int(m.GetStatus()), Outcome: DecodeOutcome(m.GetOutcome()),
		ErrorCode: m.GetErrorCode(), FinishReason: m.GetFinishReason(), Source: decodeSource(m.GetSource()),
		FallbackCount: int(m.GetFallbackCount()), ServiceTier: m.GetServiceTier(), UsageCapped: m.GetUsageCapped(),
		ClientStatus: int(m.GetClientStatus()), Failures: decodeFailures(m.GetFailures()),
		Guardrails: m.GetGuardrails(), Violations: decodeViolations(m.GetViolations()), PassedBytes: m.GetPassthroughResponseBytes(), Final: m.GetFinal(),
	}
}

func encodeFailures(dst []*clusterv1.AttemptFailure, list []Failure) []*clusterv1.AttemptFailure {
	for i := range list {
		f := &list[i]
		dst = append(dst, &clusterv1.AttemptFailure{
			Attempt: int64(f.Attempt), Deployment: Text(string(f.Deployment)), Provider: Text(f.Provider),
			Status: int64(f.Status), Cause: Text(f.Cause), ErrorType: Text(f.Type), ErrorCode: Text(f.Code),
			Message: Text(f.Message), ProviderRequestId: Text(f.RequestID),
		})
	}
	return dst
}

func decodeFailures(list []*clusterv1.AttemptFailure) []Failure {
	if len(list) == 0 {
		return nil
	}
	out := make([]Failure, len(list))
	for i, m := range list {
		out[i] = Failure{
			Attempt: int(m.GetAttempt()), Deployment: id.Deployment(m.GetDeployment()), Provider: m.GetProvider(),
			Status: int(m.GetStatus()), Cause: m.GetCause(), Type: m.GetErrorType(), Code: m.GetErrorCode(),
			Message: m.GetMessage(), RequestID: m.GetProviderRequestId(),
		}
	}
	return out
}

// DecodeOutcome returns 0 for an outcome that only a newer gateway knows.
func DecodeOutcome(o clusterv1.Outcome) Outcome {
	if o < 0 || o > clusterv1.Outcome_OUTCOME_CRASHED {
		return 0
	}
	return Outcome(o)
}

func encodeSource(s Source) clusterv1.UsageSource {
	switch s {
	case None:
		return clusterv1.UsageSource_USAGE_SOURCE_NONE
	case Provider:
		return clusterv1.UsageSource_USAGE_SOURCE_PROVIDER
	case Estimated:
		return clusterv1.UsageSource_USAGE_SOURCE_ESTIMATED
	case Measured:
		return clusterv1.UsageSource_USAGE_SOURCE_MEASURED
	case Unpriced:
		return clusterv1.UsageSource_USAGE_SOURCE_UNPRICED
	}
	return clusterv1.UsageSource_USAGE_SOURCE_UNSPECIFIED
}

// decodeSource returns Estimated for a source that only a newer gateway knows: numbers
// of unknown origin deserve no more trust than an estimate.
func decodeSource(s clusterv1.UsageSource) Source {
	switch s {
	case clusterv1.UsageSource_USAGE_SOURCE_NONE:
		return None
	case clusterv1.UsageSource_USAGE_SOURCE_PROVIDER:
		return Provider
	case clusterv1.UsageSource_USAGE_SOURCE_MEASURED:
		return Measured
	case clusterv1.UsageSource_USAGE_SOURCE_UNPRICED:
		return Unpriced
	case clusterv1.UsageSource_USAGE_SOURCE_ESTIMATED, clusterv1.UsageSource_USAGE_SOURCE_UNSPECIFIED:
	}
	return Estimated
}
