// Package usageaudit writes the records of the audit log about posted usage: how requests
// ended, fallbacks, costs, and budgets that were reached or began again.
package usageaudit

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Records returns the audit records of posted usage. It depends on the notes only, because
// every node must write the same bytes.
func Records(notes []ledger.Note) []*clusterv1.AuditEvent {
	out := make([]*clusterv1.AuditEvent, 0, 2*len(notes))
	for i := range notes {
		n := &notes[i]
		if n.Crossing != nil {
			out = append(out, crossed(n))
			continue
		}
		for _, f := range n.Event.GetFallbacks() {
			out = append(out, wentOn(n.Event, f))
		}
		if triggers(n.Event) {
			out = append(out, triggered(n.Event))
		}
		switch {
		case n.Event.GetNotice() != nil:
			out = append(out, noticed(n.Event))
		case n.Event.GetFinal():
			out = append(out, attempted(n.Event))
		}
		if n.Event.GetNotice() == nil && n.Event.GetCostPico() != 0 {
			out = append(out, debited(n.Event))
		}
	}
	return out
}

// wentOn returns the record of a fallback. It describes the attempt that failed, which may have
// no event of its own.
func wentOn(e *clusterv1.UsageEvent, f *clusterv1.FallbackTaken) *clusterv1.AuditEvent {
	out := common(e)
	out.Type, out.Provider, out.Model = event.TypeFallbackTriggered, f.GetProvider(), ""
	if f.GetModel() != "" {
		out.Model = f.GetProvider() + "/" + f.GetModel()
	}
	out.FallbackCount = max(f.GetAttempt()-1, 0)
	d := event.Details{}
	d.Integer("attempt", f.GetAttempt())
	d.Text("call_type", e.GetCallType())
	d.Text("deployment", f.GetDeployment())
	d.Text("error_code", f.GetErrorCode())
	d.Text("from", f.GetFrom())
	d.Text("model_group", e.GetGroup())
	d.Integer("status", f.GetStatus())
	d.Text("to", f.GetTo())
	out.DetailsJson = d.Object()
	return out
}

// attempted returns the record of the last attempt of a request: the request was routed, or it
// failed. The other attempts are in the usage records.
func attempted(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	out := common(e)
	out.Type = event.TypeRequestRouted
	if e.GetOutcome() == clusterv1.Outcome_OUTCOME_FAILED {
		out.Type = event.TypeRequestFailed
	}
	out.TokensInput, out.TokensOutput = e.GetTokens().GetInput(), e.GetTokens().GetOutput()
	out.CostPico = e.GetCostPico()
	out.LatencyMs = millis(e.GetStartUnixNano(), e.GetEndUnixNano())
	out.TimeToFirstTokenMs = millis(e.GetStartUnixNano(), e.GetFirstTokenUnixNano())
	out.FallbackCount = stepsOf(e)
	guard(out, e)
	d := event.Details{}
	d.Integer("attempt", e.GetAttempt())
	d.Text("call_type", e.GetCallType())
	d.Integer("client_status", e.GetClientStatus())
	d.Text("deployment", e.GetDeployment())
	d.Text("error_code", e.GetErrorCode())
	addFailures(&d, e.GetFailures())
	d.Integer("fallbacks", e.GetFallbacksTaken())
	d.Text("model_group", e.GetGroup())
	d.Text("outcome", outcomeName(e.GetOutcome()))
	addPassthrough(&d, e)
	d.Integer("retries", e.GetRetries())
	d.Integer("status", e.GetStatus())
	d.Text("usage_source", sourceName(e.GetSource()))
	out.DetailsJson = d.Object()
	return out
}

// addPassthrough adds a request that was passed on unread.
func addPassthrough(d *event.Details, e *clusterv1.UsageEvent) {
	p := e.GetPassthrough()
	if p == nil {
		return
	}
	one := event.Details{}
	one.Text("method", p.GetMethod())
	one.Text("path", p.GetPath())
	one.Integer("request_bytes", p.GetBytes())
	one.Integer("response_bytes", e.GetPassthroughResponseBytes())
	d.Raw("passthrough", one.Object())
}

// triggers reports whether an event has a record of what guardrails found besides its own. A request has
// one final event. A notice of that type is the record itself.
func triggers(e *clusterv1.UsageEvent) bool {
	return e.GetFinal() && len(e.GetViolations()) > 0 && e.GetNotice().GetType() != event.TypeGuardrailTriggered
}

// triggered returns the record of what guardrails found in a request and its response.
func triggered(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	out := common(e)
	out.Type = event.TypeGuardrailTriggered
	guard(out, e)
	d := event.Details{}
	d.Integer("attempt", e.GetAttempt())
	d.Text("call_type", e.GetCallType())
	d.Integer("client_status", e.GetClientStatus())
	d.Text("code", cmp.Or(e.GetNotice().GetCode(), e.GetErrorCode()))
	if n := e.GetNotice().GetCount(); n > 1 {
		d.Integer("count", int64(n))
	}
	d.Text("model_group", e.GetGroup())
	out.DetailsJson = d.Object()
	return out
}

// guard sets the guardrail of a request and what all its guardrails found. Of several it names the first
// that found something.
func guard(out *clusterv1.AuditEvent, e *clusterv1.UsageEvent) {
	out.GuardrailViolations = e.GetViolations()
	switch {
	case len(e.GetViolations()) > 0:
		out.GuardrailId = e.GetViolations()[0].GetGuardrail()
	case len(e.GetGuardrails()) > 0:
		out.GuardrailId = e.GetGuardrails()[0]
	}
}

// stepsOf returns the fallback_count of an audit record, "retries before success": the sum of
// retries and fallbacks. Events without separate counts have the number of attempts.
func stepsOf(e *clusterv1.UsageEvent) int64 {
	if e.GetCountedApart() {
		return e.GetRetries() + e.GetFallbacksTaken()
	}
	return e.GetFallbackCount()
}

// debited returns the record of a cost.
func debited(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	out := common(e)
	out.Type, out.CostPico = event.TypeSpendDebited, e.GetCostPico()
	d := event.Details{}
	d.Integer("attempt", e.GetAttempt())
	out.DetailsJson = d.Object()
	return out
}

// noticed returns the record of an event that is no attempt.
func noticed(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	n := e.GetNotice()
	out := common(e)
	out.Type = n.GetType()
	out.FallbackCount = stepsOf(e)
	out.LatencyMs = millis(e.GetStartUnixNano(), e.GetEndUnixNano())
	guard(out, e)
	d := event.Details{}
	d.Text("call_type", e.GetCallType())
	d.Integer("client_status", e.GetClientStatus())
	d.Text("code", n.GetCode())
	if n.GetCount() > 1 {
		d.Integer("count", int64(n.GetCount()))
	}
	addFailures(&d, e.GetFailures())
	d.Integer("fallbacks", e.GetFallbacksTaken())
	if jsontext.Value(n.GetDetailsJson()).IsValid() {
		d.Raw("more", n.GetDetailsJson())
	}
	d.Text("model_group", e.GetGroup())
	d.Integer("retries", e.GetRetries())
	out.DetailsJson = d.Object()
	return out
}

// crossed returns the record of a budget that was reached, or that began again.
func crossed(n *ledger.Note) *clusterv1.AuditEvent {
	c := n.Crossing
	out := &clusterv1.AuditEvent{Type: c.Type, TimeUnixNano: c.Time.UnixNano()}
	if e := n.Event; e != nil {
		out = common(e)
		out.Type, out.Model, out.Provider = c.Type, "", ""
		if inherited(e, c.Account) {
			out.KeyHash = nil // the record is about the parent
		}
	}
	place(out, c.Account)
	d := event.Details{}
	d.Text("account", c.Account.Kind.String())
	d.Integer("epoch", int64(c.Epoch))
	d.Amount("max_budget", c.Max)
	d.Text("owner", c.Account.Owner)
	d.Text("part", c.Account.Part)
	d.Amount("soft_budget", c.Soft)
	d.Raw("spend", c.Window.String())
	out.DetailsJson = d.Object()
	return out
}

// inherited reports whether an account is that of one of the parents of an event's key.
func inherited(e *clusterv1.UsageEvent, a id.Account) bool {
	if a.Kind != id.AccountKey && a.Kind != id.AccountKeyModel {
		return false
	}
	return slices.ContainsFunc(e.GetParentHashes(), func(h []byte) bool { return hex.EncodeToString(h) == a.Owner })
}

// place sets the owner of an account in its record. A key that the event names stays: of the
// keys that share the account by regeneration, it is the one that was used.
func place(e *clusterv1.AuditEvent, a id.Account) {
	switch a.Kind { //nolint:exhaustive // the others have no field of their own
	case id.AccountKey, id.AccountKeyModel:
		if hash, err := hex.DecodeString(a.Owner); err == nil && len(hash) == len(id.KeyHash{}) && len(e.GetKeyHash()) == 0 {
			e.KeyHash = hash
		}
	case id.AccountTeam, id.AccountTeamMember, id.AccountTeamModel:
		e.TeamId = a.Owner
	case id.AccountOrganization, id.AccountOrganizationMember, id.AccountOrganizationModel:
		e.OrgId = a.Owner
	case id.AccountCustomer:
		e.CustomerId = a.Owner
		if a.Part != "" {
			e.OrgId = a.Part
		}
	}
}

// common returns the fields that all records of one event have.
func common(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	out := &clusterv1.AuditEvent{
		TimeUnixNano: e.GetEndUnixNano(),
		OrgId:        e.GetOrganization(), TeamId: e.GetTeam(), CustomerId: e.GetEndUser(),
		Provider: e.GetProvider(), RequestId: e.GetRequest(), Actor: e.GetActor(), PromptId: e.GetPromptId(),
	}
	if e.GetModel() != "" {
		out.Model = e.GetProvider() + "/" + e.GetModel()
	}
	for _, b := range e.GetKeyHash() {
		if b != 0 { // all zero: the key is unknown
			out.KeyHash = e.GetKeyHash()
			break
		}
	}
	return out
}

// millis returns the time between two instants; 0 if the second is missing.
func millis(from, to int64) int64 {
	if to <= from {
		return 0
	}
	return (to - from) / int64(time.Millisecond)
}

func outcomeName(o clusterv1.Outcome) string {
	if known := usage.DecodeOutcome(o); known != 0 {
		return known.String()
	}
	return ""
}

func sourceName(s clusterv1.UsageSource) string {
	switch s {
	case clusterv1.UsageSource_USAGE_SOURCE_NONE:
		return "none"
	case clusterv1.UsageSource_USAGE_SOURCE_PROVIDER:
		return "provider"
	case clusterv1.UsageSource_USAGE_SOURCE_ESTIMATED:
		return "estimated"
	case clusterv1.UsageSource_USAGE_SOURCE_MEASURED:
		return "measured"
	case clusterv1.UsageSource_USAGE_SOURCE_UNPRICED:
		return "unpriced"
	case clusterv1.UsageSource_USAGE_SOURCE_UNSPECIFIED:
	}
	return ""
}

// addFailures adds the causes of failed attempts.
func addFailures(d *event.Details, list []*clusterv1.AttemptFailure) {
	if len(list) == 0 {
		return
	}
	all := make([]string, len(list))
	for i, f := range list {
		one := event.Details{}
		one.Integer("attempt", f.GetAttempt())
		one.Text("cause", f.GetCause())
		one.Text("deployment", f.GetDeployment())
		one.Text("error_code", f.GetErrorCode())
		one.Text("error_type", f.GetErrorType())
		one.Text("message", f.GetMessage())
		one.Text("provider", f.GetProvider())
		one.Text("provider_request_id", f.GetProviderRequestId())
		one.Integer("status", f.GetStatus())
		all[i] = one.Object()
	}
	d.Raw("failures", "["+strings.Join(all, ",")+"]")
}
