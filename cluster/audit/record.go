package audit

import (
	"context"
	"crypto/sha256"
	"time"

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

// ChainHead is how far a chain has come.
type ChainHead struct {
	Size  uint64   // how many records it ever had: the number of the last
	Hash  [32]byte // of the last record; of an empty chain that of its workspace
	First uint64   // the number of the first record that is still there
	Root  [32]byte // of the Merkle tree over all records it ever had
}

// Head returns how far a chain has come.
func Head(r Reader, workspace string) (ChainHead, error) {
	h, err := readHead(r, workspace)
	if err != nil {
		return ChainHead{}, err
	}
	return ChainHead{
		Size: h.GetSize(), Hash: [32]byte(h.GetHash()), First: h.GetFirst(), Root: frontier(h.GetFrontier()).root(),
	}, nil
}

// Record is a record of a chain. Its bytes are not to be changed.
type Record struct {
	Number       uint64
	EventID      string // that it names itself by
	Type         string
	Time         time.Time // when it happened
	Recorded     time.Time // when it was written
	External     []byte    // JSON, as other systems get it
	Internal     []byte    // JSON: the fields that stay inside
	Hash         [32]byte
	PreviousHash string // sha256:<hex> of the record before it
}

// newRecord reads what an entry says of itself.
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

// Get returns the record with a number, if it is there.
func Get(r Reader, workspace string, number uint64) (Record, bool, error) {
	value, ok, err := r.Get(store.SpaceAudit, recordKey(workspace, number))
	if err != nil || !ok {
		return Record{}, false, err
	}
	x, err := decodeEntry(value)
	if err != nil {
		return Record{}, false, err
	}
	return newRecord(number, x), true, nil
}

// From calls fn for each record from a number on, in the chain's order, until it
// returns false. Records that are gone are skipped: what comes first says by its
// Number whether there were any.
func From(ctx context.Context, r Reader, workspace string, number uint64, fn func(Record) bool) error {
	var bad error
	err := r.Scan(ctx, store.Range{
		Space: store.SpaceAudit, Prefix: recordPrefix(workspace), From: recordKey(workspace, number),
	}, func(key, value []byte) bool {
		var x entry
		if x, bad = decodeEntry(value); bad != nil {
			return false
		}
		return fn(newRecord(numberOf(key), x))
	})
	if err != nil {
		return err
	}
	return bad
}

// fields are the fields of a record as the API has them, in its order; those behind
// request_id and before previous_event_hash stay inside, as do the last three.
func fields() []string {
	return []string{
		"event_id", "event_type", "timestamp", "workspace_id", "org_id", "team_id", "user_key_hash", "customer_id",
		"model", "provider", "tokens_input", "tokens_output", "cost_usd", "latency_ms", "time_to_first_token_ms",
		"guardrail_id", "guardrail_violations", "token_saving_plan_id", "cache_hit", "prompt_id", "memory_id",
		"fallback_count", "policy_version", "request_id", "previous_event_hash", "actor", "details", "recorded_at",
	}
}

// Field is a field of a record: its JSON as the record has it, null where the
// record has none.
type Field struct {
	Name  string
	Value []byte
}

// Fields returns all fields, the internal ones included, in the order that the API
// has them in.
func (r Record) Fields() []Field {
	external, _ := membersOf(r.External) // what cannot be read is null
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

// Header is a header that goes with a delivered record.
type Header struct{ Name, Value string }

// Delivered returns what other systems get: the external form, and headers that they
// can check the chain with.
func Delivered(r Record) (body []byte, headers []Header) {
	inner := sha256.Sum256(r.Internal)
	return r.External, []Header{
		{"X-Gateway-Event-Id", r.EventID},
		{"X-Gateway-Internal-Hash", hashText(inner)},
		{"X-Gateway-Hash", hashText(r.Hash)},
	}
}

// Key returns the hash of the key that asked or is concerned, if there is one.
func (r Record) Key() (id.KeyHash, bool) {
	m, ok := membersOf(r.External)
	if !ok {
		return id.KeyHash{}, false
	}
	return id.ParseKeyHash(m.text("user_key_hash"))
}

// Owners returns the hash of the key and the id of the organization that the record is
// about; each is empty where the record has none.
func (r Record) Owners() (key, organization string) {
	m, ok := membersOf(r.External)
	if !ok {
		return "", ""
	}
	return m.text("user_key_hash"), m.text("org_id")
}

// Size is how many bytes the record's two parts have.
func (r Record) Size() int { return len(r.External) + len(r.Internal) }

// gone is the fault of a number whose record is not there.
func gone(param string, number uint64) *fault.Error {
	return fault.Field(param, "", "The audit log has no event %s, or not any more: begin again without %s.", EventID(number), param)
}
