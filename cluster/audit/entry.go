package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

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

// newEntry returns the record of an event. It takes over the memory of an earlier one, which is then invalid.
func newEntry(earlier entry, p place, e *clusterv1.AuditEvent, recorded int64) entry {
	out := entry{recorded: recorded, time: micros(e.GetTimeUnixNano())}
	if out.time == 0 {
		out.time = recorded
	}
	out.external = p.appendExternal(earlier.external[:0], e, out.time)
	out.internal = appendInternal(earlier.internal[:0], e, recorded)
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
	b = money.Pico(e.GetCostPico()).Append(b)
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
		b = appendViolation(b, v)
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
	b = appendKeyHash(b, e.GetKeyHash())
	b = append(b, `,"workspace_id":`...)
	b = appendString(b, p.workspace)
	return append(b, '}')
}

// appendViolation appends what a guardrail has found, with sorted members.
func appendViolation(b []byte, v *clusterv1.GuardrailViolation) []byte {
	b = append(b, `{"action":`...)
	b = appendString(b, v.GetAction())
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, v.GetCount(), 10)
	b = append(b, `,"engine":`...)
	b = appendString(b, v.GetEngine())
	b = append(b, `,"entity":`...)
	b = appendString(b, v.GetEntity())
	b = append(b, `,"guardrail_id":`...)
	b = appendString(b, v.GetGuardrail())
	b = append(b, `,"hook":`...)
	b = appendString(b, v.GetHook())
	b = append(b, `,"offset":`...)
	b = strconv.AppendInt(b, v.GetOffset(), 10)
	b = append(b, `,"place":`...)
	b = appendNullable(b, v.GetPlace())
	return append(b, '}')
}

// isKeyHash reports whether an event's hash is that of a key; some events have none.
func isKeyHash(hash []byte) bool { return len(hash) == len(id.KeyHash{}) }

// appendKeyHash appends the text form of a key's hash; null if there is none.
func appendKeyHash(b, hash []byte) []byte {
	if !isKeyHash(hash) {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = id.KeyHash(hash).Append(b)
	return append(b, '"')
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

// decodeEntry decodes an entry. It shares memory with value.
func decodeEntry(value []byte) (x entry, err error) {
	var hash []byte
	for b := value; len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return entry{}, damagedEntry(protowire.ParseError(n))
		}
		b = b[n:]
		var field []byte
		var integer uint64
		if kind == protowire.BytesType {
			field, n = protowire.ConsumeBytes(b)
		} else {
			integer, n = protowire.ConsumeVarint(b)
		}
		if n < 0 || kind != protowire.BytesType && kind != protowire.VarintType {
			return entry{}, damagedEntry(protowire.ParseError(min(n, -1)))
		}
		b = b[n:]
		switch {
		case number == 1 && kind == protowire.BytesType:
			x.external = field
		case number == 2 && kind == protowire.BytesType:
			x.internal = field
		case number == 3 && kind == protowire.BytesType:
			hash = field
		case number == 4 && kind == protowire.VarintType:
			x.recorded = int64(integer)
		case number == 5 && kind == protowire.VarintType:
			x.time = int64(integer)
		}
	}
	if len(hash) != sha256.Size {
		return entry{}, damagedEntry(nil)
	}
	x.hash = [32]byte(hash)
	return x, nil
}

// canonical reports whether the entry was decoded from the bytes that wire writes. It has their fields, so the order of
// the fields and the lengths decide.
func (x entry) canonical(value []byte) bool {
	at := 0
	for i, size := range [...]int{
		protowire.SizeBytes(len(x.external)), protowire.SizeBytes(len(x.internal)), protowire.SizeBytes(len(x.hash)),
		protowire.SizeVarint(uint64(x.recorded)), protowire.SizeVarint(uint64(x.time)),
	} {
		kind := protowire.BytesType
		if i > 2 {
			kind = protowire.VarintType
		}
		if at >= len(value) || uint64(value[at]) != protowire.EncodeTag(protowire.Number(i+1), kind) {
			return false
		}
		at += 1 + size
	}
	return at == len(value)
}

func damagedEntry(cause error) *fault.Error {
	return &fault.Error{Op: opRecord, Kind: fault.Internal, Detail: "A record of the audit log is damaged.", Err: cause}
}
