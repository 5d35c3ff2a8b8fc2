package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// entry is a stored record. Times are nanoseconds whose last three digits are 0, because the
// hash covers everything that is stored.
type entry struct {
	external, internal []byte
	hash               [32]byte
	recorded, time     int64
}

// place is the position of a record in a chain.
type place struct {
	workspace string
	number    uint64
	previous  [32]byte // hash of the previous record
}

// newEntry returns the record of an event.
func newEntry(p place, e *clusterv1.AuditEvent, recorded int64) entry {
	out := entry{recorded: recorded, time: micros(e.GetTimeUnixNano())}
	if out.time == 0 {
		out.time = recorded
	}
	out.external = p.appendExternal(make([]byte, 0, 768), e, out.time)
	out.internal = appendInternal(make([]byte, 0, 384), e, recorded)
	out.hash = link(p.previous, sha256.Sum256(out.external), sha256.Sum256(out.internal))
	return out
}

// eventPrefix is the prefix of event ids.
const eventPrefix = "evt_"

// EventID returns the id of the event with a number.
func EventID(number uint64) string { return string(appendEventID(nil, number)) }

func appendEventID(b []byte, number uint64) []byte {
	const digits = "0123456789abcdef"
	b = append(b, eventPrefix...)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[number>>shift&15])
	}
	return b
}

// ParseEventID is the reverse of EventID.
func ParseEventID(s string) (number uint64, ok bool) {
	if len(s) != len(eventPrefix)+16 || s[:len(eventPrefix)] != eventPrefix {
		return 0, false
	}
	number, err := strconv.ParseUint(s[len(eventPrefix):], 16, 64)
	return number, err == nil && EventID(number) == s && number > 0
}

// appendExternal appends the external object, with sorted members.
func (p place) appendExternal(b []byte, e *clusterv1.AuditEvent, at int64) []byte {
	b = append(b, `{"cost_usd":`...)
	b = append(b, money.Pico(e.GetCostPico()).String()...)
	b = append(b, `,"event_id":"`...)
	b = appendEventID(b, p.number)
	b = append(b, `","event_type":`...)
	b = appendString(b, e.GetType())
	b = append(b, `,"fallback_count":`...)
	b = strconv.AppendInt(b, e.GetFallbackCount(), 10)
	b = append(b, `,"guardrail_id":`...)
	b = appendNullable(b, e.GetGuardrailId())
	b = append(b, `,"guardrail_violations":[`...)
	for i, v := range e.GetGuardrailViolations() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, v)
	}
	b = append(b, `],"latency_ms":`...)
	b = strconv.AppendInt(b, e.GetLatencyMs(), 10)
	b = append(b, `,"model":`...)
	b = appendNullable(b, e.GetModel())
	b = append(b, `,"org_id":`...)
	b = appendNullable(b, e.GetOrgId())
	b = append(b, `,"policy_version":`...)
	b = strconv.AppendInt(b, e.GetPolicyVersion(), 10)
	b = append(b, `,"previous_event_hash":"`+hashPrefix...)
	b = hex.AppendEncode(b, p.previous[:])
	b = append(b, `","provider":`...)
	b = appendNullable(b, e.GetProvider())
	b = append(b, `,"team_id":`...)
	b = appendNullable(b, e.GetTeamId())
	b = append(b, `,"timestamp":`...)
	b = appendTime(b, at)
	b = append(b, `,"tokens_input":`...)
	b = strconv.AppendInt(b, e.GetTokensInput(), 10)
	b = append(b, `,"tokens_output":`...)
	b = strconv.AppendInt(b, e.GetTokensOutput(), 10)
	b = append(b, `,"user_key_hash":`...)
	b = appendNullable(b, keyText(e.GetKeyHash()))
	b = append(b, `,"workspace_id":`...)
	b = appendString(b, p.workspace)
	return append(b, '}')
}

// keyText returns the text form of a key's hash; empty for none.
func keyText(hash []byte) string {
	if len(hash) != len(id.KeyHash{}) {
		return ""
	}
	return id.KeyHash(hash).String()
}

// appendInternal appends the internal object, with sorted members.
func appendInternal(b []byte, e *clusterv1.AuditEvent, recorded int64) []byte {
	b = append(b, `{"actor":`...)
	b = appendNullable(b, e.GetActor())
	b = append(b, `,"cache_hit":`...)
	b = strconv.AppendBool(b, e.GetCacheHit())
	b = append(b, `,"customer_id":`...)
	b = appendNullable(b, e.GetCustomerId())
	b = append(b, `,"details":`...)
	b = appendDetails(b, e.GetDetailsJson())
	b = append(b, `,"memory_id":`...)
	b = appendNullable(b, e.GetMemoryId())
	b = append(b, `,"prompt_id":`...)
	b = appendNullable(b, e.GetPromptId())
	b = append(b, `,"recorded_at":`...)
	b = appendTime(b, recorded)
	b = append(b, `,"request_id":`...)
	b = appendNullable(b, e.GetRequestId())
	b = append(b, `,"time_to_first_token_ms":`...)
	b = strconv.AppendInt(b, e.GetTimeToFirstTokenMs(), 10)
	b = append(b, `,"token_saving_plan_id":`...)
	b = appendNullable(b, e.GetTokenSavingPlanId())
	return append(b, '}')
}

// indexOf returns the index values of a new record.
func indexOf(x entry, e *clusterv1.AuditEvent) indexed {
	out := indexed{time: x.time, kind: clean(e.GetType()), request: clean(e.GetRequestId()), org: clean(e.GetOrgId())}
	if len(e.GetKeyHash()) == len(id.KeyHash{}) {
		out.key = e.GetKeyHash()
	}
	return out
}

// wire encodes the entry as cluster.v1.AuditEntry. It is hand-written, so that there is only
// one encoding, with which Verify can compare.
func (x entry) wire() []byte {
	b := make([]byte, 0, len(x.external)+len(x.internal)+72)
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, x.external)
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	b = protowire.AppendBytes(b, x.internal)
	b = protowire.AppendTag(b, 3, protowire.BytesType)
	b = protowire.AppendBytes(b, x.hash[:])
	b = protowire.AppendTag(b, 4, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(x.recorded))
	b = protowire.AppendTag(b, 5, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(x.time))
}

// decodeEntry decodes an entry.
func decodeEntry(value []byte) (entry, error) {
	m := &clusterv1.AuditEntry{}
	if err := proto.Unmarshal(value, m); err != nil {
		return entry{}, damagedEntry(err)
	}
	if len(m.GetHash()) != sha256.Size {
		return entry{}, damagedEntry(nil)
	}
	return entry{
		external: m.GetExternal(), internal: m.GetInternal(), hash: [32]byte(m.GetHash()),
		recorded: m.GetRecordedUnixNano(), time: m.GetTimeUnixNano(),
	}, nil
}

func damagedEntry(cause error) *fault.Error {
	return &fault.Error{Op: opRecord, Kind: fault.Internal, Detail: "A record of the audit log is damaged.", Err: cause}
}
