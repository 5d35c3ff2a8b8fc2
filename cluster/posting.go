package cluster

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// The event types that posting usage makes.
const (
	auditRouted   = "request.routed"
	auditFailed   = "request.failed"
	auditFallback = "request.fallback_triggered"
	auditDebited  = "spend.debited"
)

// records is what the audit log says of what was posted. It depends on the notes
// alone, for every node has to come to the same bytes.
func records(notes []ledger.Note) []*clusterv1.AuditEvent {
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

// wentOn is the record that the router took a fallback: of the attempt that had
// failed, which may have no event of its own.
func wentOn(e *clusterv1.UsageEvent, f *clusterv1.FallbackTaken) *clusterv1.AuditEvent {
	out := common(e)
	out.Type, out.Provider, out.Model = auditFallback, f.GetProvider(), ""
	if f.GetModel() != "" {
		out.Model = f.GetProvider() + "/" + f.GetModel()
	}
	out.FallbackCount = max(f.GetAttempt()-1, 0)
	d := details{}
	d.integer("attempt", f.GetAttempt())
	d.text("call_type", e.GetCallType())
	d.text("deployment", f.GetDeployment())
	d.text("error_code", f.GetErrorCode())
	d.text("from", f.GetFrom())
	d.text("model_group", e.GetGroup())
	d.integer("status", f.GetStatus())
	d.text("to", f.GetTo())
	out.DetailsJson = d.object()
	return out
}

// attempted is the record of the last attempt of a request: that it was routed, or
// that it failed. The others are in the usage records.
func attempted(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	out := common(e)
	out.Type = auditRouted
	if e.GetOutcome() == clusterv1.Outcome_OUTCOME_FAILED {
		out.Type = auditFailed
	}
	out.TokensInput, out.TokensOutput = e.GetTokens().GetInput(), e.GetTokens().GetOutput()
	out.CostPico = e.GetCostPico()
	out.LatencyMs = millis(e.GetStartUnixNano(), e.GetEndUnixNano())
	out.TimeToFirstTokenMs = millis(e.GetStartUnixNano(), e.GetFirstTokenUnixNano())
	out.FallbackCount = stepsOf(e)
	d := details{}
	d.integer("attempt", e.GetAttempt())
	d.text("call_type", e.GetCallType())
	d.integer("client_status", e.GetClientStatus())
	d.text("deployment", e.GetDeployment())
	d.text("error_code", e.GetErrorCode())
	d.failures(e.GetFailures())
	d.integer("fallbacks", e.GetFallbacksTaken())
	d.text("model_group", e.GetGroup())
	d.text("outcome", outcomeName(e.GetOutcome()))
	d.integer("retries", e.GetRetries())
	d.integer("status", e.GetStatus())
	d.text("usage_source", sourceName(e.GetSource()))
	out.DetailsJson = d.object()
	return out
}

// stepsOf is the audit record's fallback_count, "retries before success": retries and
// fallbacks together. Events that do not count them apart have the number of attempts.
func stepsOf(e *clusterv1.UsageEvent) int64 {
	if e.GetCountedApart() {
		return e.GetRetries() + e.GetFallbacksTaken()
	}
	return e.GetFallbackCount()
}

// debited is the record of a cost that was taken.
func debited(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	out := common(e)
	out.Type, out.CostPico = auditDebited, e.GetCostPico()
	d := details{}
	d.integer("attempt", e.GetAttempt())
	out.DetailsJson = d.object()
	return out
}

// noticed is the record of something that was no attempt.
func noticed(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	n := e.GetNotice()
	out := common(e)
	out.Type = n.GetType()
	out.FallbackCount = stepsOf(e)
	out.LatencyMs = millis(e.GetStartUnixNano(), e.GetEndUnixNano())
	d := details{}
	d.text("call_type", e.GetCallType())
	d.integer("client_status", e.GetClientStatus())
	d.text("code", n.GetCode())
	if n.GetCount() > 1 {
		d.integer("count", int64(n.GetCount()))
	}
	d.failures(e.GetFailures())
	d.integer("fallbacks", e.GetFallbacksTaken())
	if jsontext.Value(n.GetDetailsJson()).IsValid() {
		d.raw("more", n.GetDetailsJson())
	}
	d.text("model_group", e.GetGroup())
	d.integer("retries", e.GetRetries())
	out.DetailsJson = d.object()
	return out
}

// crossed is the record of a budget that was reached, or that begins anew.
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
	d := details{}
	d.text("account", c.Account.Kind.String())
	d.integer("epoch", int64(c.Epoch))
	d.amount("max_budget", c.Max)
	d.text("owner", c.Account.Owner)
	d.text("part", c.Account.Part)
	d.amount("soft_budget", c.Soft)
	d.raw("spend", c.Window.String())
	out.DetailsJson = d.object()
	return out
}

// inherited reports whether an account is that of one of the parents of an event's key.
func inherited(e *clusterv1.UsageEvent, a id.Account) bool {
	if a.Kind != id.AccountKey && a.Kind != id.AccountKeyModel {
		return false
	}
	return slices.ContainsFunc(e.GetParentHashes(), func(h []byte) bool { return hex.EncodeToString(h) == a.Owner })
}

// place says in a record whose account it is about. A key that an event names is that
// one: of those that share the account by regeneration, the one that was used.
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

// common is what all records of one event share.
func common(e *clusterv1.UsageEvent) *clusterv1.AuditEvent {
	out := &clusterv1.AuditEvent{
		TimeUnixNano: e.GetEndUnixNano(),
		OrgId:        e.GetOrganization(), TeamId: e.GetTeam(), CustomerId: e.GetEndUser(),
		Provider: e.GetProvider(), RequestId: e.GetRequest(), Actor: e.GetActor(),
	}
	if e.GetModel() != "" {
		out.Model = e.GetProvider() + "/" + e.GetModel()
	}
	for _, b := range e.GetKeyHash() {
		if b != 0 { // all zero: nobody knows whose key it was
			out.KeyHash = e.GetKeyHash()
			break
		}
	}
	return out
}

// millis is the time between two instants; 0 if there is no second.
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
	case clusterv1.UsageSource_USAGE_SOURCE_UNSPECIFIED:
	}
	return ""
}

// details makes a JSON object, member by member, in the order of their names:
// canonical, as RFC 8785 has it. What is empty is left out.
type details struct{ out []byte }

func (d *details) raw(name, value string) {
	if len(d.out) > 0 {
		d.out = append(d.out, ',')
	}
	d.out = append(d.out, '"')
	d.out = append(d.out, name...)
	d.out = append(d.out, '"', ':')
	d.out = append(d.out, value...)
}

func (d *details) text(name, value string) {
	if value == "" {
		return
	}
	quoted, err := jsontext.AppendQuote(nil, value)
	if err != nil { // not UTF-8, which no record has; what is quoted has U+FFFD there
		quoted = []byte(strconv.Quote("�"))
	}
	d.raw(name, string(quoted))
}

// failures adds why attempts failed.
func (d *details) failures(list []*clusterv1.AttemptFailure) {
	if len(list) == 0 {
		return
	}
	all := make([]string, len(list))
	for i, f := range list {
		one := details{}
		one.integer("attempt", f.GetAttempt())
		one.text("cause", f.GetCause())
		one.text("deployment", f.GetDeployment())
		one.text("error_code", f.GetErrorCode())
		one.text("error_type", f.GetErrorType())
		one.text("message", f.GetMessage())
		one.text("provider", f.GetProvider())
		one.text("provider_request_id", f.GetProviderRequestId())
		one.integer("status", f.GetStatus())
		all[i] = one.object()
	}
	d.raw("failures", "["+strings.Join(all, ",")+"]")
}

func (d *details) integer(name string, value int64) {
	if value != 0 {
		d.raw(name, strconv.FormatInt(value, 10))
	}
}

func (d *details) amount(name string, value money.Pico) {
	if value != 0 {
		d.raw(name, value.String())
	}
}

// object is the text of the object; empty for one without members.
func (d *details) object() string {
	if len(d.out) == 0 {
		return ""
	}
	return "{" + string(d.out) + "}"
}
