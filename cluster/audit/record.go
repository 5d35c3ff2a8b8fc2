package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"time"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Reader reads the replicated state.
type Reader interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error
}

// ChainHead is the head of a chain.
type ChainHead struct {
	Size  uint64   // number of records ever appended, which is the number of the last
	Hash  [32]byte // of the last record; of an empty chain that of its workspace
	First uint64   // number of the first record that remains
	Root  [32]byte // of the Merkle tree over all records ever appended
}

// Head returns the head of a chain.
func Head(r Reader, workspace string) (ChainHead, error) {
	h, err := readHead(r, workspace)
	if err != nil {
		return ChainHead{}, err
	}
	return ChainHead{
		Size: h.GetSize(), Hash: [32]byte(h.GetHash()), First: h.GetFirst(), Root: frontier(h.GetFrontier()).root(),
	}, nil
}

// Record is a record of a chain. The caller must not change its bytes.
type Record struct {
	Number       uint64
	EventID      string // as in the record itself
	Type         string
	Time         time.Time // when the event happened
	Recorded     time.Time // when the record was written
	External     []byte    // JSON, for other systems
	Internal     []byte    // JSON: the fields that stay in the gateway
	Hash         [32]byte
	PreviousHash string // sha256:<hex> of the previous record
}

// newRecord decodes an entry.
func newRecord(number uint64, x entry) Record {
	out := Record{
		Number: number, Time: record.FromNanos(x.time), Recorded: record.FromNanos(x.recorded),
		External: x.external, Internal: x.internal, Hash: x.hash,
	}
	if m, ok := membersOf(x.external); ok {
		out.EventID, out.Type, out.PreviousHash = m.text("event_id"), m.text("event_type"), m.text("previous_event_hash")
	}
	return out
}

// Get returns the record with a number, if it exists.
func Get(ctx context.Context, r Reader, workspace string, number uint64) (out Record, ok bool, err error) {
	err = From(ctx, r, workspace, number, func(x Record) bool {
		if ok = x.Number == number; ok {
			out = x
		}
		return false
	})
	return out, ok, err
}

// From calls fn for each record from a number on, in the order of the chain, until fn returns
// false. It skips trimmed records; the Number of the first record shows whether there were any.
func From(ctx context.Context, r Reader, workspace string, number uint64, fn func(Record) bool) error {
	var bad error
	err := scan(ctx, r, span{workspace, number, block.All}, func(at stored) bool {
		var x entry
		if x, bad = decodeEntry(bytes.Clone(at.value)); bad != nil {
			return false
		}
		return fn(newRecord(at.number, x))
	})
	if err != nil {
		return err
	}
	return bad
}

// fields returns the field names of a record in the order of the API. Those after request_id
// and before previous_event_hash are internal, as are the last three.
func fields() []string {
	return []string{
		"event_id", "event_type", "timestamp", "workspace_id", "org_id", "team_id", "user_key_hash", "customer_id",
		"model", "provider", "tokens_input", "tokens_output", "cost_usd", "latency_ms", "time_to_first_token_ms",
		"guardrail_id", "guardrail_violations", "token_saving_plan_id", "cache_hit", "prompt_id", "memory_id",
		"fallback_count", "policy_version", "request_id", "previous_event_hash", "actor", "details", "recorded_at",
	}
}

// Field is a field of a record: its raw JSON, or null.
type Field struct {
	Name  string
	Value []byte
}

// Fields returns all fields, including the internal ones, in the order of the API.
func (r Record) Fields() []Field {
	external, _ := membersOf(r.External) // unreadable values are null
	internal, _ := membersOf(r.Internal)
	names := fields()
	out := make([]Field, len(names))
	for i, name := range names {
		value := external.get(name)
		if value == nil {
			value = internal.get(name)
		}
		if value == nil {
			value = []byte("null")
		}
		out[i] = Field{Name: name, Value: value}
	}
	return out
}

// Full returns the record with all its fields as one JSON object.
func (r Record) Full() []byte {
	b := make([]byte, 0, len(r.External)+len(r.Internal))
	for i, f := range r.Fields() {
		if i == 0 {
			b = append(b, '{', '"')
		} else {
			b = append(b, ',', '"')
		}
		b = append(append(b, f.Name...), '"', ':')
		b = append(b, f.Value...)
	}
	return append(b, '}')
}

// Header is a header of a delivered record.
type Header struct{ Name, Value string }

// Delivered returns the external object, and headers with which other systems can verify the
// chain.
func Delivered(r Record) (body []byte, headers []Header) {
	inner := sha256.Sum256(r.Internal)
	return r.External, []Header{
		{"X-Gateway-Event-Id", r.EventID},
		{"X-Gateway-Internal-Hash", hashText(inner)},
		{"X-Gateway-Hash", hashText(r.Hash)},
	}
}

// Key returns the hash of the caller's key or of the affected key, if there is one.
func (r Record) Key() (id.KeyHash, bool) {
	m, ok := membersOf(r.External)
	if !ok {
		return id.KeyHash{}, false
	}
	return id.ParseKeyHash(m.text("user_key_hash"))
}

// Owners returns the hash of the key and the id of the organization of the record; each may be
// empty.
func (r Record) Owners() (key, organization string) {
	m, ok := membersOf(r.External)
	if !ok {
		return "", ""
	}
	return m.text("user_key_hash"), m.text("org_id")
}

// Size returns the number of bytes of the record's two objects.
func (r Record) Size() int { return len(r.External) + len(r.Internal) }

// gone returns the error for a number without a record.
func gone(param string, number uint64) *fault.Error {
	return fault.Field(param, "", "The audit log has no event %s, or not any more: begin again without %s.", EventID(number), param)
}
